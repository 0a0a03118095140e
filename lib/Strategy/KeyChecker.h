//===- KeyChecker.h - A strategy beside the table of keys ------*- C++ -*-===//
//
// What a user wrote is walked beside the table; every honoured key ends as the value of its setting, in whichever of
// Fleet's spellings it came.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_LIB_STRATEGY_KEYCHECKER_H
#define FLEET_LIB_STRATEGY_KEYCHECKER_H

#include "Node.h"
#include "fleet/Strategy/Strategy.h"
#include "fleet/Strategy/StrategyKeys.h"

#include <map>

namespace fleet {

/// The key that gave a setting, and its value in the tree of the user.
struct Given {
  std::string path;
  const Node *value;
};
using Settings = std::map<Setting, Given>;

struct CheckedStrategy {
  Settings settings;
  std::vector<IgnoredKey> ignored;
};

/// Checks names, types, support and agreement of all keys of a bare strategy. The result points into `strategy`.
llvm::Expected<CheckedStrategy> checkKeys(const Node &strategy);

} // namespace fleet

#endif // FLEET_LIB_STRATEGY_KEYCHECKER_H
