//===- ElementwiseOps.cpp - Rules of element-wise operations ---*- C++ -*-===//
//
// Sharding rules, kernel classes, folds and type inference of operations with one body per element. In which operands an
// operation is linear decides what a partial sum may pass through (docs/sharding.md, the laws of unreduced values).
//
//===----------------------------------------------------------------------===//

#include "fleet/Dialect/Fleet/FleetOps.h"

using namespace mlir;
using namespace fleet;

namespace {
using Groups = SmallVector<SmallVector<unsigned, 2>, 2>;
} // namespace

static const Groups kNone = {};
static const Groups kFirst = {{0}};
static const Groups kBothTogether = {{0, 1}};
static const Groups kEither = {{0}, {1}};

#define FLEET_ELEMENTWISE(Op, linearGroups)                                    \
  ShardingRule Op::getShardingRule() {                                         \
    return elementwiseRule(*this, linearGroups);                               \
  }                                                                            \
  KernelClass Op::getKernelClass() { return KernelClass::Elementwise; }

FLEET_ELEMENTWISE(NegOp, kFirst)
FLEET_ELEMENTWISE(ExpOp, kNone)
FLEET_ELEMENTWISE(LogOp, kNone)
FLEET_ELEMENTWISE(SqrtOp, kNone)
FLEET_ELEMENTWISE(RsqrtOp, kNone)
FLEET_ELEMENTWISE(ReciprocalOp, kNone)
FLEET_ELEMENTWISE(TanhOp, kNone)
FLEET_ELEMENTWISE(ErfOp, kNone)
FLEET_ELEMENTWISE(SigmoidOp, kNone)
FLEET_ELEMENTWISE(ReluOp, kNone)
FLEET_ELEMENTWISE(SinOp, kNone)
FLEET_ELEMENTWISE(CosOp, kNone)
FLEET_ELEMENTWISE(AbsOp, kNone)
FLEET_ELEMENTWISE(GeluOp, kNone)
FLEET_ELEMENTWISE(GeluGradOp, kFirst)
FLEET_ELEMENTWISE(AddOp, kBothTogether)
FLEET_ELEMENTWISE(SubOp, kBothTogether)
FLEET_ELEMENTWISE(MulOp, kEither)
FLEET_ELEMENTWISE(DivOp, kFirst)
FLEET_ELEMENTWISE(PowOp, kNone)
FLEET_ELEMENTWISE(MaxOp, kNone)
FLEET_ELEMENTWISE(MinOp, kNone)
FLEET_ELEMENTWISE(AndOp, kNone)
FLEET_ELEMENTWISE(OrOp, kNone)
FLEET_ELEMENTWISE(NotOp, kNone)
FLEET_ELEMENTWISE(CompareOp, kNone)
FLEET_ELEMENTWISE(SelectOp, (Groups{{1, 2}}))
#undef FLEET_ELEMENTWISE

KernelClass CastOp::getKernelClass() { return KernelClass::Elementwise; }
ShardingRule CastOp::getShardingRule() {
  // A narrowing cast above a sum would round the terms instead of the sum.
  auto from = dyn_cast<FloatType>(typeOf(getOperand()).getElementType());
  auto to = dyn_cast<FloatType>(typeOf(getResult()).getElementType());
  bool linear = from && to && to.getWidth() >= from.getWidth();
  return elementwiseRule(*this, linear ? kFirst : kNone);
}

KernelClass SumOp::getKernelClass() { return KernelClass::Elementwise; }
ShardingRule SumOp::getShardingRule() {
  SmallVector<unsigned, 2> all(getNumOperands());
  std::iota(all.begin(), all.end(), 0u);
  return elementwiseRule(*this, {all});
}
int64_t SumOp::getFlops() {
  return countElements(getResult()) * (getNumOperands() - 1);
}
LogicalResult SumOp::verify() {
  if (getTerms().empty())
    return emitOpError("needs at least one term");
  return success();
}
OpFoldResult SumOp::fold(FoldAdaptor) {
  return getNumOperands() == 1 ? OpFoldResult(getTerms()[0]) : nullptr;
}

LogicalResult CompareOp::inferReturnTypes(MLIRContext *context,
                                          std::optional<Location>,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &inferred) {
  inferred.push_back(
      typeOf(adaptor.getLhs()).clone(IntegerType::get(context, 1)));
  return success();
}

/// The value of all elements of `value` when it is a splat constant, looked at through broadcasts.
static std::optional<double> splatOf(Value value) {
  while (auto broadcast = value.getDefiningOp<BroadcastOp>())
    value = broadcast.getOperand();
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant ? constant.getSplat() : std::nullopt;
}

OpFoldResult AddOp::fold(FoldAdaptor) {
  if (splatOf(getRhs()) == 0.0)
    return getLhs();
  if (splatOf(getLhs()) == 0.0)
    return getRhs();
  return nullptr;
}

OpFoldResult MulOp::fold(FoldAdaptor) {
  if (splatOf(getRhs()) == 1.0)
    return getLhs();
  if (splatOf(getLhs()) == 1.0)
    return getRhs();
  return nullptr;
}

OpFoldResult DivOp::fold(FoldAdaptor) {
  return splatOf(getRhs()) == 1.0 ? OpFoldResult(getLhs()) : nullptr;
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  return getOperand().getType() == getResult().getType()
             ? OpFoldResult(getOperand())
             : nullptr;
}
