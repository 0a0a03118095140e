//===- InputsTest.cpp - Data, weights, schedules ---------------*- C++ -*-===//
//
// Files of every kind, broken ones included, and the order of token windows.
//
//===----------------------------------------------------------------------===//

#include "Inputs.h"
#include "TensorFile.h"

#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <set>

using namespace fleet_rt;

namespace {

std::string temporary(const std::string &name, const std::string &bytes) {
  std::string path = testing::TempDir() + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

/// A safetensors file with one tensor of int64.
std::string safetensors(const std::string &name, const std::string &shape,
                        const std::vector<int64_t> &values) {
  std::string header =
      "{\"" + name + "\":{\"dtype\":\"I64\",\"shape\":" + shape +
      ",\"data_offsets\":[0," + std::to_string(values.size() * 8) + "]}}";
  uint64_t size = header.size();
  std::string bytes(reinterpret_cast<const char *>(&size), 8);
  bytes += header;
  bytes.append(reinterpret_cast<const char *>(values.data()),
               values.size() * 8);
  return bytes;
}

/// Two data-parallel ranks, two micro-batches, a global batch of four rows of two.
Program program() {
  std::string text =
      R"({"format":"fleet.program/1","stage":0,"stages":1,"precision":"f32",
    "mesh":[{"name":"dp","size":2},{"name":"pp","size":1}],"arena_bytes":256,"global_batch":4,"micro_batches":2,
    "buffers":[{"name":"x","kind":"input","dtype":"i64","shape":[1,2],"offset":0,"slots":2,"slot_bytes":64,
      "source":"x","global_shape":[2,2],"sharding":[["dp"],[]]}],
    "communicators":[],"tasks":[],"actions":[],"outputs":{},
    "tokens":{"input":"x","labels":"y","sequence":2}})";
  return Program::parse(text.data(), text.size());
}

