//===- ShapeSharding.cpp - Rules of shape operations -----------*- C++ -*-===//
//
// Which dimensions of operands and results are the same factor, for operations that move or combine elements.
//
//===----------------------------------------------------------------------===//

#include "fleet/Dialect/Fleet/FleetOps.h"

using namespace mlir;
using namespace fleet;

/// Adds a factor for `size` unless it is 1 and returns the factor list of the dimension.
static DimFactors dimFactor(ShardingRule &rule, int64_t size,
                            FactorKind kind = FactorKind::PassThrough) {
  if (size == 1)
    return {};
  return {rule.addFactor(size, kind)};
}

/// Factors of every dimension of a tensor, all of one kind.
static TensorFactors allDims(ShardingRule &rule, RankedTensorType type,
                             FactorKind kind) {
  TensorFactors dims;
  for (int64_t size : type.getShape())
    dims.push_back(dimFactor(rule, size, kind));
  return dims;
}

ShardingRule ConstantOp::getShardingRule() {
  ShardingRule rule;
  auto type = typeOf(getResult());
  // Shards of a constant are cut from the whole, which costs nothing; equal elements need no cutting.
  auto kind = getSplat() ? FactorKind::PassThrough : FactorKind::Whole;
  rule.results.push_back(allDims(rule, type, kind));
  return rule;
}

KernelClass ConstantOp::getKernelClass() { return KernelClass::Generator; }

ShardingRule IotaOp::getShardingRule() {
  ShardingRule rule;
  rule.results.push_back(
      allDims(rule, typeOf(getResult()), FactorKind::PassThrough));
  return rule;
}

SmallVector<Value> IotaOp::buildLocal(OpBuilder &b, ValueRange,
                                      const LocalForm &form) {
  ShardingRule rule = getShardingRule();
  Type type = localResultTypes(*this, rule, form)[0];
  Value local = IotaOp::create(b, getLoc(), type, getDim());
  const DimFactors &factors = rule.results[0][getDim()];
  if (factors.empty() || form.shards(factors[0]) == 1)
    return {local};
  Value offset = form.offset(b, getLoc(), factors[0]);
  auto scalar = RankedTensorType::get({}, typeOf(local).getElementType());
  if (offset.getType() != scalar)
    offset = CastOp::create(b, getLoc(), scalar, offset);
  offset = buildSplat(b, getLoc(), offset, typeOf(local));
  return {AddOp::create(b, getLoc(), local, offset)};
}

KernelClass IotaOp::getKernelClass() { return KernelClass::Generator; }

namespace {
/// Walks two shapes from the left and names the factors that both are products of.
class Refinement {
public:
  Refinement(ArrayRef<int64_t> from, ArrayRef<int64_t> to, ShardingRule &rule)
      : from(from), to(to), rule(rule), in(from.size()), out(to.size()) {}

  void run() {
    while (i < from.size() || j < to.size()) {
      if (i < from.size() && from[i] == 1 && restIn == 1) {
        ++i;
      } else if (j < to.size() && to[j] == 1 && restOut == 1) {
        ++j;
      } else {
        step();
      }
    }
    rule.operands.push_back(in);
    rule.results.push_back(out);
  }

private:
  /// Takes the next common factor, or the smallest group of dimensions with equal products whose inner borders
  /// differ: those stay whole.
  void step() {
    int64_t a = restIn == 1 ? from[i] : restIn;
    int64_t b = restOut == 1 ? to[j] : restOut;
    int64_t size = std::min(a, b);
    if (a % size != 0 || b % size != 0) {
      skipGroup(a, b);
      return;
    }
    unsigned factor = rule.addFactor(size, FactorKind::PassThrough);
    in[i].push_back(factor);
    out[j].push_back(factor);
    restIn = a / size;
    restOut = b / size;
    i += restIn == 1;
    j += restOut == 1;
  }

  void skipGroup(int64_t a, int64_t b) {
    addWhole(in[i], a);
    addWhole(out[j], b);
    while (a != b) {
      if (a < b) {
        ++i;
        addWhole(in[i], from[i]);
        a *= from[i];
      } else {
        ++j;
        addWhole(out[j], to[j]);
        b *= to[j];
      }
    }
    restIn = restOut = 1;
    ++i;
    ++j;
  }

  void addWhole(DimFactors &dim, int64_t size) {
    if (size != 1)
      dim.push_back(rule.addFactor(size, FactorKind::Whole));
  }

  ArrayRef<int64_t> from, to;
  ShardingRule &rule;
  TensorFactors in, out;
  size_t i = 0, j = 0;
  /// What is left of the dimension at hand; 1 at its start.
  int64_t restIn = 1, restOut = 1;
};
} // namespace

ShardingRule ReshapeOp::getShardingRule() {
  ShardingRule rule;
  auto from = typeOf(getOperand()), to = typeOf(getResult());
  if (from.getNumElements() == 0) {
    rule.operands.push_back(allDims(rule, from, FactorKind::Whole));
    rule.results.push_back(allDims(rule, to, FactorKind::Whole));
  } else {
    Refinement(from.getShape(), to.getShape(), rule).run();
  }
  rule.linear = {{0}};
  return rule;
}

ShardingRule TransposeOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors in = allDims(rule, typeOf(getOperand()),
                             FactorKind::PassThrough),
                out;
  for (int64_t d : getPermutation())
    out.push_back(in[d]);
  rule.operands.push_back(in);
  rule.results.push_back(out);
  rule.linear = {{0}};
  return rule;
}

