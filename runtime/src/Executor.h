//===- Executor.h - Walking the actions ------------------------*- C++ -*-===//
//
// The loop of a rank: load inputs, walk the actions, check the loss, write metrics.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_RUNTIME_SRC_EXECUTOR_H
#define FLEET_RUNTIME_SRC_EXECUTOR_H

#include "Communicator.h"
#include "Inputs.h"
#include "fleet_rt/fleet_rt.h"

#include <cstdio>

struct fleet_rt_context {
  const fleet_rt::Program *program = nullptr;
  int64_t rank = 0;
  fleet_rt::Transport *transport = nullptr;
  std::vector<std::unique_ptr<fleet_rt::Communicator>> communicators;
  std::vector<int64_t> groupIndex, groupSize;
  /// What went wrong in a collective.
  std::string error;
};

namespace fleet_rt {

struct RunOptions {
  DataOptions data;
  std::string weights;
  std::string log;
  bool progress = true;
};

/// Runs a program on one rank.
class Executor {
public:
  /// Makes the groups, loads the weights; throws Error. `transport` outlives the executor.
  Executor(const Program &program, const fleet_rt_task_fn *tasks, int64_t rank,
           Transport &transport, const RunOptions &options);
  ~Executor();
  Executor(const Executor &) = delete;

  /// Runs all steps; throws Error with the action that failed.
  void run();

private:
  void loadWeights();
  void loadParameter(const Buffer &buffer, const class TensorFile &file);
  void writeScalars(int64_t step);
  void runStep(int64_t step);
  void runAction(const Action &action);
  void report(int64_t step, double seconds);
  double readScalar(int64_t buffer) const;
  uint8_t *address(const Buffer &buffer, int64_t microBatch);

  const Program &program;
  const fleet_rt_task_fn *tasks;
  int64_t rank;
  Transport &transport;
  const RunOptions &options;
  fleet_rt_context context;
  std::unique_ptr<Inputs> inputs;
  std::FILE *log = nullptr;
  Clock::time_point begin, lastProgress;
};

} // namespace fleet_rt

#endif // FLEET_RUNTIME_SRC_EXECUTOR_H
