//===- Ranks.h - Several ranks in one test ---------------------*- C++ -*-===//
//
// Runs a function as several processes that are connected by a transport.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_TEST_UNIT_RUNTIME_RANKS_H
#define FLEET_TEST_UNIT_RUNTIME_RANKS_H

#include "Communicator.h"

#include <functional>
#include <string>

/// How a rank ended: its exit code (-1 after a signal) and what it reported.
struct RankResult {
  int code;
  std::string text;
};

/// Forks `size` ranks over `transport` ("shm" or "gloo") and runs `body` on each. What it returns comes back as text; an
/// exception makes the exit code 1 and its message the text.
std::vector<RankResult>
runRanks(int size, const std::string &transport, int64_t arenaBytes,
         const std::function<std::string(int, fleet_rt::Transport &)> &body,
         double timeout = 20);

#endif // FLEET_TEST_UNIT_RUNTIME_RANKS_H
