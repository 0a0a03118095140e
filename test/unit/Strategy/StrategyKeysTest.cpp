//===- StrategyKeysTest.cpp - Every key of a strategy ----------*- C++ -*-===//
//
// The table against the reader, row by row: the default is accepted, another value has its effect or is refused by name,
// another type is an error.
//
//===----------------------------------------------------------------------===//

#include "fleet/Strategy/StrategyKeys.h"
#include "JobFiles.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

#include <set>

using namespace fleet;
using llvm::SmallVector;
using llvm::StringRef;

/// {"a": {"b": value}} for the path a.b.
static std::string strategyWith(StringRef path, StringRef value) {
  SmallVector<StringRef> names;
  path.split(names, '.');
  std::string text;
  for (StringRef name : names)
    text += ("{\"" + name + "\": ").str();
  return text + value.str() + std::string(names.size(), '}');
}

/// Another value of the type.
static std::string otherValue(const StrategyKey &key) {
  switch (key.type) {
  case KeyType::Boolean:
    return key.defaultValue == "true" ? "false" : "true";
  case KeyType::Integer:
    return "77";
  case KeyType::Number:
    return "0.75";
  case KeyType::String:
    return "\"other\"";
  case KeyType::List:
    return "[\"other\"]";
  case KeyType::Object:
    return "{\"passwd\": \"secret\"}";
  }
  llvm_unreachable("all types are listed");
}

/// A value of another type.
static StringRef wrongValue(const StrategyKey &key) {
  return key.type == KeyType::String ? "5" : "\"text\"";
}

TEST(StrategyKeysTest, PathsDiffer) {
  std::set<StringRef> paths;
  for (const StrategyKey &key : strategyKeys()) {
    EXPECT_TRUE(paths.insert(key.path).second) << key.path.str();
    EXPECT_FALSE(isStrategyGroup(key.path)) << key.path.str();
    EXPECT_EQ(findStrategyKey(key.path), &key);
    EXPECT_EQ(key.use == KeyUse::Honoured, key.setting != Setting::None);
    EXPECT_EQ(key.use == KeyUse::NoMeaning, !key.reason.empty());
  }
}

TEST(StrategyKeysTest, DefaultsAreAccepted) {
  JobFiles files;
  for (const StrategyKey &key : strategyKeys()) {
    // Defaults of Fleet that already ask for something: 8 ranks that shard, micro-batches of one sample. A switch may be
    // on for them.
    StringRef devices =
        key.path == "sharding_configs.sharding_degree" ? "cpu:8" : "";
    Job job = files.readStrategyText(strategyWith(key.path, key.defaultValue),
                                     devices);
    bool isIgnored = key.use == KeyUse::NoMeaning;
    ASSERT_EQ(job.strategy.ignored.size(), isIgnored ? 1u : 0u)
        << key.path.str();
    if (!isIgnored)
      continue;
    EXPECT_EQ(job.strategy.ignored[0].key, key.path.str());
    EXPECT_EQ(job.strategy.ignored[0].reason, key.reason.str());
  }
}

TEST(StrategyKeysTest, OtherValuesAreRefusedByName) {
  JobFiles files;
  for (const StrategyKey &key : strategyKeys()) {
    if (key.use == KeyUse::Honoured || key.use == KeyUse::Report)
      continue;
    std::string value = otherValue(key), shown = " = " + value;
    if (key.type == KeyType::String)
      shown = " = 'other'";
    if (key.type == KeyType::List || key.type == KeyType::Object)
      shown = ""; // An object may hold a password.
    EXPECT_EQ(files.strategyError(strategyWith(key.path, value)),
              "s.json:1: " + key.path.str() + shown + " is not yet supported");
  }
}

TEST(StrategyKeysTest, WrongTypes) {
  JobFiles files;
  const char *names[] = {"a boolean", "an integer", "a number",
                         "a string",  "a list",     "an object"};
  for (const StrategyKey &key : strategyKeys()) {
    StringRef value = wrongValue(key);
    std::string got = value == "5" ? "the number 5" : "the string 'text'";
    EXPECT_EQ(files.strategyError(strategyWith(key.path, value)),
              "s.json:1: " + key.path.str() + " must be " +
                  names[static_cast<unsigned>(key.type)] + ", got " + got);
  }
}

/// Guards the page that users read against the table.
TEST(StrategyKeysTest, HonouredKeysAreDocumented) {
  auto page = llvm::MemoryBuffer::getFile(FLEET_SOURCE_DIR "/docs/job.md");
  ASSERT_TRUE(page);
  for (const StrategyKey &key : strategyKeys())
    if (key.use == KeyUse::Honoured)
      EXPECT_TRUE((*page)->getBuffer().contains(("`" + key.path + "`").str()))
          << key.path.str();
}
