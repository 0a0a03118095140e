//===- RankDialect.h - The rank dialect ------------------------*- C++ -*-===//
//
// Dialect, enums and names of the discardable attributes of level 5.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_DIALECT_RANK_RANKDIALECT_H
#define FLEET_DIALECT_RANK_RANKDIALECT_H

#include "fleet/Dialect/Fleet/FleetDialect.h"

#include "fleet/Dialect/Rank/RankEnums.h.inc"

#include "fleet/Dialect/Rank/RankDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "fleet/Dialect/Rank/RankAttrs.h.inc"

namespace fleet {
namespace rank {

/// Every buffer starts at a multiple of this many bytes.
inline constexpr int64_t kAlignment = 64;
/// On an operation of a task: the buffers that its results are written to.
inline constexpr llvm::StringLiteral kBuffersAttr = "rank.buffers";
/// On a program: largest number of bytes that are live at one moment, below
/// which no plan can be.
inline constexpr llvm::StringLiteral kLowerBoundAttr = "rank.lower_bound";

} // namespace rank
} // namespace fleet

#endif // FLEET_DIALECT_RANK_RANKDIALECT_H
