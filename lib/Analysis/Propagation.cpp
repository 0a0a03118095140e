//===- Propagation.cpp - Shardings of all values from a few ----*- C++ -*-===//
//
// For each factor of an operation the tensors that have it agree on the longest list of which all others are
// beginnings, or on their common beginning; every open tensor that lacks some of it takes it, unless it already uses a
// piece elsewhere.
//
//===----------------------------------------------------------------------===//

#include "fleet/Analysis/Propagation.h"

using namespace mlir;

namespace fleet {

/// 0: element-wise and shape, 1: contraction and reduction, 2: lookup.
static unsigned classOf(const ShardingRule &rule) {
  unsigned result = 0;
  for (const Factor &factor : rule.factors) {
    if (factor.kind == FactorKind::Lookup)
      return 2;
    if (factor.kind == FactorKind::Reduction ||
        factor.kind == FactorKind::Collective)
      result = 1;
  }
  return result;
}

Propagation::Propagation(FunctionOpInterface func, MeshOp meshOp)
    : mesh(meshOp), classes(3) {
  auto add = [&](Value value) {
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      entries[value].sharding = TensorSharding(type.getRank());
  };
  for (Block &block : func.getFunctionBody())
    llvm::for_each(block.getArguments(), add);
  func->walk([&](Operation *op) {
    llvm::for_each(op->getResults(), add);
    if (auto accumulate = dyn_cast<AccumulateOp>(op)) {
      llvm::for_each(accumulate.getBody()->getArguments(), add);
      classes[0].push_back(op);
    } else if (auto ruled = dyn_cast<ShardingRuleOpInterface>(op)) {
      classes[classOf(ruleOf(ruled))].push_back(op);
    }
  });
}

const ShardingRule &Propagation::ruleOf(ShardingRuleOpInterface op) const {
  auto [it, inserted] = rules.try_emplace(op);
  if (inserted)
    it->second = std::make_unique<ShardingRule>(op.getShardingRule());
  return *it->second;
}

const TensorSharding &Propagation::get(Value value) const {
  return entries.find(value)->second.sharding;
}

void Propagation::set(Value value, const TensorSharding &sharding,
                      bool closed) {
  Entry &entry = entries[value];
  entry.sharding = sharding;
  entry.closed = closed;
}

bool Propagation::isClosed(Value value) const {
  return entries.find(value)->second.closed;
}

void Propagation::run() {
  for (size_t last = 0; last < classes.size(); ++last) {
    bool changed = true;
    while (changed) {
      changed = false;
      for (size_t index = 0; index <= last; ++index)
        for (Operation *op : classes[index])
          changed |= visit(op);
    }
  }
}

bool Propagation::visit(Operation *op) {
  if (auto accumulate = dyn_cast<AccumulateOp>(op))
    return visitAccumulate(accumulate);
  return visitFactors(cast<ShardingRuleOpInterface>(op));
}

/// Takes the sharding of `from` when `to` is open and its own is a beginning of it.
bool Propagation::copy(Value from, Value to) {
  Entry &target = entries[to];
  const TensorSharding &source = get(from);
  if (target.closed || target.sharding.dims == source.dims)
    return false;
  for (auto [own, other] : llvm::zip(target.sharding.dims, source.dims))
    if (!isPrefix(own, other))
      return false;
  target.sharding.dims = source.dims;
  return true;
}

bool Propagation::visitAccumulate(AccumulateOp op) {
  bool changed = false;
  for (auto [outer, inner] :
       llvm::zip(op.getInputs(), op.getBody()->getArguments())) {
    changed |= copy(outer, inner);
    changed |= copy(inner, outer);
  }
  // Outwards only: how a sum is stored after the last micro-batch says nothing about how its terms are made.
  for (auto [inner, outer] :
       llvm::zip(op.getBody()->getTerminator()->getOperands(), op.getResults()))
    changed |= copy(inner, outer);
  return changed;
}

/// The common beginning of two lists.
static PieceList commonPrefix(ArrayRef<AxisPiece> a, ArrayRef<AxisPiece> b) {
  PieceList prefix;
  for (auto [x, y] : llvm::zip(a, b)) {
    if (x != y)
      break;
    prefix.push_back(x);
  }
  return prefix;
}

namespace {
/// What the tensors of an operation say about its factors.
class Consensus {
public:
  explicit Consensus(const ShardingRule &rule)
      : rule(rule), pieces(rule.factors.size()) {}

  void add(const TensorSharding &sharding, const TensorFactors &factors) {
    FactorPieces own(rule.factors.size());
    for (auto [dim, list] : llvm::zip(sharding.dims, factors))
      projectToFactors(dim, list, rule.factors, own);
    for (auto [all, mine] : llvm::zip(pieces, own)) {
      if (isPrefix(all, mine))
        all = mine;
      else if (!isPrefix(mine, all))
        all = commonPrefix(all, mine);
    }
  }

