//===- StagePlan.h - What each stage computes ------------------*- C++ -*-===//
//
// From the local step to tasks: which operations each stage executes in which task, which values live in slots, and
// which slots are sent. The plan is found by demand, from what each stage must produce.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_LIB_TRANSFORMS_STAGEPLAN_H
#define FLEET_LIB_TRANSFORMS_STAGEPLAN_H

#include "fleet/Dialect/Fleet/FleetOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <map>

namespace fleet {

/// Splits the values of a partitioned step over stages. All queries are about the one step that it was made for.
class StagePlan {
public:
  StagePlan(mlir::func::FuncOp func, AccumulateOp accumulate, int64_t stages);

  mlir::func::FuncOp func;
  AccumulateOp accumulate;
  int64_t numStages;

  /// Stage that computes an operation of the region; nullopt for one that every stage computes for itself.
  std::optional<int64_t> stageOf(mlir::Operation *op) const;
  /// The operation stands in the accumulate region.
  bool inRegion(mlir::Operation *op) {
    return op->getParentOp() == accumulate.getOperation();
  }
  bool isBackward(mlir::Operation *op) const;
  /// Stage that makes result `index` of accumulate.
  int64_t ownerOf(unsigned index);
  /// Result number when `value` is a result of accumulate.
  std::optional<unsigned> accumulatedIndex(mlir::Value value);

  /// Stages that hold all that a value after accumulate is made from; terms of an exchanged sum count as their home.
  const llvm::SmallSetVector<int64_t, 4> &homesOf(mlir::Value value);
  /// Stage that computes `term` of a sum.
  int64_t homeOf(mlir::Value term);
  /// Terms of `sum` by home, in the order of stages. One entry: the sum is not exchanged.
  std::map<int64_t, llvm::SmallVector<mlir::Value>> termsByHome(SumOp sum);

private:
  llvm::DenseMap<mlir::Value, llvm::SmallSetVector<int64_t, 4>> homes;
};

} // namespace fleet

#endif // FLEET_LIB_TRANSFORMS_STAGEPLAN_H
