//===- StageState.cpp - Slots of one stage program -------------*- C++ -*-===//
//
// Reading and writing slots, one micro-batch or all of them side by side.
//
//===----------------------------------------------------------------------===//

#include "StageState.h"

#include <functional>

using namespace mlir;
using namespace fleet;

std::string StageState::describe() const {
  return "stage " + std::to_string(ProgramOp(program).getStage());
}

/// Type of all micro-batches together.
static RankedTensorType wholeType(SlotOp op, int64_t microBatches) {
  auto type = cast<RankedTensorType>(op.getType());
  if (!op.getPerMicroBatch() || type.getRank() == 0)
    return type;
  SmallVector<int64_t> shape(type.getShape());
  shape[0] *= microBatches;
  return type.clone(shape);
}

LogicalResult StageState::readSlots(const DeviceMesh &mesh) {
  for (SlotOp op : program.getOps<SlotOp>()) {
    RankedTensorType type = wholeType(op, numMicroBatches());
    if (!isInterpretable(type))
      return op.emitError("of type ") << type << " is too large to interpret";
    FailureOr<std::optional<Binding>> binding = std::optional<Binding>();
    if (!op.getFromStage())
      binding = Binding::get(op->getDiscardableAttrDictionary(), type,
                             op.getLoc(), &mesh);
    if (failed(binding))
      return failure();
    Slot slot{op, *binding, {}};
    if (slot.isPersistent() && op.getPerMicroBatch())
      return op.emitError("a parameter or state is not per micro-batch");
    if (op->hasAttr(attr::kOutput) && !isSeenWhole(op))
      return op.emitError("a scalar of each micro-batch is no output");
    slots.insert({op.getSymName(), std::move(slot)});
  }
  for (TaskOp task : tasks())
    if (failed(verifyTask(task)))
      return failure();
  return success();
}

bool StageState::isSeenWhole(SlotOp slot) const {
  auto type = cast<RankedTensorType>(slot.getType());
  return !slot.getPerMicroBatch() || numMicroBatches() == 1 ||
         type.getRank() > 0;
}

LogicalResult StageState::verifyTask(TaskOp task) const {
  Phase phase = task.getPhase();
  bool once = phase == Phase::Prologue || phase == Phase::Update;
  for (auto refs : {task.getReads(), task.getWrites()})
    for (auto ref : refs.getAsRange<FlatSymbolRefAttr>()) {
      SlotOp slot = slots.find(ref.getValue())->second.op;
      bool isCut = slot.getPerMicroBatch() && numMicroBatches() > 1;
      if ((phase == Phase::Reduce && isCut) || (once && !isSeenWhole(slot)))
        return task.emitError("runs once and cannot see all micro-batches of ")
               << ref;
    }
  for (auto ref : task.getWrites().getAsRange<FlatSymbolRefAttr>()) {
    SlotOp slot = slots.find(ref.getValue())->second.op;
    if (slot.getFromStage())
      return task.emitError("writes ")
             << ref << ", which comes from stage " << *slot.getFromStage();
  }
  return success();
}

void StageState::reset(Slot &slot) const {
  SlotOp op = slot.op;
  slot.values.assign(op.getPerMicroBatch() ? numMicroBatches() : 1, {});
}

/// Values of all micro-batches side by side along dimension 0.
static DeviceValues concatenate(ArrayRef<DeviceValues> values) {
  DeviceValues whole;
  for (size_t device = 0; device < values.front().size(); ++device) {
    auto parts = llvm::map_to_vector(
        values, [&](const DeviceValues &v) { return v[device].get(); });
    whole.push_back(std::make_shared<const Tensor>(concatOf(parts, 0)));
  }
  return whole;
}

FailureOr<DeviceValues> StageState::read(const Slot &slot,
                                         MicroBatch which) const {
  assert(!slot.values.empty() && "parameters are loaded before the first step");
  if (slot.values.size() > 1 && !which.index) {
    if (llvm::any_of(slot.values, std::mem_fn(&DeviceValues::empty)))
      return failure();
    return concatenate(slot.values);
  }
  const DeviceValues &value =
      slot.values[slot.values.size() > 1 ? *which.index : 0];
  if (value.empty())
    return failure();
  return value;
}

void StageState::write(Slot &slot, MicroBatch which,
                       const DeviceValues &value) const {
  if (slot.values.size() == 1) {
    slot.values.front() = value;
    return;
  }
  if (which.index) {
    slot.values[*which.index] = value;
    return;
  }
  int64_t parts = slot.values.size();
  for (auto [m, part] : llvm::enumerate(slot.values)) {
    part.clear();
    for (const TensorRef &tensor : value) {
      int64_t rows = tensor->shape[0] / parts;
      part.push_back(
          std::make_shared<const Tensor>(sliceOf(*tensor, 0, m * rows, rows)));
    }
  }
}
