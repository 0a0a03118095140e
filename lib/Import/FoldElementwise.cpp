//===- FoldElementwise.cpp - Element-wise evaluation -----------*- C++ -*-===//
//
// Arithmetic, comparison, logic and casts of constants.
//
//===----------------------------------------------------------------------===//

#include "Fold.h"

#include <cmath>

using namespace llvm;

namespace fleet {

template <typename Function>
static FoldResult unary(const FoldInput &input, ConstKind kind,
                        Function function) {
  const ConstTensor *x = input.get(0);
  if (!x)
    return nodeError(input.node, "lacks its input");
  ConstTensor result(kind, x->shape);
  for (int64_t i = 0; i < x->size(); ++i)
    result.values[i] = function(x->values[i]);
  return std::vector<ConstTensor>{std::move(result)};
}

/// Combines all inputs from left to right, with broadcasting. `kind` is that of the result, the inputs' when null.
template <typename Function>
static FoldResult nary(const FoldInput &input, std::optional<ConstKind> kind,
                       Function function) {
  if (input.inputs.empty() || !input.get(0))
    return nodeError(input.node, "lacks its input");
  ConstTensor result = *input.get(0);
  for (const ConstTensor *next : input.inputs.drop_front()) {
    if (!next)
      return nodeError(input.node, "lacks an input");
    auto shape = broadcastShape(result.shape, next->shape);
    if (!shape)
      return nodeError(input.node, "has inputs whose shapes do not broadcast");
    ConstTensor a = broadcastTo(result, *shape), b = broadcastTo(*next, *shape);
    bool integers = a.kind != ConstKind::Float;
    for (int64_t i = 0; i < a.size(); ++i)
      a.values[i] = function(a.values[i], b.values[i], integers);
    result = std::move(a);
  }
  if (kind)
    result.kind = *kind;
  return std::vector<ConstTensor>{std::move(result)};
}

#define FLEET_FOLD_UNARY(Name, expression)                                     \
  static FoldResult fold##Name(const FoldInput &input) {                       \
    return unary(input, input.get(0) ? input.get(0)->kind : ConstKind::Float,  \
                 [](double x) -> double { return expression; });               \
  }
#define FLEET_FOLD_BINARY(Name, kind, expression)                              \
  static FoldResult fold##Name(const FoldInput &input) {                       \
    return nary(input, kind, [](double x, double y, bool integers) -> double { \
      (void)integers;                                                          \
      return expression;                                                       \
    });                                                                        \
  }

FLEET_FOLD_UNARY(Neg, -x)
FLEET_FOLD_UNARY(Abs, std::fabs(x))
FLEET_FOLD_UNARY(Sqrt, std::sqrt(x))
FLEET_FOLD_UNARY(Reciprocal, 1 / x)
FLEET_FOLD_UNARY(Exp, std::exp(x))
FLEET_FOLD_UNARY(Log, std::log(x))
FLEET_FOLD_UNARY(Sin, std::sin(x))
FLEET_FOLD_UNARY(Cos, std::cos(x))
FLEET_FOLD_UNARY(Tanh, std::tanh(x))
FLEET_FOLD_UNARY(Erf, std::erf(x))
FLEET_FOLD_UNARY(Floor, std::floor(x))
FLEET_FOLD_UNARY(Ceil, std::ceil(x))
FLEET_FOLD_UNARY(Identity, x)

FLEET_FOLD_BINARY(Add, std::nullopt, x + y)
FLEET_FOLD_BINARY(Sub, std::nullopt, x - y)
FLEET_FOLD_BINARY(Mul, std::nullopt, x *y)
FLEET_FOLD_BINARY(Div, std::nullopt,
                  integers ? (y == 0 ? 0 : std::trunc(x / y)) : x / y)
