//===- Views.cpp - Shape operations as strides -----------------*- C++ -*-===//
//
// A reshape, transpose, broadcast or slice is another look at the same memory where strides can express it. Then nothing
// is copied: kernels read strided operands and the matrix library takes leading dimensions.
//
//===----------------------------------------------------------------------===//

#include "fleet/Dialect/Fleet/FleetOps.h"

using namespace mlir;
using namespace fleet;

#define FLEET_VIEW(Op)                                                         \
  KernelClass Op::getKernelClass() { return KernelClass::View; }               \
  int64_t Op::getFlops() { return 0; }

FLEET_VIEW(ReshapeOp)
FLEET_VIEW(TransposeOp)
FLEET_VIEW(SliceOp)
#undef FLEET_VIEW

KernelClass BroadcastOp::getKernelClass() { return KernelClass::Broadcast; }
int64_t BroadcastOp::getFlops() { return 0; }

std::optional<StridedLayout> TransposeOp::getView(const StridedLayout &source) {
  StridedLayout view;
  view.offset = source.offset;
  for (int64_t d : getPermutation()) {
    view.shape.push_back(source.shape[d]);
    view.strides.push_back(source.strides[d]);
  }
  return view;
}

std::optional<StridedLayout> SliceOp::getView(const StridedLayout &source) {
  StridedLayout view = source;
  for (auto [d, offset] : llvm::enumerate(getOffsets())) {
    view.offset += offset * source.strides[d];
    view.shape[d] = getSizes()[d];
  }
  return view;
}

std::optional<StridedLayout> BroadcastOp::getView(const StridedLayout &source) {
  StridedLayout view;
  view.offset = source.offset;
  view.shape.assign(typeOf(getResult()).getShape().begin(),
                    typeOf(getResult()).getShape().end());
  view.strides.assign(view.shape.size(), 0);
  for (auto [d, target] : llvm::enumerate(getDims()))
    view.strides[target] = source.strides[d];
  return view;
}

/// Merges neighbouring dimensions that stand side by side in memory; dimensions of size 1 disappear.
static void collapse(const StridedLayout &source,
                     SmallVectorImpl<int64_t> &shape,
                     SmallVectorImpl<int64_t> &strides) {
  for (auto [size, stride] : llvm::zip(source.shape, source.strides)) {
    if (size == 1)
      continue;
    if (!shape.empty() && strides.back() == stride * size) {
      shape.back() *= size;
      strides.back() = stride;
      continue;
    }
    shape.push_back(size);
    strides.push_back(stride);
  }
}

std::optional<StridedLayout> ReshapeOp::getView(const StridedLayout &source) {
  StridedLayout view;
  view.offset = source.offset;
  ArrayRef<int64_t> target = typeOf(getResult()).getShape();
  if (llvm::is_contained(target, 0))
    return StridedLayout::contiguous(target);
  SmallVector<int64_t> shape, strides;
  collapse(source, shape, strides);
  // Every collapsed dimension must be a product of consecutive target dimensions.
  size_t group = 0;
  int64_t rest = shape.empty() ? 1 : shape[0];
  for (int64_t size : target) {
    view.shape.push_back(size);
    if (size == 1) {
      view.strides.push_back(0);
      continue;
    }
    if (rest == 1 && ++group < shape.size())
      rest = shape[group];
    if (rest % size != 0)
      return std::nullopt;
    rest /= size;
    view.strides.push_back(strides[group] * rest);
  }
  return view;
}

//===----------------------------------------------------------------------===//
// Layouts that the matrix library reads
//===----------------------------------------------------------------------===//

/// The stride of `dims` taken as one dimension, 1 when it has one element; nullopt when no single stride walks them.
static std::optional<int64_t> strideOfGroup(const StridedLayout &layout,
                                            ArrayRef<int64_t> dims) {
  std::optional<int64_t> inner;
  int64_t expected = 0;
  for (int64_t d : llvm::reverse(dims)) {
    if (layout.shape[d] == 1)
      continue;
    if (inner && layout.strides[d] != expected)
      return std::nullopt;
    if (!inner)
      inner = layout.strides[d];
    expected = layout.strides[d] * layout.shape[d];
  }
  return inner.value_or(1);
}

std::optional<unsigned> DotGeneralOp::getTiedOperand(unsigned) {
  return getAccumulator() ? std::optional<unsigned>(2) : std::nullopt;
}

/// A matrix has a leading dimension, and side by side elements along the other one; batches may lie anywhere.
bool DotGeneralOp::acceptsLayout(unsigned operand,
                                 const StridedLayout &layout) {
  if (operand == 2)
    return layout.isContiguous();
  auto free = strideOfGroup(layout, operand == 0 ? getLhsFree() : getRhsFree());
  auto contract =
      strideOfGroup(layout, operand == 0 ? getLhsContract() : getRhsContract());
  return free && contract && *free > 0 && *contract > 0 &&
         (*free == 1 || *contract == 1);
}
