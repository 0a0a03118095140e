//===- Trainer.h - Steps over data -----------------------------*- C++ -*-===//
//
// Feeds a step machine batch after batch from a step-major data file and reports loss, rate and gradient norm as the
// executables do.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_INTERPRETER_TRAINER_H
#define FLEET_INTERPRETER_TRAINER_H

#include "fleet/Interpreter/StepMachine.h"
#include "fleet/Support/Schedule.h"

namespace fleet {

/// One step as it is logged.
struct StepReport {
  int64_t step;
  double loss;
  /// Where the module has a schedule.
  std::optional<double> lr;
  /// Where the step gives it.
  std::optional<double> gradNorm;
  StepOutput output;

  /// {"step":1,"loss":6.2449201809992488,"lr":0.002,"grad_norm":0.84}
  std::string toJson() const;
};

class Trainer {
public:
  /// Trains `machine`, whose parameters are loaded, on `data`: one tensor [steps, …] per input. All must outlive the
  /// trainer. `data` may be null when the step has no inputs.
  Trainer(StepMachine &machine, const WeightSource *data,
          std::optional<Schedule> schedule)
      : machine(machine), data(data), schedule(schedule) {}

  /// Runs the next step. Reports a batch that is missing, replicas that differ and a loss that is not finite.
  llvm::FailureOr<StepReport> next();

  /// The learning-rate schedule of a module; nullopt where it has none.
  static llvm::FailureOr<std::optional<Schedule>>
  scheduleOf(mlir::ModuleOp module);

private:
  llvm::FailureOr<StepInput> nextInput() const;

  StepMachine &machine;
  const WeightSource *data;
  std::optional<Schedule> schedule;
  int64_t step = 1;
};

} // namespace fleet

#endif // FLEET_INTERPRETER_TRAINER_H
