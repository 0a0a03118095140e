//===- TensorTest.cpp - Movement of elements -------------------*- C++ -*-===//
//
// Slices, transposes, concatenation, decimal forms.
//
//===----------------------------------------------------------------------===//

#include "fleet/Interpreter/Tensor.h"
#include "fleet/Interpreter/TensorIO.h"
#include "gtest/gtest.h"

using namespace fleet;

static std::string print(const Tensor &tensor, int64_t limit = 100) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printTensor(os, tensor, limit);
  return text;
}

static Tensor counting(llvm::ArrayRef<int64_t> shape) {
  Tensor tensor(shape);
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.data[i] = i;
  return tensor;
}

TEST(TensorTest, Slice) {
  EXPECT_EQ(print(sliceOf(counting({3, 4}), {1, 1}, {2, 2})),
            "[[5, 6], [9, 10]]");
  EXPECT_EQ(print(sliceOf(counting({3, 4}), 1, 3, 1)), "[[3], [7], [11]]");
}

TEST(TensorTest, Insert) {
  Tensor tensor({2, 3});
  insertInto(tensor, counting({1, 2}), {1, 1});
  EXPECT_EQ(print(tensor), "[[0, 0, 0], [0, 0, 1]]");
}

TEST(TensorTest, Transpose) {
  EXPECT_EQ(print(transposeOf(counting({2, 3}), {1, 0})),
            "[[0, 3], [1, 4], [2, 5]]");
  // Dimension d of the result is dimension permutation[d]: a rotation tells the two readings apart.
  EXPECT_EQ(transposeOf(counting({2, 3, 4}), {2, 0, 1}).shape, (Dims{4, 2, 3}));
}

TEST(TensorTest, Concat) {
  Tensor a = counting({2, 1}), b = counting({2, 2});
  EXPECT_EQ(print(concatOf({&a, &b}, 1)), "[[0, 0, 1], [1, 2, 3]]");
}

TEST(TensorTest, Empty) {
  Tensor empty({2, 0});
  EXPECT_EQ(empty.size(), 0);
  EXPECT_EQ(print(empty), "[[], []]");
  EXPECT_EQ(sliceOf(counting({2, 3}), 1, 3, 0).size(), 0);
}

TEST(TensorTest, PrintLimit) {
  EXPECT_EQ(print(counting({2, 3}), 2), "[[0, 1, ...], ...]");
  EXPECT_EQ(print(counting({2, 3}), 6), "[[0, 1, 2], [3, 4, 5]]");
  EXPECT_EQ(print(Tensor::scalar(0.5)), "0.5");
}

TEST(TensorTest, ShortestDigits) {
  EXPECT_EQ(formatNumber(0.1), "0.1");
  EXPECT_EQ(formatNumber(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(formatExact(0.1), "0.10000000000000001");
}
