//===- ArenaTest.cpp - Memory that notices reuse ---------------*- C++ -*-===//
//
// Overlapping writes of every kind are found when the old value is read.
//
//===----------------------------------------------------------------------===//

#include "fleet/Interpreter/Arena.h"
#include "gtest/gtest.h"

using namespace fleet;

/// The message of a failed load, empty where it succeeds.
static std::string loadError(const Arena &arena, int64_t address,
                             unsigned bytes, llvm::ArrayRef<int64_t> shape) {
  auto tensor = arena.load(address, bytes, shape);
  return tensor ? "" : llvm::toString(tensor.takeError());
}

static std::string storeError(Arena &arena, int64_t address, unsigned bytes,
                              const Tensor &tensor) {
  return llvm::toString(arena.store(address, bytes, tensor));
}

TEST(ArenaTest, ReadsBackWhatWasStored) {
  Arena arena(64);
  Tensor tensor({2, 2}, {1, 2, 3, 4.5});
  ASSERT_EQ(storeError(arena, 16, 4, tensor), "");
  auto loaded = arena.load(16, 4, {4});
  ASSERT_TRUE(bool(loaded));
  EXPECT_EQ(loaded->data, tensor.data);
  EXPECT_EQ(loaded->shape, (Dims{4}));
}

TEST(ArenaTest, ReadingWhatWasNeverWritten) {
  Arena arena(64);
  ASSERT_EQ(storeError(arena, 0, 4, Tensor({2}, 1)), "");
  EXPECT_EQ(loadError(arena, 0, 4, {3}),
            "arena: element at byte 8 was never written");
}

TEST(ArenaTest, AlignedOverwriteGivesTheNewValue) {
  Arena arena(64);
  ASSERT_EQ(storeError(arena, 0, 4, Tensor({4}, 1)), "");
  ASSERT_EQ(storeError(arena, 8, 4, Tensor({1}, 2)), "");
  auto loaded = arena.load(0, 4, {4});
  ASSERT_TRUE(bool(loaded));
  EXPECT_EQ(loaded->data, (std::vector<double>{1, 1, 2, 1}));
}

TEST(ArenaTest, AWriteOverTheTailDestroysTheElement) {
  Arena arena(64);
  ASSERT_EQ(storeError(arena, 0, 8, Tensor({2}, 1)), "");
  ASSERT_EQ(storeError(arena, 12, 4, Tensor({1}, 2)), "");
  EXPECT_EQ(loadError(arena, 0, 8, {1}), "");
  EXPECT_EQ(loadError(arena, 8, 8, {1}),
            "arena: element at byte 8 was written over");
  EXPECT_EQ(loadError(arena, 12, 4, {1}), "");
}

TEST(ArenaTest, AWriteOverTheHeadDestroysTheElement) {
  Arena arena(64);
  ASSERT_EQ(storeError(arena, 8, 8, Tensor({1}, 1)), "");
  ASSERT_EQ(storeError(arena, 4, 8, Tensor({1}, 2)), "");
  EXPECT_EQ(loadError(arena, 8, 8, {1}),
            "arena: element at byte 8 was written over");
  EXPECT_EQ(loadError(arena, 12, 4, {1}),
            "arena: element at byte 12 was written over");
  EXPECT_EQ(loadError(arena, 4, 8, {1}), "");
}

TEST(ArenaTest, AWriteInsideDestroysBothEnds) {
  Arena arena(16);
  ASSERT_EQ(storeError(arena, 0, 8, Tensor({1}, 1)), "");
  ASSERT_EQ(storeError(arena, 2, 1, Tensor({1}, 0)), "");
  EXPECT_EQ(loadError(arena, 0, 8, {1}),
            "arena: element at byte 0 was written over");
  EXPECT_EQ(loadError(arena, 3, 1, {1}),
            "arena: element at byte 3 was written over");
  EXPECT_EQ(loadError(arena, 2, 1, {1}), "");
}

TEST(ArenaTest, ElementSizesMustAgree) {
  Arena arena(16);
  ASSERT_EQ(storeError(arena, 0, 4, Tensor({2}, 1)), "");
  EXPECT_EQ(loadError(arena, 0, 8, {1}),
            "arena: element at byte 0 has 4 bytes, read as 8");
}

TEST(ArenaTest, EndOfLife) {
  Arena arena(16);
  ASSERT_EQ(storeError(arena, 0, 4, Tensor({4}, 1)), "");
  ASSERT_EQ(llvm::toString(arena.invalidate(4, 4)), "");
  EXPECT_EQ(loadError(arena, 0, 4, {1}), "");
  EXPECT_EQ(loadError(arena, 4, 4, {1}),
            "arena: element at byte 4 was written over");
  EXPECT_EQ(loadError(arena, 8, 4, {2}), "");
}

TEST(ArenaTest, OutsideTheArena) {
  Arena arena(16);
  EXPECT_EQ(storeError(arena, 12, 4, Tensor({2}, 1)),
            "arena: 8 bytes at 12 are outside its 16 bytes");
  EXPECT_EQ(loadError(arena, -4, 4, {1}),
            "arena: 4 bytes at -4 are outside its 16 bytes");
  EXPECT_EQ(storeError(arena, 16, 4, Tensor({0})), "");
}
