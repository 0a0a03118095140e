//===- TaskPlacement.h - Which buffer a value is written to ----*- C++ -*-===//
//
// The first half of memory planning: what owns memory, and where results are
// computed.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_LIB_TRANSFORMS_TASKPLACEMENT_H
#define FLEET_LIB_TRANSFORMS_TASKPLACEMENT_H

#include "fleet/Dialect/Rank/RankOps.h"
#include "llvm/ADT/DenseSet.h"

namespace fleet {

/// Buffers that lie side by side in this order: the operands of one collective.
using Bucket = llvm::SmallVector<rank::BufferOp>;

/// Gives every operation that owns memory, in every task, the buffers of its
/// results; adds temporary buffers and copies. Numbers do not change. Returns
/// the buckets, which share no buffer.
std::vector<Bucket> placeTasks(rank::ProgramOp program);

} // namespace fleet

#endif // FLEET_LIB_TRANSFORMS_TASKPLACEMENT_H
