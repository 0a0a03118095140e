//===- ConstTensor.cpp - Values known while importing ----------*- C++ -*-===//
//
// Storage, broadcasting and iteration of small constant tensors.
//
//===----------------------------------------------------------------------===//

#include "ConstTensor.h"

#include <limits>
#include <optional>

using namespace llvm;

namespace fleet {

int64_t product(ArrayRef<int64_t> shape) {
  int64_t result = 1;
  for (int64_t size : shape)
    result *= size;
  return result;
}

ConstShape rowMajorStrides(ArrayRef<int64_t> shape) {
  ConstShape strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  return strides;
}

ConstTensor::ConstTensor(ConstKind kind, ArrayRef<int64_t> shape)
    : kind(kind), shape(shape.begin(), shape.end()), values(product(shape)) {}

ConstTensor ConstTensor::scalar(ConstKind kind, double value) {
  ConstTensor result(kind, {});
  result.values[0] = value;
  return result;
}

ConstTensor ConstTensor::ints(ArrayRef<int64_t> values) {
  ConstTensor result(ConstKind::Int, {static_cast<int64_t>(values.size())});
  result.values.assign(values.begin(), values.end());
  return result;
}

ConstTensor ConstTensor::fromStored(const StoredTensor &stored) {
  ConstKind kind = isFloat(stored.type)              ? ConstKind::Float
                   : stored.type == StoredType::Bool ? ConstKind::Bool
                                                     : ConstKind::Int;
  ConstTensor result(kind, stored.shape);
  for (int64_t i = 0; i < result.size(); ++i)
    result.values[i] = stored.at(i);
  return result;
}

int64_t ConstTensor::integer(int64_t index) const {
  double value = values[index];
  if (value >= 9223372036854775807.0)
    return std::numeric_limits<int64_t>::max();
  if (value <= -9223372036854775808.0)
    return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

std::vector<int64_t> ConstTensor::integers() const {
  std::vector<int64_t> result;
  for (int64_t i = 0; i < size(); ++i)
    result.push_back(integer(i));
  return result;
}

std::optional<ConstShape> broadcastShape(ArrayRef<int64_t> a,
                                         ArrayRef<int64_t> b) {
  if (a.size() < b.size())
    std::swap(a, b);
  ConstShape result(a);
  size_t offset = a.size() - b.size();
  for (size_t d = 0; d < b.size(); ++d) {
    int64_t &size = result[offset + d];
    if (size == 1)
      size = b[d];
    else if (b[d] != 1 && b[d] != size)
      return std::nullopt;
  }
  return result;
}

void forEachIndex(ArrayRef<int64_t> shape,
                  function_ref<void(ArrayRef<int64_t>, int64_t)> visit) {
  ConstShape index(shape.size(), 0);
  int64_t total = product(shape);
  for (int64_t flat = 0; flat < total; ++flat) {
    visit(index, flat);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
  }
}

ConstTensor broadcastTo(const ConstTensor &tensor, ArrayRef<int64_t> shape) {
  if (tensor.shape == shape)
    return tensor;
  ConstTensor result(tensor.kind, shape);
  ConstShape strides = rowMajorStrides(tensor.shape);
  size_t offset = shape.size() - tensor.shape.size();
  forEachIndex(shape, [&](ArrayRef<int64_t> index, int64_t flat) {
    int64_t from = 0;
    for (size_t d = 0; d < tensor.shape.size(); ++d)
      if (tensor.shape[d] != 1)
        from += index[offset + d] * strides[d];
    result.values[flat] = tensor.values[from];
  });
  return result;
}

} // namespace fleet
