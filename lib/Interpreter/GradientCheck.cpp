//===- GradientCheck.cpp - Derivatives against differences -----*- C++ -*-===//
//
// Five-point central differences of the loss.
//
//===----------------------------------------------------------------------===//

#include "fleet/Interpreter/GradientCheck.h"
#include "fleet/Dialect/Fleet/FleetOps.h"
#include "fleet/Interpreter/Interpreter.h"
#include "fleet/Interpreter/RandomTensors.h"
#include "fleet/Interpreter/TensorIO.h"

#include <cmath>

using namespace mlir;
using namespace fleet;

static bool isFloatTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa<FloatType>(tensor.getElementType());
}

/// The loss is a scalar float.
static LogicalResult verifyLoss(func::FuncOp function, unsigned loss) {
  if (function.isDeclaration())
    return function.emitError("has no body");
  if (loss < function.getNumResults()) {
    Type type = function.getFunctionType().getResult(loss);
    if (isFloatTensor(type) && cast<RankedTensorType>(type).getRank() == 0)
      return success();
  }
  return function.emitError("has no scalar float result to differentiate");
}

FailureOr<GradientCheck> GradientCheck::get(func::FuncOp forward,
                                            func::FuncOp gradient) {
  GradientCheck check{forward, 0, gradient, {}};
  if (failed(verifyLoss(forward, 0)))
    return failure();
  if (gradient.isDeclaration())
    return gradient.emitError("has no body");
  if (forward.getArgumentTypes() != gradient.getArgumentTypes())
    return gradient.emitError("takes other arguments than @")
           << forward.getName();
  SmallVector<Type> expected;
  for (auto [i, type] : llvm::enumerate(forward.getArgumentTypes()))
    if (isFloatTensor(type)) {
      check.pairs.push_back(
          {static_cast<unsigned>(i), static_cast<unsigned>(expected.size())});
      expected.push_back(type);
    }
  if (gradient.getResultTypes() != ArrayRef<Type>(expected))
    return gradient.emitError("does not return one gradient for each of ")
           << expected.size() << " float arguments";
  return check;
}

/// Number of the argument that is this piece of this parameter.
static std::optional<unsigned> findParameter(func::FuncOp step, Attribute name,
                                             Attribute piece) {
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    if (step.getArgAttr(i, attr::kParam) == name &&
        step.getArgAttr(i, attr::kPiece) == piece)
      return i;
  return std::nullopt;
}

FailureOr<GradientCheck> GradientCheck::get(func::FuncOp step) {
  GradientCheck check{step, step.getNumResults(), step, {}};
  if (step.isDeclaration())
    return step.emitError("has no body");
  for (unsigned i = 0; i < step.getNumResults(); ++i) {
    auto output = step.getResultAttrOfType<StringAttr>(i, attr::kOutput);
    if (output && output == "loss")
      check.loss = i;
    Attribute name = step.getResultAttr(i, attr::kGradient);
    if (!name)
      continue;
    auto argument =
        findParameter(step, name, step.getResultAttr(i, attr::kPiece));
    if (!argument || step.getArgument(*argument).getType() !=
                         step.getFunctionType().getResult(i))
      return step.emitError("result ") << i << " is the gradient of " << name
                                       << ", which is no parameter of its type";
    check.pairs.push_back({*argument, i});
  }
  if (failed(verifyLoss(step, check.loss)))
    return failure();
  if (check.pairs.empty())
    return step.emitError("has no result marked fleet.gradient");
  return check;
}

namespace {
/// The loss as a function of one element of one argument.
class LossAt {
public:
  LossAt(const GradientCheck &check, ArrayRef<TensorRef> arguments)
      : check(check), arguments(arguments) {}

  FailureOr<double> operator()(unsigned argument, int64_t element, double x) {
    auto moved = std::make_shared<Tensor>(*arguments[argument]);
    moved->data[element] = x;
    SmallVector<TensorRef> inputs(arguments);
    inputs[argument] = moved;
    auto results = runFunction(check.forward, inputs);
    if (failed(results))
      return failure();
    return (*results)[check.loss]->data.front();
  }

  /// (8 (f(x+h) - f(x-h)) - (f(x+2h) - f(x-2h))) / 12 h
  FailureOr<double> slope(unsigned argument, int64_t element, double h) {
    double x = arguments[argument]->data[element];
    const double factors[] = {1, -1, 2, -2};
    double values[4];
    for (auto [value, factor] : llvm::zip_equal(values, factors)) {
      FailureOr<double> loss = (*this)(argument, element, x + factor * h);
      if (failed(loss))
        return failure();
      value = *loss;
    }
    return (8 * (values[0] - values[1]) - (values[2] - values[3])) / (12 * h);
  }

private:
  const GradientCheck &check;
  ArrayRef<TensorRef> arguments;
};
} // namespace

FailureOr<GradientCheckResult>
fleet::checkGradients(const GradientCheck &check, ArrayRef<TensorRef> arguments,
                      GradientCheckOptions options) {
  func::FuncOp gradientFunction = check.gradient;
  auto gradients = runFunction(gradientFunction, arguments);
  if (failed(gradients))
    return failure();
  LossAt loss(check, arguments);
  GradientCheckResult result;
  bool allAgree = true;
  for (GradientPair pair : check.pairs) {
    const Tensor &gradient = *(*gradients)[pair.result];
    bool agrees = true;
    for (int64_t i = 0; i < gradient.size() && agrees; ++i) {
      FailureOr<double> slope = loss.slope(pair.argument, i, options.distance);
      if (failed(slope))
        return failure();
      double given = gradient.data[i];
      double scale = std::max({std::fabs(given), std::fabs(*slope), 1e-4});
      double error = std::fabs(given - *slope) / scale;
      agrees = error <= options.tolerance; // False for NaN as well.
      if (!agrees)
        gradientFunction.emitError("gradient of argument ")
            << pair.argument << ", element " << i << ": " << formatNumber(given)
            << ", by central differences " << formatNumber(*slope);
      result.largestError = std::max(result.largestError, error);
      ++result.elements;
    }
    allAgree &= agrees;
  }
  if (!allAgree)
    return failure();
  return result;
}

FailureOr<SmallVector<TensorRef>> fleet::randomArguments(func::FuncOp function,
                                                         uint64_t seed) {
  SmallVector<TensorRef> arguments;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto emitError = [&, i = i] {
      return function.emitError("argument ") << i << " ";
    };
    auto tensorType = dyn_cast<RankedTensorType>(type);
    if (!tensorType || !isInterpretable(tensorType))
      return emitError() << "is no tensor to fill";
    auto tensor = std::make_shared<Tensor>(tensorType.getShape());
    auto range = function.getArgAttrOfType<ArrayAttr>(i, kRangeAttr);
    if (failed(fillRandom(*tensor, tensorType.getElementType(), range, seed + i,
                          emitError)))
      return failure();
    arguments.push_back(std::move(tensor));
  }
  return arguments;
}
