//===- Decompositions.cpp - Structured ops in simple ones ------*- C++ -*-===//
//
// Softmax, norms, cross entropy and optimizers as element-wise, broadcast and reduction ops. Kernel fusion keeps the
// intermediate values in registers, so this is a definition of the kernels, not a slow path.
//
//===----------------------------------------------------------------------===//

#include "NetworkForms.h"

using namespace mlir;
using namespace fleet;

namespace {
/// Builds simple operations over rows of `type`; the last dimension is what rows are made of.
class RowBuilder {
public:
  RowBuilder(OpBuilder &b, Location loc, RankedTensorType type)
      : b(b), loc(loc), type(type), last(type.getRank() - 1) {}

  template <typename Op> Value unary(Value x) { return Op::create(b, loc, x); }
  Value add(Value x, Value y) { return AddOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return SubOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return MulOp::create(b, loc, x, y); }
  Value div(Value x, Value y) { return DivOp::create(b, loc, x, y); }
  Value reduce(ReductionKind kind, Value x) {
    return ReduceOp::create(b, loc, kind, x, ArrayRef<int64_t>{last});
  }
  Value sum(Value x) { return reduce(ReductionKind::Sum, x); }
  /// Mean over the last dimension, one number per row.
  Value mean(Value x) {
    Value total = sum(x);
    return mul(total,
               buildFull(b, loc, typeOf(total), 1.0 / type.getDimSize(last)));
  }
  /// One number per row, repeated along the row.
  Value toRows(Value x) { return buildBroadcastAlong(b, loc, x, type, last); }
  /// One number per element of the last dimension, repeated for every row.
  Value toColumns(Value x) {
    return BroadcastOp::create(b, loc, type, x, ArrayRef<int64_t>{last});
  }
  Value full(Value like, double value) {
    return buildFull(b, loc, typeOf(like), value);
  }

private:
  OpBuilder &b;
  Location loc;
  RankedTensorType type;
  int64_t last;
};
} // namespace

SmallVector<Value> SoftmaxOp::decompose(OpBuilder &b) {
  RowBuilder r(b, getLoc(), typeOf(getResult()));
  Value x = getOperand();
  Value shifted = r.sub(x, r.toRows(r.reduce(ReductionKind::Max, x)));
  Value e = r.unary<ExpOp>(shifted);
  Value inverse = r.unary<ReciprocalOp>(r.sum(e));
  return {r.mul(e, r.toRows(inverse))};
}

SmallVector<Value> SoftmaxGradOp::decompose(OpBuilder &b) {
  RowBuilder r(b, getLoc(), typeOf(getResult()));
  Value inner = r.sum(r.mul(getGrad(), getSoftmax()));
  return {r.mul(getSoftmax(), r.sub(getGrad(), r.toRows(inner)))};
}

SmallVector<Value> LayerNormOp::decompose(OpBuilder &b) {
  RowBuilder r(b, getLoc(), typeOf(getResult()));
  Value mean = r.mean(getOperand());
  Value centered = r.sub(getOperand(), r.toRows(mean));
  Value variance = r.mean(r.mul(centered, centered));
  Value epsilon = r.full(variance, getEpsilon().convertToDouble());
  Value rstd = r.unary<RsqrtOp>(r.add(variance, epsilon));
  Value normalized = r.mul(centered, r.toRows(rstd));
  Value result = r.add(r.mul(normalized, r.toColumns(getScale())),
                       r.toColumns(getShift()));
  return {result, mean, rstd};
}

SmallVector<Value> LayerNormGradOp::decompose(OpBuilder &b) {
  RowBuilder r(b, getLoc(), typeOf(getResult()));
  Value h =
      r.mul(r.sub(getOperand(), r.toRows(getMean())), r.toRows(getRstd()));
  Value g = r.mul(getGrad(), r.toColumns(getScale()));
  Value meanG = r.mean(g), meanGH = r.mean(r.mul(g, h));
  Value inner = r.sub(r.sub(g, r.toRows(meanG)), r.mul(h, r.toRows(meanGH)));
  return {r.mul(inner, r.toRows(getRstd()))};
}

