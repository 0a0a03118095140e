//===- Autodiff.cpp - Reverse-mode differentiation -------------*- C++ -*-===//
//
// Walks the forward operations backwards and asks each for its vector-Jacobian product. Which operations are needed for
// gradients of activations and which for gradients of parameters alone is told apart afterwards, from who reads them:
// schedules may move the second kind.
//
//===----------------------------------------------------------------------===//

#include "StepFunction.h"
#include "fleet/Transforms/Passes.h"
#include "llvm/Support/GlobPattern.h"

using namespace mlir;

namespace fleet {
#define GEN_PASS_DEF_AUTODIFF
#include "fleet/Transforms/Passes.h.inc"

namespace {
class Differentiator {
public:
  Differentiator(func::FuncOp func, ArrayRef<llvm::GlobPattern> frozen)
      : func(func), frozen(frozen), stamp(Phase::BackwardWeight),
        builder(func.getContext(), &stamp) {
    builder.setInsertionPoint(func.getBody().front().getTerminator());
  }

  LogicalResult run();

private:
  bool isTrained(BlockArgument argument);
  void markActive();
  LogicalResult countLabels();
  LogicalResult differentiate(Operation *op);
  void add(Value value, Value grad);
  Value total(Value value);
  void stampOrigin(Operation *source);
  void separatePhases();
  LogicalResult returnGradients(Value loss);

