//===- EmitElementwise.cpp - Element-wise operators ------------*- C++ -*-===//
//
// Arithmetic, comparison, logic, casts and activations; numpy broadcasting becomes explicit.
//
//===----------------------------------------------------------------------===//

#include "Importer.h"

using namespace llvm;
using namespace mlir;

namespace fleet {

static EmitResult one(Value value) {
  std::vector<Imported> results(1);
  results[0].value = value;
  return results;
}

template <typename Op> static EmitResult emitUnary(EmitInput &in) {
  return one(Op::create(in.importer.b, in.importer.loc, in.value(0)));
}

/// Broadcasts the inputs against one another; an error when they do not fit.
static llvm::Expected<SmallVector<Value>> align(EmitInput &in,
                                                size_t begin = 0) {
  SmallVector<Value> values;
  std::optional<ConstShape> shape = ConstShape();
  for (size_t i = 0; i < in.inputs.size(); ++i) {
    if (!in.has(i))
      return nodeError(in.node, "lacks input " + Twine(i));
    values.push_back(in.value(i));
    shape = broadcastShape(*shape, typeOf(values.back()).getShape());
    if (!shape)
      return nodeError(in.node, "has inputs whose shapes do not broadcast");
  }
  for (Value &value : values)
    value = in.importer.broadcast(value, *shape);
  for (Value value : ArrayRef(values).drop_front(begin))
    if (typeOf(value).getElementType() !=
        typeOf(values[begin]).getElementType())
      return nodeError(in.node, "has inputs of different element types");
  return values;
}

/// Combines all inputs from left to right.
template <typename Op> static EmitResult emitNary(EmitInput &in) {
  auto values = align(in);
  if (!values)
    return values.takeError();
  Value result = (*values)[0];
  for (Value next : ArrayRef(*values).drop_front())
    result = Op::create(in.importer.b, in.importer.loc, result, next);
  return one(result);
}

template <Predicate predicate> static EmitResult emitCompare(EmitInput &in) {
  auto values = align(in);
  if (!values)
    return values.takeError();
  if (values->size() != 2)
    return nodeError(in.node, "needs two inputs");
  return one(CompareOp::create(in.importer.b, in.importer.loc, predicate,
                               (*values)[0], (*values)[1]));
}

static EmitResult emitWhere(EmitInput &in) {
  auto values = align(in, 1);
  if (!values)
    return values.takeError();
  return one(SelectOp::create(in.importer.b, in.importer.loc,
                              (*values)[1].getType(), (*values)[0],
                              (*values)[1], (*values)[2]));
}

/// Casts to an element type unless the value has it.
static EmitResult castTo(EmitInput &in, Value value, Type element) {
  auto type = typeOf(value).clone(element);
  if (value.getType() == type)
    return one(value);
  return one(CastOp::create(in.importer.b, in.importer.loc, type, value));
}

static EmitResult emitCast(EmitInput &in) {
  int64_t to = in.attributes.integer("to", 0);
  Type element = in.importer.elementType(to);
  if (!element)
    return nodeError(in.node, "casts to element type " + Twine(to) +
                                  ", which is not supported");
  return castTo(in, in.value(0), element);
}

static EmitResult emitCastLike(EmitInput &in) {
  return castTo(in, in.value(0), typeOf(in.value(1)).getElementType());
}

static EmitResult emitIdentity(EmitInput &in) { return one(in.value(0)); }

static EmitResult emitGelu(EmitInput &in) {
  std::string form = in.attributes.text("approximate", "none");
  if (form != "none" && form != "tanh")
    return nodeError(in.node, "has approximate='" + form + "'");
  Value x = in.value(0);
  return one(GeluOp::create(in.importer.b, in.importer.loc, x.getType(), x,
                            form == "tanh"));
}

/// Dropout that drops nothing is the identity.
static EmitResult emitDropout(EmitInput &in) {
  double ratio = in.attributes.number("ratio", 0.5);
  if (in.opset >= 12) {
    if (in.has(1) && !in.constant(1))
      return nodeError(in.node, "has a ratio that is not constant");
    if (const ConstTensor *given = in.constant(1); given && given->size() == 1)
      ratio = given->values[0];
    const ConstTensor *training = in.constant(2);
    if (!in.has(2) ||
        (training && training->size() == 1 && training->values[0] == 0))
      ratio = 0;
  }
  if (ratio != 0)
    return nodeError(in.node, "drops with ratio " + std::to_string(ratio) +
                                  ": dropout is not yet supported");
  return one(in.value(0));
}

void addElementwiseEmitters(EmitterTable &table) {
  table["Neg"] = {emitUnary<NegOp>, 1};
  table["Exp"] = {emitUnary<ExpOp>, 1};
  table["Log"] = {emitUnary<LogOp>, 1};
  table["Sqrt"] = {emitUnary<SqrtOp>, 1};
  table["Reciprocal"] = {emitUnary<ReciprocalOp>, 1};
  table["Tanh"] = {emitUnary<TanhOp>, 1};
  table["Erf"] = {emitUnary<ErfOp>, 1};
  table["Sigmoid"] = {emitUnary<SigmoidOp>, 1};
  table["Relu"] = {emitUnary<ReluOp>, 1};
  table["Sin"] = {emitUnary<SinOp>, 1};
  table["Cos"] = {emitUnary<CosOp>, 1};
  table["Abs"] = {emitUnary<AbsOp>, 1};
  table["Not"] = {emitUnary<NotOp>, 1};
  table["Add"] = {emitNary<AddOp>, 2};
  table["Sub"] = {emitNary<SubOp>, 2};
  table["Mul"] = {emitNary<MulOp>, 2};
  table["Div"] = {emitNary<DivOp>, 2};
  table["Pow"] = {emitNary<PowOp>, 2};
  table["Max"] = {emitNary<MaxOp>, 1};
  table["Min"] = {emitNary<MinOp>, 1};
  table["And"] = {emitNary<AndOp>, 2};
  table["Or"] = {emitNary<OrOp>, 2};
  table["Equal"] = {emitCompare<Predicate::EQ>, 2};
  table["Less"] = {emitCompare<Predicate::LT>, 2};
  table["LessOrEqual"] = {emitCompare<Predicate::LE>, 2};
  table["Greater"] = {emitCompare<Predicate::GT>, 2};
  table["GreaterOrEqual"] = {emitCompare<Predicate::GE>, 2};
  table["Where"] = {emitWhere, 3};
  table["Cast"] = {emitCast, 1};
  table["CastLike"] = {emitCastLike, 2};
  table["Identity"] = {emitIdentity, 1};
  table["Gelu"] = {emitGelu, 1};
  table["Dropout"] = {emitDropout, 1};
}

} // namespace fleet
