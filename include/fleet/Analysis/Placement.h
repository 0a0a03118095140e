//===- Placement.h - Where the values of a task are ------------*- C++ -*-===//
//
// The one reading of a planned program: buffer and strides of every value of a
// task, from the IR alone. Interpreter and code generation both use it, so what
// is tested is what runs.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_ANALYSIS_PLACEMENT_H
#define FLEET_ANALYSIS_PLACEMENT_H

#include "fleet/Dialect/Rank/RankOps.h"
#include "llvm/ADT/DenseMap.h"

namespace fleet {

/// Where a value is: element (i0, i1, …) stands at the buffer's slot, plus
/// layout, counted in elements.
struct Place {
  rank::BufferOp buffer;
  StridedLayout layout;

  /// Byte in the arena of the slot for a micro-batch; of the first slot where
  /// there is none. The buffer has a place.
  int64_t getAddress(std::optional<int64_t> microBatch) const;
};

/// Layout of the result of a view over the memory of its operand 0, which has
/// the layout `source`; nullopt for an operation that owns memory.
std::optional<StridedLayout> getViewLayout(mlir::Operation *op,
                                           const StridedLayout &source);

class Placement {
public:
  /// Reads where each value of `task` is; values inside a kernel are nowhere.
  /// Reports an operation that owns memory and has no buffers: memory is
  /// planned first.
  static llvm::FailureOr<Placement> get(rank::TaskOp task);

  const Place &lookup(mlir::Value value) const {
    auto it = places.find(value);
    assert(it != places.end() && "value of another task");
    return it->second;
  }

private:
  llvm::DenseMap<mlir::Value, Place> places;
};

} // namespace fleet

#endif // FLEET_ANALYSIS_PLACEMENT_H
