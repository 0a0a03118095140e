//===- NetworkOps.cpp - Types and costs of network ops ---------*- C++ -*-===//
//
// Result types, verifiers, costs and kernel classes of norms, softmax, cross entropy and optimizers.
//
//===----------------------------------------------------------------------===//

#include "fleet/Dialect/Fleet/FleetOps.h"

using namespace mlir;
using namespace fleet;

/// Kernel class and floating-point operations per element of operand 0.
#define FLEET_STRUCTURED(Op, flops)                                            \
  KernelClass Op::getKernelClass() { return KernelClass::Structured; }         \
  int64_t Op::getFlops() {                                                     \
    return (flops) * countElements(getOperation()->getOperand(0));             \
  }

FLEET_STRUCTURED(SoftmaxOp, 5)
FLEET_STRUCTURED(SoftmaxGradOp, 4)
FLEET_STRUCTURED(LayerNormOp, 8)
FLEET_STRUCTURED(LayerNormGradOp, 10)
FLEET_STRUCTURED(RmsNormOp, 5)
FLEET_STRUCTURED(RmsNormGradOp, 8)
FLEET_STRUCTURED(CountValidOp, 1)
FLEET_STRUCTURED(CrossEntropyOp, 5)
FLEET_STRUCTURED(SgdOp, 4)
FLEET_STRUCTURED(MomentumOp, 6)
FLEET_STRUCTURED(AdamOp, 14)
#undef FLEET_STRUCTURED

KernelClass CrossEntropyGradOp::getKernelClass() {
  return KernelClass::Structured;
}
int64_t CrossEntropyGradOp::getFlops() {
  return 5 * countElements(getLogits());
}

LogicalResult SoftmaxOp::verify() {
  if (typeOf(getOperand()).getRank() == 0)
    return emitOpError("needs a dimension to normalise");
  return success();
}

/// Type of one number per row of `type`: the shape without its last dimension.
static RankedTensorType rowsOf(RankedTensorType type) {
  return type.clone(type.getShape().drop_back());
}

/// Checks that `value` has one number per element of the last dimension of `type`.
static LogicalResult checkScale(std::optional<Location> loc, StringRef what,
                                RankedTensorType type, Value value) {
  auto expected = type.clone(type.getShape().take_back());
  if (value.getType() != expected)
    return emitOptionalError(loc, what, " has type ", value.getType(),
                             ", expected ", Type(expected));
  return success();
}

static LogicalResult checkRanked(std::optional<Location> loc,
                                 RankedTensorType type) {
  if (type.getRank() == 0)
    return emitOptionalError(loc, "needs a dimension to normalise");
  return success();
}

LogicalResult LayerNormOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &inferred) {
  auto type = typeOf(adaptor.getOperand());
  if (failed(checkRanked(loc, type)) ||
      failed(checkScale(loc, "scale", type, adaptor.getScale())) ||
      failed(checkScale(loc, "shift", type, adaptor.getShift())))
    return failure();
  inferred.append({type, rowsOf(type), rowsOf(type)});
  return success();
}

LogicalResult RmsNormOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> loc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &inferred) {
  auto type = typeOf(adaptor.getOperand());
  if (failed(checkRanked(loc, type)) ||
      failed(checkScale(loc, "scale", type, adaptor.getScale())))
    return failure();
  inferred.append({type, rowsOf(type)});
  return success();
}

/// Checks the operands that the gradients of norms share and infers their result.
static LogicalResult inferNormGrad(std::optional<Location> loc, Value grad,
                                   Value operand, Value scale, ValueRange rows,
                                   SmallVectorImpl<Type> &inferred) {
  auto type = typeOf(operand);
  if (failed(checkRanked(loc, type)) ||
      failed(checkScale(loc, "scale", type, scale)))
    return failure();
  if (grad.getType() != type)
    return emitOptionalError(loc, "grad has type ", grad.getType(),
                             " but the operand ", Type(type));
  for (Value row : rows)
    if (row.getType() != rowsOf(type))
      return emitOptionalError(loc, "statistics have type ", row.getType(),
                               ", expected ", Type(rowsOf(type)));
  inferred.push_back(type);
  return success();
}

LogicalResult
LayerNormGradOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                  Adaptor adaptor,
                                  SmallVectorImpl<Type> &inferred) {
  return inferNormGrad(loc, adaptor.getGrad(), adaptor.getOperand(),
                       adaptor.getScale(),
                       {adaptor.getMean(), adaptor.getRstd()}, inferred);
}

LogicalResult RmsNormGradOp::inferReturnTypes(MLIRContext *,
                                              std::optional<Location> loc,
                                              Adaptor adaptor,
                                              SmallVectorImpl<Type> &inferred) {
  return inferNormGrad(loc, adaptor.getGrad(), adaptor.getOperand(),
                       adaptor.getScale(), {adaptor.getRstd()}, inferred);
}

/// Checks that labels have the shape of the rows of logits.
static LogicalResult checkLabels(std::optional<Location> loc,
                                 RankedTensorType logits, Value labels) {
  if (failed(checkRanked(loc, logits)))
    return failure();
  if (typeOf(labels).getShape() != logits.getShape().drop_back())
    return emitOptionalError(
        loc, "labels have shape ", typeOf(labels).getShape(),
        " but logits have rows ", logits.getShape().drop_back());
  return success();
}

LogicalResult
CrossEntropyOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                 Adaptor adaptor,
                                 SmallVectorImpl<Type> &inferred) {
  auto logits = typeOf(adaptor.getLogits());
  if (failed(checkLabels(loc, logits, adaptor.getLabels())))
    return failure();
  inferred.append(
      {RankedTensorType::get({}, logits.getElementType()), rowsOf(logits)});
  return success();
}

LogicalResult
CrossEntropyGradOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                     Adaptor adaptor,
                                     SmallVectorImpl<Type> &inferred) {
  auto logits = typeOf(adaptor.getLogits());
  if (failed(checkLabels(loc, logits, adaptor.getLabels())))
    return failure();
  if (adaptor.getLse().getType() != rowsOf(logits))
    return emitOptionalError(loc, "lse has type ", adaptor.getLse().getType(),
                             ", expected ", Type(rowsOf(logits)));
  inferred.push_back(logits);
  return success();
}

/// Gradient and state of a parameter have its type; so have the results.
static LogicalResult inferUpdate(std::optional<Location> loc,
                                 ValueRange tensors, size_t numResults,
                                 SmallVectorImpl<Type> &inferred) {
  Type type = tensors[0].getType();
  for (Value tensor : tensors)
    if (tensor.getType() != type)
      return emitOptionalError(loc, "gradient or state has type ",
                               tensor.getType(), " but the parameter ", type);
  inferred.append(numResults, type);
  return success();
}

LogicalResult SgdOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> loc,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &inferred) {
  return inferUpdate(loc, {adaptor.getParameter(), adaptor.getGrad()}, 1,
                     inferred);
}

LogicalResult MomentumOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location> loc,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &inferred) {
  return inferUpdate(
      loc, {adaptor.getParameter(), adaptor.getGrad(), adaptor.getVelocity()},
      2, inferred);
}

LogicalResult AdamOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> loc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &inferred) {
  return inferUpdate(loc,
                     {adaptor.getParameter(), adaptor.getGrad(),
                      adaptor.getFirstMoment(), adaptor.getSecondMoment()},
                     3, inferred);
}
