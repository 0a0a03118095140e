//===- PipelineOrder.h - When every stage does what ------------*- C++ -*-===//
//
// The order of tasks of a pipeline schedule, and of the transfers between them.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_LIB_TRANSFORMS_PIPELINEORDER_H
#define FLEET_LIB_TRANSFORMS_PIPELINEORDER_H

#include "fleet/Dialect/Fleet/FleetOps.h"

namespace fleet {

enum class PipelineMode {
  /// Warm-up forwards, then a forward and a backward in turn: min(n, S - k)
  /// micro-batches are in flight on stage k.
  OneForwardOneBackward,
  /// All forwards, then all backwards (GPipe): n micro-batches are in flight.
  ForwardThenBackward,
};

/// One thing that a stage does.
struct StageAction {
  enum Kind { Run, Send, Recv } kind;
  /// Run: the task, else null.
  TaskOp task;
  /// Transfer: the slot and the other stage.
  mlir::StringAttr slot;
  int64_t peer = 0;
  std::optional<int64_t> microBatch;
};

/// The actions of every stage. Executing them does not deadlock even when every
/// send waits for its receive: they are the projections of one order of all
/// tasks and transfers, and the first action of it that is not done can always
/// be executed. `programs` stand in the order of their stages.
llvm::FailureOr<llvm::SmallVector<std::vector<StageAction>>>
orderPipeline(llvm::ArrayRef<ProgramOp> programs, PipelineMode mode);

} // namespace fleet

#endif // FLEET_LIB_TRANSFORMS_PIPELINEORDER_H