FLEET_FOLD_BINARY(Mod, std::nullopt, y == 0 ? 0 : x - std::floor(x / y) * y)
FLEET_FOLD_BINARY(Pow, std::nullopt, std::pow(x, y))
FLEET_FOLD_BINARY(Max, std::nullopt, std::fmax(x, y))
FLEET_FOLD_BINARY(Min, std::nullopt, std::fmin(x, y))
FLEET_FOLD_BINARY(And, ConstKind::Bool, x != 0 && y != 0)
FLEET_FOLD_BINARY(Or, ConstKind::Bool, x != 0 || y != 0)
FLEET_FOLD_BINARY(Equal, ConstKind::Bool, x == y)
FLEET_FOLD_BINARY(Less, ConstKind::Bool, x < y)
FLEET_FOLD_BINARY(LessOrEqual, ConstKind::Bool, x <= y)
FLEET_FOLD_BINARY(Greater, ConstKind::Bool, x > y)
FLEET_FOLD_BINARY(GreaterOrEqual, ConstKind::Bool, x >= y)

static FoldResult foldNot(const FoldInput &input) {
  return unary(input, ConstKind::Bool,
               [](double x) -> double { return x == 0; });
}

/// Casts to a kind; a float becomes an integer by truncation.
static FoldResult castTo(const FoldInput &input, ConstKind kind) {
  return unary(input, kind, [&](double x) -> double {
    if (kind == ConstKind::Bool)
      return x != 0;
    return kind == ConstKind::Int ? std::trunc(x) : x;
  });
}

static FoldResult foldCast(const FoldInput &input) {
  switch (input.attributes.integer("to", 0)) {
  case 1:
  case 10:
  case 11:
  case 16:
    return castTo(input, ConstKind::Float);
  case 6:
  case 7:
    return castTo(input, ConstKind::Int);
  case 9:
    return castTo(input, ConstKind::Bool);
  default:
    return nodeError(input.node, "casts to element type " +
                                     Twine(input.attributes.integer("to", 0)) +
                                     ", which is not supported");
  }
}

static FoldResult foldCastLike(const FoldInput &input) {
  if (!input.get(1))
    return nodeError(input.node, "lacks its second input");
  return castTo(input, input.get(1)->kind);
}

static FoldResult foldWhere(const FoldInput &input) {
  const ConstTensor *c = input.get(0), *x = input.get(1), *y = input.get(2);
  if (!c || !x || !y)
    return nodeError(input.node, "lacks an input");
  auto inner = broadcastShape(x->shape, y->shape);
  auto shape = inner ? broadcastShape(c->shape, *inner) : std::nullopt;
  if (!shape)
    return nodeError(input.node, "has inputs whose shapes do not broadcast");
  ConstTensor condition = broadcastTo(*c, *shape), a = broadcastTo(*x, *shape),
              b = broadcastTo(*y, *shape);
  for (int64_t i = 0; i < a.size(); ++i)
    if (condition.values[i] == 0)
      a.values[i] = b.values[i];
  return std::vector<ConstTensor>{std::move(a)};
}

void addElementwiseFolders(FolderTable &folders) {
#define FLEET_FOLDER(Name) folders[#Name] = {fold##Name, 1};
  FLEET_FOLDER(Neg)
  FLEET_FOLDER(Abs)
  FLEET_FOLDER(Sqrt)
  FLEET_FOLDER(Reciprocal)
  FLEET_FOLDER(Exp)
  FLEET_FOLDER(Log)
  FLEET_FOLDER(Sin)
  FLEET_FOLDER(Cos)
  FLEET_FOLDER(Tanh)
  FLEET_FOLDER(Erf)
  FLEET_FOLDER(Floor)
  FLEET_FOLDER(Ceil)
  FLEET_FOLDER(Identity)
  FLEET_FOLDER(Add)
  FLEET_FOLDER(Sub)
  FLEET_FOLDER(Mul)
  FLEET_FOLDER(Div)
  FLEET_FOLDER(Mod)
  FLEET_FOLDER(Pow)
  FLEET_FOLDER(Max)
  FLEET_FOLDER(Min)
  FLEET_FOLDER(And)
  FLEET_FOLDER(Or)
  FLEET_FOLDER(Equal)
  FLEET_FOLDER(Less)
  FLEET_FOLDER(LessOrEqual)
  FLEET_FOLDER(Greater)
  FLEET_FOLDER(GreaterOrEqual)
  FLEET_FOLDER(Not)
  FLEET_FOLDER(Cast)
  FLEET_FOLDER(CastLike)
  FLEET_FOLDER(Where)
#undef FLEET_FOLDER
}

} // namespace fleet
