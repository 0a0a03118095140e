//===- Ops.cpp - Programs, buffers, copies ---------------------*- C++ -*-===//
//
// Verifiers of what a program declares.
//
//===----------------------------------------------------------------------===//

#include "../Fleet/AxesFormat.h"
#include "TextForms.h"
#include "fleet/Dialect/Rank/RankOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace fleet;
using namespace fleet::rank;

#define GET_OP_CLASSES
#include "fleet/Dialect/Rank/RankOps.cpp.inc"

//===----------------------------------------------------------------------===//
// program
//===----------------------------------------------------------------------===//

ActionsOp rank::ProgramOp::getActions() { return *getOps<ActionsOp>().begin(); }

CommunicatorOp rank::ProgramOp::findCommunicator(AxisListAttr axes) {
  for (auto communicator : getOps<CommunicatorOp>())
    if (communicator.getAxes() == axes)
      return communicator;
  return {};
}

/// With an arena, a buffer has a place inside it.
static LogicalResult verifyPlace(BufferOp buffer, int64_t arena) {
  if (!buffer.getAt())
    return buffer.emitOpError("has no place in the arena of ")
           << arena << " bytes";
  int64_t end = static_cast<int64_t>(*buffer.getAt()) + buffer.getBytes();
  if (end > arena)
    return buffer.emitOpError("ends at byte ")
           << end << " of an arena of " << arena;
  return success();
}

LogicalResult rank::ProgramOp::verifyRegions() {
  if (static_cast<int64_t>(getMicroBatches()) < 1)
    return emitOpError("has ")
           << static_cast<int64_t>(getMicroBatches()) << " micro-batches";
  int64_t actions = llvm::range_size(getOps<ActionsOp>());
  if (actions != 1)
    return emitOpError("has ") << actions << " lists of actions, expected one";
  if (std::optional<uint64_t> arena = getArena())
    for (auto buffer : getOps<BufferOp>())
      if (failed(verifyPlace(buffer, *arena)))
        return failure();
  return success();
}

LogicalResult
rank::ProgramOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  // From the parent, because a program is a symbol table itself.
  if (!symbolTable.lookupNearestSymbolFrom<MeshOp>((*this)->getParentOp(),
                                                   getMeshAttr()))
    return emitOpError("runs on ") << getMeshAttr() << ", which is not a mesh";
  return success();
}

//===----------------------------------------------------------------------===//
// buffer
//===----------------------------------------------------------------------===//

bool BufferOp::isBound() {
  switch (getKind()) {
  case BufferKind::Input:
  case BufferKind::Parameter:
  case BufferKind::State:
  case BufferKind::Scalar:
  case BufferKind::Constant:
    return true;
  case BufferKind::Activation:
  case BufferKind::Gradient:
  case BufferKind::Output:
  case BufferKind::Temporary:
    return false;
  }
  llvm_unreachable("unknown buffer kind");
}

LogicalResult BufferOp::verify() {
  auto slots = static_cast<int64_t>(getSlots());
  auto bytes = static_cast<int64_t>(getSlotBytes());
  if (slots < 1 || (slots > 1 && !getPerMicroBatch()))
    return emitOpError("has ")
           << slots << " slots, "
           << (getPerMicroBatch() ? "a buffer has at least one"
                                  : "one that is not per_micro_batch has one");
  if (bytes < byteSize(getType()))
    return emitOpError("holds ") << getType() << " of " << byteSize(getType())
                                 << " bytes in slots of " << bytes;
  if (getAt() && *getAt() % kAlignment != 0)
    return emitOpError("stands at byte ")
           << *getAt() << ", not a multiple of " << kAlignment;
  return success();
}

//===----------------------------------------------------------------------===//
// copy
//===----------------------------------------------------------------------===//

KernelClass CopyOp::getKernelClass() { return KernelClass::Elementwise; }
int64_t CopyOp::getFlops() { return 0; }
Value CopyOp::buildBody(OpBuilder &, Location, ValueRange operands, Type) {
  return operands.front();
}
