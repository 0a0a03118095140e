//===- Collectives.cpp - Meaning of collectives ----------------*- C++ -*-===//
//
// Devices run in lock-step, so a collective sees the operands of all of them. A group is the devices that differ in the
// axes of the collective alone; reductions run in the order of device numbers, shards are put together in the order of
// shard numbers.
//
//===----------------------------------------------------------------------===//

#include "Models.h"

using namespace mlir;
using namespace fleet;

namespace {
/// The members of a device's group.
struct Group {
  /// Positions in `EvalContext::devices()`, by shard number.
  SmallVector<unsigned> members;
  /// The device's own shard number.
  int64_t shard;
};
} // namespace

static LogicalResult verifyAxes(Operation *op, AxisListAttr axes,
                                EvalContext &context) {
  return context.mesh().verify(axes, [&] { return op->emitError(); });
}

/// Checks the dimensions that a collective names.
static LogicalResult verifyDims(Operation *op, ArrayRef<int64_t> dims) {
  int64_t rank = typeOf(op->getOperand(0)).getRank();
  for (int64_t dim : dims)
    if (dim < 0 || dim >= rank)
      return op->emitError("names dimension ")
             << dim << " of a tensor of rank " << rank;
  return success();
}

/// The group of the device at `position`; a member outside the running set (another pipeline stage) is an error.
static FailureOr<Group> groupOf(Operation *op, AxisListAttr axes,
                                unsigned position, EvalContext &context) {
  int64_t device = context.devices()[position];
  Group group{{}, context.mesh().shardIndex(device, axes)};
  for (int64_t member : context.mesh().group(device, axes)) {
    std::optional<unsigned> at = context.positionOf(member);
    if (!at)
      return op->emitError("device ")
             << member << " of the group does not run this program";
    group.members.push_back(*at);
  }
  return group;
}

/// Binds `result` after a check that every device made the shape that the type says.
static LogicalResult defineChecked(Value result, DeviceValues tensors,
                                   EvalContext &context) {
  ArrayRef<int64_t> shape = typeOf(result).getShape();
  for (auto [device, tensor] : llvm::zip_equal(context.devices(), tensors))
    if (ArrayRef<int64_t>(tensor->shape) != shape)
      return result.getDefiningOp()->emitError("gives the shape [")
             << llvm::ArrayRef<int64_t>(tensor->shape) << "] on device "
             << device << ", its type says [" << shape << "]";
  context.define(result, std::move(tensors));
  return success();
}

/// Runs `body(group, operand tensors)` for every device and binds what it returns.
static LogicalResult
forEachDevice(Operation *op, AxisListAttr axes, Value operand, Value result,
              EvalContext &context,
              function_ref<Tensor(const Group &, const DeviceValues &)> body) {
  if (failed(verifyAxes(op, axes, context)))
    return failure();
  DeviceValues in = context.lookup(operand), out;
  for (unsigned i = 0; i < in.size(); ++i) {
    FailureOr<Group> group = groupOf(op, axes, i, context);
    if (failed(group))
      return failure();
    out.push_back(std::make_shared<const Tensor>(body(*group, in)));
  }
  return defineChecked(result, std::move(out), context);
}

/// Combination of the members' tensors in the order of device numbers.
static Tensor combineMembers(const Group &group, const DeviceValues &in,
                             ReductionKind kind) {
  SmallVector<unsigned> order = group.members;
  llvm::sort(order);
  Tensor result = *in[order.front()];
  for (unsigned member : ArrayRef(order).drop_front())
    for (auto [y, x] : llvm::zip_equal(result.data, in[member]->data))
      y = combine(kind, y, x);
  return result;
}

/// The shard of `dim` with the group's own number.
static Tensor ownShard(const Tensor &tensor, int64_t dim, const Group &group) {
  ShardRange range =
      shardRange(tensor.shape[dim], group.members.size(), group.shard);
  return sliceOf(tensor, dim, range.offset, range.size);
}

