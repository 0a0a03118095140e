//===- StrategyReader.cpp - Fleet's DistributedStrategy --------*- C++ -*-===//
//
// What the check of keys found becomes a Strategy: ranges of values, and rules between settings.
//
//===----------------------------------------------------------------------===//

#include "StrategyReader.h"
#include "KeyChecker.h"
#include "ObjectReader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace fleet {

static constexpr int64_t kMaxDegree = 65536;
static constexpr int64_t kMaxSteps = int64_t(1) << 31;

namespace {
/// Makes a Strategy of settings. The first error is kept.
class StrategyBuilder {
public:
  explicit StrategyBuilder(const Settings &settings) : settings(settings) {}

  Expected<Strategy> build();

private:
  void readDegrees(Strategy &s);
  void readSharding(Strategy &s);
  void readPipeline(Strategy &s);
  void readOrder(Strategy &s);

  bool has(Setting setting) const { return settings.count(setting); }
  template <typename T> std::optional<T> get(Setting setting);
  /// An integer in a range; the fallback where it is not given.
  int64_t get(Setting setting, int64_t fallback, int64_t low, int64_t high);
  bool isOn(Setting setting) { return get<bool>(setting).value_or(false); }
  void fail(Setting setting, const Twine &message);

  const Settings &settings;
  std::string problem;
};
} // namespace

void StrategyBuilder::fail(Setting setting, const Twine &message) {
  const Given &given = settings.at(setting);
  std::string text =
      toString(userError(given.value->place, given.path + " " + message));
  if (problem.empty())
    problem = std::move(text);
}

template <typename T> std::optional<T> StrategyBuilder::get(Setting setting) {
  auto it = settings.find(setting);
  if (it == settings.end())
    return std::nullopt;
  const Node &node = *it->second.value;
  auto value = node.as<T>();
  if (!value)
    fail(setting, "must be " + typeName<T>() + ", got " + node.describe());
  return value;
}

int64_t StrategyBuilder::get(Setting setting, int64_t fallback, int64_t low,
                             int64_t high) {
  auto value = get<int64_t>(setting);
  if (!value)
    return fallback;
  if (*value < low)
    fail(setting, "must be at least " + Twine(low) + ", got " + Twine(*value));
  if (*value > high)
    fail(setting, "must be at most " + Twine(high) + ", got " + Twine(*value));
  return *value;
}

void StrategyBuilder::readDegrees(Strategy &s) {
  static constexpr std::pair<Setting, int64_t Strategy::*> degrees[] = {
      {Setting::DpDegree, &Strategy::dp},
      {Setting::MpDegree, &Strategy::mp},
      {Setting::PpDegree, &Strategy::pp},
      {Setting::ShardingDegree, &Strategy::sharding},
      {Setting::SepDegree, &Strategy::sep}};
  Setting inferred = Setting::None;
  for (auto [setting, member] : degrees) {
    auto value = get<int64_t>(setting);
    if (!value)
      continue;
    s.*member = *value;
    if (*value != -1) {
      get(setting, 1, 1, kMaxDegree);
      continue;
    }
    if (inferred != Setting::None)
      fail(setting, "and " + settings.at(inferred).path +
                        " are both -1: one degree follows from the others");
    inferred = setting;
  }
  // What one degree takes of the devices leaves nothing for another to follow from.
  if (inferred != Setting::None && !has(Setting::DpDegree))
    s.dp = 1;
  if (s.sep != 1)
    fail(Setting::SepDegree, "= " + Twine(s.sep) + " is not yet supported");
}

/// Fleet's static graphs switch a kind of parallelism on and say its degree elsewhere; there is no program here that
/// would say it instead.
void StrategyBuilder::readSharding(Strategy &s) {
  if (isOn(Setting::ShardingSwitch) && !has(Setting::ShardingDegree))
    s.sharding = 8;
  if (isOn(Setting::PipelineSwitch) && !has(Setting::PpDegree))
    fail(Setting::PipelineSwitch, "is true but no pp_degree is given");
  if (isOn(Setting::TensorParallelSwitch) && !has(Setting::MpDegree))
    fail(Setting::TensorParallelSwitch,
         "is true but no tensor_parallel_degree is given");
  s.shardingStage = get(Setting::ShardingStage, 1, 1, 3);
  if (s.shardingStage != 1)
    fail(Setting::ShardingStage,
         "= " + Twine(s.shardingStage) + " is not yet supported");
}

void StrategyBuilder::readPipeline(Strategy &s) {
  if (has(Setting::AccumulateSteps))
    s.accumulateSteps = get(Setting::AccumulateSteps, 1, 1, kMaxSteps);
  if (has(Setting::MicroBatchSize))
    s.microBatchSize = get(Setting::MicroBatchSize, 1, 1, kMaxSteps);
  if (auto mode = get<std::string>(Setting::ScheduleMode)) {
    static constexpr StringLiteral later[] = {
        "Eager1F1B", "VPP",  "ZBH1",  "ZB-H1",  "ZBH2",     "ZB-H2",
        "ZBV",       "ZB-V", "ZBVPP", "ZB-VPP", "DualPipeV"};
    s.scheduleMode = *mode;
    if (is_contained(later, *mode))
      fail(Setting::ScheduleMode,
           "= " + quote(*mode) + " is not yet supported");
    else if (*mode != "1F1B" && *mode != "F-then-B")
      fail(Setting::ScheduleMode,
           "must be one of 1F1B, F-then-B, got " + quote(*mode));
  }
  if (auto starts = get<std::vector<std::string>>(Setting::StageStarts))
    s.stageStarts = *starts;
}

void StrategyBuilder::readOrder(Strategy &s) {
  auto names = get<std::vector<std::string>>(Setting::Order);
  if (!names)
    return;
  if (names->size() != s.order.size() ||
      !std::is_permutation(names->begin(), names->end(), s.order.begin()))
    fail(Setting::Order,
         "must name dp, pp, sharding, sep and mp once each, got " +
             quote(llvm::join(*names, ", ")));
  s.order = *names;
}

Expected<Strategy> StrategyBuilder::build() {
  Strategy s;
  readDegrees(s);
  readSharding(s);
  readPipeline(s);
  readOrder(s);
  s.fuseAllReduce = get<bool>(Setting::FuseAllReduce).value_or(true);
  s.fuseSizeMB = get(Setting::FuseSizeMB, s.fuseSizeMB, 1, int64_t(1) << 30);
  if (!problem.empty())
    return createStringError(inconvertibleErrorCode(), problem);
  return s;
}

Error unwrapStrategy(Node &node) {
  if (!node.is(Node::Kind::Object) ||
      !(node.find("schema") || node.find("strategy")))
    return Error::success();
  ObjectReader reader(node, "");
  std::string schema;
  reader.require("schema");
  if (reader.read("schema", schema) && schema != "fleet.strategy/1")
    reader.fail("schema", "must be 'fleet.strategy/1', got " + quote(schema));
  reader.require("strategy");
  const Node *inner = reader.find("strategy");
  if (Error error = reader.finish())
    return error;
  Node bare = *inner;
  node = std::move(bare);
  return Error::success();
}

Expected<Strategy> readStrategy(const Node &node) {
  auto checked = checkKeys(node);
  if (!checked)
    return checked.takeError();
  auto strategy = StrategyBuilder(checked->settings).build();
  if (strategy)
    strategy->ignored = std::move(checked->ignored);
  return strategy;
}

} // namespace fleet