SmallVector<Value> RmsNormOp::decompose(OpBuilder &b) {
  RowBuilder r(b, getLoc(), typeOf(getResult()));
  Value square = r.mean(r.mul(getOperand(), getOperand()));
  Value epsilon = r.full(square, getEpsilon().convertToDouble());
  Value rstd = r.unary<RsqrtOp>(r.add(square, epsilon));
  Value normalized = r.mul(getOperand(), r.toRows(rstd));
  return {r.mul(normalized, r.toColumns(getScale())), rstd};
}

SmallVector<Value> RmsNormGradOp::decompose(OpBuilder &b) {
  RowBuilder r(b, getLoc(), typeOf(getResult()));
  Value h = r.mul(getOperand(), r.toRows(getRstd()));
  Value g = r.mul(getGrad(), r.toColumns(getScale()));
  Value inner = r.mul(h, r.toRows(r.mean(r.mul(g, h))));
  return {r.mul(r.sub(g, inner), r.toRows(getRstd()))};
}

/// i1 tensor: the label counts. Null when every label does.
static Value validLabels(OpBuilder &b, Location loc, Value labels,
                         std::optional<int64_t> ignoreIndex) {
  if (!ignoreIndex)
    return {};
  Value ignored = buildFull(b, loc, typeOf(labels), *ignoreIndex);
  return CompareOp::create(b, loc, Predicate::NE, labels, ignored);
}

/// `values` where the label counts, 0 elsewhere.
static Value keepValid(OpBuilder &b, Location loc, Value valid, Value values) {
  if (!valid)
    return values;
  Value zeros = buildFull(b, loc, typeOf(values), 0);
  return SelectOp::create(b, loc, valid, values, zeros);
}

static Value sumAll(OpBuilder &b, Location loc, Value x) {
  SmallVector<int64_t> dims(typeOf(x).getRank());
  std::iota(dims.begin(), dims.end(), 0);
  return b.createOrFold<ReduceOp>(loc, ReductionKind::Sum, x, dims);
}

SmallVector<Value> CountValidOp::decompose(OpBuilder &b) {
  auto type = typeOf(getLabels()).clone(typeOf(getResult()).getElementType());
  Value ones = buildFull(b, getLoc(), type, 1);
  Value valid = validLabels(b, getLoc(), getLabels(), getIgnoreIndex());
  return {sumAll(b, getLoc(), keepValid(b, getLoc(), valid, ones))};
}

/// i1 tensor of the logits' shape: the class is the row's label.
static Value onehot(OpBuilder &b, Location loc, RankedTensorType logits,
                    Value labels, Value base) {
  if (base) {
    auto scalar = RankedTensorType::get({}, typeOf(labels).getElementType());
    if (base.getType() != scalar)
      base = CastOp::create(b, loc, scalar, base);
    labels =
        SubOp::create(b, loc, labels, buildSplat(b, loc, base, typeOf(labels)));
  }
  int64_t last = logits.getRank() - 1;
  auto type = logits.clone(typeOf(labels).getElementType());
  Value classes = IotaOp::create(b, loc, type, last);
  Value label = buildBroadcastAlong(b, loc, labels, type, last);
  return CompareOp::create(b, loc, Predicate::EQ, classes, label);
}

SmallVector<Value>
fleet::buildCrossEntropy(OpBuilder &b, CrossEntropyOp op, Value logits,
                         Value labels, Value count, Value base,
                         function_ref<Value(Value, bool)> combine) {
  Location loc = op.getLoc();
  auto type = typeOf(logits);
  RowBuilder r(b, loc, type);
  Value max = combine(r.reduce(ReductionKind::Max, logits), true);
  Value e = r.unary<ExpOp>(r.sub(logits, r.toRows(max)));
  Value sum = combine(r.sum(e), false);
  Value lse = r.add(max, r.unary<LogOp>(sum));
  Value hit = onehot(b, loc, type, labels, base);
  Value zeros = r.full(logits, 0);
  Value picked =
      combine(r.sum(SelectOp::create(b, loc, hit, logits, zeros)), false);
  Value valid = validLabels(b, loc, labels, op.getIgnoreIndex());
  Value losses = keepValid(b, loc, valid, r.sub(lse, picked));
  Value loss = sumAll(b, loc, losses);
  if (!count)
    count = CountValidOp::create(b, loc, loss.getType(), labels,
                                 op.getIgnoreIndexAttr());
  return {r.div(loss, count), lse};
}

SmallVector<Value> CrossEntropyOp::decompose(OpBuilder &b) {
  auto same = [](Value value, bool) { return value; };
  return buildCrossEntropy(b, *this, getLogits(), getLabels(), getCount(),
                           Value(), same);
}

