//===- JobParts.h - The parts of a job -------------------------*- C++ -*-===//
//
// Loss, optimizer, clipping and schedule, in the form that jobs, recipes of reference models and the command line share.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_LIB_STRATEGY_JOBPARTS_H
#define FLEET_LIB_STRATEGY_JOBPARTS_H

#include "Node.h"
#include "fleet/Strategy/Job.h"

namespace fleet {

/// Each reads one part at `path` over its defaults.
llvm::Error readPart(const Node &node, const std::string &path, LossSpec &loss);
llvm::Error readPart(const Node &node, const std::string &path,
                     OptimizerSpec &optimizer);
llvm::Error readPart(const Node &node, const std::string &path, ClipSpec &clip);
llvm::Error readPart(const Node &node, const std::string &path,
                     ScheduleSpec &schedule);

} // namespace fleet

#endif // FLEET_LIB_STRATEGY_JOBPARTS_H
