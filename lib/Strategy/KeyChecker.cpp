//===- KeyChecker.cpp - A strategy beside the table of keys ----*- C++ -*-===//
//
// Unknown keys, wrong types, what is not yet supported and what is given twice.
//
//===----------------------------------------------------------------------===//

#include "KeyChecker.h"
#include "Parse.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace fleet {
namespace {
/// Walks a strategy beside the table of keys.
class KeyChecker {
public:
  explicit KeyChecker(const Node &root) : root(root) {}

  Error checkGroup(const Node &group, const std::string &path);
  CheckedStrategy take() { return std::move(checked); }

private:
  Error checkKey(const StrategyKey &key, const Node &value);
  Error unknownKey(StringRef name, const std::string &groupPath,
                   const Node &value) const;
  Error record(const StrategyKey &key, const Node &value, bool isDefault);

  const Node &root;
  CheckedStrategy checked;
};
} // namespace

static bool hasType(const Node &node, KeyType type) {
  using Kind = Node::Kind;
  switch (type) {
  case KeyType::Boolean:
    return node.is(Kind::Boolean);
  case KeyType::Integer:
    return node.is(Kind::Integer);
  case KeyType::Number:
    return node.is(Kind::Integer) || node.is(Kind::Number);
  case KeyType::String:
    return node.is(Kind::String);
  case KeyType::List:
    return node.is(Kind::List);
  case KeyType::Object:
    return node.is(Kind::Object);
  }
  llvm_unreachable("all types are listed");
}

static StringRef nameOf(KeyType type) {
  static constexpr StringLiteral names[] = {
      "a boolean", "an integer", "a number", "a string", "a list", "an object"};
  return names[static_cast<unsigned>(type)];
}

static Node defaultOf(const StrategyKey &key) {
  return cantFail(parseJson(key.defaultValue, Place::of("default")));
}

/// The switch that says whether the keys of a group count, empty for groups that always do.
static StringRef switchOf(StringRef path) {
  return StringSwitch<StringRef>(path.split('.').first)
      .Case("sharding_configs", "sharding")
      .Case("gradient_merge_configs", "gradient_merge")
      .Case("tensor_parallel_configs", "tensor_parallel")
      .Default("");
}

/// A setting has one value, however often and in whichever spelling it is given. Under a switch that is off, defaults do
/// not count (Fleet's sharding_degree is 8) and anything else is a contradiction.
Error KeyChecker::record(const StrategyKey &key, const Node &value,
                         bool isDefault) {
  StringRef name = switchOf(key.path);
  const Node *isOn = name.empty() ? nullptr : root.find(name);
  if (isOn && isOn->as<bool>() == false) {
    if (isDefault)
      return Error::success();
    return userError(value.place, key.path + " is " + value.brief() + " but " +
                                      name + " is false");
  }
  auto [it, isFirst] =
      checked.settings.try_emplace(key.setting, Given{key.path.str(), &value});
  const Given &first = it->second;
  if (isFirst || *first.value == value)
    return Error::success();
  return userError(value.place, key.path + " is " + value.brief() + " but " +
                                    first.path + " is " + first.value->brief());
}

Error KeyChecker::checkKey(const StrategyKey &key, const Node &value) {
  bool isDefault = value == defaultOf(key);
  if (!hasType(value, key.type) && !(isDefault && value.is(Node::Kind::Null))) {
    StringRef hint;
    if (key.type == KeyType::Boolean && value.is(Node::Kind::Object))
      hint =
          " (the groups of paddle.distributed.Strategy are not yet supported)";
    return userError(value.place, key.path + " must be " + nameOf(key.type) +
                                      ", got " + value.describe() + hint);
  }
  if (key.use == KeyUse::Report)
    return Error::success();
  if (key.use == KeyUse::Honoured)
    return record(key, value, isDefault);
  if (!isDefault) {
    bool isScalar = key.type != KeyType::List && key.type != KeyType::Object;
    return userError(value.place, key.path +
                                      (isScalar ? " = " + value.brief() : "") +
                                      " is not yet supported");
  }
  if (key.use == KeyUse::NoMeaning)
    checked.ignored.push_back({key.path.str(), key.reason.str()});
  return Error::success();
}

/// Names the same key where it does exist, else the nearest one of the group.
Error KeyChecker::unknownKey(StringRef name, const std::string &groupPath,
                             const Node &value) const {
  std::vector<std::string> siblings, elsewhere;
  for (const StrategyKey &key : strategyKeys()) {
    StringRef rest = key.path;
    if (rest.rsplit('.').second == name)
      elsewhere.push_back(key.path.str());
    if (groupPath.empty() ||
        (rest.consume_front(groupPath) && rest.consume_front(".")))
      siblings.push_back(joinPath(groupPath, rest.split('.').first));
  }
  std::string path = joinPath(groupPath, name);
  return userError(value.place,
                   "unknown key " + quote(path) +
                       nearest(path, elsewhere.empty() ? siblings : elsewhere));
}

Error KeyChecker::checkGroup(const Node &group, const std::string &path) {
  if (!group.is(Node::Kind::Object))
    return userError(group.place, (path.empty() ? "the strategy" : path) +
                                      " must be an object, got " +
                                      group.describe());
  for (auto &[name, value] : group.members) {
    std::string inner = joinPath(path, name);
    const StrategyKey *key = findStrategyKey(inner);
    Error error = key                      ? checkKey(*key, value)
                  : isStrategyGroup(inner) ? checkGroup(value, inner)
                                           : unknownKey(name, path, value);
    if (error)
      return error;
  }
  return Error::success();
}

Expected<CheckedStrategy> checkKeys(const Node &strategy) {
  KeyChecker checker(strategy);
  if (Error error = checker.checkGroup(strategy, ""))
    return error;
  return checker.take();
}

} // namespace fleet
