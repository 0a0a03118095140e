//===- NetworkSharding.cpp - Rules of network operations -------*- C++ -*-===//
//
// Rows pass through; the normalised dimension stays whole, except in cross entropy, whose local form combines the row
// statistics of sharded classes (three all_reduces of one number per row, and no gathered logits).
//
//===----------------------------------------------------------------------===//

#include "NetworkForms.h"
#include "fleet/Dialect/Fleet/FleetOps.h"

using namespace mlir;
using namespace fleet;

/// Factors of a tensor: rows of kind `rows`, last dimension of kind `last`.
static TensorFactors rowFactors(ShardingRule &rule, RankedTensorType type,
                                FactorKind rows, FactorKind last) {
  TensorFactors dims;
  for (auto [d, size] : llvm::enumerate(type.getShape())) {
    bool isLast = static_cast<int64_t>(d) + 1 == type.getRank();
    if (size == 1)
      dims.emplace_back();
    else
      dims.push_back({rule.addFactor(size, isLast ? last : rows)});
  }
  return dims;
}

/// Rule of operations on rows: each operand and result is the whole tensor, its rows, its last dimension or a scalar,
/// told apart by shape.
static ShardingRule rowRule(Operation *op, FactorKind rows, FactorKind last,
                            RankedTensorType type) {
  ShardingRule rule;
  TensorFactors full = rowFactors(rule, type, rows, last);
  TensorFactors leading(full.begin(), std::prev(full.end()));
  auto factorsOf = [&](Value value) -> TensorFactors {
    ArrayRef<int64_t> shape = typeOf(value).getShape();
    if (shape == type.getShape())
      return full;
    if (shape.empty())
      return {};
    if (shape == type.getShape().drop_back())
      return leading;
    return {full.back()};
  };
  for (Value operand : op->getOperands())
    rule.operands.push_back(factorsOf(operand));
  for (Value result : op->getResults())
    rule.results.push_back(factorsOf(result));
  return rule;
}

ShardingRule SoftmaxOp::getShardingRule() {
  return rowRule(*this, FactorKind::PassThrough, FactorKind::Whole,
                 typeOf(getResult()));
}

ShardingRule SoftmaxGradOp::getShardingRule() {
  ShardingRule rule = rowRule(*this, FactorKind::PassThrough, FactorKind::Whole,
                              typeOf(getResult()));
  rule.linear = {{0}};
  return rule;
}

/// Scale and shift of a norm have one dimension; with rows of one dimension of the same size shape alone cannot tell them
/// apart, so operands are given by role.
static ShardingRule normRule(RankedTensorType type, ArrayRef<char> operandRoles,
                             ArrayRef<char> resultRoles) {
  ShardingRule rule;
  TensorFactors full =
      rowFactors(rule, type, FactorKind::PassThrough, FactorKind::Whole);
  auto factorsOf = [&](char role) -> TensorFactors {
    if (role == 'x')
      return full;
    if (role == 'r')
      return TensorFactors(full.begin(), std::prev(full.end()));
    return {full.back()};
  };
  for (char role : operandRoles)
    rule.operands.push_back(factorsOf(role));
  for (char role : resultRoles)
    rule.results.push_back(factorsOf(role));
  return rule;
}

ShardingRule LayerNormOp::getShardingRule() {
  return normRule(typeOf(getResult()), {'x', 's', 's'}, {'x', 'r', 'r'});
}

ShardingRule LayerNormGradOp::getShardingRule() {
  ShardingRule rule =
      normRule(typeOf(getResult()), {'x', 'x', 's', 'r', 'r'}, {'x'});
  rule.linear = {{0}};
  return rule;
}

ShardingRule RmsNormOp::getShardingRule() {
  return normRule(typeOf(getResult()), {'x', 's'}, {'x', 'r'});
}

ShardingRule RmsNormGradOp::getShardingRule() {
  ShardingRule rule =
      normRule(typeOf(getResult()), {'x', 'x', 's', 'r'}, {'x'});
  rule.linear = {{0}};
  return rule;
}

ShardingRule CountValidOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors dims = rowFactors(rule, typeOf(getLabels()),
                                  FactorKind::Reduction, FactorKind::Reduction);
  rule.operands.push_back(dims);
  rule.results.emplace_back();
  return rule;
}

ShardingRule CrossEntropyOp::getShardingRule() {
  // Without the global count a share of the rows cannot be divided by the right number.
  FactorKind rows = getCount() ? FactorKind::Reduction : FactorKind::Whole;
  ShardingRule rule;
  TensorFactors logits =
      rowFactors(rule, typeOf(getLogits()), rows, FactorKind::Collective);
  TensorFactors leading(logits.begin(), std::prev(logits.end()));
  rule.operands = {logits, leading};
  if (getCount())
    rule.operands.emplace_back();
  rule.results = {TensorFactors(), leading};
  return rule;
}

/// The factor of the classes when `form` cuts it.
static std::optional<unsigned>
cutClasses(const ShardingRule &rule, unsigned logits, const LocalForm &form) {
  const DimFactors &classes = rule.operands[logits].back();
  if (classes.empty() || form.shards(classes[0]) == 1)
    return std::nullopt;
  return classes[0];
}

SmallVector<Value> CrossEntropyOp::buildLocal(OpBuilder &b, ValueRange operands,
                                              const LocalForm &form) {
  Adaptor local(operands, *this);
  std::optional<unsigned> classes = cutClasses(getShardingRule(), 0, form);
  if (!classes)
    return SmallVector<Value>(
        CrossEntropyOp::create(b, getLoc(), local.getLogits(),
                               local.getLabels(), local.getCount(),
                               getIgnoreIndexAttr())
            ->getResults());
  auto combine = [&](Value value, bool max) {
    return form.combine(b, getLoc(), *classes, value, max);
  };
  return buildCrossEntropy(b, *this, local.getLogits(), local.getLabels(),
                           local.getCount(), form.offset(b, getLoc(), *classes),
                           combine);
}

ShardingRule CrossEntropyGradOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors logits =
      rowFactors(rule, typeOf(getLogits()), FactorKind::PassThrough,
                 getBase() ? FactorKind::Whole : FactorKind::PassThrough);
  TensorFactors leading(logits.begin(), std::prev(logits.end()));
  rule.operands = {TensorFactors(), logits, leading, leading, TensorFactors()};
  if (getBase())
    rule.operands.emplace_back();
  rule.results = {logits};
  rule.linear = {{0}};
  return rule;
}

SmallVector<Value> CrossEntropyGradOp::buildLocal(OpBuilder &b,
                                                  ValueRange operands,
                                                  const LocalForm &form) {
  Adaptor local(operands, *this);
  Value base = local.getBase();
  if (std::optional<unsigned> classes = cutClasses(getShardingRule(), 1, form))
    base = form.offset(b, getLoc(), *classes);
  return {CrossEntropyGradOp::create(
      b, getLoc(), local.getGrad(), local.getLogits(), local.getLabels(),
      local.getLse(), local.getCount(), base, getIgnoreIndexAttr())};
}

ShardingRule SgdOp::getShardingRule() { return elementwiseRule(*this); }
ShardingRule MomentumOp::getShardingRule() { return elementwiseRule(*this); }
ShardingRule AdamOp::getShardingRule() { return elementwiseRule(*this); }
