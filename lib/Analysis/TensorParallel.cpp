//===- TensorParallel.cpp - Megatron's shardings found ---------*- C++ -*-===//
//
// Column-then-row shardings follow from where a cut dimension flows: only factor kinds are looked at, so that a new
// operation takes part by its sharding rule alone.
//
//===----------------------------------------------------------------------===//

#include "fleet/Analysis/TensorParallel.h"

using namespace mlir;

namespace fleet {
namespace {

/// Where a cut dimension ends.
enum class FlowEnd { Nowhere, Contraction, Loss, Blocked, Uneven };

struct Flow {
  FlowEnd end = FlowEnd::Nowhere;
  /// Uneven: the operation where, and the size that the degree does not divide.
  Operation *op = nullptr;
  int64_t size = 0;
};

class Seeder {
public:
  Seeder(FunctionOpInterface func, Propagation &propagation, StringRef axis)
      : func(func), propagation(propagation), axis(axis),
        pieces(propagation.getMesh().piecesOf(axis)) {
    collectForward();
  }

  LogicalResult run();

private:
  void collectForward();
  LogicalResult visit(ShardingRuleOpInterface op);
  LogicalResult cutColumns(ShardingRuleOpInterface op, unsigned weight,
                           unsigned factor);
  void cutRows(ShardingRuleOpInterface op, unsigned table, unsigned factor);
  Flow follow(ShardingRuleOpInterface op, unsigned factor,
              const PieceList &cut) const;
  void step(ShardingRuleOpInterface op,
            llvm::DenseMap<Value, TensorSharding> &reached,
            const PieceList &cut, Flow &flow) const;
  void classify(ShardingRuleOpInterface op, const FactorPieces &factors,
                Flow &flow) const;
  void apply(ShardingRuleOpInterface op, unsigned operand, unsigned factor);
  bool isWeight(Value value) const { return weights.contains(value); }
  /// Some of the axis cuts the value already.
  bool isCut(Value value) const {
    return llvm::any_of(pieces, [&](const AxisPiece &piece) {
      return propagation.get(value).shards(piece);
    });
  }
  StringRef parameterName(Value value) const;
  InFlightDiagnostic uneven(Operation *op, int64_t size, Value weight) const;

  FunctionOpInterface func;
  Propagation &propagation;
  StringRef axis;
  PieceList pieces;
  /// Operations of the forward phase in program order.
  SmallVector<ShardingRuleOpInterface> forward;
  /// Values made from parameters and constants alone, with the parameter they come from.
  llvm::DenseMap<Value, StringRef> weights;
  unsigned numCut = 0;
};
} // namespace

void Seeder::collectForward() {
  for (BlockArgument argument : func.getArguments())
    if (auto name = func.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                      attr::kParam))
      weights[argument] = name.getValue();
  func->walk([&](ShardingRuleOpInterface op) {
    auto phase = op->getAttrOfType<PhaseAttr>(attr::kPhase);
    if (!phase || phase.getValue() != Phase::Forward)
      return;
    forward.push_back(op);
    if (op->getNumOperands() == 0 ||
        !llvm::all_of(op->getOperands(), [&](Value v) { return isWeight(v); }))
      return;
    for (Value result : op->getResults())
      weights[result] = weights[op->getOperand(0)];
  });
}

StringRef Seeder::parameterName(Value value) const {
  auto it = weights.find(value);
  return it == weights.end() ? StringRef() : it->second;
}

LogicalResult Seeder::run() {
  for (ShardingRuleOpInterface op : forward)
    if (failed(visit(op)))
      return failure();
  bool pinned = llvm::any_of(func.getArguments(), [&](BlockArgument v) {
    return isWeight(v) && isCut(v);
  });
  if (numCut == 0 && !pinned)
    return func->emitError("mp_degree ")
           << MeshPieces::product(pieces)
           << " finds no parameter that it can cut";
  return success();
}

LogicalResult Seeder::visit(ShardingRuleOpInterface op) {
  bool anyActivation =
      llvm::any_of(op->getOperands(), [&](Value v) { return !isWeight(v); });
  if (!anyActivation)
    return success();
  const ShardingRule &rule = propagation.ruleOf(op);
  auto kernel = dyn_cast<KernelOpInterface>(op.getOperation());
  bool library = kernel && kernel.getKernelClass() == KernelClass::Library;
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    if (!isWeight(operand) || propagation.isClosed(operand) || isCut(operand))
      continue;
    for (const DimFactors &dim : rule.operands[index]) {
      if (dim.empty())
        continue;
      FactorKind kind = rule.factors[dim.front()].kind;
      if (kind == FactorKind::Lookup)
        cutRows(op, index, dim.front());
      else if (library && kind == FactorKind::PassThrough &&
               failed(cutColumns(op, index, dim.front())))
        return failure();
      if (isCut(operand))
        break;
    }
  }
  return success();
}

/// Cuts `factor` of a lookup table where that saves more than the reduction of the result costs.
void Seeder::cutRows(ShardingRuleOpInterface op, unsigned table,
                     unsigned factor) {
  int64_t rows = propagation.ruleOf(op).factors[factor].size;
  if (rows % MeshPieces::product(pieces) == 0 &&
      countElements(op->getOperand(table)) > countElements(op->getResult(0)))
    apply(op, table, factor);
}

