//===- Regions.cpp - Meaning of operations with regions --------*- C++ -*-===//
//
// accumulate runs its region on each micro-batch; a kernel is the operations in it.
//
//===----------------------------------------------------------------------===//

#include "Models.h"

using namespace mlir;
using namespace fleet;

/// Micro-batch `index` of `count` of a value on every device.
static DeviceValues microBatch(const DeviceValues &values, int64_t count,
                               int64_t index) {
  return llvm::map_to_vector(values, [&](const TensorRef &tensor) -> TensorRef {
    int64_t rows = tensor->shape[0] / count;
    return std::make_shared<const Tensor>(
        sliceOf(*tensor, 0, index * rows, rows));
  });
}

static DeviceValues addValues(const DeviceValues &a, const DeviceValues &b) {
  DeviceValues sums;
  for (auto [x, y] : llvm::zip_equal(a, b)) {
    Tensor sum = *x;
    for (auto [s, term] : llvm::zip_equal(sum.data, y->data))
      s += term;
    sums.push_back(std::make_shared<const Tensor>(std::move(sum)));
  }
  return sums;
}

static LogicalResult accumulate(AccumulateOp op, EvalContext &context) {
  Block &body = op.getRegion().front();
  auto count = static_cast<int64_t>(op.getMicroBatches());
  SmallVector<DeviceValues> inputs = context.lookup(op.getInputs());
  SmallVector<DeviceValues> sums;
  for (int64_t m = 0; m < count; ++m) {
    for (auto [argument, input] : llvm::zip_equal(body.getArguments(), inputs))
      context.define(argument, microBatch(input, count, m));
    if (failed(context.run(body)))
      return failure();
    auto terms = context.lookup(body.getTerminator()->getOperands());
    if (m == 0)
      sums = std::move(terms);
    else
      for (auto [sum, term] : llvm::zip_equal(sums, terms))
        sum = addValues(sum, term);
  }
  for (auto [result, sum] : llvm::zip_equal(op.getResults(), sums))
    context.define(result, std::move(sum));
  return success();
}

static LogicalResult kernel(KernelOp op, EvalContext &context) {
  Block &body = op.getRegion().front();
  for (auto [argument, input] :
       llvm::zip_equal(body.getArguments(), op.getInputs()))
    context.define(argument, context.lookup(input));
  if (failed(context.run(body)))
    return failure();
  for (auto [result, value] :
       llvm::zip_equal(op.getResults(), body.getTerminator()->getOperands()))
    context.define(result, context.lookup(value));
  return success();
}

void fleet::attachRegionModels(MLIRContext *context) {
  attachLockStep<AccumulateOp, accumulate>(context);
  attachLockStep<KernelOp, kernel>(context);
}
