//===- JobReader.cpp - Reading a job ---------------------------*- C++ -*-===//
//
// Job file, strategy file and command line become one Job.
//
//===----------------------------------------------------------------------===//

#include "StrategyReader.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cmath>

using namespace llvm;

namespace fleet {

static std::string keyPath(const std::string &where, const char *part) {
  return where + ": " + part;
}

static void checkChoice(ObjectReader &reader, StringRef key,
                        const std::string &value,
                        ArrayRef<std::string> choices,
                        ArrayRef<std::string> later) {
  if (is_contained(choices, value))
    return;
  if (is_contained(later, value))
    return reader.failAt(key, "'" + value + "' is not yet supported");
  reader.failAt(key, "'" + value + "' is unknown" +
                         suggestion(value, choices));
}

static Error readLoss(const Json &json, const std::string &where,
                      LossSpec &loss) {
  if (json.is_array())
    return userError(where, "a list of losses is not yet supported");
  ObjectReader reader(json, where);
  reader.read("kind", loss.kind);
  checkChoice(reader, "kind", loss.kind, {"cross_entropy", "mse", "inside"},
              {"bce_with_logits"});
  if (loss.kind == "inside") {
    loss.output = "loss";
    reader.read("output", loss.output);
  } else {
    reader.read("logits", loss.output);
    reader.read("labels", loss.labels);
  }
  if (loss.kind == "cross_entropy") {
    if (const Json *ignore = reader.find("ignore_index")) {
      if (ignore->is_null())
        loss.ignoreIndex = std::nullopt;
      else if (ignore->is_number_integer())
        loss.ignoreIndex = ignore->get<int64_t>();
      else
        reader.failAt("ignore_index", "must be an integer or null");
    }
    reader.read("shift", loss.shift);
  }
  reader.refuse("auxiliary");
  reader.refuse("weight");
  reader.refuse("heads");
  return reader.finish();
}

static void checkRange(ObjectReader &reader, StringRef key, double value,
                       double low, double high) {
  if (!(value >= low && value <= high))
    reader.failAt(key, "must lie between " + Twine(std::to_string(low)) +
                           " and " + std::to_string(high) + ", got " +
                           std::to_string(value));
}

static Error readOptimizer(const Json &json, const std::string &where,
                           OptimizerSpec &o) {
  ObjectReader reader(json, where);
  reader.read("name", o.name);
  checkChoice(reader, "name", o.name, {"sgd", "momentum", "adam", "adamw"},
              {"lamb", "lars"});
  reader.read("lr", o.lr);
  checkRange(reader, "lr", o.lr, 0, 1e6);
  reader.read("weight_decay", o.weightDecay);
  checkRange(reader, "weight_decay", o.weightDecay, 0, 1e6);
  if (o.name == "momentum") {
    reader.read("momentum", o.momentum);
    reader.read("nesterov", o.nesterov);
    checkRange(reader, "momentum", o.momentum, 0, 1);
  }
  if (o.name == "adam" || o.name == "adamw") {
    if (o.name == "adamw" && !reader.find("weight_decay"))
      o.weightDecay = 0.01;
    reader.read("beta1", o.beta1);
    reader.read("beta2", o.beta2);
    reader.read("eps", o.eps);
    checkRange(reader, "beta1", o.beta1, 0, 1);
    checkRange(reader, "beta2", o.beta2, 0, 1);
    checkRange(reader, "eps", o.eps, 0, 1);
  }
  return reader.finish();
}

static Error readClip(const Json &json, const std::string &where,
                      ClipSpec &clip) {
  ObjectReader reader(json, where);
  reader.read("global_norm", clip.globalNorm);
  reader.read("epsilon", clip.epsilon);
  if (!(clip.globalNorm > 0) || !std::isfinite(clip.globalNorm))
    reader.failAt("global_norm", "must be above 0, got " +
                                     Twine(std::to_string(clip.globalNorm)));
  checkRange(reader, "epsilon", clip.epsilon, 0, 1);
  return reader.finish();
}

static Error readSchedule(const Json &json, const std::string &where,
                          ScheduleSpec &s) {
  ObjectReader reader(json, where);
  reader.read("kind", s.kind);
  checkChoice(reader, "kind", s.kind, {"constant", "linear", "cosine"}, {});
  reader.read("warmup", s.warmup);
  reader.read("steps", s.steps);
  reader.read("min_lr", s.minLr);
  if (s.warmup < 0)
    reader.failAt("warmup", "must be at least 0, got " + Twine(s.warmup));
  if (s.kind != "constant" && s.steps <= s.warmup)
    reader.failAt("steps", "must be above warmup " + Twine(s.warmup) +
                               ", got " + Twine(s.steps));
  checkRange(reader, "min_lr", s.minLr, 0, 1e6);
  return reader.finish();
}

/// Number of ranks of "cpu:4".
static Expected<int64_t> readDevices(StringRef text, const std::string &where) {
  auto [kind, count] = text.split(':');
  int64_t ranks = 1;
  if (kind != "cpu")
    return userError(where, "devices '" + text +
                                "' is not yet supported: cpu:N is");
  if (!count.empty() && (count.getAsInteger(10, ranks) || ranks < 1 || ranks > 65536))
    return userError(where, "devices '" + text +
                                "' must be cpu:N with N from 1 to 65536");
  return ranks;
}

namespace {
/// Reads one job file.
class JobFile {
public:
  JobFile(const Json &json, std::string path)
      : json(json), where(std::move(path)) {}
  Error read(Job &job);
  /// Keys that the file gives.
  bool has(const char *key) const { return json.contains(key); }

private:
  Error readParts(ObjectReader &reader, Job &job);
  Error readTables(ObjectReader &reader, Job &job);
  std::string resolve(const std::string &file) const;

