//===- StrategyReader.cpp - Fleet's DistributedStrategy --------*- C++ -*-===//
//
// Checks a strategy against the table of keys and takes from it what this version does.
//
//===----------------------------------------------------------------------===//

#include "StrategyReader.h"
#include "StrategyKeys.h"

#include <map>

using namespace llvm;

namespace fleet {
namespace {
/// Walks a strategy; honoured values are collected by path.
class Checker {
public:
  explicit Checker(std::string where) : where(std::move(where)) {}

  Error check(const Json &object, const std::string &prefix);
  const std::map<std::string, Json> &values() const { return honoured; }

private:
  Error checkLeaf(const StrategyKey &key, const Json &value);

  std::string where;
  std::map<std::string, Json> honoured;
};
} // namespace

static bool hasType(const Json &value, KeyType type) {
  switch (type) {
  case KeyType::Boolean:
    return value.is_boolean();
  case KeyType::Integer:
    return value.is_number_integer();
  case KeyType::Number:
    return value.is_number();
  case KeyType::String:
    return value.is_string();
  case KeyType::List:
    return value.is_array();
  }
  llvm_unreachable("all types are listed");
}

static StringRef describe(KeyType type) {
  static constexpr StringLiteral names[] = {"a boolean", "an integer",
                                            "a number", "a string", "a list"};
  return names[static_cast<unsigned>(type)];
}

Error Checker::checkLeaf(const StrategyKey &key, const Json &value) {
  if (!hasType(value, key.type))
    return userError(where, key.path + " must be " + describe(key.type) +
                                ", got " + kindOf(value));
  if (key.use == KeyUse::Honoured)
    honoured[key.path.str()] = value;
  else if (value != Json::parse(key.defaultValue.str()))
    return userError(where, key.path + " = " + value.dump() +
                                " is not yet supported");
  return Error::success();
}

Error Checker::check(const Json &object, const std::string &prefix) {
  StringRef what = prefix.empty() ? StringRef("the strategy") : StringRef(prefix).drop_back();
  if (!object.is_object())
    return userError(where, what + " must be an object, got " + kindOf(object));
  for (auto it = object.begin(); it != object.end(); ++it) {
    std::string path = prefix + it.key();
    bool group = false;
    const StrategyKey *leaf = nullptr;
    std::vector<std::string> siblings;
    for (const StrategyKey &key : strategyKeys()) {
      if (key.path == path)
        leaf = &key;
      group |= key.path.starts_with(path + ".");
      StringRef rest = key.path;
      if (rest.consume_front(prefix))
        siblings.push_back(rest.split('.').first.str());
    }
    if (!leaf && !group)
      return userError(where, "unknown key '" + path + "'" +
                                  suggestion(it.key(), siblings));
    if (Error error =
            leaf ? checkLeaf(*leaf, *it) : check(*it, path + "."))
      return error;
  }
  return Error::success();
}

namespace {
/// Takes honoured values into a Strategy; a value given twice and differently is an error.
class Collector {
public:
  Collector(const std::map<std::string, Json> &values, std::string where)
      : values(values), where(std::move(where)) {}

