//===- ShapeOps.cpp - Types, folds, verifiers of shape ops -----*- C++ -*-===//
//
// Result types of operations that move or combine elements, and what folds away.
//
//===----------------------------------------------------------------------===//

#include "fleet/Dialect/Fleet/FleetOps.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace fleet;

//===----------------------------------------------------------------------===//
// Helpers declared in FleetOps.h
//===----------------------------------------------------------------------===//

Value fleet::buildFull(OpBuilder &b, Location loc, RankedTensorType type,
                       double value) {
  auto scalar = RankedTensorType::get({}, type.getElementType());
  return buildSplat(b, loc, ConstantOp::create(b, loc, scalar, value), type);
}

Value fleet::buildSplat(OpBuilder &b, Location loc, Value scalar,
                        RankedTensorType like) {
  if (like.getRank() == 0)
    return scalar;
  auto type = like.clone(typeOf(scalar).getElementType());
  return BroadcastOp::create(b, loc, type, scalar, ArrayRef<int64_t>{});
}

Value fleet::buildBroadcastAlong(OpBuilder &b, Location loc, Value value,
                                 RankedTensorType like,
                                 ArrayRef<int64_t> dims) {
  SmallVector<int64_t> kept;
  for (int64_t d = 0; d < like.getRank(); ++d)
    if (!llvm::is_contained(dims, d))
      kept.push_back(d);
  auto type = like.clone(typeOf(value).getElementType());
  return BroadcastOp::create(b, loc, type, value, kept);
}

//===----------------------------------------------------------------------===//
// constant, iota
//===----------------------------------------------------------------------===//

/// Element type under which a constant of `element` stores its data.
static Type storageType(Type element) {
  MLIRContext *context = element.getContext();
  if (isa<FloatType>(element))
    return Float64Type::get(context);
  return IntegerType::get(context, 64);
}

void ConstantOp::build(OpBuilder &b, OperationState &state,
                       RankedTensorType type, double splat) {
  Type storage = storageType(type.getElementType());
  Attribute element =
      isa<FloatType>(storage)
          ? Attribute(b.getF64FloatAttr(splat))
          : Attribute(b.getI64IntegerAttr(static_cast<int64_t>(splat)));
  build(b, state, type, DenseElementsAttr::get(type.clone(storage), element));
}

LogicalResult ConstantOp::verify() {
  auto stored = cast<RankedTensorType>(getValue().getType());
  if (stored.getShape() != typeOf(getResult()).getShape())
    return emitOpError("value has shape ")
           << stored.getShape() << " but the result has shape "
           << typeOf(getResult()).getShape();
  Type expected = storageType(typeOf(getResult()).getElementType());
  if (stored.getElementType() != expected)
    return emitOpError("value must be stored as ")
           << expected << ", got " << stored.getElementType();
  return success();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

std::optional<double> ConstantOp::getSplat() {
  auto dense = dyn_cast<DenseElementsAttr>(getValue());
  if (!dense || !dense.isSplat())
    return std::nullopt;
  if (isa<FloatType>(dense.getElementType()))
    return dense.getSplatValue<APFloat>().convertToDouble();
  return static_cast<double>(dense.getSplatValue<APInt>().getSExtValue());
}

LogicalResult IotaOp::verify() {
  int64_t rank = typeOf(getResult()).getRank();
  auto dim = static_cast<int64_t>(getDim());
  if (dim < 0 || dim >= rank)
    return emitOpError("dim ") << dim << " is outside rank " << rank;
  return success();
}

//===----------------------------------------------------------------------===//
// reshape, transpose, broadcast, slice, pad, concat
//===----------------------------------------------------------------------===//

LogicalResult ReshapeOp::verify() {
  auto from = typeOf(getOperand()), to = typeOf(getResult());
  if (from.getElementType() != to.getElementType())
    return emitOpError("changes the element type");
  if (from.getNumElements() != to.getNumElements())
    return emitOpError("has ")
           << from.getNumElements() << " elements before and "
           << to.getNumElements() << " after";
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  return getOperand().getType() == getResult().getType()
             ? OpFoldResult(getOperand())
             : nullptr;
}

/// reshape(reshape(x)) is one reshape.
static LogicalResult mergeReshapes(ReshapeOp op, PatternRewriter &rewriter) {
  auto inner = op.getOperand().getDefiningOp<ReshapeOp>();
  if (!inner)
    return failure();
  rewriter.modifyOpInPlace(
      op, [&] { op.getOperandMutable().assign(inner.getOperand()); });
  return success();
}

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *) {
  patterns.add(mergeReshapes);
}

