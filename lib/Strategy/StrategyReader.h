//===- StrategyReader.h - Fleet's DistributedStrategy ----------*- C++ -*-===//
//
// Reading a strategy from JSON.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_LIB_STRATEGY_STRATEGYREADER_H
#define FLEET_LIB_STRATEGY_STRATEGYREADER_H

#include "JsonReader.h"
#include "fleet/Strategy/Job.h"

namespace fleet {

/// Reads a strategy, bare or wrapped as {"schema": "fleet.strategy/1", "strategy": …}. Unknown keys, wrong types and
/// values that this version does not do are errors that name the key.
llvm::Expected<Strategy> readStrategy(const Json &json,
                                      const std::string &where);

} // namespace fleet

#endif // FLEET_LIB_STRATEGY_STRATEGYREADER_H
