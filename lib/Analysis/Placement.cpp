//===- Placement.cpp - Where the values of a task are ----------*- C++ -*-===//
//
// Arguments and results of operations that own memory lie contiguously in their
// buffers; views follow their operand.
//
//===----------------------------------------------------------------------===//

#include "fleet/Analysis/Placement.h"

using namespace mlir;
using namespace fleet;

int64_t Place::getAddress(std::optional<int64_t> microBatch) const {
  rank::BufferOp op = buffer;
  int64_t slot = microBatch.value_or(0) % static_cast<int64_t>(op.getSlots());
  return static_cast<int64_t>(*op.getAt() + slot * op.getSlotBytes());
}

std::optional<StridedLayout> fleet::getViewLayout(Operation *op,
                                                  const StridedLayout &source) {
  auto kernel = dyn_cast<KernelOpInterface>(op);
  if (!kernel)
    return std::nullopt;
  KernelClass kind = kernel.getKernelClass();
  if (kind != KernelClass::View && kind != KernelClass::Broadcast)
    return std::nullopt;
  return kernel.getView(source);
}

/// The place of a contiguous tensor in a buffer.
static Place placeIn(rank::BufferOp buffer, Value value) {
  return {buffer, StridedLayout::contiguous(typeOf(value).getShape())};
}

FailureOr<Placement> Placement::get(rank::TaskOp task) {
  // By hand, since a symbol table would be searched once per value.
  llvm::DenseMap<Attribute, rank::BufferOp> buffersByName;
  auto program = cast<rank::ProgramOp>(task->getParentOp());
  for (auto buffer : program.getOps<rank::BufferOp>())
    buffersByName[buffer.getSymNameAttr()] = buffer;
  auto find = [&](Attribute ref) {
    return buffersByName.lookup(cast<FlatSymbolRefAttr>(ref).getAttr());
  };
  Placement placement;
  Block &body = task.getRegion().front();
  for (auto [ref, argument] :
       llvm::zip_equal(task.getReads(), body.getArguments()))
    placement.places[argument] = placeIn(find(ref), argument);
  for (Operation &op : body.without_terminator()) {
    if (auto buffers = op.getAttrOfType<ArrayAttr>(rank::kBuffersAttr)) {
      for (auto [ref, result] : llvm::zip_equal(buffers, op.getResults()))
        placement.places[result] = placeIn(find(ref), result);
      continue;
    }
    std::optional<StridedLayout> view;
    if (op.getNumOperands() > 0)
      view = getViewLayout(&op, placement.lookup(op.getOperand(0)).layout);
    if (!view)
      return op.emitError("has no buffers: memory is planned first");
    placement.places[op.getResult(0)] = {
        placement.lookup(op.getOperand(0)).buffer, std::move(*view)};
  }
  return placement;
}
