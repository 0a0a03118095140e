//===- Elementwise.cpp - Meaning of element-wise operations ----*- C++ -*-===//
//
// One element from one element of every operand, in double.
//
//===----------------------------------------------------------------------===//

#include "Models.h"
#include "fleet/Interpreter/TensorIO.h"

#include <cmath>

using namespace mlir;
using namespace fleet;

static constexpr double kPi = 3.14159265358979323846;

static double neg(double x) { return -x; }
static double rsqrt(double x) { return 1 / std::sqrt(x); }
static double reciprocal(double x) { return 1 / x; }
static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
static double relu(double x) { return x > 0 || std::isnan(x) ? x : 0; }
static double logicalNot(double x) { return x == 0; }

static double add(double a, double b) { return a + b; }
static double sub(double a, double b) { return a - b; }
static double mul(double a, double b) { return a * b; }
static double logicalAnd(double a, double b) { return a != 0 && b != 0; }
static double logicalOr(double a, double b) { return a != 0 || b != 0; }
// A NaN on either side wins, as in IEEE maximum and minimum.
static double larger(double a, double b) {
  return std::isnan(a) || a >= b ? a : b;
}
static double smaller(double a, double b) {
  return std::isnan(a) || a <= b ? a : b;
}

/// Density and distribution function of the standard normal distribution.
static double density(double x) {
  return std::exp(-x * x / 2) / std::sqrt(2 * kPi);
}
static double distribution(double x) {
  return 0.5 * (1 + std::erf(x / std::sqrt(2.0)));
}

static double geluExact(double x) { return x * distribution(x); }
static double geluExactSlope(double x) {
  return distribution(x) + x * density(x);
}

static double geluTanh(double x) {
  return 0.5 * x *
         (1 + std::tanh(std::sqrt(2 / kPi) * (x + 0.044715 * x * x * x)));
}
static double geluTanhSlope(double x) {
  double scale = std::sqrt(2 / kPi);
  double t = std::tanh(scale * (x + 0.044715 * x * x * x));
  return 0.5 * (1 + t) +
         0.5 * x * (1 - t * t) * scale * (1 + 3 * 0.044715 * x * x);
}

static void gelu(GeluOp op, Operands in, Results out) {
  auto fn = op.getTanh() ? geluTanh : geluExact;
  llvm::transform(in[0]->data, out[0].data.begin(), fn);
}

static void geluGrad(GeluGradOp op, Operands in, Results out) {
  auto slope = op.getTanh() ? geluTanhSlope : geluExactSlope;
  for (auto [y, grad, x] :
       llvm::zip_equal(out[0].data, in[0]->data, in[1]->data))
    y = grad * slope(x);
}

static LogicalResult divide(DivOp op, Operands in, Results out) {
  bool integers = isa<IntegerType>(typeOf(op.getResult()).getElementType());
  for (auto [y, a, b] :
       llvm::zip_equal(out[0].data, in[0]->data, in[1]->data)) {
    if (integers && b == 0)
      return op.emitError("division of the integer ") << int64_t(a) << " by 0";
    y = integers ? std::trunc(a / b) : a / b;
  }
  return success();
}

static bool holds(Predicate predicate, double a, double b) {
  switch (predicate) {
  case Predicate::EQ:
    return a == b;
  case Predicate::NE:
    return a != b;
  case Predicate::LT:
    return a < b;
  case Predicate::LE:
    return a <= b;
  case Predicate::GT:
    return a > b;
  case Predicate::GE:
    return a >= b;
  }
  llvm_unreachable("unknown predicate");
}

static void compare(CompareOp op, Operands in, Results out) {
  for (auto [y, a, b] : llvm::zip_equal(out[0].data, in[0]->data, in[1]->data))
    y = holds(op.getPredicate(), a, b);
}

static void select(SelectOp, Operands in, Results out) {
  for (auto [y, condition, a, b] :
       llvm::zip_equal(out[0].data, in[0]->data, in[1]->data, in[2]->data))
    y = condition != 0 ? a : b;
}

/// Floats of any width are doubles: only what makes an integer or a boolean changes the value.
static LogicalResult cast(CastOp op, Operands in, Results out) {
  Type type = typeOf(op.getResult()).getElementType();
  if (isa<FloatType>(type)) {
    out[0].data = in[0]->data;
    return success();
  }
  unsigned width = type.getIntOrFloatBitWidth();
  double limit = std::ldexp(1.0, width - 1);
  for (auto [y, x] : llvm::zip_equal(out[0].data, in[0]->data)) {
    y = width == 1 ? x != 0 : std::trunc(x);
    if (width > 1 && !(y >= -limit && y < limit))
      return op.emitError("value ")
             << formatNumber(x) << " does not fit in " << type;
  }
  return success();
}

static void sum(SumOp, Operands in, Results out) {
  out[0].data = in[0]->data;
  for (const Tensor *term : in.drop_front())
    for (auto [y, x] : llvm::zip_equal(out[0].data, term->data))
      y += x;
}

void fleet::attachElementwiseModels(MLIRContext *context) {
  attachUnary<NegOp, neg>(context);
  attachUnary<ExpOp, std::exp>(context);
  attachUnary<LogOp, std::log>(context);
  attachUnary<SqrtOp, std::sqrt>(context);
  attachUnary<RsqrtOp, rsqrt>(context);
  attachUnary<ReciprocalOp, reciprocal>(context);
  attachUnary<TanhOp, std::tanh>(context);
  attachUnary<ErfOp, std::erf>(context);
  attachUnary<SigmoidOp, sigmoid>(context);
  attachUnary<ReluOp, relu>(context);
  attachUnary<SinOp, std::sin>(context);
  attachUnary<CosOp, std::cos>(context);
  attachUnary<AbsOp, std::fabs>(context);
  attachUnary<NotOp, logicalNot>(context);
  attachBinary<AddOp, add>(context);
  attachBinary<SubOp, sub>(context);
  attachBinary<MulOp, mul>(context);
  attachBinary<PowOp, std::pow>(context);
  attachBinary<MaxOp, larger>(context);
  attachBinary<MinOp, smaller>(context);
  attachBinary<AndOp, logicalAnd>(context);
  attachBinary<OrOp, logicalOr>(context);
  attachPure<GeluOp, gelu>(context);
  attachPure<GeluGradOp, geluGrad>(context);
  attachChecked<DivOp, divide>(context);
  attachPure<CompareOp, compare>(context);
  attachPure<SelectOp, select>(context);
  attachChecked<CastOp, ::cast>(context);
  attachPure<SumOp, sum>(context);
}
