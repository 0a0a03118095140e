//===- Derivatives.cpp - Vector-Jacobian products --------------*- C++ -*-===//
//
// The reverse-mode derivative of every operation that a gradient passes through. Each is checked against central
// differences by the interpreter (test/Transforms/autodiff-*).
//
//===----------------------------------------------------------------------===//

#include "fleet/Dialect/Fleet/FleetOps.h"

#include <cmath>

using namespace mlir;
using namespace fleet;

namespace {
/// Short names for tensor arithmetic at one location.
struct Tensors {
  OpBuilder &b;
  Location loc;
  Value add(Value x, Value y) const { return AddOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) const { return SubOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) const { return MulOp::create(b, loc, x, y); }
  Value div(Value x, Value y) const { return DivOp::create(b, loc, x, y); }
  Value neg(Value x) const { return NegOp::create(b, loc, x); }
  Value full(Value like, double value) const {
    return buildFull(b, loc, typeOf(like), value);
  }
  Value compare(Predicate predicate, Value x, Value y) const {
    return CompareOp::create(b, loc, predicate, x, y);
  }
  Value select(Value condition, Value x, Value y) const {
    return SelectOp::create(b, loc, condition, x, y);
  }
  Value reduceSum(Value x, ArrayRef<int64_t> dims) const {
    return b.createOrFold<ReduceOp>(loc, ReductionKind::Sum, x, dims);
  }
};
} // namespace

#define FLEET_VJP(Op)                                                          \
  void Op::buildVjp(OpBuilder &b, ArrayRef<Value> resultGrads,                 \
                    ArrayRef<bool> wanted, MutableArrayRef<Value> grads)

/// Derivative of a unary operation, an expression of grad `g`, operand `x` and result `y`.
#define FLEET_UNARY_VJP(Op, expression)                                        \
  FLEET_VJP(Op) {                                                              \
    Tensors t{b, getLoc()};                                                    \
    Value g = resultGrads[0], x = getOperand(), y = getResult();               \
    (void)t, (void)x, (void)y;                                                 \
    grads[0] = expression;                                                     \
  }

FLEET_UNARY_VJP(NegOp, t.neg(g))
FLEET_UNARY_VJP(ExpOp, t.mul(g, y))
FLEET_UNARY_VJP(LogOp, t.div(g, x))
FLEET_UNARY_VJP(SqrtOp, t.div(t.mul(g, t.full(g, 0.5)), y))
FLEET_UNARY_VJP(RsqrtOp,
                t.mul(t.mul(g, t.full(g, -0.5)), t.mul(y, t.mul(y, y))))
FLEET_UNARY_VJP(ReciprocalOp, t.neg(t.mul(g, t.mul(y, y))))
FLEET_UNARY_VJP(TanhOp, t.mul(g, t.sub(t.full(g, 1), t.mul(y, y))))
FLEET_UNARY_VJP(ErfOp, t.mul(t.mul(g, t.full(g, M_2_SQRTPI)),
                             ExpOp::create(b, getLoc(), t.neg(t.mul(x, x)))))
FLEET_UNARY_VJP(SigmoidOp, t.mul(g, t.mul(y, t.sub(t.full(g, 1), y))))
FLEET_UNARY_VJP(ReluOp, t.select(t.compare(Predicate::GT, y, t.full(y, 0)), g,
                                 t.full(g, 0)))
FLEET_UNARY_VJP(SinOp, t.mul(g, CosOp::create(b, getLoc(), x)))
FLEET_UNARY_VJP(CosOp, t.neg(t.mul(g, SinOp::create(b, getLoc(), x))))
FLEET_UNARY_VJP(AbsOp,
                t.select(t.compare(Predicate::LT, x, t.full(x, 0)), t.neg(g),
                         t.select(t.compare(Predicate::GT, x, t.full(x, 0)), g,
                                  t.full(g, 0))))
FLEET_UNARY_VJP(GeluOp, GeluGradOp::create(b, getLoc(), g.getType(), g, x,
                                           getTanhAttr()))
#undef FLEET_UNARY_VJP

FLEET_VJP(AddOp) { grads[0] = grads[1] = resultGrads[0]; }

FLEET_VJP(SubOp) {
  grads[0] = resultGrads[0];
  if (wanted[1])
    grads[1] = NegOp::create(b, getLoc(), resultGrads[0]);
}

FLEET_VJP(MulOp) {
  Tensors t{b, getLoc()};
  if (wanted[0])
    grads[0] = t.mul(resultGrads[0], getRhs());
  if (wanted[1])
    grads[1] = t.mul(resultGrads[0], getLhs());
}

FLEET_VJP(DivOp) {
  Tensors t{b, getLoc()};
  Value scaled = t.div(resultGrads[0], getRhs());
  grads[0] = scaled;
  if (wanted[1])
    grads[1] = t.neg(t.mul(scaled, getResult()));
}

