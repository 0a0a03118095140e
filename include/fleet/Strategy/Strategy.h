//===- Strategy.h - How a job is spread over devices -----------*- C++ -*-===//
//
// What this version takes from Fleet's DistributedStrategy. Everything else that a strategy may say is in StrategyKeys.h
// and is refused unless it says the default.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_STRATEGY_STRATEGY_H
#define FLEET_STRATEGY_STRATEGY_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fleet {

/// A key that was accepted and has no effect.
struct IgnoredKey {
  std::string key;
  std::string reason;
};

struct Strategy {
  /// Degrees. -1: what the other degrees leave of the devices; readJob leaves none of them.
  int64_t dp = -1;
  int64_t mp = 1, pp = 1, sharding = 1, sep = 1;
  /// Mesh axes from the outermost to the innermost.
  std::vector<std::string> order = {"dp", "pp", "sharding", "sep", "mp"};
  int64_t shardingStage = 1; ///< ZeRO stage
  std::string scheduleMode = "1F1B";
  bool fuseAllReduce = true;
  int64_t fuseSizeMB = 32;
  /// Micro-batches of a step.
  std::optional<int64_t> accumulateSteps;
  /// Samples of one micro-batch on one data-parallel rank.
  std::optional<int64_t> microBatchSize;
  /// Where each stage but the first begins, by name of a parameter or value. Empty: cut by cost.
  std::vector<std::string> stageStarts;
  /// What was accepted without effect.
  std::vector<IgnoredKey> ignored;
};

} // namespace fleet

#endif // FLEET_STRATEGY_STRATEGY_H
