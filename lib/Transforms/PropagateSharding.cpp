//===- PropagateSharding.cpp - A sharding for every value ------*- C++ -*-===//
//
// Runs propagation from the arguments and writes what it finds on the operations, unreduced axes included.
//
//===----------------------------------------------------------------------===//

#include "fleet/Analysis/Propagation.h"
#include "fleet/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace fleet {
#define GEN_PASS_DEF_PROPAGATESHARDING
#include "fleet/Transforms/Passes.h.inc"

namespace {
/// Decides where a term of a sum stays one. A value is first noted with the axes over which it is made unreduced; the
/// axes stay when its only user is linear in it and its result is not larger, so that a reduction is done once, as late
/// as is free, and never on more bytes.
class UnreducedPlan {
public:
  explicit UnreducedPlan(Propagation &propagation) : propagation(propagation) {}

  void run(func::FuncOp func) { visitBlock(func.getBody().front()); }

private:
  void visitBlock(Block &block);
  void visit(ShardingRuleOpInterface op);
  void visit(AccumulateOp op);
  void note(Value value, const PieceList &unreduced);
  void reduce(Value value);
  PieceList pending(Value value) const {
    return propagation.get(value).unreduced;
  }

  Propagation &propagation;
};
} // namespace

void UnreducedPlan::visitBlock(Block &block) {
  for (Operation &op : block) {
    if (auto accumulate = dyn_cast<AccumulateOp>(op)) {
      visit(accumulate);
    } else if (auto ruled = dyn_cast<ShardingRuleOpInterface>(op)) {
      visit(ruled);
    } else if (!isa<YieldOp>(op)) {
      llvm::for_each(op.getOperands(), [&](Value v) { reduce(v); });
    }
  }
}

void UnreducedPlan::note(Value value, const PieceList &unreduced) {
  if (unreduced.empty())
    return;
  TensorSharding sharding = propagation.get(value);
  if (value.hasOneUse())
    sharding.unreduced = unreduced;
  propagation.set(value, sharding, propagation.isClosed(value));
}

void UnreducedPlan::reduce(Value value) {
  TensorSharding sharding = propagation.get(value);
  sharding.unreduced.clear();
  propagation.set(value, sharding, propagation.isClosed(value));
}

void UnreducedPlan::visit(ShardingRuleOpInterface op) {
  const ShardingRule &rule = propagation.ruleOf(op);
  FactorPieces pieces = propagation.factorPieces(op);
  SmallVector<PieceList> unreduced;
  for (Value operand : op->getOperands())
    unreduced.push_back(pending(operand));
  const auto *group = linearGroup(rule, pieces, unreduced);
  bool pass = group && op->getNumResults() == 1;
  if (pass)
    for (unsigned operand : *group)
      pass &= countElements(op->getResult(0)) <=
              countElements(op->getOperand(operand));
  if (!pass)
    for (auto [operand, terms] : llvm::zip(op->getOperands(), unreduced)) {
      reduce(operand);
      terms.clear();
    }
  for (auto [result, sharding] :
       llvm::zip(op->getResults(), producedShardings(rule, pieces, unreduced)))
    note(result, sharding.unreduced);
}

void UnreducedPlan::visit(AccumulateOp op) {
  llvm::for_each(op.getInputs(), [&](Value v) { reduce(v); });
  visitBlock(*op.getBody());
  for (auto [inner, outer] :
       llvm::zip(op.getBody()->getTerminator()->getOperands(), op.getResults()))
    note(outer, pending(inner));
}

/// Gives arguments and pinned values their shardings. False when an argument has none.
static LogicalResult readSeeds(func::FuncOp func, Propagation &propagation) {
  MeshPieces &mesh = propagation.getMesh();
  for (BlockArgument argument : func.getArguments()) {
    auto sharding = func.getArgAttrOfType<ShardingAttr>(argument.getArgNumber(),
                                                        attr::kSharding);
    if (!sharding)
      return func.emitError("argument ")
             << argument.getArgNumber() << " has no sharding";
    propagation.set(argument, fromAttr(sharding, mesh), /*closed=*/true);
  }
  func.walk([&](Operation *op) {
    if (auto pinned = op->getAttrOfType<ShardingAttr>(attr::kPinned))
      propagation.set(op->getResult(0), fromAttr(pinned, mesh),
                      /*closed=*/true);
  });
  return success();
}

static void writeShardings(func::FuncOp func, Propagation &propagation) {
  func.walk([&](Operation *op) {
    if (op == func || op->getNumResults() == 0)
      return;
    SmallVector<Attribute> shardings;
    for (Value result : op->getResults())
      shardings.push_back(
          toAttr(propagation.get(result), propagation.getMesh()));
    op->setAttr(attr::kShardings, ArrayAttr::get(op->getContext(), shardings));
  });
}

namespace {
struct PropagateSharding : impl::PropagateShardingBase<PropagateSharding> {
  using PropagateShardingBase::PropagateShardingBase;

  void runOnOperation() final {
    auto func = getOperation().lookupSymbol<func::FuncOp>("step");
    MeshOp mesh = findMesh(getOperation());
    if (!func || !mesh) {
      getOperation().emitError("propagation needs @step and a mesh");
      return signalPassFailure();
    }
    Propagation propagation(func, mesh);
    if (failed(readSeeds(func, propagation)))
      return signalPassFailure();
    propagation.run();
    UnreducedPlan(propagation).run(func);
    writeShardings(func, propagation);
  }
};
} // namespace
} // namespace fleet