FLEET_VJP(PowOp) {
  Tensors t{b, getLoc()};
  if (!wanted[0])
    return;
  Value lower = t.sub(getRhs(), t.full(getRhs(), 1));
  Value slope = t.mul(getRhs(), PowOp::create(b, getLoc(), getLhs(), lower));
  grads[0] = t.mul(resultGrads[0], slope);
}

/// Gradient of max and min: to lhs where it was taken, to rhs elsewhere.
static void extremumVjp(const Tensors &t, Predicate taken, Value lhs, Value rhs,
                        Value g, ArrayRef<bool> wanted,
                        MutableArrayRef<Value> grads) {
  Value toLhs = t.compare(taken, lhs, rhs), zero = t.full(g, 0);
  if (wanted[0])
    grads[0] = t.select(toLhs, g, zero);
  if (wanted[1])
    grads[1] = t.select(toLhs, zero, g);
}

FLEET_VJP(MaxOp) {
  extremumVjp({b, getLoc()}, Predicate::GE, getLhs(), getRhs(), resultGrads[0],
              wanted, grads);
}

FLEET_VJP(MinOp) {
  extremumVjp({b, getLoc()}, Predicate::LE, getLhs(), getRhs(), resultGrads[0],
              wanted, grads);
}

FLEET_VJP(SelectOp) {
  Tensors t{b, getLoc()};
  Value g = resultGrads[0], zero = t.full(g, 0);
  if (wanted[1])
    grads[1] = t.select(getCondition(), g, zero);
  if (wanted[2])
    grads[2] = t.select(getCondition(), zero, g);
}

FLEET_VJP(CastOp) {
  grads[0] =
      CastOp::create(b, getLoc(), getOperand().getType(), resultGrads[0]);
}

FLEET_VJP(SumOp) { llvm::fill(grads, resultGrads[0]); }

FLEET_VJP(ReshapeOp) {
  grads[0] =
      ReshapeOp::create(b, getLoc(), getOperand().getType(), resultGrads[0]);
}

FLEET_VJP(TransposeOp) {
  SmallVector<int64_t> inverse(getPermutation().size());
  for (auto [d, from] : llvm::enumerate(getPermutation()))
    inverse[from] = d;
  grads[0] = TransposeOp::create(b, getLoc(), resultGrads[0], inverse);
}

FLEET_VJP(BroadcastOp) {
  SmallVector<int64_t> repeated;
  for (int64_t d = 0; d < typeOf(getResult()).getRank(); ++d)
    if (!llvm::is_contained(getDims(), d))
      repeated.push_back(d);
  grads[0] = Tensors{b, getLoc()}.reduceSum(resultGrads[0], repeated);
}

FLEET_VJP(SliceOp) {
  SmallVector<int64_t> high;
  for (auto [size, offset, taken] :
       llvm::zip(typeOf(getOperand()).getShape(), getOffsets(), getSizes()))
    high.push_back(size - offset - taken);
  grads[0] = PadOp::create(b, getLoc(), resultGrads[0], getOffsets(), high,
                           llvm::APFloat(0.0));
}

FLEET_VJP(PadOp) {
  grads[0] = SliceOp::create(b, getLoc(), resultGrads[0], getLow(),
                             typeOf(getOperand()).getShape());
}

FLEET_VJP(ConcatOp) {
  int64_t offset = 0;
  auto rank = typeOf(getResult()).getRank();
  for (auto [index, operand] : llvm::enumerate(getOperands())) {
    SmallVector<int64_t> offsets(rank, 0);
    offsets[getDim()] = offset;
    offset += typeOf(operand).getDimSize(getDim());
    if (wanted[index])
      grads[index] = SliceOp::create(b, getLoc(), resultGrads[0], offsets,
                                     typeOf(operand).getShape());
  }
}

FLEET_VJP(ReduceOp) {
  if (getKind() != ReductionKind::Sum)
    return;
  grads[0] = buildBroadcastAlong(b, getLoc(), resultGrads[0],
                                 typeOf(getOperand()), getDims());
}

namespace {
/// Dimensions of one operand of a dot_general by role.
struct DotSide {
  Value value;
  ArrayRef<int64_t> batch, contract;
  SmallVector<int64_t> free;
};
} // namespace

/// Permutation that puts dimensions which stand at `places` back in order.
static SmallVector<int64_t> inverseOf(ArrayRef<int64_t> places) {
  SmallVector<int64_t> permutation(places.size());
  for (auto [from, to] : llvm::enumerate(places))
    permutation[to] = from;
  return permutation;
}

/// Contracted dimensions of `side` in the order in which a product that leaves them from `other` has them.
static SmallVector<int64_t> contractPlaces(const DotSide &side,
                                           const DotSide &other) {
  SmallVector<std::pair<int64_t, int64_t>> pairs;
  for (auto [theirs, ours] : llvm::zip(other.contract, side.contract))
    pairs.push_back({theirs, ours});
  llvm::sort(pairs);
  return llvm::map_to_vector(pairs, [](auto pair) { return pair.second; });
}

