//===- AddLoss.cpp - Give the model a loss ---------------------*- C++ -*-===//
//
// The loss of a job, read from an output of the model. It is the sum over the elements that count divided by their number
// in the global batch.
//
//===----------------------------------------------------------------------===//

#include "StepFunction.h"
#include "fleet/Transforms/Passes.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace fleet {
#define GEN_PASS_DEF_ADDLOSS
#include "fleet/Transforms/Passes.h.inc"

namespace {
struct AddLoss : impl::AddLossBase<AddLoss> {
  using AddLossBase::AddLossBase;
  void runOnOperation() final;

private:
  FailureOr<Value> findOutput(func::FuncOp func);
  FailureOr<Value> findLabels(func::FuncOp func, RankedTensorType type);
  FailureOr<Value> shiftLabels(func::FuncOp func, OpBuilder &b, Value values);
  FailureOr<Value> crossEntropy(func::FuncOp func, OpBuilder &b, Value logits);
  FailureOr<Value> meanSquaredError(func::FuncOp func, OpBuilder &b,
                                    Value output);
  FailureOr<Value> build(func::FuncOp func, OpBuilder &b, Value output);
};
} // namespace

FailureOr<Value> AddLoss::findOutput(func::FuncOp func) {
  SmallVector<std::string> names;
  for (const StepResult &result : getResults(func)) {
    StringRef name = nameOf(result, attr::kOutput);
    if (name == output)
      return result.value;
    names.push_back(("'" + name + "'").str());
  }
  return func.emitError("the loss reads output '")
         << output << "', but the model has " << llvm::join(names, ", ");
}

/// The input called `labels`; added with the type that the loss needs where there is none.
FailureOr<Value> AddLoss::findLabels(func::FuncOp func, RankedTensorType type) {
  for (BlockArgument argument : func.getArguments()) {
    auto name = func.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                  attr::kInput);
    if (!name || name.getValue() != labels)
      continue;
    if (typeOf(argument).getShape() != type.getShape())
      return func.emitError("labels '")
             << labels << "' have shape [" << typeOf(argument).getShape()
             << "], the loss needs [" << type.getShape() << "]";
    return Value(argument);
  }
  unsigned position = func.getNumArguments();
  NamedAttribute name(StringAttr::get(&getContext(), attr::kInput),
                      StringAttr::get(&getContext(), labels));
  if (failed(func.insertArgument(position, type,
                                 DictionaryAttr::get(&getContext(), name),
                                 func.getLoc())))
    return failure();
  return Value(func.getArgument(position));
}

/// Label i becomes label i + 1 along dimension 1; the last position is ignored.
FailureOr<Value> AddLoss::shiftLabels(func::FuncOp func, OpBuilder &b,
                                      Value values) {
  auto type = typeOf(values);
  if (type.getRank() < 2)
    return func.emitError("shift needs labels with a sequence dimension, '")
           << labels << "' have shape [" << type.getShape() << "]";
  SmallVector<int64_t> offsets(type.getRank(), 0), sizes(type.getShape()),
      zeros(type.getRank(), 0), high(type.getRank(), 0);
  offsets[1] = high[1] = 1;
  sizes[1] -= 1;
  Value moved = SliceOp::create(b, func.getLoc(), values, offsets, sizes);
  return Value(PadOp::create(b, func.getLoc(), moved, zeros, high,
                             APFloat(static_cast<double>(ignoreIndex))));
}

FailureOr<Value> AddLoss::crossEntropy(func::FuncOp func, OpBuilder &b,
                                       Value logits) {
  auto type = typeOf(logits);
  if (type.getRank() == 0 || !isa<FloatType>(type.getElementType()))
    return func.emitError("cross_entropy needs logits, output '")
           << output << "' is " << type;
  auto labelType =
      RankedTensorType::get(type.getShape().drop_back(), b.getI64Type());
  FailureOr<Value> target = findLabels(func, labelType);
  if (succeeded(target) && shift)
    target = shiftLabels(func, b, *target);
  if (failed(target))
    return failure();
  // The position that a shift leaves without label is ignored even where every label of the data counts.
  IntegerAttr ignore;
  if (!allCount || shift)
    ignore = b.getI64IntegerAttr(ignoreIndex);
  return CrossEntropyOp::create(b, func.getLoc(), logits, *target, Value(),
                                ignore)
      .getLoss();
}

FailureOr<Value> AddLoss::meanSquaredError(func::FuncOp func, OpBuilder &b,
                                           Value value) {
  auto type = typeOf(value);
  FailureOr<Value> target = findLabels(func, type);
  if (failed(target))
    return failure();
  Location loc = func.getLoc();
  Value wanted = *target;
  if (wanted.getType() != type)
    wanted = CastOp::create(b, loc, type, wanted);
  Value difference = SubOp::create(b, loc, value, wanted);
  Value square = MulOp::create(b, loc, difference, difference);
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  Value sum = b.createOrFold<ReduceOp>(loc, ReductionKind::Sum, square, dims);
  Value count = ConstantOp::create(b, loc, typeOf(sum),
                                   static_cast<double>(type.getNumElements()));
  return Value(DivOp::create(b, loc, sum, count));
}

FailureOr<Value> AddLoss::build(func::FuncOp func, OpBuilder &b, Value value) {
  if (kind == "cross_entropy")
    return crossEntropy(func, b, value);
  if (kind == "mse")
    return meanSquaredError(func, b, value);
  if (kind != "inside")
    return func.emitError("loss kind '")
           << kind << "' is not one of cross_entropy, mse, inside";
  if (typeOf(value).getRank() != 0 ||
      !isa<FloatType>(typeOf(value).getElementType()))
    return func.emitError("output '")
           << output << "' cannot be the loss: it is " << value.getType()
           << ", not a float scalar";
  return value;
}

void AddLoss::runOnOperation() {
  auto func = getOperation().lookupSymbol<func::FuncOp>("model");
  if (!func) {
    getOperation().emitError("the module has no @model to give a loss to");
    return signalPassFailure();
  }
  FailureOr<Value> value = findOutput(func);
  if (failed(value))
    return signalPassFailure();
  OpBuilder b(func.getBody().front().getTerminator());
  FailureOr<Value> loss = build(func, b, *value);
  if (failed(loss))
    return signalPassFailure();
  setResults(func, namedResult(*loss, attr::kOutput, "loss"));
  IRRewriter rewriter(&getContext());
  (void)runRegionDCE(rewriter, func->getRegions());
}

} // namespace fleet
