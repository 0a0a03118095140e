//===- GradientMerge.cpp - Micro-batches -----------------------*- C++ -*-===//
//
// Cuts the batch into micro-batches with the rules that also cut it over devices: a micro-batch is a shard along an axis
// that is time.
//
//===----------------------------------------------------------------------===//

#include "StepFunction.h"
#include "fleet/Analysis/Propagation.h"
#include "fleet/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace fleet {
#define GEN_PASS_DEF_GRADIENTMERGE
#include "fleet/Transforms/Passes.h.inc"

namespace {
/// The batch is cut along an axis that is time: an operation that asks for its position, or for the other shards, cannot
/// be cut.
class MicroBatchForm : public LocalForm {
public:
  explicit MicroBatchForm(const FactorPieces &pieces) : pieces(pieces) {}
  int64_t shards(unsigned factor) const final {
    return MeshPieces::product(pieces[factor]);
  }
  Value offset(OpBuilder &b, Location loc, unsigned) const final {
    refused = true;
    auto type = RankedTensorType::get({}, b.getI64Type());
    return ConstantOp::create(b, loc, type, 0.0);
  }
  Value combine(OpBuilder &, Location, unsigned, Value value,
                bool) const final {
    refused = true;
    return value;
  }
  bool isRefused() const { return refused; }

private:
  const FactorPieces &pieces;
  mutable bool refused = false;
};

class MicroBatcher {
public:
  MicroBatcher(func::FuncOp func, MeshOp mesh, int64_t count)
      : func(func), count(count), propagation(func, mesh) {}
  LogicalResult run();

private:
  void hoistSums();
  LogicalResult seedBatch();
  void collect();
  AccumulateOp createRegion();
  LogicalResult convert(Operation *op, OpBuilder &b);
  LogicalResult checkOperands(ShardingRuleOpInterface op,
                              const ShardingRule &rule,
                              const FactorPieces &pieces,
                              ArrayRef<PieceList> unreduced);
  InFlightDiagnostic refuse(Operation *op) {
    return op->emitError("needs more than one micro-batch at a time: the "
                         "batch cannot be cut into ")
           << count << " here";
  }
  Value localOf(Value value) {
    Value local = locals.lookup(value);
    return local ? local : value;
  }

  func::FuncOp func;
  int64_t count;
  /// Which dimension of which value is the batch.
  Propagation propagation;
  /// Operations that run for each micro-batch, and values of theirs that are used behind it.
  SmallVector<Operation *> inside;
  llvm::SetVector<Value> yielded;
  llvm::DenseMap<Value, Value> locals;
  /// Values that are terms of a sum over the micro-batches.
  llvm::DenseMap<Value, PieceList> terms;
};
} // namespace

static bool runsPerMicroBatch(Operation *op) {
  std::optional<Phase> phase = getPhase(op);
  return phase && (*phase == Phase::Forward || *phase == Phase::BackwardInput ||
                   *phase == Phase::BackwardWeight);
}

/// The gradient of a parameter with several uses is summed behind the region, where stages can exchange the terms.
void MicroBatcher::hoistSums() {
  for (const StepResult &result : getResults(func))
    if (auto sum = result.value.getDefiningOp<SumOp>())
      if (!nameOf(result, attr::kGradient).empty() && sum->hasOneUse())
        setPhase(sum, Phase::Reduce);
}

LogicalResult MicroBatcher::seedBatch() {
  PieceList pieces = propagation.getMesh().piecesOf("micro_batch");
  for (BlockArgument argument : func.getArguments()) {
    auto name = func.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                  attr::kInput);
    auto type = typeOf(argument);
    TensorSharding cut(type.getRank());
    if (name) {
      if (type.getRank() == 0)
        return func.emitError("input '")
               << name.getValue() << "' has no batch dimension";
      if (type.getDimSize(0) % count != 0)
        return func.emitError("batch ")
               << type.getDimSize(0) << " of input '" << name.getValue()
               << "' does not split into " << count << " micro-batches";
      cut.dims[0] = pieces;
    }
    propagation.set(argument, cut, /*closed=*/true);
  }
  propagation.run();
  return success();
}

LogicalResult MicroBatcher::checkOperands(ShardingRuleOpInterface op,
                                          const ShardingRule &rule,
                                          const FactorPieces &pieces,
                                          ArrayRef<PieceList> unreduced) {
  for (auto [list, factor] : llvm::zip(pieces, rule.factors))
    if (!list.empty() && factor.kind != FactorKind::PassThrough &&
        factor.kind != FactorKind::Reduction)
      return refuse(op);
  const auto *group = linearGroup(rule, pieces, unreduced);
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    TensorSharding wanted =
        fromFactors(rule.operands[index], rule.factors, pieces);
    if (wanted.dims != propagation.get(operand).dims)
      return refuse(op);
    bool passes = group && llvm::is_contained(*group, index);
    if (!unreduced[index].empty() && !passes)
      return op->emitError("needs a sum over the whole batch before the last "
                           "micro-batch");
  }
  return success();
}

