//===- StagePlan.cpp - What each stage computes ----------------*- C++ -*-===//
//
// Ownership of values by stage.
//
//===----------------------------------------------------------------------===//

#include "StagePlan.h"

using namespace mlir;

namespace fleet {

StagePlan::StagePlan(func::FuncOp func, AccumulateOp accumulate, int64_t stages)
    : func(func), accumulate(accumulate), numStages(stages) {}

std::optional<int64_t> StagePlan::stageOf(Operation *op) const {
  if (auto stage = op->getAttrOfType<IntegerAttr>(attr::kStage))
    return stage.getInt();
  return numStages == 1 ? std::optional<int64_t>(0) : std::nullopt;
}

bool StagePlan::isBackward(Operation *op) const {
  auto phase = op->getAttrOfType<PhaseAttr>(attr::kPhase);
  return phase && (phase.getValue() == Phase::BackwardInput ||
                   phase.getValue() == Phase::BackwardWeight);
}

int64_t StagePlan::ownerOf(unsigned index) {
  Value yielded = accumulate.getBody()->getTerminator()->getOperand(index);
  Operation *made = yielded.getDefiningOp();
  return made ? stageOf(made).value_or(numStages - 1) : numStages - 1;
}

std::optional<unsigned> StagePlan::accumulatedIndex(Value value) {
  auto result = dyn_cast<OpResult>(value);
  if (!result || result.getOwner() != accumulate.getOperation())
    return std::nullopt;
  return result.getResultNumber();
}

const llvm::SmallSetVector<int64_t, 4> &StagePlan::homesOf(Value value) {
  if (auto it = homes.find(value); it != homes.end())
    return it->second;
  llvm::SmallSetVector<int64_t, 4> own;
  if (std::optional<unsigned> index = accumulatedIndex(value)) {
    own.insert(ownerOf(*index));
  } else if (Operation *made = value.getDefiningOp()) {
    for (Value operand : made->getOperands()) {
      llvm::SmallSetVector<int64_t, 4> theirs = homesOf(operand);
      own.insert(theirs.begin(), theirs.end());
    }
  }
  return homes[value] = own;
}

int64_t StagePlan::homeOf(Value term) {
  const auto &own = homesOf(term);
  return own.empty() ? 0 : *llvm::min_element(own);
}

std::map<int64_t, SmallVector<Value>> StagePlan::termsByHome(SumOp sum) {
  std::map<int64_t, SmallVector<Value>> groups;
  for (Value term : sum.getTerms())
    groups[homeOf(term)].push_back(term);
  return groups;
}

} // namespace fleet
