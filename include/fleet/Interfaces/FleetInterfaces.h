//===- FleetInterfaces.h - Operation interfaces ----------------*- C++ -*-===//
//
// Declarations of the four interfaces and the small types that their methods speak.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_INTERFACES_FLEETINTERFACES_H
#define FLEET_INTERFACES_FLEETINTERFACES_H

#include "fleet/Interfaces/ShardingRule.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/STLExtras.h"

#include <optional>

namespace fleet {

/// How an operation becomes code.
enum class KernelClass {
  /// One body per element; fuses with everything.
  Elementwise,
  /// Rewritten into the other classes before fusion (softmax, norms, cross entropy).
  Structured,
  /// A combination over dimensions.
  Reduction,
  /// Another look at the same memory where strides allow, a copy elsewhere.
  View,
  /// Repeats its operand along dimensions; never materialised inside a kernel.
  Broadcast,
  /// Made from indices alone: constants and iota.
  Generator,
  /// Rows selected or accumulated by index.
  Indexed,
  /// A call of the matrix library.
  Library,
  /// Communication between ranks.
  Collective,
};

/// Where the elements of a tensor lie in memory: element (i0, i1, …) stands at offset + sum(i_d * strides[d]), in
/// elements.
struct StridedLayout {
  int64_t offset = 0;
  llvm::SmallVector<int64_t, 4> shape;
  llvm::SmallVector<int64_t, 4> strides;

  /// Row-major layout of a tensor of `shape` at offset 0.
  static StridedLayout contiguous(llvm::ArrayRef<int64_t> shape);
  /// True when the elements stand side by side in row-major order.
  bool isContiguous() const;
};

/// Elements of a ranked tensor value.
int64_t countElements(mlir::Value value);
/// Bytes of a ranked tensor type (i1 takes one byte an element).
int64_t byteSize(mlir::Type type);
/// Bytes of all operands and results together.
int64_t countBytes(mlir::Operation *op);
/// Whether an element of a result depends on the same element of an operand and on no other element of it, and both
/// have the same size: all their dimensions are the same pass-through factors.
bool worksByElement(mlir::Operation *op, unsigned operand, unsigned result);

} // namespace fleet

#include "fleet/Interfaces/FleetInterfaces.h.inc"

#endif // FLEET_INTERFACES_FLEETINTERFACES_H
