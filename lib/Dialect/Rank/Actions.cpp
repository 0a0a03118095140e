//===- Actions.cpp - Verifiers of actions ----------------------*- C++ -*-===//
//
// What an action names exists, and it says a micro-batch exactly where there is
// a choice. What holds over the whole list, and between stages, is proven by
// fleet-verify-schedule.
//
//===----------------------------------------------------------------------===//

#include "fleet/Dialect/Rank/RankOps.h"

using namespace mlir;
using namespace fleet;
using namespace fleet::rank;

LogicalResult ActionsOp::verifyRegions() {
  for (Operation &op : getRegion().front())
    if (!isa<RunOp, SendOp, RecvOp>(op))
      return op.emitOpError("is not an action");
  return success();
}

static rank::ProgramOp programOf(Operation *action) {
  return action->getParentOfType<rank::ProgramOp>();
}

/// An action says a micro-batch of the program, or none where there is one
/// value for all.
static LogicalResult verifyMicroBatch(Operation *action, StringRef name,
                                      std::optional<uint64_t> microBatch,
                                      bool expected) {
  if (expected != microBatch.has_value())
    return action->emitOpError("of @")
           << name
           << (expected ? " needs a micro-batch" : " takes no micro-batch");
  int64_t count = programOf(action).getMicroBatches();
  if (microBatch && static_cast<int64_t>(*microBatch) >= count)
    return action->emitOpError("of @")
           << name << " is for micro-batch " << *microBatch << " of " << count;
  return success();
}

LogicalResult RunOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto task =
      symbolTable.lookupNearestSymbolFrom<rank::TaskOp>(*this, getTaskAttr());
  if (!task)
    return emitOpError("names ") << getTaskAttr() << ", which is not a task";
  return verifyMicroBatch(*this, getTask(), getMicroBatch(), !task.runsOnce());
}

/// Sends and receives alike.
static LogicalResult verifyTransfer(Operation *action,
                                    SymbolTableCollection &symbolTable,
                                    FlatSymbolRefAttr ref,
                                    std::optional<uint64_t> microBatch,
                                    uint64_t peer) {
  auto buffer = symbolTable.lookupNearestSymbolFrom<BufferOp>(action, ref);
  if (!buffer)
    return action->emitOpError("names ") << ref << ", which is not a buffer";
  if (peer == programOf(action).getStage())
    return action->emitOpError("of ") << ref << " has its own stage as peer";
  return verifyMicroBatch(action, ref.getValue(), microBatch,
                          buffer.getPerMicroBatch());
}

LogicalResult SendOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  return verifyTransfer(*this, symbolTable, getBufferAttr(), getMicroBatch(),
                        getToStage());
}

LogicalResult RecvOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  return verifyTransfer(*this, symbolTable, getBufferAttr(), getMicroBatch(),
                        getFromStage());
}
