//===- Tensor.h - Values of the reference interpreter ----------*- C++ -*-===//
//
// Every value is an array of doubles: floats of any width, and integers and booleans, which are exact up to 2^53.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_INTERPRETER_TENSOR_H
#define FLEET_INTERPRETER_TENSOR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>
#include <vector>

namespace fleet {

/// Sizes, strides or positions, one per dimension.
using Dims = llvm::SmallVector<int64_t, 4>;

/// A row-major tensor of doubles.
struct Tensor {
  Dims shape;
  std::vector<double> data;

  /// A scalar 0.
  Tensor() : data(1) {}
  /// A tensor of `shape` filled with `value`. The product of the sizes must fit in memory.
  explicit Tensor(llvm::ArrayRef<int64_t> shape, double value = 0);
  /// A tensor of `shape` with the elements `data`, as many as the shape says.
  Tensor(llvm::ArrayRef<int64_t> shape, std::vector<double> data);
  static Tensor scalar(double value) { return Tensor({}, value); }

  int64_t rank() const { return shape.size(); }
  int64_t size() const { return data.size(); }
};

/// A tensor that several devices or names may share; nobody changes it.
using TensorRef = std::shared_ptr<const Tensor>;

/// Row-major strides of a shape, in elements.
Dims stridesOf(llvm::ArrayRef<int64_t> shape);

/// Calls `visit(a, b)` for every index of `shape` in row-major order, where a and b are the positions of the index
/// under two sets of strides.
void forEachPair(llvm::ArrayRef<int64_t> shape,
                 llvm::ArrayRef<int64_t> aStrides,
                 llvm::ArrayRef<int64_t> bStrides,
                 llvm::function_ref<void(int64_t, int64_t)> visit);

/// The box of `sizes` at `offsets`, which lies inside the tensor.
Tensor sliceOf(const Tensor &tensor, llvm::ArrayRef<int64_t> offsets,
               llvm::ArrayRef<int64_t> sizes);
/// Elements [offset, offset + size) of one dimension.
Tensor sliceOf(const Tensor &tensor, int64_t dim, int64_t offset, int64_t size);
/// Writes `part` into `tensor` with its first element at `offsets`.
void insertInto(Tensor &tensor, const Tensor &part,
                llvm::ArrayRef<int64_t> offsets);
/// Dimension d of the result is dimension permutation[d] of the tensor.
Tensor transposeOf(const Tensor &tensor, llvm::ArrayRef<int64_t> permutation);
/// Tensors side by side along one dimension.
Tensor concatOf(llvm::ArrayRef<const Tensor *> parts, int64_t dim);

} // namespace fleet

#endif // FLEET_INTERPRETER_TENSOR_H