/// True for 0, 1, 2, ….
static bool isIdentity(ArrayRef<int64_t> permutation) {
  for (auto [d, from] : llvm::enumerate(permutation))
    if (from != static_cast<int64_t>(d))
      return false;
  return true;
}

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &inferred) {
  auto type = typeOf(adaptor.getOperand());
  ArrayRef<int64_t> permutation = adaptor.getPermutation();
  SmallVector<int64_t> shape;
  llvm::SmallBitVector seen(type.getRank());
  for (int64_t d : permutation) {
    if (d < 0 || d >= type.getRank() || seen.test(d))
      return emitOptionalError(loc, "permutation names dimension ", d,
                               " twice or outside rank ", type.getRank());
    seen.set(d);
    shape.push_back(type.getDimSize(d));
  }
  if (!seen.all())
    return emitOptionalError(loc, "permutation has ", permutation.size(),
                             " entries for rank ", type.getRank());
  inferred.push_back(type.clone(shape));
  return success();
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  return isIdentity(getPermutation()) ? OpFoldResult(getOperand()) : nullptr;
}

LogicalResult BroadcastOp::verify() {
  auto from = typeOf(getOperand()), to = typeOf(getResult());
  if (from.getElementType() != to.getElementType())
    return emitOpError("changes the element type");
  if (static_cast<int64_t>(getDims().size()) != from.getRank())
    return emitOpError("dims has ")
           << getDims().size() << " entries for rank " << from.getRank();
  int64_t previous = -1;
  for (auto [d, target] : llvm::enumerate(getDims())) {
    if (target <= previous || target >= to.getRank())
      return emitOpError("dims must increase and stay inside rank ")
             << to.getRank();
    previous = target;
    if (from.getDimSize(d) != to.getDimSize(target))
      return emitOpError("dimension ")
             << d << " of size " << from.getDimSize(d) << " becomes dimension "
             << target << " of size " << to.getDimSize(target);
  }
  return success();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  return getOperand().getType() == getResult().getType()
             ? OpFoldResult(getOperand())
             : nullptr;
}

LogicalResult SliceOp::inferReturnTypes(MLIRContext *,
                                        std::optional<Location> loc,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &inferred) {
  auto type = typeOf(adaptor.getOperand());
  ArrayRef<int64_t> offsets = adaptor.getOffsets(), sizes = adaptor.getSizes();
  auto rank = static_cast<size_t>(type.getRank());
  if (offsets.size() != rank || sizes.size() != rank)
    return emitOptionalError(loc, "offsets and sizes need ", rank, " entries");
  for (size_t d = 0; d < rank; ++d)
    if (offsets[d] < 0 || sizes[d] < 0 ||
        offsets[d] + sizes[d] > type.getDimSize(d))
      return emitOptionalError(loc, "slice [", offsets[d], ", ",
                               offsets[d] + sizes[d], ") of dimension ", d,
                               " leaves its size ", type.getDimSize(d));
  inferred.push_back(type.clone(sizes));
  return success();
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  return getOperand().getType() == getResult().getType()
             ? OpFoldResult(getOperand())
             : nullptr;
}

LogicalResult PadOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> loc,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &inferred) {
  auto type = typeOf(adaptor.getOperand());
  SmallVector<int64_t> shape(type.getShape());
  ArrayRef<int64_t> low = adaptor.getLow(), high = adaptor.getHigh();
  if (low.size() != shape.size() || high.size() != shape.size())
    return emitOptionalError(loc, "low and high need ", shape.size(),
                             " entries");
  for (auto [size, before, after] : llvm::zip(shape, low, high)) {
    if (before < 0 || after < 0)
      return emitOptionalError(loc, "padding must not be negative");
    size += before + after;
  }
  inferred.push_back(type.clone(shape));
  return success();
}

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &inferred) {
  if (adaptor.getOperands().empty())
    return emitOptionalError(loc, "concat needs an operand");
  auto first = typeOf(adaptor.getOperands()[0]);
  auto dim = static_cast<int64_t>(adaptor.getDim());
  if (dim < 0 || dim >= first.getRank())
    return emitOptionalError(loc, "dim ", dim, " is outside rank ",
                             first.getRank());
  SmallVector<int64_t> shape(first.getShape());
  for (Value operand : adaptor.getOperands().drop_front()) {
    SmallVector<int64_t> other(typeOf(operand).getShape());
    if (other.size() != shape.size())
      return emitOptionalError(loc, "operands of concat differ in rank");
    shape[dim] += std::exchange(other[dim], first.getDimSize(dim));
    if (ArrayRef(other) != first.getShape())
      return emitOptionalError(loc, "operands of concat differ outside dim ",
                               dim);
  }
  inferred.push_back(first.clone(shape));
  return success();
}

