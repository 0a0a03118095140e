//===- Rendezvous.h - Execution of all stages against each other -*- C++
//-*-===//
//
// Whether the action lists of all stages can be executed when a send waits for
// its receive.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_LIB_TRANSFORMS_RENDEZVOUS_H
#define FLEET_LIB_TRANSFORMS_RENDEZVOUS_H

#include "fleet/Dialect/Rank/RankOps.h"
#include "llvm/ADT/MapVector.h"

namespace fleet {

/// Collectives whose members belong to several stages, in the order in which
/// each stage issues them.
class SpanningCollectives {
public:
  using Sequences =
      llvm::MapVector<AxisListAttr, std::vector<mlir::Operation *>>;

  explicit SpanningCollectives(llvm::ArrayRef<rank::ProgramOp> programs);

  const Sequences &sequences(int64_t stage) const { return perStage[stage]; }
  llvm::ArrayRef<mlir::Operation *> sequence(int64_t stage,
                                             AxisListAttr axes) const;
  /// Stages of the communicator of `stage` over `axes`, ascending; `stage`
  /// alone where it does not span stages.
  llvm::SmallVector<int64_t> members(int64_t stage, AxisListAttr axes) const;
  /// Axes of the spanning collectives that a task issues, in order.
  llvm::SmallVector<AxisListAttr> axesOf(rank::TaskOp task) const;

private:
  int64_t numStages;
  /// Sizes of the prime pieces of the stage axis, major to minor.
  llvm::SmallVector<int64_t> pieces;
  std::vector<Sequences> perStage;
};

/// Reports the cycle of stages that wait for each other, if there is one.
/// Messages match and collectives agree.
llvm::LogicalResult verifyRendezvous(llvm::ArrayRef<rank::ProgramOp> programs,
                                     const SpanningCollectives &spanning);

} // namespace fleet

#endif // FLEET_LIB_TRANSFORMS_RENDEZVOUS_H
