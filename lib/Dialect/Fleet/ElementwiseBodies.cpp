//===- ElementwiseBodies.cpp - One element of each operation ---*- C++ -*-===//
//
// Bodies in arith and math ops, which work on scalars and vectors alike, so that the same body serves a vector loop and
// its scalar rest.
//
//===----------------------------------------------------------------------===//

#include "fleet/Dialect/Fleet/FleetOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;
using namespace fleet;

static bool isFloat(Type type) {
  return isa<FloatType>(getElementTypeOrSelf(type));
}

/// A constant of a scalar or vector type.
static Value number(OpBuilder &b, Location loc, Type type, double value) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr scalar = isa<FloatType>(element)
                         ? TypedAttr(b.getFloatAttr(element, value))
                         : TypedAttr(b.getIntegerAttr(element, value));
  if (auto vector = dyn_cast<VectorType>(type))
    return arith::ConstantOp::create(b, loc,
                                     DenseElementsAttr::get(vector, scalar));
  return arith::ConstantOp::create(b, loc, scalar);
}

/// A body that is one op of arith or math.
template <typename FloatOp, typename IntOp = FloatOp>
static Value numeric(OpBuilder &b, Location loc, ValueRange args) {
  if (isFloat(args[0].getType()))
    return FloatOp::create(b, loc, args[0].getType(), args);
  return IntOp::create(b, loc, args[0].getType(), args);
}

#define FLEET_BODY(Op)                                                         \
  Value Op::buildBody(OpBuilder &b, Location loc, ValueRange args, Type type)

FLEET_BODY(NegOp) { return numeric<arith::NegFOp>(b, loc, args); }
FLEET_BODY(ExpOp) { return numeric<math::ExpOp>(b, loc, args); }
FLEET_BODY(LogOp) { return numeric<math::LogOp>(b, loc, args); }
FLEET_BODY(SqrtOp) { return numeric<math::SqrtOp>(b, loc, args); }
FLEET_BODY(TanhOp) { return numeric<math::TanhOp>(b, loc, args); }
FLEET_BODY(ErfOp) { return numeric<math::ErfOp>(b, loc, args); }
FLEET_BODY(SinOp) { return numeric<math::SinOp>(b, loc, args); }
FLEET_BODY(CosOp) { return numeric<math::CosOp>(b, loc, args); }
FLEET_BODY(AbsOp) { return numeric<math::AbsFOp>(b, loc, args); }
FLEET_BODY(AddOp) {
  return numeric<arith::AddFOp, arith::AddIOp>(b, loc, args);
}
FLEET_BODY(SubOp) {
  return numeric<arith::SubFOp, arith::SubIOp>(b, loc, args);
}
FLEET_BODY(MulOp) {
  return numeric<arith::MulFOp, arith::MulIOp>(b, loc, args);
}
FLEET_BODY(DivOp) {
  return numeric<arith::DivFOp, arith::DivSIOp>(b, loc, args);
}
FLEET_BODY(MaxOp) {
  return numeric<arith::MaximumFOp, arith::MaxSIOp>(b, loc, args);
}
FLEET_BODY(MinOp) {
  return numeric<arith::MinimumFOp, arith::MinSIOp>(b, loc, args);
}
FLEET_BODY(AndOp) { return arith::AndIOp::create(b, loc, args[0], args[1]); }
FLEET_BODY(OrOp) { return arith::OrIOp::create(b, loc, args[0], args[1]); }
FLEET_BODY(NotOp) {
  return arith::XOrIOp::create(b, loc, args[0], number(b, loc, type, 1));
}
FLEET_BODY(SelectOp) {
  return arith::SelectOp::create(b, loc, args[0], args[1], args[2]);
}

FLEET_BODY(RsqrtOp) {
  Value root = math::SqrtOp::create(b, loc, args[0]);
  return arith::DivFOp::create(b, loc, number(b, loc, type, 1), root);
}

FLEET_BODY(ReciprocalOp) {
  return arith::DivFOp::create(b, loc, number(b, loc, type, 1), args[0]);
}

FLEET_BODY(SigmoidOp) {
  Value negated = arith::NegFOp::create(b, loc, args[0]);
  Value exponential = math::ExpOp::create(b, loc, negated);
  Value one = number(b, loc, type, 1);
  return arith::DivFOp::create(b, loc, one,
                               arith::AddFOp::create(b, loc, one, exponential));
}

FLEET_BODY(ReluOp) {
  return arith::MaximumFOp::create(b, loc, args[0], number(b, loc, type, 0));
}

FLEET_BODY(SumOp) {
  Value sum = args[0];
  for (Value term : args.drop_front())
    sum = arith::AddFOp::create(b, loc, sum, term);
  return sum;
}

/// An integral constant exponent by which pow becomes multiplications.
static std::optional<int64_t> smallExponent(PowOp op) {
  Value exponent = op.getRhs();
  while (auto broadcast = exponent.getDefiningOp<BroadcastOp>())
    exponent = broadcast.getOperand();
  auto constant = exponent.getDefiningOp<ConstantOp>();
  std::optional<double> splat = constant ? constant.getSplat() : std::nullopt;
  if (splat && (*splat == 2 || *splat == 3))
    return static_cast<int64_t>(*splat);
  return std::nullopt;
}

FLEET_BODY(PowOp) {
  if (std::optional<int64_t> exponent = smallExponent(*this)) {
    Value square = arith::MulFOp::create(b, loc, args[0], args[0]);
    return *exponent == 2 ? square
                          : arith::MulFOp::create(b, loc, square, args[0]);
  }
  return math::PowFOp::create(b, loc, args[0], args[1]);
}