static LogicalResult allReduce(AllReduceOp op, EvalContext &context) {
  for (auto [operand, result] :
       llvm::zip_equal(op.getOperands(), op.getResults()))
    if (failed(forEachDevice(op, op.getAxes(), operand, result, context,
                             [&](const Group &group, const DeviceValues &in) {
                               return combineMembers(group, in, op.getKind());
                             })))
      return failure();
  return success();
}

static LogicalResult allGather(AllGatherOp op, EvalContext &context) {
  if (failed(verifyDims(op, {static_cast<int64_t>(op.getDim())})))
    return failure();
  return forEachDevice(
      op, op.getAxes(), op.getOperand(), op.getResult(), context,
      [&](const Group &group, const DeviceValues &in) {
        auto parts = llvm::map_to_vector(
            group.members, [&](unsigned m) { return in[m].get(); });
        return concatOf(parts, op.getDim());
      });
}

static LogicalResult reduceScatter(ReduceScatterOp op, EvalContext &context) {
  if (failed(verifyDims(op, {static_cast<int64_t>(op.getDim())})))
    return failure();
  return forEachDevice(
      op, op.getAxes(), op.getOperand(), op.getResult(), context,
      [&](const Group &group, const DeviceValues &in) {
        return ownShard(combineMembers(group, in, op.getKind()), op.getDim(),
                        group);
      });
}

static LogicalResult allToAll(AllToAllOp op, EvalContext &context) {
  if (failed(verifyDims(op, {static_cast<int64_t>(op.getSplitDim()),
                             static_cast<int64_t>(op.getConcatDim())})))
    return failure();
  return forEachDevice(
      op, op.getAxes(), op.getOperand(), op.getResult(), context,
      [&](const Group &group, const DeviceValues &in) {
        auto parts = llvm::map_to_vector(group.members, [&](unsigned m) {
          return ownShard(*in[m], op.getSplitDim(), group);
        });
        auto pointers = llvm::map_to_vector(
            parts, [](const Tensor &part) { return &part; });
        return concatOf(pointers, op.getConcatDim());
      });
}

static LogicalResult shardSlice(ShardSliceOp op, EvalContext &context) {
  if (failed(verifyAxes(op, op.getAxes(), context)) ||
      failed(verifyDims(op, {static_cast<int64_t>(op.getDim())})))
    return failure();
  int64_t shards = context.mesh().numShards(op.getAxes());
  DeviceValues out;
  for (auto [device, tensor] :
       llvm::zip_equal(context.devices(), context.lookup(op.getOperand()))) {
    ShardRange range =
        shardRange(tensor->shape[op.getDim()], shards,
                   context.mesh().shardIndex(device, op.getAxes()));
    out.push_back(std::make_shared<const Tensor>(
        sliceOf(*tensor, op.getDim(), range.offset, range.size)));
  }
  return defineChecked(op.getResult(), std::move(out), context);
}

static LogicalResult shardOffset(ShardOffsetOp op, EvalContext &context) {
  if (failed(verifyAxes(op, op.getAxes(), context)))
    return failure();
  int64_t shards = context.mesh().numShards(op.getAxes());
  DeviceValues out;
  for (int64_t device : context.devices()) {
    int64_t shard = context.mesh().shardIndex(device, op.getAxes());
    out.push_back(std::make_shared<const Tensor>(
        Tensor::scalar(shardRange(op.getSize(), shards, shard).offset)));
  }
  return defineChecked(op.getResult(), std::move(out), context);
}

void fleet::attachCollectiveModels(MLIRContext *context) {
  attachLockStep<AllReduceOp, allReduce>(context);
  attachLockStep<AllGatherOp, allGather>(context);
  attachLockStep<ReduceScatterOp, reduceScatter>(context);
  attachLockStep<AllToAllOp, allToAll>(context);
  attachLockStep<ShardSliceOp, shardSlice>(context);
  attachLockStep<ShardOffsetOp, shardOffset>(context);
}