ShardingRule BroadcastOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors out =
                    allDims(rule, typeOf(getResult()), FactorKind::PassThrough),
                in;
  for (int64_t d : getDims())
    in.push_back(out[d]);
  rule.operands.push_back(in);
  rule.results.push_back(out);
  rule.linear = {{0}};
  return rule;
}

/// Rule of an operation whose operand 0 and result have equal rank: dimensions that do not change pass through, the
/// others stay whole.
static ShardingRule resizeRule(Value operand, Value result) {
  ShardingRule rule;
  auto from = typeOf(operand), to = typeOf(result);
  TensorFactors in, out;
  for (auto [a, b] : llvm::zip(from.getShape(), to.getShape())) {
    if (a == b) {
      in.push_back(dimFactor(rule, a));
      out.push_back(in.back());
      continue;
    }
    in.push_back(dimFactor(rule, a, FactorKind::Whole));
    out.push_back(dimFactor(rule, b, FactorKind::Whole));
  }
  rule.operands.push_back(in);
  rule.results.push_back(out);
  rule.linear = {{0}};
  return rule;
}

ShardingRule SliceOp::getShardingRule() {
  return resizeRule(getOperand(), getResult());
}

SmallVector<Value> SliceOp::buildLocal(OpBuilder &b, ValueRange operands,
                                       const LocalForm &form) {
  Type type = localResultTypes(*this, getShardingRule(), form)[0];
  // A dimension that is not cut by the slice is taken whole, whatever its local size.
  return {SliceOp::create(b, getLoc(), operands[0], getOffsets(),
                          cast<RankedTensorType>(type).getShape())};
}

ShardingRule PadOp::getShardingRule() {
  ShardingRule rule = resizeRule(getOperand(), getResult());
  if (getValue().convertToDouble() != 0.0)
    rule.linear.clear();
  return rule;
}

ShardingRule ConcatOp::getShardingRule() {
  ShardingRule rule;
  auto type = typeOf(getResult());
  TensorFactors out;
  for (auto [d, size] : llvm::enumerate(type.getShape()))
    out.push_back(
        dimFactor(rule, size,
                  static_cast<int64_t>(d) == static_cast<int64_t>(getDim())
                      ? FactorKind::Whole
                      : FactorKind::PassThrough));
  SmallVector<unsigned, 2> all;
  for (auto [index, operand] : llvm::enumerate(getOperands())) {
    TensorFactors in = out;
    in[getDim()] = dimFactor(rule, typeOf(operand).getDimSize(getDim()),
                             FactorKind::Whole);
    rule.operands.push_back(in);
    all.push_back(index);
  }
  rule.results.push_back(out);
  rule.linear = {all};
  return rule;
}

ShardingRule ReduceOp::getShardingRule() {
  ShardingRule rule;
  bool sum = getKind() == ReductionKind::Sum;
  TensorFactors in, out;
  for (auto [d, size] : llvm::enumerate(typeOf(getOperand()).getShape())) {
    bool reduced = llvm::is_contained(getDims(), static_cast<int64_t>(d));
    FactorKind kind = !reduced ? FactorKind::PassThrough
                      : sum    ? FactorKind::Reduction
                               : FactorKind::Whole;
    in.push_back(dimFactor(rule, size, kind));
    if (!reduced)
      out.push_back(in.back());
  }
  rule.operands.push_back(in);
  rule.results.push_back(out);
  if (sum)
    rule.linear = {{0}};
  return rule;
}

KernelClass ReduceOp::getKernelClass() { return KernelClass::Reduction; }

ShardingRule DotGeneralOp::getShardingRule() {
  ShardingRule rule;
  auto lhsType = typeOf(getLhs()), rhsType = typeOf(getRhs());
  TensorFactors lhs(lhsType.getRank()), rhs(rhsType.getRank()), out;
  for (auto [l, r] : llvm::zip(getLhsBatch(), getRhsBatch())) {
    lhs[l] = rhs[r] = dimFactor(rule, lhsType.getDimSize(l));
    out.push_back(lhs[l]);
  }
  for (auto [l, r] : llvm::zip(getLhsContract(), getRhsContract()))
    lhs[l] = rhs[r] =
        dimFactor(rule, lhsType.getDimSize(l), FactorKind::Reduction);
  for (int64_t d : getLhsFree())
    out.push_back(lhs[d] = dimFactor(rule, lhsType.getDimSize(d)));
  for (int64_t d : getRhsFree())
    out.push_back(rhs[d] = dimFactor(rule, rhsType.getDimSize(d)));
  rule.operands = {lhs, rhs};
  rule.linear = {{0}, {1}};
  if (getAccumulator()) {
    // Terms of the accumulator and of the product are not terms of one sum.
    rule.operands.push_back(out);
    rule.linear.clear();
  }
  rule.results.push_back(out);
  return rule;
}

KernelClass DotGeneralOp::getKernelClass() { return KernelClass::Library; }
KernelClass PadOp::getKernelClass() { return KernelClass::View; }
KernelClass ConcatOp::getKernelClass() { return KernelClass::View; }
int64_t PadOp::getFlops() { return 0; }
int64_t ConcatOp::getFlops() { return 0; }
