//===- StepFunction.h - Reading and changing a step ------------*- C++ -*-===//
//
// Small operations on the function of a model or step that several passes need.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_LIB_TRANSFORMS_STEPFUNCTION_H
#define FLEET_LIB_TRANSFORMS_STEPFUNCTION_H

#include "fleet/Dialect/Fleet/FleetOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace fleet {

/// A result of a step: the value and the attributes that say what it is.
struct StepResult {
  mlir::Value value;
  mlir::DictionaryAttr attributes;
};

/// Values and attributes of the results of `func`, which has one block.
llvm::SmallVector<StepResult> getResults(mlir::func::FuncOp func);
/// Replaces all results of `func`.
void setResults(mlir::func::FuncOp func, llvm::ArrayRef<StepResult> results);
/// A result called `name` with attribute `kind` (fleet.output = "loss").
StepResult namedResult(mlir::Value value, llvm::StringRef kind,
                       llvm::StringRef name);
/// The string attribute `kind` of a result, empty when it has none.
llvm::StringRef nameOf(const StepResult &result, llvm::StringRef kind);

/// Sets the phase of an operation.
void setPhase(mlir::Operation *op, Phase phase);
/// Phase of an operation, nullopt when it has none.
std::optional<Phase> getPhase(mlir::Operation *op);

/// Gives new operations a phase and keeps a list of them.
class PhaseStamp : public mlir::OpBuilder::Listener {
public:
  explicit PhaseStamp(Phase phase) : phase(phase) {}
  void notifyOperationInserted(mlir::Operation *op,
                               mlir::OpBuilder::InsertPoint) final {
    setPhase(op, phase);
    made.push_back(op);
  }
  /// Operations made since the list was cleared.
  llvm::SmallVector<mlir::Operation *> made;

private:
  Phase phase;
};

} // namespace fleet

#endif // FLEET_LIB_TRANSFORMS_STEPFUNCTION_H