SmallVector<Value> CrossEntropyGradOp::decompose(OpBuilder &b) {
  Location loc = getLoc();
  auto type = typeOf(getLogits());
  RowBuilder r(b, loc, type);
  Value p = r.unary<ExpOp>(r.sub(getLogits(), r.toRows(getLse())));
  Value hit = onehot(b, loc, type, getLabels(), getBase());
  Value difference = SelectOp::create(b, loc, hit, r.sub(p, r.full(p, 1)), p);
  Value scale = r.div(getGrad(), getCount());
  Value rows = buildSplat(b, loc, scale, typeOf(getLse()));
  Value valid = validLabels(b, loc, getLabels(), getIgnoreIndex());
  return {r.mul(difference, r.toRows(keepValid(b, loc, valid, rows)))};
}

namespace {
/// Element-wise arithmetic on tensors of the parameter's type; scalars are repeated.
class UpdateBuilder {
public:
  UpdateBuilder(OpBuilder &b, Location loc, Value parameter)
      : b(b), loc(loc), type(typeOf(parameter)) {}
  Value c(double value) { return buildFull(b, loc, type, value); }
  Value splat(Value scalar) { return buildSplat(b, loc, scalar, type); }
  Value add(Value x, Value y) { return AddOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return SubOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return MulOp::create(b, loc, x, y); }
  Value div(Value x, Value y) { return DivOp::create(b, loc, x, y); }
  Value sqrt(Value x) { return SqrtOp::create(b, loc, x); }
  /// x + decay * y, or x when decay is 0.
  Value addDecay(Value x, double decay, Value y) {
    return decay == 0 ? x : add(x, mul(c(decay), y));
  }
  /// 1 - beta^t, a scalar.
  Value biasCorrection(double beta, Value t) {
    auto scalar = typeOf(t);
    Value base = ConstantOp::create(b, loc, scalar, beta);
    Value one = ConstantOp::create(b, loc, scalar, 1.0);
    return sub(one, PowOp::create(b, loc, base, t));
  }

private:
  OpBuilder &b;
  Location loc;
  RankedTensorType type;
};
} // namespace

SmallVector<Value> SgdOp::decompose(OpBuilder &b) {
  UpdateBuilder u(b, getLoc(), getParameter());
  Value p = getParameter();
  Value g = u.addDecay(getGrad(), getWeightDecay().convertToDouble(), p);
  return {u.sub(p, u.mul(u.splat(getLr()), g))};
}

SmallVector<Value> MomentumOp::decompose(OpBuilder &b) {
  UpdateBuilder u(b, getLoc(), getParameter());
  Value p = getParameter(), mu = u.c(getMomentum().convertToDouble());
  Value g = u.addDecay(getGrad(), getWeightDecay().convertToDouble(), p);
  Value v = u.add(u.mul(mu, getVelocity()), g);
  Value step = getNesterov() ? u.add(g, u.mul(mu, v)) : v;
  return {u.sub(p, u.mul(u.splat(getLr()), step)), v};
}

SmallVector<Value> AdamOp::decompose(OpBuilder &b) {
  UpdateBuilder u(b, getLoc(), getParameter());
  double b1 = getBeta1().convertToDouble(), b2 = getBeta2().convertToDouble();
  double decay = getWeightDecay().convertToDouble();
  Value p = getParameter(), g = getGrad(), lr = u.splat(getLr());
  if (!getDecoupled())
    g = u.addDecay(g, decay, p);
  else if (decay != 0)
    p = u.sub(p, u.mul(u.mul(lr, u.c(decay)), p));
  Value m = u.add(u.mul(u.c(b1), getFirstMoment()), u.mul(u.c(1 - b1), g));
  Value v =
      u.add(u.mul(u.c(b2), getSecondMoment()), u.mul(u.c(1 - b2), u.mul(g, g)));
  // Scalars first: one division and one square root for the whole tensor.
  Value rate = u.div(getLr(), u.biasCorrection(b1, getT()));
  Value root = u.sqrt(u.biasCorrection(b2, getT()));
  Value denominator = u.add(u.div(u.sqrt(v), u.splat(root)),
                            u.c(getEpsilon().convertToDouble()));
  Value step = u.div(u.mul(u.splat(rate), m), denominator);
  return {u.sub(p, step), m, v};
}
