//===- StepMachine.h - A training step of any level ------------*- C++ -*-===//
//
// Holds parameters and optimizer state and runs one step after another, whatever form the step has: a function of
// levels 1 to 3, a local function on all devices, stage programs. Driver and tests see only this.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_INTERPRETER_STEPMACHINE_H
#define FLEET_INTERPRETER_STEPMACHINE_H

#include "fleet/Interpreter/Binding.h"
#include "mlir/IR/BuiltinOps.h"

#include <memory>

namespace fleet {

/// What a step gives: global values.
struct StepOutput {
  /// Values marked `fleet.output`, and unmarked results as "0", "1", ….
  std::vector<NamedTensor> outputs;
  /// Values marked `fleet.gradient`, by the name of the stored tensor that they are the gradient of.
  std::vector<NamedTensor> gradients;

  /// The output with this name, null when there is none.
  const Tensor *find(llvm::StringRef name) const;
};

class StepMachine {
public:
  virtual ~StepMachine() = default;

  /// The form that `module` holds: stage programs, else the function `entry`, which is `step`, `model` or the only one
  /// where empty. `module` outlives the machine. Reports an error when there is no such thing.
  static llvm::FailureOr<std::unique_ptr<StepMachine>>
  create(mlir::ModuleOp module, llvm::StringRef entry = "");

  /// Everything that is filled from outside. A name may occur several times.
  virtual llvm::SmallVector<Binding> bindings() const = 0;
  /// Reads all parameters and sets all state to zero. `weights` may be null for a step without parameters.
  virtual llvm::LogicalResult load(const WeightSource *weights) = 0;
  /// Runs one step and applies its updates.
  virtual llvm::FailureOr<StepOutput> step(const StepInput &input) = 0;
  /// The stored tensors as they are now. Reports replicas that differ.
  virtual llvm::FailureOr<std::vector<NamedTensor>> parameters() const = 0;
};

} // namespace fleet

#endif // FLEET_INTERPRETER_STEPMACHINE_H
