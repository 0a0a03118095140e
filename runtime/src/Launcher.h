//===- Launcher.h - Start and watch the ranks ------------------*- C++ -*-===//
//
// What fleet-run does: one process for each rank of a bundle on this machine.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_RUNTIME_SRC_LAUNCHER_H
#define FLEET_RUNTIME_SRC_LAUNCHER_H

#include <string>
#include <vector>

namespace fleet_rt {

/// Starts BUNDLE/rank_0 … with the environment set and `arguments` passed on, and waits for them. When one fails, the others
/// get two seconds to say what they saw and are then killed. Returns the exit code: 0, or 1. Throws Error when the bundle
/// cannot be started.
int launch(const std::string &bundle,
           const std::vector<std::string> &arguments);

} // namespace fleet_rt

#endif // FLEET_RUNTIME_SRC_LAUNCHER_H