  const Json &json;
  std::string where;
};
} // namespace

/// Paths in a job are relative to the job file.
std::string JobFile::resolve(const std::string &file) const {
  if (file.empty() || sys::path::is_absolute(file))
    return file;
  SmallString<128> path = sys::path::parent_path(where);
  sys::path::append(path, file);
  return path.str().str();
}

Error JobFile::readTables(ObjectReader &reader, Job &job) {
  if (const Json *inputs = reader.find("inputs")) {
    ObjectReader shapes(*inputs, keyPath(where, "inputs"));
    if (inputs->is_object())
      for (auto it = inputs->begin(); it != inputs->end(); ++it)
        shapes.read(it.key(), job.inputs[it.key()]);
    if (Error error = shapes.finish())
      return error;
  }
  if (const Json *pins = reader.find("shardings")) {
    ObjectReader texts(*pins, keyPath(where, "shardings"));
    if (pins->is_object())
      for (auto it = pins->begin(); it != pins->end(); ++it)
        texts.read(it.key(), job.shardings[it.key()]);
    if (Error error = texts.finish())
      return error;
  }
  return Error::success();
}

Error JobFile::readParts(ObjectReader &reader, Job &job) {
  if (const Json *part = reader.find("loss"))
    if (Error error = readLoss(*part, keyPath(where, "loss"), job.loss))
      return error;
  if (const Json *part = reader.find("optimizer"))
    if (Error error =
            readOptimizer(*part, keyPath(where, "optimizer"), job.optimizer))
      return error;
  if (const Json *part = reader.find("clip"))
    if (Error error = readClip(*part, keyPath(where, "clip"), job.clip))
      return error;
  if (const Json *part = reader.find("schedule"))
    if (Error error =
            readSchedule(*part, keyPath(where, "schedule"), job.schedule))
      return error;
  if (const Json *part = reader.find("strategy")) {
    auto strategy = readStrategy(*part, keyPath(where, "strategy"));
    if (!strategy)
      return strategy.takeError();
    job.strategy = *strategy;
  }
  return Error::success();
}

Error JobFile::read(Job &job) {
  ObjectReader reader(json, where);
  std::string schema = "fleet.job/1", devices;
  reader.read("schema", schema);
  if (schema != "fleet.job/1")
    reader.failAt("schema", "must be 'fleet.job/1', got '" + schema + "'");
  reader.read("model", job.model);
  reader.read("weights", job.weights);
  job.model = resolve(job.model);
  job.weights = resolve(job.weights);
  reader.read("batch", job.batch);
  if (reader.find("batch") && job.batch < 1)
    reader.failAt("batch", "must be at least 1, got " + Twine(job.batch));
  reader.read("accumulate", job.accumulate);
  if (job.accumulate < 1)
    reader.failAt("accumulate", "must be at least 1, got " +
                                    Twine(job.accumulate));
  reader.read("precision", job.precision);
  checkChoice(reader, "precision", job.precision, {"f32", "f64"},
              {"bf16", "fp16"});
  reader.read("seed", job.seed);
  reader.read("frozen", job.frozen);
  reader.read("devices", devices);
  reader.refuse("memory_limit");
  if (Error error = readTables(reader, job))
    return error;
  if (Error error = readParts(reader, job))
    return error;
  if (Error error = reader.finish())
    return error;
  if (devices.empty())
    return Error::success();
  auto ranks = readDevices(devices, where);
  if (!ranks)
    return ranks.takeError();
  job.devices = *ranks;
  return Error::success();
}

/// "adamw,lr=1e-3" as the object that a job file would hold.
static Expected<Json> parseOptimizerText(StringRef text) {
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  Json json = {{"name", parts[0].str()}};
  for (StringRef part : ArrayRef(parts).drop_front()) {
    auto [key, value] = part.split('=');
    auto number = parseJson(value, "--optimizer: " + key.str());
    if (!number)
      return number.takeError();
    json[key.str()] = *number;
  }
  return json;
}

/// Takes what the command line gives; a key that the file gives with another value is an error.
static Error mergeArguments(const JobArguments &arguments, const JobFile *file,
                            Job &job) {
  auto differs = [&](const char *key, const std::string &theirs,
                     const std::string &ours) {
    return file && file->has(key) && theirs != ours;
  };
  auto twice = [&](const char *key, const std::string &theirs,
                   const std::string &ours) {
    return userError(arguments.jobFile, Twine(key) + " is '" + theirs +
                                            "' here and '" + ours +
                                            "' on the command line");
  };
  if (!arguments.model.empty()) {
    if (differs("model", job.model, arguments.model) &&
        !sys::fs::equivalent(job.model, arguments.model))
      return twice("model", job.model, arguments.model);
    job.model = arguments.model;
  }
  if (!arguments.precision.empty()) {
    if (differs("precision", job.precision, arguments.precision))
      return twice("precision", job.precision, arguments.precision);
    job.precision = arguments.precision;
    if (job.precision != "f32" && job.precision != "f64")
      return userError("--precision", "'" + job.precision +
                                          "' is not yet supported: f32 and "
                                          "f64 are");
  }
  if (!arguments.devices.empty()) {
    auto ranks = readDevices(arguments.devices, "--devices");
    if (!ranks)
      return ranks.takeError();
    if (differs("devices", std::to_string(job.devices), std::to_string(*ranks)))
      return twice("devices", "cpu:" + std::to_string(job.devices),
                   arguments.devices);
    job.devices = *ranks;
  }
  if (!arguments.loss.empty()) {
    if (differs("loss", job.loss.kind, arguments.loss))
      return twice("loss", job.loss.kind, arguments.loss);
    Json loss = {{"kind", arguments.loss}};
    if (!file || !file->has("loss"))
      if (Error error = readLoss(loss, "--loss", job.loss))
        return error;
  }
  if (!arguments.optimizer.empty()) {
    if (file && file->has("optimizer"))
      return userError(arguments.jobFile,
                       "optimizer is given here and on the command line");
    auto json = parseOptimizerText(arguments.optimizer);
    if (!json)
      return json.takeError();
    return readOptimizer(*json, "--optimizer", job.optimizer);
  }
  return Error::success();
}

/// Fills what follows from the rest and checks degrees and batch.
static Error complete(Job &job, const std::string &where, bool devicesGiven,
                      bool accumulateGiven) {
  Strategy &s = job.strategy;
  int64_t others = s.mp * s.pp * s.sharding * s.sep;
  if (s.dp == -1) {
    if (!devicesGiven)
      job.devices = std::max(job.devices, others);
    s.dp = std::max<int64_t>(1, job.devices / others);
  }
  int64_t product = s.dp * others;
  if (!devicesGiven)
    job.devices = product;
  if (product != job.devices)
    return userError(where, "dp_degree " + Twine(s.dp) + " x mp_degree " +
                                Twine(s.mp) + " x pp_degree " + Twine(s.pp) +
                                " x sharding_degree " + Twine(s.sharding) +
                                " = " + Twine(product) + ", but devices is cpu:" +
                                Twine(job.devices));
  if (s.accumulateSteps) {
    if (accumulateGiven && *s.accumulateSteps != job.accumulate)
      return userError(where, "accumulate is " + Twine(job.accumulate) +
                                  " but accumulate_steps of the strategy is " +
                                  Twine(*s.accumulateSteps));
    job.accumulate = *s.accumulateSteps;
  }
  if (job.batch == 0)
    return userError(where, "the global batch is not given (key 'batch')");
  int64_t shares = s.dp * s.sharding;
  if (s.microBatchSize && !s.accumulateSteps && !accumulateGiven &&
      job.batch % (shares * *s.microBatchSize) == 0)
    job.accumulate = job.batch / (shares * *s.microBatchSize);
  if (s.microBatchSize &&
      *s.microBatchSize * shares * job.accumulate != job.batch)
    return userError(where, "micro_batch_size " + Twine(*s.microBatchSize) +
                                " x dp_degree " + Twine(s.dp) +
                                " x sharding_degree " + Twine(s.sharding) +
                                " x accumulate_steps " + Twine(job.accumulate) +
                                " is not the batch " + Twine(job.batch));
  if (job.batch % (shares * job.accumulate) != 0)
    return userError(where, "batch " + Twine(job.batch) +
                                " does not split over dp_degree " +
                                Twine(s.dp) + " x sharding_degree " +
                                Twine(s.sharding) + " x " +
                                Twine(job.accumulate) + " micro-batches");
  return Error::success();
}

Expected<Job> readJob(const JobArguments &arguments) {
  Job job;
  Json json = Json::object();
  std::optional<JobFile> file;
  std::string where = "job";
  if (!arguments.jobFile.empty()) {
    where = arguments.jobFile;
    auto parsed = parseJsonFile(arguments.jobFile);
    if (!parsed)
      return parsed.takeError();
    json = std::move(*parsed);
    file.emplace(json, arguments.jobFile);
    if (Error error = file->read(job))
      return error;
  }
  if (!arguments.strategyFile.empty()) {
    auto parsed = parseJsonFile(arguments.strategyFile);
    if (!parsed)
      return parsed.takeError();
    if (file && file->has("strategy") && json["strategy"] != *parsed)
      return userError(where, "the strategy is given here and by " +
                                  arguments.strategyFile);
    auto strategy = readStrategy(*parsed, arguments.strategyFile);
    if (!strategy)
      return strategy.takeError();
    job.strategy = *strategy;
    where = arguments.strategyFile;
  }
  if (Error error = mergeArguments(arguments, file ? &*file : nullptr, job))
    return error;
  if (job.model.empty())
    return userError(where, "no model is given");
  bool devicesGiven =
      !arguments.devices.empty() || (file && file->has("devices"));
  if (Error error = complete(job, where, devicesGiven,
                             file && file->has("accumulate")))
    return error;
  return job;
}

std::string toJson(const Job &job) {
  const Strategy &s = job.strategy;
  Json ignore = job.loss.ignoreIndex ? Json(*job.loss.ignoreIndex) : Json();
  Json json = {
      {"schema", "fleet.job/1"},
      {"model", job.model},
      {"weights", job.weights},
      {"batch", job.batch},
      {"inputs", job.inputs},
      {"loss",
       {{"kind", job.loss.kind},
        {job.loss.kind == "inside" ? "output" : "logits", job.loss.output},
        {"labels", job.loss.labels},
        {"ignore_index", ignore},
        {"shift", job.loss.shift}}},
      {"optimizer",
       {{"name", job.optimizer.name},
        {"lr", job.optimizer.lr},
        {"momentum", job.optimizer.momentum},
        {"nesterov", job.optimizer.nesterov},
        {"beta1", job.optimizer.beta1},
        {"beta2", job.optimizer.beta2},
        {"eps", job.optimizer.eps},
        {"weight_decay", job.optimizer.weightDecay}}},
      {"clip",
       {{"global_norm", job.clip.globalNorm}, {"epsilon", job.clip.epsilon}}},
      {"schedule",
       {{"kind", job.schedule.kind},
        {"warmup", job.schedule.warmup},
        {"steps", job.schedule.steps},
        {"min_lr", job.schedule.minLr}}},
      {"accumulate", job.accumulate},
      {"precision", job.precision},
      {"seed", job.seed},
      {"frozen", job.frozen},
      {"devices", "cpu:" + std::to_string(job.devices)},
      {"shardings", job.shardings},
      {"strategy",
       {{"fuse_all_reduce_ops", s.fuseAllReduce},
        {"fuse_grad_size_in_MB", s.fuseSizeMB},
        {"pipeline_configs",
         {{"accumulate_steps", job.accumulate},
          {"schedule_mode", s.scheduleMode},
          {"stage_starts", s.stageStarts}}},
        {"hybrid_configs",
         {{"dp_degree", s.dp},
          {"pp_degree", s.pp},
          {"sharding_degree", s.sharding},
          {"sep_degree", s.sep},
          {"mp_degree", s.mp},
          {"order", s.order}}}}}};
  return json.dump(1);
}

} // namespace fleet
