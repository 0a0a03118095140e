//===- ConstTensor.h - Values known while importing ------------*- C++ -*-===//
//
// What shape arithmetic and masks are computed with. Floats are double, so that a chain of constants loses nothing whatever
// the precision of the program.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_LIB_IMPORT_CONSTTENSOR_H
#define FLEET_LIB_IMPORT_CONSTTENSOR_H

#include "fleet/Support/StoredTensor.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <vector>

namespace fleet {

enum class ConstKind { Float, Int, Bool };

using ConstShape = llvm::SmallVector<int64_t, 4>;

/// A row-major tensor. Integers up to 2^53 are exact; larger ones (INT64_MAX as "to the end") keep their order.
struct ConstTensor {
  ConstKind kind = ConstKind::Float;
  ConstShape shape;
  std::vector<double> values;

  ConstTensor() = default;
  ConstTensor(ConstKind kind, llvm::ArrayRef<int64_t> shape);
  static ConstTensor scalar(ConstKind kind, double value);
  static ConstTensor ints(llvm::ArrayRef<int64_t> values);
  static ConstTensor fromStored(const StoredTensor &stored);

  int64_t rank() const { return shape.size(); }
  int64_t size() const { return values.size(); }
  /// Element `index` as an integer, saturated.
  int64_t integer(int64_t index) const;
  std::vector<int64_t> integers() const;
};

/// Number of elements of a shape.
int64_t product(llvm::ArrayRef<int64_t> shape);
/// Row-major strides.
ConstShape rowMajorStrides(llvm::ArrayRef<int64_t> shape);
/// Result shape of numpy broadcasting; nullopt when sizes differ.
std::optional<ConstShape> broadcastShape(llvm::ArrayRef<int64_t> a,
                                         llvm::ArrayRef<int64_t> b);
/// `tensor` repeated to `shape`, which it broadcasts to.
ConstTensor broadcastTo(const ConstTensor &tensor,
                        llvm::ArrayRef<int64_t> shape);
/// Calls `visit(coordinates, flat index)` for every element of a shape.
void forEachIndex(
    llvm::ArrayRef<int64_t> shape,
    llvm::function_ref<void(llvm::ArrayRef<int64_t>, int64_t)> visit);

} // namespace fleet

#endif // FLEET_LIB_IMPORT_CONSTTENSOR_H
