//===- Optimizer.cpp - Parameter updates -----------------------*- C++ -*-===//
//
// One update operation for each gradient; its state becomes arguments and results of the step.
//
//===----------------------------------------------------------------------===//

#include "StepFunction.h"
#include "fleet/Transforms/Passes.h"

using namespace mlir;

namespace fleet {
#define GEN_PASS_DEF_OPTIMIZER
#include "fleet/Transforms/Passes.h.inc"

namespace {
/// A trained parameter: its argument, gradient and state arguments.
struct Trained {
  unsigned argument;
  Value grad;
  SmallVector<unsigned> states;
};

struct Optimizer : impl::OptimizerBase<Optimizer> {
  using OptimizerBase::OptimizerBase;
  void runOnOperation() final;

private:
  SmallVector<StringRef> stateNames() const;
  unsigned addArgument(func::FuncOp func, Type type,
                       ArrayRef<NamedAttribute> attributes);
  unsigned addScalar(func::FuncOp func, StringRef scalar, Type type);
  FailureOr<SmallVector<Trained>> collect(func::FuncOp func);
  SmallVector<Value> update(OpBuilder &b, func::FuncOp func,
                            const Trained &trained, Value lr, Value t);
};
} // namespace

/// Names of the state tensors of one parameter.
SmallVector<StringRef> Optimizer::stateNames() const {
  if (name == "momentum")
    return {"velocity"};
  if (name == "adam" || name == "adamw")
    return {"m", "v"};
  return {};
}

unsigned Optimizer::addArgument(func::FuncOp func, Type type,
                                ArrayRef<NamedAttribute> attributes) {
  unsigned position = func.getNumArguments();
  LogicalResult inserted = func.insertArgument(
      position, type, DictionaryAttr::get(&getContext(), attributes),
      func.getLoc());
  assert(succeeded(inserted) && "a function takes more arguments");
  (void)inserted;
  return position;
}

unsigned Optimizer::addScalar(func::FuncOp func, StringRef scalar, Type type) {
  Builder b(&getContext());
  return addArgument(func, type,
                     b.getNamedAttr(attr::kScalar, b.getStringAttr(scalar)));
}

/// Pairs gradients with their parameters and adds the state.
FailureOr<SmallVector<Trained>> Optimizer::collect(func::FuncOp func) {
  Builder b(&getContext());
  llvm::DenseMap<std::pair<Attribute, Attribute>, unsigned> byName;
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    if (Attribute parameter = func.getArgAttr(i, attr::kParam))
      byName[{parameter, func.getArgAttr(i, attr::kPiece)}] = i;
  SmallVector<Trained> trained;
  for (const StepResult &result : getResults(func)) {
    StringRef parameter = nameOf(result, attr::kGradient);
    if (parameter.empty())
      continue;
    Attribute piece = result.attributes.get(attr::kPiece);
    auto it = byName.find({b.getStringAttr(parameter), piece});
    if (it == byName.end())
      return func.emitError("gradient of '")
             << parameter << "' belongs to no parameter";
    Trained one{it->second, result.value, {}};
    for (StringRef state : stateNames()) {
      SmallVector<NamedAttribute> attributes = {
          b.getNamedAttr(attr::kState, b.getStringAttr(state)),
          b.getNamedAttr(attr::kOf, b.getStringAttr(parameter))};
      if (piece)
        attributes.push_back(b.getNamedAttr(attr::kPiece, piece));
      one.states.push_back(
          addArgument(func, result.value.getType(), attributes));
    }
    trained.push_back(one);
  }
  return trained;
}

/// New parameter and new states, in the order of the arguments.
SmallVector<Value> Optimizer::update(OpBuilder &b, func::FuncOp func,
                                     const Trained &trained, Value lr,
                                     Value t) {
  Location loc = func.getLoc();
  Value p = func.getArgument(trained.argument), g = trained.grad;
  auto state = [&](unsigned i) -> Value {
    return func.getArgument(trained.states[i]);
  };
  auto number = [](double value) { return APFloat(value); };
  if (name == "sgd")
    return {SgdOp::create(b, loc, p, g, lr, number(weightDecay))};
  if (name == "momentum")
    return SmallVector<Value>(MomentumOp::create(b, loc, p, g, state(0), lr,
                                                 number(momentum),
                                                 number(weightDecay), nesterov)
                                  ->getResults());
  return SmallVector<Value>(AdamOp::create(b, loc, p, g, state(0), state(1), lr,
                                           t, number(beta1), number(beta2),
                                           number(epsilon), number(weightDecay),
                                           /*decoupled=*/name == "adamw")
                                ->getResults());
}

void Optimizer::runOnOperation() {
  auto func = getOperation().lookupSymbol<func::FuncOp>("step");
  if (!func) {
    getOperation().emitError("the module has no @step to update parameters in");
    return signalPassFailure();
  }
  if (!llvm::is_contained({"sgd", "momentum", "adam", "adamw"}, name)) {
    func.emitError("optimizer '")
        << name << "' is not one of sgd, momentum, adam, adamw";
    return signalPassFailure();
  }
  FailureOr<SmallVector<Trained>> trained = collect(func);
  if (failed(trained))
    return signalPassFailure();
  if (trained->empty()) {
    func.emitError("there are no gradients to update parameters from");
    return signalPassFailure();
  }
  Type element = typeOf(trained->front().grad).getElementType();
  auto scalar = RankedTensorType::get({}, element);
  Value lr = func.getArgument(addScalar(func, "lr", scalar)), t;
  if (name == "adam" || name == "adamw")
    t = func.getArgument(addScalar(func, "t", scalar));
  PhaseStamp stamp(Phase::Update);
  OpBuilder b(&getContext(), &stamp);
  b.setInsertionPoint(func.getBody().front().getTerminator());
  SmallVector<StepResult> results;
  for (const StepResult &result : getResults(func))
    if (keepGradients || nameOf(result, attr::kGradient).empty())
      results.push_back(result);
  for (const Trained &one : *trained) {
    SmallVector<Value> values = update(b, func, one, lr, t);
    SmallVector<unsigned> targets = {one.argument};
    llvm::append_range(targets, one.states);
    for (auto [value, target] : llvm::zip(values, targets)) {
      NamedAttribute updates(b.getStringAttr(attr::kUpdates),
                             b.getI64IntegerAttr(target));
      results.push_back({value, b.getDictionaryAttr(updates)});
    }
  }
  setResults(func, results);
}

} // namespace fleet
