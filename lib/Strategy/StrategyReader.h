//===- StrategyReader.h - Fleet's DistributedStrategy ----------*- C++ -*-===//
//
// Reading a strategy from a tree.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_LIB_STRATEGY_STRATEGYREADER_H
#define FLEET_LIB_STRATEGY_STRATEGYREADER_H

#include "Node.h"
#include "fleet/Strategy/Strategy.h"

namespace fleet {

/// Takes the strategy out of {"schema": "fleet.strategy/1", "strategy": …}; a bare one stays.
llvm::Error unwrapStrategy(Node &node);

/// Reads a bare strategy. Unknown keys, wrong types and values that this version does not do are errors that name the key
/// by its path from the top of the strategy.
llvm::Expected<Strategy> readStrategy(const Node &node);

} // namespace fleet

#endif // FLEET_LIB_STRATEGY_STRATEGYREADER_H
