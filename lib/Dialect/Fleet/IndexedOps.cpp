//===- IndexedOps.cpp - gather and scatter_add -----------------*- C++ -*-===//
//
// Rows selected by index. A shard of the table serves its own range of indices: the local form subtracts the first row of
// the range and leaves the rest zero.
//
//===----------------------------------------------------------------------===//

#include "fleet/Dialect/Fleet/FleetOps.h"

using namespace mlir;
using namespace fleet;

LogicalResult GatherOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &inferred) {
  auto table = typeOf(adaptor.getTable());
  if (table.getRank() == 0)
    return emitOptionalError(loc,
                             "the table needs a dimension to select along");
  SmallVector<int64_t> shape(typeOf(adaptor.getIndices()).getShape());
  llvm::append_range(shape, table.getShape().drop_front());
  inferred.push_back(table.clone(shape));
  return success();
}

LogicalResult ScatterAddOp::verify() {
  auto updates = typeOf(getUpdates()), result = typeOf(getResult());
  if (result.getRank() == 0)
    return emitOpError("the result needs a dimension to select along");
  SmallVector<int64_t> expected(typeOf(getIndices()).getShape());
  llvm::append_range(expected, result.getShape().drop_front());
  if (updates.getShape() != ArrayRef(expected))
    return emitOpError("updates have shape ")
           << updates.getShape() << ", indices and result ask for "
           << ArrayRef(expected);
  return success();
}

KernelClass GatherOp::getKernelClass() { return KernelClass::Indexed; }
KernelClass ScatterAddOp::getKernelClass() { return KernelClass::Indexed; }
int64_t GatherOp::getFlops() { return 0; }
int64_t ScatterAddOp::getFlops() { return countElements(getUpdates()); }

/// Rule of a table, its indices and the selected rows. `indexKind` is the kind of the index dimensions, `rowKind` that of
/// the table's rows.
static ShardingRule tableRule(RankedTensorType table, RankedTensorType indices,
                              FactorKind indexKind, FactorKind rowKind,
                              TensorFactors &tableDims,
                              TensorFactors &indexDims,
                              TensorFactors &rowDims) {
  ShardingRule rule;
  auto factor = [&](int64_t size, FactorKind kind) {
    return size == 1 ? DimFactors() : DimFactors{rule.addFactor(size, kind)};
  };
  tableDims.push_back(factor(table.getDimSize(0), rowKind));
  for (int64_t size : indices.getShape())
    indexDims.push_back(factor(size, indexKind));
  rowDims = indexDims;
  for (int64_t size : table.getShape().drop_front()) {
    tableDims.push_back(factor(size, FactorKind::PassThrough));
    rowDims.push_back(tableDims.back());
  }
  return rule;
}

ShardingRule GatherOp::getShardingRule() {
  TensorFactors table, indices, rows;
  ShardingRule rule = tableRule(
      typeOf(getTable()), typeOf(getIndices()), FactorKind::PassThrough,
      getBase() ? FactorKind::Whole : FactorKind::Lookup, table, indices, rows);
  rule.operands = {table, indices};
  if (getBase())
    rule.operands.emplace_back();
  rule.results = {rows};
  rule.linear = {{0}};
  return rule;
}

ShardingRule ScatterAddOp::getShardingRule() {
  TensorFactors table, indices, rows;
  ShardingRule rule = tableRule(
      typeOf(getResult()), typeOf(getIndices()), FactorKind::Reduction,
      getBase() ? FactorKind::Whole : FactorKind::PassThrough, table, indices,
      rows);
  rule.operands = {rows, indices};
  if (getBase())
    rule.operands.emplace_back();
  rule.results = {table};
  rule.linear = {{0}};
  return rule;
}

/// First row of the local shard as a scalar of the indices' type, null when the rows are not cut.
static Value localBase(OpBuilder &b, Location loc, const LocalForm &form,
                       const DimFactors &rows, Value indices) {
  if (rows.empty() || form.shards(rows[0]) == 1)
    return {};
  Value base = form.offset(b, loc, rows[0]);
  auto type = RankedTensorType::get({}, typeOf(indices).getElementType());
  return base.getType() == type ? base : CastOp::create(b, loc, type, base);
}

SmallVector<Value> GatherOp::buildLocal(OpBuilder &b, ValueRange operands,
                                        const LocalForm &form) {
  Value base = getBase()
                   ? operands[2]
                   : localBase(b, getLoc(), form,
                               getShardingRule().operands[0][0], operands[1]);
  return {GatherOp::create(b, getLoc(), operands[0], operands[1], base)};
}

SmallVector<Value> ScatterAddOp::buildLocal(OpBuilder &b, ValueRange operands,
                                            const LocalForm &form) {
  ShardingRule rule = getShardingRule();
  Value base =
      getBase() ? operands[2]
                : localBase(b, getLoc(), form, rule.results[0][0], operands[1]);
  Type type = localResultTypes(*this, rule, form)[0];
  return {
      ScatterAddOp::create(b, getLoc(), type, operands[0], operands[1], base)};
}