//===----------------------------------------------------------------------===//
// reduce, dot_general
//===----------------------------------------------------------------------===//

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &inferred) {
  auto type = typeOf(adaptor.getOperand());
  for (int64_t d : adaptor.getDims())
    if (d < 0 || d >= type.getRank() || llvm::count(adaptor.getDims(), d) != 1)
      return emitOptionalError(loc, "dims names dimension ", d,
                               " twice or outside rank ", type.getRank());
  SmallVector<int64_t> shape;
  for (auto [d, size] : llvm::enumerate(type.getShape()))
    if (!llvm::is_contained(adaptor.getDims(), d))
      shape.push_back(size);
  inferred.push_back(type.clone(shape));
  return success();
}

OpFoldResult ReduceOp::fold(FoldAdaptor) {
  return getDims().empty() ? OpFoldResult(getOperand()) : nullptr;
}

int64_t ReduceOp::getFlops() { return countElements(getOperand()); }

/// Dimensions of a tensor of `rank` that are in neither list, ascending.
static SmallVector<int64_t> freeDims(int64_t rank, ArrayRef<int64_t> batch,
                                     ArrayRef<int64_t> contract) {
  SmallVector<int64_t> dims;
  for (int64_t d = 0; d < rank; ++d)
    if (!llvm::is_contained(batch, d) && !llvm::is_contained(contract, d))
      dims.push_back(d);
  return dims;
}

SmallVector<int64_t> DotGeneralOp::getLhsFree() {
  return freeDims(typeOf(getLhs()).getRank(), getLhsBatch(), getLhsContract());
}

SmallVector<int64_t> DotGeneralOp::getRhsFree() {
  return freeDims(typeOf(getRhs()).getRank(), getRhsBatch(), getRhsContract());
}

void DotGeneralOp::build(OpBuilder &b, OperationState &state, Value lhs,
                         Value rhs, ArrayRef<int64_t> lhsBatch,
                         ArrayRef<int64_t> rhsBatch,
                         ArrayRef<int64_t> lhsContract,
                         ArrayRef<int64_t> rhsContract) {
  build(b, state, lhs, rhs, Value(), lhsBatch, rhsBatch, lhsContract,
        rhsContract);
}

/// Checks one pair of dimension lists (batch or contract) of a dot_general.
static LogicalResult checkPairs(std::optional<Location> loc, StringRef what,
                                RankedTensorType lhs, RankedTensorType rhs,
                                ArrayRef<int64_t> lhsDims,
                                ArrayRef<int64_t> rhsDims) {
  if (lhsDims.size() != rhsDims.size())
    return emitOptionalError(loc, what, " lists ", lhsDims.size(), " and ",
                             rhsDims.size(), " dimensions");
  for (auto [l, r] : llvm::zip(lhsDims, rhsDims)) {
    if (l < 0 || l >= lhs.getRank() || r < 0 || r >= rhs.getRank())
      return emitOptionalError(loc, what,
                               " names a dimension outside the rank");
    if (lhs.getDimSize(l) != rhs.getDimSize(r))
      return emitOptionalError(loc, what, " pairs sizes ", lhs.getDimSize(l),
                               " and ", rhs.getDimSize(r));
  }
  return success();
}

LogicalResult DotGeneralOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> loc,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &inferred) {
  auto lhs = typeOf(adaptor.getLhs()), rhs = typeOf(adaptor.getRhs());
  ArrayRef<int64_t> lhsBatch = adaptor.getLhsBatch();
  if (failed(checkPairs(loc, "batch", lhs, rhs, lhsBatch,
                        adaptor.getRhsBatch())) ||
      failed(checkPairs(loc, "contract", lhs, rhs, adaptor.getLhsContract(),
                        adaptor.getRhsContract())))
    return failure();
  if (lhs.getElementType() != rhs.getElementType())
    return emitOptionalError(loc, "operands differ in element type");
  SmallVector<int64_t> shape;
  for (int64_t d : lhsBatch)
    shape.push_back(lhs.getDimSize(d));
  for (int64_t d : freeDims(lhs.getRank(), lhsBatch, adaptor.getLhsContract()))
    shape.push_back(lhs.getDimSize(d));
  for (int64_t d :
       freeDims(rhs.getRank(), adaptor.getRhsBatch(), adaptor.getRhsContract()))
    shape.push_back(rhs.getDimSize(d));
  auto type = lhs.clone(shape);
  if (Value accumulator = adaptor.getAccumulator();
      accumulator && accumulator.getType() != type)
    return emitOptionalError(loc, "accumulator has type ",
                             accumulator.getType(), " but the product ", type);
  inferred.push_back(type);
  return success();
}

int64_t DotGeneralOp::getFlops() {
  int64_t flops = 2 * countElements(getResult());
  for (int64_t d : getLhsContract())
    flops *= typeOf(getLhs()).getDimSize(d);
  return flops;
}