LogicalResult Seeder::cutColumns(ShardingRuleOpInterface op, unsigned weight,
                                 unsigned factor) {
  int64_t size = propagation.ruleOf(op).factors[factor].size;
  bool divides = size % MeshPieces::product(pieces) == 0;
  // When the degree does not divide, a cut by the smallest prime tells whether it would have been wanted.
  PieceList cut = pieces;
  if (!divides)
    cut = {AxisPiece{pieces[0].axis, 0, axisPieces(size).front()}};
  Flow flow = follow(op, factor, cut);
  if (flow.end == FlowEnd::Uneven)
    return uneven(flow.op, flow.size, op->getOperand(weight));
  if (flow.end == FlowEnd::Contraction && !divides)
    return uneven(op, size, op->getOperand(weight));
  if (divides &&
      (flow.end == FlowEnd::Contraction || flow.end == FlowEnd::Loss))
    apply(op, weight, factor);
  return success();
}

InFlightDiagnostic Seeder::uneven(Operation *op, int64_t size,
                                  Value weight) const {
  return op->emitError("mp_degree ")
         << MeshPieces::product(pieces) << " does not divide " << size
         << ", a size of " << op->getResult(0).getType()
         << " on the way of parameter '" << parameterName(weight)
         << "' (heads or columns)";
}

void Seeder::apply(ShardingRuleOpInterface op, unsigned operand,
                   unsigned factor) {
  const ShardingRule &rule = propagation.ruleOf(op);
  FactorPieces wanted(rule.factors.size());
  wanted[factor] = pieces;
  Value value = op->getOperand(operand);
  TensorSharding sharding = propagation.get(value);
  TensorSharding cut =
      fromFactors(rule.operands[operand], rule.factors, wanted);
  for (auto [own, added] : llvm::zip(sharding.dims, cut.dims))
    own.append(added);
  propagation.set(value, sharding, /*closed=*/false);
  propagation.run();
  ++numCut;
}

Flow Seeder::follow(ShardingRuleOpInterface start, unsigned factor,
                    const PieceList &cut) const {
  const ShardingRule &rule = propagation.ruleOf(start);
  FactorPieces wanted(rule.factors.size());
  wanted[factor] = cut;
  llvm::DenseMap<Value, TensorSharding> reached;
  for (auto [result, factors] : llvm::zip(start->getResults(), rule.results))
    reached[result] = fromFactors(factors, rule.factors, wanted);
  Flow flow;
  bool passed = false;
  for (ShardingRuleOpInterface op : forward) {
    if (passed)
      step(op, reached, cut, flow);
    passed |= op == start;
    if (flow.end == FlowEnd::Blocked || flow.end == FlowEnd::Uneven)
      break;
  }
  return flow;
}

/// Carries the cut through one operation.
void Seeder::step(ShardingRuleOpInterface op,
                  llvm::DenseMap<Value, TensorSharding> &reached,
                  const PieceList &cut, Flow &flow) const {
  const ShardingRule &rule = propagation.ruleOf(op);
  FactorPieces factors(rule.factors.size());
  bool touched = false;
  for (auto [operand, dims] : llvm::zip(op->getOperands(), rule.operands)) {
    auto it = reached.find(operand);
    if (it == reached.end())
      continue;
    for (auto [pieceList, list] : llvm::zip(it->second.dims, dims)) {
      if (pieceList.empty())
        continue;
      touched = true;
      FactorPieces own(rule.factors.size());
      projectToFactors(pieceList, list, rule.factors, own);
      size_t taken = 0;
      for (unsigned factor : list) {
        taken += own[factor].size();
        if (!own[factor].empty())
          factors[factor] = own[factor];
      }
      if (taken != pieceList.size()) {
        flow = {FlowEnd::Uneven, op, rule.factors[list.front()].size};
        return;
      }
    }
  }
  if (!touched)
    return;
  classify(op, factors, flow);
  for (auto [result, dims] : llvm::zip(op->getResults(), rule.results)) {
    TensorSharding sharding = fromFactors(dims, rule.factors, factors);
    if (sharding.shards(cut.front()))
      reached[result] = sharding;
  }
}

/// Notes what an operation does with the factors that are cut.
void Seeder::classify(ShardingRuleOpInterface op, const FactorPieces &factors,
                      Flow &flow) const {
  const ShardingRule &rule = propagation.ruleOf(op);
  for (auto [index, list] : llvm::enumerate(factors)) {
    if (list.empty())
      continue;
    switch (rule.factors[index].kind) {
    case FactorKind::PassThrough:
      break;
    case FactorKind::Whole:
    case FactorKind::Lookup:
      flow.end = FlowEnd::Blocked;
      return;
    case FactorKind::Collective:
      if (flow.end == FlowEnd::Nowhere)
        flow.end = FlowEnd::Loss;
      break;
    case FactorKind::Reduction:
      for (auto [operand, dims] : llvm::zip(op->getOperands(), rule.operands))
        if (isWeight(operand) &&
            llvm::any_of(dims, [&, i = index](const DimFactors &dim) {
              return llvm::is_contained(dim, i);
            }))
          flow.end = FlowEnd::Contraction;
      break;
    }
  }
}

LogicalResult seedTensorParallel(FunctionOpInterface func,
                                 Propagation &propagation, StringRef axis) {
  return Seeder(func, propagation, axis).run();
}

} // namespace fleet
