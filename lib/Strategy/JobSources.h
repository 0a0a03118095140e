//===- JobSources.h - Everything a user said, as one tree ------*- C++ -*-===//
//
// Job file, recipe, strategy file and options of the command line are merged before they are read, so that one reader
// checks them all and nothing that is given twice can differ unseen.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_LIB_STRATEGY_JOBSOURCES_H
#define FLEET_LIB_STRATEGY_JOBSOURCES_H

#include "Node.h"
#include "fleet/Strategy/Job.h"

namespace fleet {

/// The tree of a job: paths of the job file resolved, the strategy unwrapped.
llvm::Expected<Node> gatherJob(const JobArguments &arguments);

} // namespace fleet

#endif // FLEET_LIB_STRATEGY_JOBSOURCES_H