std::string messageOf(const std::function<void()> &body) {
  try {
    body();
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

TEST(Inputs, RanksReadTheirRowsOfEachMicroBatch) {
  std::vector<int64_t> values(2 * 4 * 2);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<int64_t>(i);
  Program p = program();
  DataOptions options;
  options.path =
      temporary("rows.safetensors", safetensors("x", "[2,4,2]", values));
  options.steps = 2;
  for (int64_t rank : {0, 1}) {
    std::vector<uint8_t> arena(256);
    openInputs(p, rank, options)->load(1, arena.data());
    int64_t first[2], second[2];
    std::memcpy(first, arena.data(), 16);
    std::memcpy(second, arena.data() + 64, 16);
    EXPECT_EQ(first[0], 8 + 2 * rank);
    EXPECT_EQ(second[1], 8 + 4 + 2 * rank + 1);
  }
}

TEST(Inputs, MissingTensorAndTooFewSteps) {
  Program p = program();
  DataOptions options;
  options.steps = 3;
  options.path = temporary(
      "few.safetensors", safetensors("x", "[2,4,2]", std::vector<int64_t>(16)));
  EXPECT_EQ(messageOf([&] { openInputs(p, 0, options); }),
            options.path + ": tensor 'x' has 2 steps, asked for 3");
  options.path =
      temporary("other.safetensors",
                safetensors("z", "[3,4,2]", std::vector<int64_t>(24)));
  EXPECT_EQ(messageOf([&] { openInputs(p, 0, options); }),
            options.path +
                ": has no tensor 'x', which the program reads; it has 'z'");
  options.path = temporary("shape.safetensors",
                           safetensors("x", "[3,8]", std::vector<int64_t>(24)));
  EXPECT_EQ(messageOf([&] { openInputs(p, 0, options); }),
            options.path + ": tensor 'x' has shape [3, 8], the program needs "
                           "[3, 4, 2] (steps, global batch, …)");
}

TEST(TensorFile, EveryTruncationIsReported) {
  std::string bytes = safetensors("x", "[2,2]", {1, 2, 3, 4});
  for (size_t size = 0; size < bytes.size(); ++size) {
    std::string path = temporary("cut.safetensors", bytes.substr(0, size));
    EXPECT_NE(messageOf([&] { TensorFile file(path); }), "") << size;
  }
}

TEST(TensorFile, HostileHeaders) {
  for (
      const char *header :
      {"[]", "{\"x\":1}",
       "{\"x\":{\"dtype\":\"I64\",\"shape\":[-1],\"data_offsets\":[0,8]}}",
       "{\"x\":{\"dtype\":\"I64\",\"shape\":[4611686018427387904,4],\"data_offsets\":[0,0]}}",
       "{\"x\":{\"dtype\":\"Q\",\"shape\":[1],\"data_offsets\":[0,8]}}",
       "{\"x\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[8,0]}}"}) {
    std::string text = header;
    uint64_t size = text.size();
    std::string bytes(reinterpret_cast<const char *>(&size), 8);
    std::string path =
        temporary("hostile.safetensors", bytes + text + "01234567");
    EXPECT_NE(messageOf([&] { TensorFile file(path); }), "") << header;
  }
}

TEST(Tokens, ShuffleIsABijectionThatDependsOnSeedAndEpoch) {
  for (uint64_t size : {1, 2, 7, 64, 1000}) {
    std::set<uint64_t> seen;
    for (uint64_t i = 0; i < size; ++i)
      seen.insert(shuffled(i, size, 3, 0));
    EXPECT_EQ(seen.size(), size);
    EXPECT_LT(*seen.rbegin(), size);
  }
  int same = 0;
  for (uint64_t i = 0; i < 1000; ++i)
    same += shuffled(i, 1000, 3, 0) == shuffled(i, 1000, 3, 1);
  EXPECT_LT(same, 20);
}

TEST(Tokens, WindowsDoNotDependOnTheLayout) {
  std::string tokens;
  for (int i = 0; i < 101; ++i)
    tokens.push_back(static_cast<char>(i));
  DataOptions options;
  options.path = temporary("tokens.u8", tokens);
  options.steps = 1;
  Program p = program();
  std::vector<uint8_t> a(256), b(256), whole(256);
  openInputs(p, 0, options)->load(0, a.data());
  openInputs(p, 1, options)->load(0, b.data());
  // The same batch on one rank: rows in the order of micro-batches.
  Program one = program();
  one.mesh[0].size = 1;
  one.buffers[0].shape = {2, 2};
  openInputs(one, 0, options)->load(0, whole.data());
  EXPECT_EQ(std::memcmp(whole.data(), a.data(), 16), 0);
  EXPECT_EQ(std::memcmp(whole.data() + 16, b.data(), 16), 0);
  EXPECT_EQ(std::memcmp(whole.data() + 64, a.data() + 64, 16), 0);
  options.path = temporary("short.u8", "ab");
  EXPECT_EQ(messageOf([&] { openInputs(p, 0, options); }),
            options.path + ": has 2 tokens, one window needs 3");
}

TEST(Schedule, WarmsUpAndFalls) {
  Schedule s{"cosine", 4e-3, 4e-4, 5, 20};
  EXPECT_DOUBLE_EQ(s.rate(1), 4e-3 / 5);
  EXPECT_DOUBLE_EQ(s.rate(5), 4e-3);
  EXPECT_DOUBLE_EQ(s.rate(6), 4e-3);
  EXPECT_DOUBLE_EQ(s.rate(21), 4e-4);
  EXPECT_DOUBLE_EQ(s.rate(1000), 4e-4);
  s.kind = "linear";
  EXPECT_DOUBLE_EQ(s.rate(6 + 5), 4e-3 + (4e-4 - 4e-3) / 3);
}

TEST(Mesh, GroupsOfPieces) {
  Program p = program();
  p.mesh = {{"dp", 2}, {"mp", 4}};
  EXPECT_EQ(p.group({{1, -1}}, 5), (std::vector<int64_t>{4, 5, 6, 7}));
  EXPECT_EQ(p.group({{1, 0}}, 5), (std::vector<int64_t>{5, 7}));
  EXPECT_EQ(p.group({{1, 1}}, 5), (std::vector<int64_t>{4, 5}));
  EXPECT_EQ(p.group({{0, -1}, {1, 1}}, 2), (std::vector<int64_t>{2, 3, 6, 7}));
}

} // namespace
