//===- JobParts.cpp - The parts of a job -----------------------*- C++ -*-===//
//
// A key that its part would not look at (a beta of sgd, a minimum of a constant rate) is unknown there: nothing that is
// written is without effect.
//
//===----------------------------------------------------------------------===//

#include "JobParts.h"
#include "ObjectReader.h"

using namespace llvm;

namespace fleet {

/// Rates and factors beyond it are typing mistakes.
static constexpr double kMaxFactor = 1e6;
static constexpr double kMaxNorm = 1e30;
static constexpr int64_t kMaxSteps = int64_t(1) << 40;

/// The output is `logits` of a cross entropy and `output` of other losses; the latter take the former's name too.
static void readOutput(ObjectReader &reader, LossSpec &loss) {
  if (loss.kind == "inside")
    loss.output = "loss";
  bool isLogits = loss.kind != "inside" && reader.read("logits", loss.output);
  if (loss.kind == "cross_entropy")
    return;
  if (isLogits && reader.find("output"))
    return reader.fail("output", "and " + reader.pathTo("logits") +
                                     " are the same: give one");
  reader.read("output", loss.output);
}

Error readPart(const Node &node, const std::string &path, LossSpec &loss) {
  if (node.is(Node::Kind::List))
    return userError(node.place,
                     "a list of losses at " + path + " is not yet supported");
  ObjectReader reader(node, path);
  reader.read("kind", loss.kind, {"cross_entropy", "mse", "inside"},
              {"bce_with_logits"});
  reader.refuse("heads");
  reader.refuse("auxiliary");
  readOutput(reader, loss);
  if (loss.kind != "inside")
    reader.read("labels", loss.labels);
  if (loss.kind == "cross_entropy") {
    const Node *ignore = reader.find("ignore_index");
    int64_t index = 0;
    if (ignore && ignore->is(Node::Kind::Null))
      loss.ignoreIndex = std::nullopt;
    else if (reader.read("ignore_index", index))
      loss.ignoreIndex = index;
    reader.read("shift", loss.shift);
  }
  double weight = 1;
  if (reader.read("weight", weight) && weight != 1)
    reader.fail("weight", "= " + format(weight) + " is not yet supported");
  return reader.finish();
}

Error readPart(const Node &node, const std::string &path,
               OptimizerSpec &optimizer) {
  ObjectReader reader(node, path);
  reader.require("name");
  reader.read("name", optimizer.name, {"sgd", "momentum", "adam", "adamw"},
              {"lamb", "lars"});
  reader.read("lr", optimizer.lr, 0, kMaxFactor);
  optimizer.weightDecay = optimizer.name == "adamw" ? 0.01 : 0;
  reader.read("weight_decay", optimizer.weightDecay, 0, kMaxFactor);
  if (optimizer.name == "momentum") {
    reader.read("momentum", optimizer.momentum, 0, 1);
    reader.read("nesterov", optimizer.nesterov);
  }
  if (optimizer.name == "adam" || optimizer.name == "adamw") {
    reader.read("beta1", optimizer.beta1, 0, 1);
    reader.read("beta2", optimizer.beta2, 0, 1);
    reader.read("eps", optimizer.eps, 0, 1);
  }
  return reader.finish();
}

Error readPart(const Node &node, const std::string &path, ClipSpec &clip) {
  if (node.is(Node::Kind::Null))
    return Error::success();
  ObjectReader reader(node, path);
  reader.require("global_norm");
  if (reader.read("global_norm", clip.globalNorm, 0, kMaxNorm) &&
      clip.globalNorm == 0)
    reader.fail("global_norm", "must be above 0, got 0");
  reader.read("epsilon", clip.epsilon, 0, 1);
  return reader.finish();
}

Error readPart(const Node &node, const std::string &path,
               ScheduleSpec &schedule) {
  ObjectReader reader(node, path);
  reader.require("kind");
  reader.read("kind", schedule.kind, {"constant", "linear", "cosine"}, {});
  reader.read("warmup", schedule.warmup, 0, kMaxSteps);
  if (schedule.kind == "constant")
    return reader.finish();
  reader.require("steps");
  if (reader.read("steps", schedule.steps, 1, kMaxSteps) &&
      schedule.steps <= schedule.warmup)
    reader.fail("steps", "must be above warmup " + Twine(schedule.warmup) +
                             ", got " + Twine(schedule.steps));
  reader.read("min_lr", schedule.minLr, 0, kMaxFactor);
  return reader.finish();
}

} // namespace fleet
