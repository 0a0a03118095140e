//===- RankOps.h - Operations of the rank dialect --------------*- C++ -*-===//
//
// Operation classes of level 5.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_DIALECT_RANK_RANKOPS_H
#define FLEET_DIALECT_RANK_RANKOPS_H

#include "fleet/Dialect/Fleet/FleetOps.h"
#include "fleet/Dialect/Rank/RankDialect.h"

namespace fleet {
namespace rank {
class ActionsOp;
class CommunicatorOp;
} // namespace rank
} // namespace fleet

#define GET_OP_CLASSES
#include "fleet/Dialect/Rank/RankOps.h.inc"

#endif // FLEET_DIALECT_RANK_RANKOPS_H
