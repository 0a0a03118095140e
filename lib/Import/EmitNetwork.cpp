//===- EmitNetwork.cpp - Contractions, norms, losses -----------*- C++ -*-===//
//
// Operators that a fused kernel or a sharding rule knows. Transposed operands of products become contraction dimensions:
// nothing is moved.
//
//===----------------------------------------------------------------------===//

#include "Importer.h"

using namespace llvm;
using namespace mlir;

namespace fleet {

static EmitResult one(Value value) {
  std::vector<Imported> results(1);
  results[0].value = value;
  return results;
}

/// value * factor, or value when factor is 1.
static Value scaled(EmitInput &in, Value value, double factor) {
  if (factor == 1)
    return value;
  return MulOp::create(in.importer.b, in.importer.loc, value,
                       in.importer.full(value, factor));
}

static bool isFloatTensor(Value value) {
  return isa<FloatType>(typeOf(value).getElementType());
}

static EmitResult emitGemm(EmitInput &in) {
  Value a = in.value(0), c, b = in.value(1);
  int64_t aDim = in.attributes.integer("transA", 0) ? 0 : 1;
  int64_t bDim = in.attributes.integer("transB", 0) ? 1 : 0;
  if (typeOf(a).getRank() != 2 || typeOf(b).getRank() != 2 ||
      typeOf(a).getDimSize(aDim) != typeOf(b).getDimSize(bDim) ||
      !isFloatTensor(a) || !isFloatTensor(b))
    return nodeError(in.node, "has operands that do not fit");
  Value product = DotGeneralOp::create(in.importer.b, in.importer.loc, a, b,
                                       ArrayRef<int64_t>{}, ArrayRef<int64_t>{},
                                       {aDim}, {bDim});
  product = scaled(in, product, in.attributes.number("alpha", 1));
  if (!in.has(2))
    return one(product);
  ArrayRef<int64_t> shape = typeOf(product).getShape();
  if (broadcastShape(shape, typeOf(in.value(2)).getShape()) !=
      std::optional<ConstShape>(ConstShape(shape)))
    return nodeError(in.node, "has a third operand that does not broadcast");
  c = scaled(in, in.value(2), in.attributes.number("beta", 1));
  return one(AddOp::create(in.importer.b, in.importer.loc, product,
                           in.importer.broadcast(c, shape)));
}

static EmitResult emitMatMul(EmitInput &in) {
  Value a = in.value(0), b = in.value(1);
  int64_t aRank = typeOf(a).getRank(), bRank = typeOf(b).getRank();
  if (aRank < 2 || bRank < 2 || !isFloatTensor(a) || !isFloatTensor(b) ||
      typeOf(a).getDimSize(aRank - 1) != typeOf(b).getDimSize(bRank - 2))
    return nodeError(in.node, "has operands that do not fit or are vectors");
  if (bRank == 2)
    return one(DotGeneralOp::create(in.importer.b, in.importer.loc, a, b,
                                    ArrayRef<int64_t>{}, ArrayRef<int64_t>{},
                                    {aRank - 1}, {0}));
  auto shapeOf = [](Value value) { return typeOf(value).getShape(); };
  auto batch = broadcastShape(shapeOf(a).drop_back(2), shapeOf(b).drop_back(2));
  if (!batch)
    return nodeError(in.node, "has batch dimensions that do not broadcast");
  auto withBatch = [&](Value value) {
    SmallVector<int64_t> shape(batch->begin(), batch->end());
    llvm::append_range(shape, shapeOf(value).take_back(2));
    return in.importer.broadcast(value, shape);
  };
  a = withBatch(a);
  b = withBatch(b);
  int64_t rank = batch->size() + 2;
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, rank - 2));
  return one(DotGeneralOp::create(in.importer.b, in.importer.loc, a, b, dims,
                                  dims, {rank - 1}, {rank - 2}));
}

static EmitResult emitSoftmax(EmitInput &in) {
  Value x = in.value(0);
  int64_t rank = typeOf(x).getRank();
  auto axis = normalizeAxis(
      in.attributes.integer("axis", in.opset >= 13 ? -1 : 1), rank);
  if (!axis || !isFloatTensor(x))
    return nodeError(in.node, "has an axis outside the rank");
  if (*axis == rank - 1)
    return one(SoftmaxOp::create(in.importer.b, in.importer.loc, x));
  if (in.opset < 13)
    return nodeError(in.node, "flattens dimensions before softmax, which is "
                              "not yet supported");
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(order[*axis], order.back());
  OpBuilder &b = in.importer.b;
  Value moved = TransposeOp::create(b, in.importer.loc, x, order);
  moved = SoftmaxOp::create(b, in.importer.loc, moved);
  return one(TransposeOp::create(b, in.importer.loc, moved, order));
}

static EmitResult emitLayerNormalization(EmitInput &in) {
  Value x = in.value(0), scale = in.value(1);
  int64_t rank = typeOf(x).getRank();
  auto axis = normalizeAxis(in.attributes.integer("axis", -1), rank);
  if (!axis || *axis != rank - 1)
    return nodeError(in.node, "normalises more than the last dimension, which "
                              "is not yet supported");
  Value shift = in.has(2) ? in.value(2) : in.importer.full(scale, 0);
  auto expected = typeOf(x).clone(typeOf(x).getShape().take_back());
  if (scale.getType() != expected || shift.getType() != expected)
    return nodeError(in.node, "has a scale or shift of another shape");
  auto norm =
      LayerNormOp::create(in.importer.b, in.importer.loc, x, scale, shift,
                          APFloat(in.attributes.number("epsilon", 1e-5)));
  return one(norm.getResult());
}

/// Mean cross entropy over classes in dimension 1.
static EmitResult emitSoftmaxCrossEntropyLoss(EmitInput &in) {
  Value scores = in.value(0), labels = in.value(1);
  int64_t rank = typeOf(scores).getRank();
  if (in.attributes.text("reduction", "mean") != "mean" || in.has(2))
    return nodeError(in.node, "has weights or a reduction other than mean, "
                              "which is not yet supported");
  if (rank < 2)
    return nodeError(in.node, "needs scores of rank 2 or more");
  SmallVector<int64_t> order = {0};
  for (int64_t d = 2; d < rank; ++d)
    order.push_back(d);
  order.push_back(1);
  OpBuilder &b = in.importer.b;
  scores = b.createOrFold<TransposeOp>(in.importer.loc, scores, order);
  if (typeOf(labels).getShape() != typeOf(scores).getShape().drop_back() ||
      !isFloatTensor(scores) ||
      !isa<IntegerType>(typeOf(labels).getElementType()))
    return nodeError(in.node, "has labels whose shape or type does not fit");
  IntegerAttr ignore;
  if (in.attributes.find("ignore_index"))
    ignore = b.getI64IntegerAttr(in.attributes.integer("ignore_index", 0));
  auto loss = CrossEntropyOp::create(b, in.importer.loc, scores, labels,
                                     Value(), ignore);
  return one(loss.getLoss());
}

void addNetworkEmitters(EmitterTable &table) {
  table["Gemm"] = {emitGemm, 2};
  table["MatMul"] = {emitMatMul, 2};
  table["Softmax"] = {emitSoftmax, 1};
  table["LayerNormalization"] = {emitLayerNormalization, 2};
  table["SoftmaxCrossEntropyLoss"] = {emitSoftmaxCrossEntropyLoss, 2};
}

} // namespace fleet
