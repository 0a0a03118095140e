//===- ArenaLayout.h - Offsets for blocks of memory ------------*- C++ -*-===//
//
// Placing blocks in one arena so that what lives at the same time does not
// overlap. Knows nothing of programs.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_LIB_TRANSFORMS_ARENALAYOUT_H
#define FLEET_LIB_TRANSFORMS_ARENALAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <vector>

namespace fleet {

/// Bytes [offset, offset + bytes) of a block that live and die together.
struct ArenaPiece {
  int64_t offset;
  int64_t bytes;
};

/// Bytes that lie side by side, whatever else is where.
struct ArenaBlock {
  int64_t bytes = 0;
  /// In the order of their offsets, without overlap.
  llvm::SmallVector<ArenaPiece, 1> pieces;
  /// Lives all the time: stands at the bottom of the arena, in the order given.
  bool permanent = false;
  /// When the block is first used; a hint for the order of placement.
  int64_t start = 0;
};

/// Whether piece `a` of block `i` lives at the same time as piece `b` of block
/// `j`; asked for i < j, neither permanent.
using ArenaConflict =
    llvm::function_ref<bool(unsigned i, unsigned a, unsigned j, unsigned b)>;

struct ArenaLayout {
  /// By block; multiples of the alignment.
  std::vector<int64_t> offsets;
  int64_t bytes = 0;
};

/// Places the blocks: the best of several greedy orders, each at most quadratic
/// in the number of blocks. Stops early at `lowerBound`, below which no layout
/// can be.
ArenaLayout layOutArena(llvm::ArrayRef<ArenaBlock> blocks,
                        ArenaConflict conflict, int64_t alignment,
                        int64_t lowerBound);

} // namespace fleet

#endif // FLEET_LIB_TRANSFORMS_ARENALAYOUT_H
