//===- Layout.h - Degrees, ranks and micro-batches -------------*- C++ -*-===//
//
// The rules between a strategy, its devices and the batch that need no model.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_LIB_STRATEGY_LAYOUT_H
#define FLEET_LIB_STRATEGY_LAYOUT_H

#include "Node.h"
#include "fleet/Strategy/Job.h"

namespace fleet {

/// Most ranks of a job.
inline constexpr int64_t kMaxDevices = 65536;

/// What the user said, where silence differs from a default.
struct LayoutSaid {
  Place place; ///< where messages point
  bool devices = false, accumulate = false;
};

/// Infers what was not said (one degree, the number of devices, the number of micro-batches or their size) and checks that
/// degrees make up the devices and that the batch splits evenly.
llvm::Error resolveLayout(Job &job, const LayoutSaid &said);

} // namespace fleet

#endif // FLEET_LIB_STRATEGY_LAYOUT_H
