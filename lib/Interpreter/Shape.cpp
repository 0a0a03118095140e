//===- Shape.cpp - Meaning of operations that move elements ----*- C++ -*-===//
//
// Constants, views, concatenation and reductions.
//
//===----------------------------------------------------------------------===//

#include "Models.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace fleet;

static LogicalResult constant(ConstantOp op, Operands, Results out) {
  ElementsAttr value = op.getValue();
  if (auto floats = value.tryGetValues<APFloat>()) {
    for (auto [y, x] : llvm::zip_equal(out[0].data, *floats))
      y = x.convertToDouble();
    return success();
  }
  if (auto integers = value.tryGetValues<APInt>()) {
    for (auto [y, x] : llvm::zip_equal(out[0].data, *integers))
      y = static_cast<double>(x.getSExtValue());
    return success();
  }
  return op.emitError("value holds neither floats nor integers");
}

static void iota(IotaOp op, Operands, Results out) {
  int64_t dim = op.getDim();
  int64_t stride = stridesOf(out[0].shape)[dim];
  for (auto [i, y] : llvm::enumerate(out[0].data))
    y = static_cast<int64_t>(i) / stride % out[0].shape[dim];
}

static void reshape(ReshapeOp, Operands in, Results out) {
  out[0].data = in[0]->data;
}

static void transpose(TransposeOp op, Operands in, Results out) {
  out[0] = transposeOf(*in[0], op.getPermutation());
}

static void broadcast(BroadcastOp op, Operands in, Results out) {
  Dims from(out[0].rank(), 0);
  for (auto [dim, stride] :
       llvm::zip_equal(op.getDims(), stridesOf(in[0]->shape)))
    from[dim] = stride;
  forEachPair(out[0].shape, from, stridesOf(out[0].shape),
              [&](int64_t a, int64_t b) { out[0].data[b] = in[0]->data[a]; });
}

static void slice(SliceOp op, Operands in, Results out) {
  out[0] = sliceOf(*in[0], op.getOffsets(), op.getSizes());
}

static void pad(PadOp op, Operands in, Results out) {
  double value = op.getValue().convertToDouble();
  std::fill(out[0].data.begin(), out[0].data.end(), value);
  insertInto(out[0], *in[0], op.getLow());
}

static void concat(ConcatOp op, Operands in, Results out) {
  out[0] = concatOf(in, op.getDim());
}

/// The value that changes nothing.
static double neutral(ReductionKind kind) {
  double infinity = std::numeric_limits<double>::infinity();
  switch (kind) {
  case ReductionKind::Sum:
    return 0;
  case ReductionKind::Max:
    return -infinity;
  case ReductionKind::Min:
    return infinity;
  }
  llvm_unreachable("unknown reduction");
}

double fleet::combine(ReductionKind kind, double a, double b) {
  switch (kind) {
  case ReductionKind::Sum:
    return a + b;
  case ReductionKind::Max:
    return std::isnan(a) || a >= b ? a : b;
  case ReductionKind::Min:
    return std::isnan(a) || a <= b ? a : b;
  }
  llvm_unreachable("unknown reduction");
}

static void reduce(ReduceOp op, Operands in, Results out) {
  Dims to(in[0]->rank(), 0);
  Dims resultStrides = stridesOf(out[0].shape);
  for (int64_t d = 0, kept = 0; d < in[0]->rank(); ++d)
    if (!llvm::is_contained(op.getDims(), d))
      to[d] = resultStrides[kept++];
  ReductionKind kind = op.getKind();
  std::fill(out[0].data.begin(), out[0].data.end(), neutral(kind));
  forEachPair(in[0]->shape, stridesOf(in[0]->shape), to,
              [&](int64_t a, int64_t b) {
                out[0].data[b] = combine(kind, out[0].data[b], in[0]->data[a]);
              });
}

void fleet::attachShapeModels(MLIRContext *context) {
  attachChecked<ConstantOp, constant>(context);
  attachPure<IotaOp, iota>(context);
  attachPure<ReshapeOp, reshape>(context);
  attachPure<TransposeOp, transpose>(context);
  attachPure<BroadcastOp, broadcast>(context);
  attachPure<SliceOp, slice>(context);
  attachPure<PadOp, pad>(context);
  attachPure<ConcatOp, concat>(context);
  attachPure<ReduceOp, reduce>(context);
}