/// Gradient of `side`: grad against `other`. Dimensions of grad are batch, then free dimensions of both sides; those of
/// `other` begin at `offset`. The order of the factors is the one whose product needs no transpose, where there is one.
static Value dotGradient(OpBuilder &b, Location loc, Value grad,
                         const DotSide &side, const DotSide &other,
                         int64_t offset) {
  SmallVector<int64_t> gradBatch(side.batch.size()),
      gradContract(other.free.size());
  std::iota(gradBatch.begin(), gradBatch.end(), 0);
  std::iota(gradContract.begin(), gradContract.end(), offset);
  SmallVector<int64_t> contract = contractPlaces(side, other);
  SmallVector<int64_t> gradFirst(side.batch), otherFirst(side.batch);
  llvm::append_range(gradFirst, side.free);
  llvm::append_range(gradFirst, contract);
  llvm::append_range(otherFirst, contract);
  llvm::append_range(otherFirst, side.free);
  if (llvm::is_sorted(otherFirst))
    return DotGeneralOp::create(b, loc, other.value, grad, other.batch,
                                gradBatch, other.free, gradContract);
  Value product = DotGeneralOp::create(b, loc, grad, other.value, gradBatch,
                                       other.batch, gradContract, other.free);
  return b.createOrFold<TransposeOp>(loc, product, inverseOf(gradFirst));
}

FLEET_VJP(DotGeneralOp) {
  Value g = resultGrads[0];
  DotSide lhs{getLhs(), getLhsBatch(), getLhsContract(), getLhsFree()};
  DotSide rhs{getRhs(), getRhsBatch(), getRhsContract(), getRhsFree()};
  auto batch = static_cast<int64_t>(getLhsBatch().size());
  auto middle = batch + static_cast<int64_t>(lhs.free.size());
  if (wanted[0])
    grads[0] = dotGradient(b, getLoc(), g, lhs, rhs, middle);
  if (wanted[1])
    grads[1] = dotGradient(b, getLoc(), g, rhs, lhs, batch);
  if (getAccumulator())
    grads[2] = g;
}

FLEET_VJP(GatherOp) {
  if (wanted[0])
    grads[0] = ScatterAddOp::create(b, getLoc(), getTable().getType(),
                                    resultGrads[0], getIndices(), getBase());
}

FLEET_VJP(ScatterAddOp) {
  grads[0] =
      GatherOp::create(b, getLoc(), resultGrads[0], getIndices(), getBase());
}

FLEET_VJP(SoftmaxOp) {
  grads[0] = SoftmaxGradOp::create(b, getLoc(), resultGrads[0], getResult());
}

/// Sum over all dimensions but the last: gradient of a scale or shift.
static Value sumRows(const Tensors &t, Value x) {
  SmallVector<int64_t> dims(typeOf(x).getRank() - 1);
  std::iota(dims.begin(), dims.end(), 0);
  return t.reduceSum(x, dims);
}

static Value repeatRows(OpBuilder &b, Location loc, Value rows, Value like) {
  return buildBroadcastAlong(b, loc, rows, typeOf(like),
                             {typeOf(like).getRank() - 1});
}

FLEET_VJP(LayerNormOp) {
  Tensors t{b, getLoc()};
  Value g = resultGrads[0], x = getOperand();
  if (!g)
    return;
  if (wanted[0])
    grads[0] = LayerNormGradOp::create(b, getLoc(), g, x, getScale(), getMean(),
                                       getRstd());
  if (wanted[1]) {
    Value centered = t.sub(x, repeatRows(b, getLoc(), getMean(), x));
    Value h = t.mul(centered, repeatRows(b, getLoc(), getRstd(), x));
    grads[1] = sumRows(t, t.mul(g, h));
  }
  if (wanted[2])
    grads[2] = sumRows(t, g);
}

FLEET_VJP(RmsNormOp) {
  Tensors t{b, getLoc()};
  Value g = resultGrads[0], x = getOperand();
  if (!g)
    return;
  if (wanted[0])
    grads[0] = RmsNormGradOp::create(b, getLoc(), g, x, getScale(), getRstd());
  if (wanted[1]) {
    Value h = t.mul(x, repeatRows(b, getLoc(), getRstd(), x));
    grads[1] = sumRows(t, t.mul(g, h));
  }
}

FLEET_VJP(CrossEntropyOp) {
  if (!wanted[0] || !resultGrads[0])
    return;
  Value count = getCount();
  if (!count)
    count = CountValidOp::create(b, getLoc(), getLoss().getType(), getLabels(),
                                 getIgnoreIndexAttr());
  grads[0] = CrossEntropyGradOp::create(b, getLoc(), resultGrads[0],
                                        getLogits(), getLabels(), getLse(),
                                        count, Value(), getIgnoreIndexAttr());
}
