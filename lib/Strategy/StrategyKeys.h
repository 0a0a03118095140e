//===- StrategyKeys.h - Every key of a strategy ----------------*- C++ -*-===//
//
// The table against which a strategy is checked.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_LIB_STRATEGY_STRATEGYKEYS_H
#define FLEET_LIB_STRATEGY_STRATEGYKEYS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace fleet {

enum class KeyType { Boolean, Integer, Number, String, List };

/// What this version does with a key.
enum class KeyUse {
  /// It is done.
  Honoured,
  /// Any value but the default is refused.
  Unsupported,
};

struct StrategyKey {
  /// Path from the top of the strategy, dots between names.
  llvm::StringLiteral path;
  KeyType type;
  /// Default as JSON.
  llvm::StringLiteral defaultValue;
  KeyUse use;
};

/// All keys, grouped as Fleet's messages are.
llvm::ArrayRef<StrategyKey> strategyKeys();

} // namespace fleet

#endif // FLEET_LIB_STRATEGY_STRATEGYKEYS_H