  func::FuncOp func;
  ArrayRef<llvm::GlobPattern> frozen;
  PhaseStamp stamp;
  OpBuilder builder;
  /// Values through which a trained parameter reaches the loss, and values that inputs reach.
  llvm::DenseSet<Value> active, fromInputs;
  /// Terms of the gradient of each value.
  llvm::DenseMap<Value, SmallVector<Value, 2>> terms;
  /// Gradients of values that depend on an input: what they need is backward_input.
  SmallVector<Value> inputGradients;
};
} // namespace

bool Differentiator::isTrained(BlockArgument argument) {
  auto name =
      func.getArgAttrOfType<StringAttr>(argument.getArgNumber(), attr::kParam);
  if (!name || func.getArgAttr(argument.getArgNumber(), attr::kBuffer) ||
      !isa<FloatType>(typeOf(argument).getElementType()))
    return false;
  return llvm::none_of(frozen, [&](const llvm::GlobPattern &pattern) {
    return pattern.match(name.getValue());
  });
}

void Differentiator::markActive() {
  for (BlockArgument argument : func.getArguments()) {
    if (isTrained(argument))
      active.insert(argument);
    if (func.getArgAttr(argument.getArgNumber(), attr::kInput))
      fromInputs.insert(argument);
  }
  for (Operation &op : func.getBody().front().without_terminator())
    for (auto *set : {&active, &fromInputs})
      if (llvm::any_of(op.getOperands(),
                       [&](Value v) { return set->contains(v); }))
        set->insert(op.result_begin(), op.result_end());
}

/// Gives every cross entropy without a count the number of labels that count in the whole batch, computed in the
/// prologue from the labels.
LogicalResult Differentiator::countLabels() {
  SmallVector<CrossEntropyOp> losses(func.getOps<CrossEntropyOp>());
  for (CrossEntropyOp loss : losses) {
    if (loss.getCount())
      continue;
    // The operations that make the labels are repeated: the prologue sees the whole batch, the forward a micro-batch.
    llvm::SetVector<Operation *> path;
    SmallVector<Value> pending = {loss.getLabels()};
    while (!pending.empty()) {
      Value value = pending.pop_back_val();
      if (active.contains(value))
        return loss.emitError("labels depend on a parameter");
      if (Operation *made = value.getDefiningOp(); made && path.insert(made))
        llvm::append_range(pending, made->getOperands());
    }
    SmallVector<Operation *> ops(path.begin(), path.end());
    llvm::sort(
        ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    PhaseStamp prologue(Phase::Prologue);
    OpBuilder b(func.getContext(), &prologue);
    b.setInsertionPointToStart(&func.getBody().front());
    IRMapping map;
    for (Operation *op : ops)
      setPhase(b.clone(*op, map), Phase::Prologue);
    Value count = CountValidOp::create(
        b, loss.getLoc(), loss.getLoss().getType(),
        map.lookupOrDefault(loss.getLabels()), loss.getIgnoreIndexAttr());
    loss.getCountMutable().assign(count);
  }
  return success();
}

void Differentiator::add(Value value, Value grad) {
  if (grad && active.contains(value))
    terms[value].push_back(grad);
}

Value Differentiator::total(Value value) {
  auto it = terms.find(value);
  if (it == terms.end())
    return {};
  if (it->second.size() == 1)
    return it->second.front();
  Value sum =
      SumOp::create(builder, value.getLoc(), value.getType(), it->second);
  it->second = {sum};
  return sum;
}

/// New operations get the number of the forward operation that they belong to.
void Differentiator::stampOrigin(Operation *source) {
  Attribute origin = source->getAttr(attr::kOrigin);
  for (Operation *op : stamp.made)
    op->setAttr(attr::kOrigin, origin);
  stamp.made.clear();
}

LogicalResult Differentiator::differentiate(Operation *op) {
  if (llvm::none_of(op->getOperands(),
                    [&](Value v) { return active.contains(v); }))
    return success();
  SmallVector<Value> grads;
  for (Value result : op->getResults())
    grads.push_back(total(result));
  if (llvm::none_of(grads, [](Value grad) { return bool(grad); })) {
    stamp.made.clear();
    return success();
  }
  auto derivative = dyn_cast<DerivativeOpInterface>(op);
  if (!derivative)
    return op->emitError("has no derivative, but trained parameters reach "
                         "the loss through it");
  SmallVector<bool> wanted;
  for (Value operand : op->getOperands())
    wanted.push_back(active.contains(operand));
  SmallVector<Value> operandGrads(op->getNumOperands());
  derivative.buildVjp(builder, grads, wanted, operandGrads);
  stampOrigin(op);
  for (auto [operand, grad] : llvm::zip(op->getOperands(), operandGrads)) {
    add(operand, grad);
    if (grad && active.contains(operand) && fromInputs.contains(operand))
      inputGradients.push_back(grad);
  }
  return success();
}

/// Everything that the gradient of an activation needs is backward_input; the rest was stamped backward_weight.
void Differentiator::separatePhases() {
  SmallVector<Value> pending = inputGradients;
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (!op || getPhase(op) != Phase::BackwardWeight)
      continue;
    setPhase(op, Phase::BackwardInput);
    llvm::append_range(pending, op->getOperands());
  }
}

LogicalResult Differentiator::returnGradients(Value loss) {
  SmallVector<StepResult> results = {namedResult(loss, attr::kOutput, "loss")};
  bool any = false;
  for (BlockArgument argument : func.getArguments()) {
    if (!isTrained(argument))
      continue;
    unsigned number = argument.getArgNumber();
    StringRef name =
        func.getArgAttrOfType<StringAttr>(number, attr::kParam).getValue();
    Value grad = total(argument);
    if (!grad) {
      func.emitWarning("parameter '")
          << name << "' does not reach the loss: it is not trained";
      continue;
    }
    any = true;
    NamedAttrList attributes(
        namedResult(grad, attr::kGradient, name).attributes);
    if (Attribute piece = func.getArgAttr(number, attr::kPiece))
      attributes.set(attr::kPiece, piece);
    results.push_back({grad, attributes.getDictionary(func.getContext())});
  }
  if (!any)
    return func.emitError("no trained parameter reaches the loss");
  setResults(func, results);
  return success();
}

LogicalResult Differentiator::run() {
  markActive();
  SmallVector<StepResult> results = getResults(func);
  if (results.size() != 1 || nameOf(results[0], attr::kOutput) != "loss")
    return func.emitError("differentiation needs the one output 'loss', got ")
           << results.size() << " outputs";
  if (failed(countLabels()))
    return failure();
  SmallVector<Operation *> forward;
  Builder b(func.getContext());
  for (Operation &op : func.getBody().front().without_terminator()) {
    if (getPhase(&op))
      continue;
    setPhase(&op, Phase::Forward);
    op.setAttr(attr::kOrigin, b.getI64IntegerAttr(forward.size()));
    forward.push_back(&op);
  }
  Value loss = results[0].value;
  if (Operation *made = loss.getDefiningOp()) {
    add(loss, ConstantOp::create(builder, loss.getLoc(), typeOf(loss), 1.0));
    stampOrigin(made);
  }
  for (Operation *op : llvm::reverse(forward))
    if (failed(differentiate(op)))
      return failure();
  if (failed(returnGradients(loss)))
    return failure();
  separatePhases();
  return success();
}

namespace {
struct Autodiff : impl::AutodiffBase<Autodiff> {
  using AutodiffBase::AutodiffBase;

  void runOnOperation() final {
    auto func = getOperation().lookupSymbol<func::FuncOp>("model");
    if (!func) {
      getOperation().emitError("the module has no @model to differentiate");
      return signalPassFailure();
    }
    SmallVector<llvm::GlobPattern> patterns;
    for (StringRef text : frozen) {
      llvm::Expected<llvm::GlobPattern> pattern =
          llvm::GlobPattern::create(text);
      if (!pattern) {
        func.emitError("frozen '")
            << text << "': " << llvm::toString(pattern.takeError());
        return signalPassFailure();
      }
      patterns.push_back(std::move(*pattern));
    }
    if (failed(Differentiator(func, patterns).run()))
      return signalPassFailure();
    func.setName("step");
    getOperation()->setAttr(
        attr::kLevel, IntegerAttr::get(IntegerType::get(&getContext(), 32), 2));
  }
};
} // namespace
} // namespace fleet
