//===- Tensor.cpp - Values of the reference interpreter --------*- C++ -*-===//
//
// Movement of elements between row-major tensors.
//
//===----------------------------------------------------------------------===//

#include "fleet/Interpreter/Tensor.h"

#include <cassert>

using namespace fleet;
using llvm::ArrayRef;

static int64_t product(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

Tensor::Tensor(ArrayRef<int64_t> shape, double value)
    : shape(shape), data(product(shape), value) {}

Tensor::Tensor(ArrayRef<int64_t> shape, std::vector<double> data)
    : shape(shape), data(std::move(data)) {
  assert(product(shape) == size() && "elements do not fill the shape");
}

Dims fleet::stridesOf(ArrayRef<int64_t> shape) {
  Dims strides(shape.size());
  int64_t stride = 1;
  for (int64_t d = shape.size() - 1; d >= 0; --d) {
    strides[d] = stride;
    stride *= shape[d];
  }
  return strides;
}

void fleet::forEachPair(ArrayRef<int64_t> shape, ArrayRef<int64_t> aStrides,
                        ArrayRef<int64_t> bStrides,
                        llvm::function_ref<void(int64_t, int64_t)> visit) {
  int64_t rank = shape.size();
  if (product(shape) == 0)
    return;
  Dims index(rank, 0);
  int64_t a = 0, b = 0;
  while (true) {
    visit(a, b);
    int64_t d = rank - 1;
    for (; d >= 0; --d) {
      a += aStrides[d];
      b += bStrides[d];
      if (++index[d] < shape[d])
        break;
      a -= shape[d] * aStrides[d];
      b -= shape[d] * bStrides[d];
      index[d] = 0;
    }
    if (d < 0)
      return;
  }
}

/// Position of an index under strides.
static int64_t positionOf(ArrayRef<int64_t> index, ArrayRef<int64_t> strides) {
  int64_t position = 0;
  for (auto [i, stride] : llvm::zip_equal(index, strides))
    position += i * stride;
  return position;
}

Tensor fleet::sliceOf(const Tensor &tensor, ArrayRef<int64_t> offsets,
                      ArrayRef<int64_t> sizes) {
  Tensor result(sizes);
  Dims from = stridesOf(tensor.shape);
  const double *source = tensor.data.data() + positionOf(offsets, from);
  forEachPair(sizes, from, stridesOf(sizes),
              [&](int64_t a, int64_t b) { result.data[b] = source[a]; });
  return result;
}

Tensor fleet::sliceOf(const Tensor &tensor, int64_t dim, int64_t offset,
                      int64_t size) {
  Dims offsets(tensor.rank(), 0), sizes = tensor.shape;
  offsets[dim] = offset;
  sizes[dim] = size;
  return sliceOf(tensor, offsets, sizes);
}

void fleet::insertInto(Tensor &tensor, const Tensor &part,
                       ArrayRef<int64_t> offsets) {
  Dims to = stridesOf(tensor.shape);
  double *target = tensor.data.data() + positionOf(offsets, to);
  forEachPair(part.shape, stridesOf(part.shape), to,
              [&](int64_t a, int64_t b) { target[b] = part.data[a]; });
}

Tensor fleet::transposeOf(const Tensor &tensor, ArrayRef<int64_t> permutation) {
  Dims from = stridesOf(tensor.shape), shape, strides;
  for (int64_t d : permutation) {
    shape.push_back(tensor.shape[d]);
    strides.push_back(from[d]);
  }
  Tensor result(shape);
  forEachPair(shape, strides, stridesOf(shape),
              [&](int64_t a, int64_t b) { result.data[b] = tensor.data[a]; });
  return result;
}

Tensor fleet::concatOf(ArrayRef<const Tensor *> parts, int64_t dim) {
  Dims shape = parts.front()->shape;
  for (const Tensor *part : parts.drop_front())
    shape[dim] += part->shape[dim];
  Tensor result(shape);
  Dims offsets(shape.size(), 0);
  for (const Tensor *part : parts) {
    insertInto(result, *part, offsets);
    offsets[dim] += part->shape[dim];
  }
  return result;
}