LogicalResult MicroBatcher::convert(Operation *op, OpBuilder &b) {
  auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
  if (!ruled)
    return op->emitError("has no sharding rule: it cannot be cut into "
                         "micro-batches");
  const ShardingRule &rule = propagation.ruleOf(ruled);
  FactorPieces pieces = propagation.factorPieces(ruled);
  SmallVector<PieceList> unreduced;
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    unreduced.push_back(terms.lookup(operand));
    operands.push_back(localOf(operand));
  }
  if (failed(checkOperands(ruled, rule, pieces, unreduced)))
    return failure();
  MicroBatchForm form(pieces);
  SmallVector<Value> results = ruled.buildLocal(b, operands, form);
  if (form.isRefused())
    return refuse(op);
  for (auto [result, local, made] :
       llvm::zip(op->getResults(), results,
                 producedShardings(rule, pieces, unreduced))) {
    if (made.dims != propagation.get(result).dims)
      return refuse(op);
    locals[result] = local;
    terms[result] = made.unreduced;
    for (NamedAttribute attribute : op->getDiscardableAttrs())
      local.getDefiningOp()->setDiscardableAttr(attribute.getName(),
                                                attribute.getValue());
  }
  return success();
}

/// Finds what runs for each micro-batch and what of it is used behind the last one.
void MicroBatcher::collect() {
  for (Operation &op : func.getBody().front().without_terminator())
    if (runsPerMicroBatch(&op))
      inside.push_back(&op);
  for (Operation *op : inside)
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [](Operation *user) {
            return !runsPerMicroBatch(user);
          }))
        yielded.insert(result);
}

AccumulateOp MicroBatcher::createRegion() {
  SmallVector<Value> inputs;
  for (BlockArgument argument : func.getArguments())
    if (func.getArgAttr(argument.getArgNumber(), attr::kInput) &&
        llvm::any_of(argument.getUsers(), runsPerMicroBatch))
      inputs.push_back(argument);
  OpBuilder b(func.getContext());
  b.setInsertionPointAfter(inside.back());
  auto accumulate = AccumulateOp::create(
      b, func.getLoc(), TypeRange(yielded.getArrayRef()), inputs, count);
  Block *region = b.createBlock(&accumulate.getRegion());
  for (Value input : inputs) {
    SmallVector<int64_t> shape(typeOf(input).getShape());
    shape[0] /= count;
    locals[input] =
        region->addArgument(typeOf(input).clone(shape), input.getLoc());
  }
  return accumulate;
}

LogicalResult MicroBatcher::run() {
  hoistSums();
  if (failed(seedBatch()))
    return failure();
  collect();
  AccumulateOp accumulate = createRegion();
  OpBuilder b = OpBuilder::atBlockEnd(accumulate.getBody());
  for (Operation *op : inside)
    if (failed(convert(op, b)))
      return failure();
  SmallVector<Value> results;
  for (Value value : yielded) {
    if (count > 1 && terms.lookup(value).empty())
      return value.getDefiningOp()->emitError(
          "leaves the micro-batches but is not a sum over the batch");
    results.push_back(localOf(value));
  }
  YieldOp::create(b, func.getLoc(), results);
  for (auto [index, result] : llvm::enumerate(accumulate.getResults()))
    Value(yielded[index]).replaceUsesWithIf(result, [](OpOperand &use) {
      return !runsPerMicroBatch(use.getOwner()) &&
             !isa<YieldOp>(use.getOwner());
    });
  for (Operation *op : llvm::reverse(inside))
    op->erase();
  return success();
}

namespace {
struct GradientMerge : impl::GradientMergeBase<GradientMerge> {
  using GradientMergeBase::GradientMergeBase;

  void runOnOperation() final {
    auto func = getOperation().lookupSymbol<func::FuncOp>("step");
    if (!func || microBatches < 1) {
      getOperation().emitError("micro-batches need @step and a count of at "
                               "least 1, got ")
          << microBatches.getValue();
      return signalPassFailure();
    }
    // A mesh of one axis that is time, for as long as this pass runs.
    OpBuilder b = OpBuilder::atBlockBegin(getOperation().getBody());
    auto mesh = MeshOp::create(b, func.getLoc(), "micro_batches",
                               b.getStrArrayAttr({"micro_batch"}),
                               b.getDenseI64ArrayAttr({microBatches}));
    LogicalResult converted = MicroBatcher(func, mesh, microBatches).run();
    mesh.erase();
    if (failed(converted))
      return signalPassFailure();
  }
};
} // namespace
} // namespace fleet
