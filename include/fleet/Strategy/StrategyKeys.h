//===- StrategyKeys.h - Every key of a strategy ----------------*- C++ -*-===//
//
// The table against which a strategy is checked. It is public because reports and documentation list it.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_STRATEGY_STRATEGYKEYS_H
#define FLEET_STRATEGY_STRATEGYKEYS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace fleet {

enum class KeyType { Boolean, Integer, Number, String, List, Object };

/// What this version does with a key.
enum class KeyUse {
  /// Its value decides a field of Strategy.
  Honoured,
  /// Any value but the default is refused as "not yet supported".
  Unsupported,
  /// Means nothing to this compiler. The default is accepted and reported as ignored, anything else is refused.
  NoMeaning,
  /// Written by the compiler. Accepted, so that what it writes can be read, and made anew.
  Report,
};

/// What an honoured key decides. Several keys may spell one setting; they must then agree.
enum class Setting {
  None,
  DpDegree,
  MpDegree,
  PpDegree,
  ShardingDegree,
  SepDegree,
  Order,
  ShardingStage,
  AccumulateSteps,
  MicroBatchSize,
  ScheduleMode,
  StageStarts,
  FuseAllReduce,
  FuseSizeMB,
  /// Switches of Fleet's static graphs: each says whether a group of keys counts.
  ShardingSwitch,
  PipelineSwitch,
  GradientMergeSwitch,
  TensorParallelSwitch,
};

struct StrategyKey {
  /// Path from the top of the strategy, dots between names.
  llvm::StringLiteral path;
  KeyType type;
  /// Default as JSON.
  llvm::StringLiteral defaultValue;
  KeyUse use;
  Setting setting = Setting::None;
  /// Why the key means nothing here.
  llvm::StringLiteral reason = "";
};

/// All keys, grouped as Fleet's messages are.
llvm::ArrayRef<StrategyKey> strategyKeys();

/// The key at `path`, null when there is none.
const StrategyKey *findStrategyKey(llvm::StringRef path);

/// Whether `path` names an object that holds keys.
bool isStrategyGroup(llvm::StringRef path);

} // namespace fleet

#endif // FLEET_STRATEGY_STRATEGYKEYS_H