FLEET_BODY(CompareOp) {
  static constexpr arith::CmpFPredicate floats[] = {
      arith::CmpFPredicate::OEQ, arith::CmpFPredicate::UNE,
      arith::CmpFPredicate::OLT, arith::CmpFPredicate::OLE,
      arith::CmpFPredicate::OGT, arith::CmpFPredicate::OGE};
  static constexpr arith::CmpIPredicate integers[] = {
      arith::CmpIPredicate::eq,  arith::CmpIPredicate::ne,
      arith::CmpIPredicate::slt, arith::CmpIPredicate::sle,
      arith::CmpIPredicate::sgt, arith::CmpIPredicate::sge};
  auto index = static_cast<unsigned>(getPredicate());
  if (isFloat(args[0].getType()))
    return arith::CmpFOp::create(b, loc, floats[index], args[0], args[1]);
  return arith::CmpIOp::create(b, loc, integers[index], args[0], args[1]);
}

/// Conversion from an integer (i1 is unsigned).
static Value castFromInt(OpBuilder &b, Location loc, Value x, Type type) {
  Type from = getElementTypeOrSelf(x.getType());
  if (isFloat(type)) {
    if (from.isInteger(1))
      return arith::UIToFPOp::create(b, loc, type, x);
    return arith::SIToFPOp::create(b, loc, type, x);
  }
  Type to = getElementTypeOrSelf(type);
  if (to.isInteger(1))
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, x,
                                 number(b, loc, x.getType(), 0));
  if (from.isInteger(1))
    return arith::ExtUIOp::create(b, loc, type, x);
  if (to.getIntOrFloatBitWidth() > from.getIntOrFloatBitWidth())
    return arith::ExtSIOp::create(b, loc, type, x);
  return arith::TruncIOp::create(b, loc, type, x);
}

FLEET_BODY(CastOp) {
  Value x = args[0];
  if (x.getType() == type)
    return x;
  if (!isFloat(x.getType()))
    return castFromInt(b, loc, x, type);
  Type to = getElementTypeOrSelf(type);
  if (to.isInteger(1))
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, x,
                                 number(b, loc, x.getType(), 0));
  if (isa<IntegerType>(to))
    return arith::FPToSIOp::create(b, loc, type, x);
  if (to.getIntOrFloatBitWidth() >
      getElementTypeOrSelf(x.getType()).getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, loc, type, x);
  return arith::TruncFOp::create(b, loc, type, x);
}

namespace {
/// Short names for the arithmetic of one element.
struct Arithmetic {
  OpBuilder &b;
  Location loc;
  Type type;
  Value c(double value) const { return number(b, loc, type, value); }
  Value add(Value x, Value y) const {
    return arith::AddFOp::create(b, loc, x, y);
  }
  Value sub(Value x, Value y) const {
    return arith::SubFOp::create(b, loc, x, y);
  }
  Value mul(Value x, Value y) const {
    return arith::MulFOp::create(b, loc, x, y);
  }
};
} // namespace

static constexpr double kTanhCubic = 0.044715;
static const double kTanhScale = std::sqrt(2.0 / M_PI);

/// tanh(sqrt(2/pi) (x + 0.044715 x^3)).
static Value geluTanh(const Arithmetic &a, Value x) {
  Value cubic = a.mul(a.mul(x, x), a.mul(x, a.c(kTanhCubic)));
  Value inner = a.mul(a.c(kTanhScale), a.add(x, cubic));
  return math::TanhOp::create(a.b, a.loc, inner);
}

/// Phi(x), the distribution function of the normal distribution.
static Value normalCdf(const Arithmetic &a, Value x) {
  Value erf = math::ErfOp::create(a.b, a.loc, a.mul(x, a.c(M_SQRT1_2)));
  return a.mul(a.c(0.5), a.add(a.c(1), erf));
}

FLEET_BODY(GeluOp) {
  Arithmetic a{b, loc, type};
  if (!getTanh())
    return a.mul(args[0], normalCdf(a, args[0]));
  Value half = a.mul(a.c(0.5), args[0]);
  return a.mul(half, a.add(a.c(1), geluTanh(a, args[0])));
}

FLEET_BODY(GeluGradOp) {
  Arithmetic a{b, loc, type};
  Value grad = args[0], x = args[1];
  if (!getTanh()) {
    // Phi(x) + x phi(x), phi(x) = exp(-x^2 / 2) / sqrt(2 pi).
    Value square = a.mul(a.mul(x, x), a.c(-0.5));
    Value density = a.mul(a.c(1 / std::sqrt(2 * M_PI)),
                          math::ExpOp::create(b, loc, square));
    return a.mul(grad, a.add(normalCdf(a, x), a.mul(x, density)));
  }
  // 0.5 (1 + t) + 0.5 x (1 - t^2) sqrt(2/pi) (1 + 3 * 0.044715 x^2).
  Value t = geluTanh(a, x);
  Value slope = a.mul(a.c(kTanhScale),
                      a.add(a.c(1), a.mul(a.c(3 * kTanhCubic), a.mul(x, x))));
  Value sech = a.sub(a.c(1), a.mul(t, t));
  Value second = a.mul(a.mul(x, sech), slope);
  return a.mul(grad, a.mul(a.c(0.5), a.add(a.add(a.c(1), t), second)));
}