  /// The agreed lists; a piece belongs to the first factor that claims it, and whole factors are never cut.
  FactorPieces take() {
    PieceList used;
    for (auto [list, factor] : llvm::zip(pieces, rule.factors)) {
      if (factor.kind == FactorKind::Whole)
        list.clear();
      for (size_t i = 0; i < list.size(); ++i)
        if (llvm::is_contained(used, list[i])) {
          list.truncate(i);
          break;
        }
      used.append(list);
    }
    return std::move(pieces);
  }

private:
  const ShardingRule &rule;
  FactorPieces pieces;
};
} // namespace

FactorPieces Propagation::factorPieces(ShardingRuleOpInterface op) const {
  const ShardingRule &rule = ruleOf(op);
  Consensus consensus(rule);
  for (auto [result, factors] : llvm::zip(op->getResults(), rule.results))
    consensus.add(get(result), factors);
  for (auto [operand, factors] : llvm::zip(op->getOperands(), rule.operands))
    consensus.add(get(operand), factors);
  return consensus.take();
}

bool Propagation::visitFactors(ShardingRuleOpInterface op) {
  const ShardingRule &rule = ruleOf(op);
  FactorPieces wanted = factorPieces(op);
  bool changed = false;
  for (auto [operand, factors] : llvm::zip(op->getOperands(), rule.operands))
    changed |= extend(operand, factors, rule, wanted);
  for (auto [result, factors] : llvm::zip(op->getResults(), rule.results))
    changed |= extend(result, factors, rule, wanted);
  return changed;
}

/// Takes over what is wanted, dimension by dimension, where it lengthens the list, divides, and uses no piece twice.
bool Propagation::extend(Value value, const TensorFactors &factors,
                         const ShardingRule &rule, const FactorPieces &wanted) {
  Entry &entry = entries[value];
  if (entry.closed)
    return false;
  TensorSharding target = fromFactors(factors, rule.factors, wanted);
  bool changed = false;
  auto shape = typeOf(value).getShape();
  for (size_t d = 0; d < factors.size(); ++d) {
    PieceList &own = entry.sharding.dims[d];
    ArrayRef<AxisPiece> list = target.dims[d];
    if (list.size() <= own.size() || !isPrefix(own, list) ||
        shape[d] % MeshPieces::product(list) != 0)
      continue;
    bool free =
        llvm::none_of(list.drop_front(own.size()), [&](const AxisPiece &p) {
          return entry.sharding.shards(p);
        });
    if (!free)
      continue;
    own.assign(list.begin(), list.end());
    changed = true;
  }
  return changed;
}

/// Pieces that cut factors which `result` does not have and which are summed over.
static PieceList summedPieces(const ShardingRule &rule,
                              const TensorFactors &result,
                              const FactorPieces &pieces) {
  PieceList summed;
  for (auto [index, factor] : llvm::enumerate(rule.factors)) {
    if (factor.kind != FactorKind::Reduction &&
        factor.kind != FactorKind::Lookup)
      continue;
    bool present = llvm::any_of(result, [&, i = index](const DimFactors &dim) {
      return llvm::is_contained(dim, i);
    });
    if (!present)
      summed.append(pieces[index]);
  }
  return summed;
}

SmallVector<TensorSharding, 2>
producedShardings(const ShardingRule &rule, const FactorPieces &pieces,
                  ArrayRef<PieceList> unreducedOperands) {
  PieceList passed;
  if (const auto *group = linearGroup(rule, pieces, unreducedOperands))
    passed = unreducedOperands[group->front()];
  SmallVector<TensorSharding, 2> results;
  for (const TensorFactors &factors : rule.results) {
    TensorSharding sharding = fromFactors(factors, rule.factors, pieces);
    sharding.unreduced = summedPieces(rule, factors, pieces);
    for (const AxisPiece &piece : passed)
      if (!llvm::is_contained(sharding.unreduced, piece))
        sharding.unreduced.push_back(piece);
    llvm::sort(sharding.unreduced);
    results.push_back(sharding);
  }
  return results;
}

const SmallVector<unsigned, 2> *
linearGroup(const ShardingRule &rule, const FactorPieces &pieces,
            ArrayRef<PieceList> unreducedOperands) {
  for (const auto &group : rule.linear) {
    const PieceList &terms = unreducedOperands[group.front()];
    if (terms.empty())
      continue;
    bool fits = true;
    for (auto [operand, unreduced] : llvm::enumerate(unreducedOperands))
      fits &= llvm::is_contained(group, operand) ? unreduced == terms
                                                 : unreduced.empty();
    for (const PieceList &cut : pieces)
      for (const AxisPiece &piece : cut)
        fits &= !llvm::is_contained(terms, piece);
    if (fits)
      return &group;
  }
  return nullptr;
}

} // namespace fleet
