//===- Job.h - What is trained and how -------------------------*- C++ -*-===//
//
// A job (fleet.job/1) and its strategy, read from JSON and the command line, with every default written out. Nothing that a
// user asks for is dropped: it is here, or reading fails and says why.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_STRATEGY_JOB_H
#define FLEET_STRATEGY_JOB_H

#include "fleet/Strategy/Strategy.h"
#include "llvm/Support/Error.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fleet {

struct LossSpec {
  std::string kind = "cross_entropy"; ///< cross_entropy, mse or inside
  std::string output = "logits";      ///< output that the loss reads, or is
  std::string labels = "labels";      ///< input that it is compared with
  std::optional<int64_t> ignoreIndex = -100; ///< null: every label counts
  bool shift = false; ///< position i predicts label i + 1
};

struct OptimizerSpec {
  std::string name = "sgd"; ///< sgd, momentum, adam or adamw
  double lr = 1e-3;
  double momentum = 0.9;
  bool nesterov = false;
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
  double weightDecay = 0;
};

struct ClipSpec {
  double globalNorm = 0; ///< 0: gradients are not clipped
  double epsilon = 1e-6;
};

struct ScheduleSpec {
  std::string kind = "constant"; ///< constant, linear or cosine
  int64_t warmup = 0;            ///< updates until the full rate
  int64_t steps = 0;             ///< update at which minLr is reached
  double minLr = 0;
};

struct Job {
  std::string model;
  std::string weights; ///< empty: those of the model file
  std::string data;    ///< empty: fleet-run is told
  int64_t batch = 0;   ///< global batch of one optimizer step
  std::map<std::string, std::vector<int64_t>> inputs;
  LossSpec loss;
  OptimizerSpec optimizer;
  ClipSpec clip;
  ScheduleSpec schedule;
  int64_t accumulate = 1; ///< micro-batches of a step
  std::string precision = "f32";
  int64_t seed = 0;
  std::vector<std::string>
      frozen; ///< names and patterns of parameters that are not trained
  int64_t devices = 1;                          ///< CPU ranks
  std::map<std::string, std::string> shardings; ///< pins: name to "[{}, {mp}]"
  Strategy strategy;
};

/// What the command line says beside or instead of a job file. Empty: not said.
struct JobArguments {
  std::string model, jobFile, strategyFile;
  std::string optimizer; ///< "adamw,lr=1e-3"
  std::string loss;      ///< "cross_entropy" or "cross_entropy,shift=true"
  std::string devices;   ///< "cpu:4"
  std::string precision;
  std::string recipe; ///< "expected.json:adamw": a recipe of a reference model
};

/// Reads and merges job file, strategy file and command line, fills defaults, and checks what can be checked without the
/// model: degrees against devices, batch against ranks and micro-batches. What is given twice and differs is an error.
/// Errors are one line that names the file, its line and the key.
llvm::Expected<Job> readJob(const JobArguments &arguments);

/// The job with all defaults written, as JSON text that readJob reads to the same job.
std::string toJson(const Job &job);

} // namespace fleet

#endif // FLEET_STRATEGY_JOB_H