  /// The one value that the paths give, nullopt when none of them is there.
  template <typename T>
  std::optional<T> get(std::initializer_list<const char *> paths) {
    std::optional<T> result;
    std::string first;
    for (const char *path : paths) {
      auto it = values.find(path);
      if (it == values.end())
        continue;
      T value = it->second.template get<T>();
      if (result && *result != value && problem.empty())
        problem = first + " = " + Json(*result).dump() + " and " + path +
                  " = " + Json(value).dump() + " contradict each other";
      if (!result) {
        result = value;
        first = path;
      }
    }
    return result;
  }
  Error finish() {
    return problem.empty() ? Error::success() : userError(where, problem);
  }
  void fail(std::string message) {
    if (problem.empty())
      problem = std::move(message);
  }

private:
  const std::map<std::string, Json> &values;
  std::string where, problem;
};
} // namespace

/// A degree must be at least 1; dp may be -1.
static void readDegree(Collector &c, const char *name, int64_t &degree,
                       std::initializer_list<const char *> paths) {
  if (auto value = c.get<int64_t>(paths)) {
    if (*value < 1 && *value != -1)
      c.fail(std::string(name) + " must be at least 1, got " +
             std::to_string(*value));
    degree = *value;
  }
}

static std::vector<std::string> strings(Collector &c, const Json &list,
                                        const char *name) {
  std::vector<std::string> result;
  for (const Json &entry : list) {
    if (entry.is_string())
      result.push_back(entry.get<std::string>());
    else
      c.fail(std::string(name) + " must be a list of strings");
  }
  return result;
}

static void readDegrees(Collector &c, Strategy &s) {
  readDegree(c, "dp_degree", s.dp,
             {"hybrid_configs.dp_degree", "hybrid_configs.dp_configs.dp_degree",
              "sharding_configs.dp_degree"});
  readDegree(c, "mp_degree", s.mp,
             {"hybrid_configs.mp_degree", "hybrid_configs.mp_configs.mp_degree",
              "sharding_configs.mp_degree",
              "tensor_parallel_configs.tensor_parallel_degree"});
  readDegree(c, "pp_degree", s.pp,
             {"hybrid_configs.pp_degree", "hybrid_configs.pp_configs.pp_degree",
              "sharding_configs.pp_degree"});
  readDegree(c, "sharding_degree", s.sharding,
             {"hybrid_configs.sharding_degree",
              "hybrid_configs.sharding_configs.sharding_degree",
              "sharding_configs.sharding_degree"});
  readDegree(c, "sep_degree", s.sep,
             {"hybrid_configs.sep_degree",
              "hybrid_configs.sep_configs.sep_degree"});
  if (s.sep != 1)
    c.fail("hybrid_configs.sep_degree = " + std::to_string(s.sep) +
           " is not yet supported");
  auto stage = c.get<int64_t>({"sharding_configs.stage",
                               "hybrid_configs.sharding_configs.stage"});
  if (stage.value_or(1) != 1)
    c.fail("sharding_configs.stage = " + std::to_string(*stage) +
           " is not yet supported");
}

static void readPipeline(Collector &c, Strategy &s) {
  s.accumulateSteps = c.get<int64_t>(
      {"pipeline_configs.accumulate_steps",
       "hybrid_configs.pp_configs.accumulate_steps",
       "hybrid_configs.sharding_configs.accumulate_steps",
       "gradient_merge_configs.k_steps",
       "sharding_configs.gradient_merge_acc_step"});
  if (s.accumulateSteps.value_or(1) < 1)
    c.fail("accumulate_steps must be at least 1, got " +
           std::to_string(*s.accumulateSteps));
  s.microBatchSize =
      c.get<int64_t>({"pipeline_configs.micro_batch_size",
                      "hybrid_configs.pp_configs.micro_batch_size"});
  if (s.microBatchSize.value_or(1) < 1)
    c.fail("micro_batch_size must be at least 1, got " +
           std::to_string(*s.microBatchSize));
  s.scheduleMode =
      c.get<std::string>({"pipeline_configs.schedule_mode",
                          "hybrid_configs.pp_configs.schedule_mode"})
          .value_or(s.scheduleMode);
  if (s.scheduleMode != "1F1B" && s.scheduleMode != "F-then-B")
    c.fail("schedule_mode '" + s.scheduleMode +
           "' is not yet supported: 1F1B and F-then-B are");
  if (auto starts = c.get<Json>({"pipeline_configs.stage_starts",
                                 "hybrid_configs.pp_configs.stage_starts"}))
    s.stageStarts = strings(c, *starts, "stage_starts");
}

static void readOrder(Collector &c, Strategy &s) {
  auto order = c.get<Json>({"hybrid_configs.order"});
  if (!order || order->empty())
    return;
  std::vector<std::string> names = strings(c, *order, "order");
  std::vector<std::string> sorted = names, expected = s.order;
  std::sort(sorted.begin(), sorted.end());
  std::sort(expected.begin(), expected.end());
  if (sorted != expected)
    c.fail("hybrid_configs.order must name dp, pp, sharding, sep and mp once "
           "each, got " +
           order->dump());
  s.order = names;
}

Expected<Strategy> readStrategy(const Json &json, const std::string &where) {
  const Json *object = &json;
  if (json.is_object() && json.contains("schema")) {
    ObjectReader reader(json, where);
    std::string schema;
    reader.read("schema", schema);
    object = reader.find("strategy");
    if (schema != "fleet.strategy/1")
      reader.failAt("schema", "must be 'fleet.strategy/1', got '" + schema + "'");
    if (Error error = reader.finish())
      return error;
    if (!object)
      return userError(where, "lacks the key 'strategy'");
  }
  Checker checker(where);
  if (Error error = checker.check(*object, ""))
    return error;
  Collector c(checker.values(), where);
  Strategy s;
  readDegrees(c, s);
  readPipeline(c, s);
  readOrder(c, s);
  // Fleet's default of sharding_configs.sharding_degree is 8: it counts when static sharding is switched on.
  bool sharded = c.get<bool>({"sharding"}).value_or(false);
  if (sharded && !checker.values().count("sharding_configs.sharding_degree") &&
      s.sharding == 1)
    s.sharding = 8;
  s.fuseAllReduce = c.get<bool>({"fuse_all_reduce_ops"}).value_or(true);
  s.fuseSizeMB = c.get<int64_t>({"fuse_grad_size_in_MB"}).value_or(32);
  if (s.fuseSizeMB < 1)
    c.fail("fuse_grad_size_in_MB must be at least 1, got " +
           std::to_string(s.fuseSizeMB));
  if (Error error = c.finish())
    return error;
  return s;
}

} // namespace fleet
