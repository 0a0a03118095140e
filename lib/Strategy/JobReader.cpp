//===- JobReader.cpp - Reading a job ---------------------------*- C++ -*-===//
//
// One tree, whatever its sources, becomes a Job.
//
//===----------------------------------------------------------------------===//

#include "JobParts.h"
#include "JobSources.h"
#include "Layout.h"
#include "ObjectReader.h"
#include "StrategyReader.h"

using namespace llvm;

namespace fleet {

static constexpr int64_t kMaxCount = int64_t(1) << 40;

/// Number of ranks of "cpu:4"; "cpu" is one.
static void readDevices(ObjectReader &reader, int64_t &devices) {
  std::string text;
  if (!reader.read("devices", text))
    return;
  auto [kind, count] = StringRef(text).split(':');
  if (kind != "cpu")
    return reader.fail("devices",
                       quote(text) + " is not yet supported: cpu:N is");
  devices = 1;
  if (text != "cpu" &&
      (count.getAsInteger(10, devices) || devices < 1 || devices > kMaxDevices))
    reader.fail("devices", "must be cpu:N with N from 1 to " +
                               Twine(kMaxDevices) + ", got " + quote(text));
}

/// An object whose keys are names of the model.
template <typename T>
static void readNamed(ObjectReader &reader, StringRef key,
                      std::map<std::string, T> &values) {
  const Node *node = reader.find(key);
  if (!node)
    return;
  ObjectReader entries(*node, reader.pathTo(key));
  for (auto &member : node->members)
    entries.read(member.first, values[member.first]);
  reader.keep(entries.finish());
}

static void readShapes(ObjectReader &reader, Job &job) {
  readNamed(reader, "inputs", job.inputs);
  for (auto &[name, shape] : job.inputs)
    for (int64_t size : shape)
      if (size < 1 || size > kMaxCount)
        reader.fail("inputs", "gives " + quote(name) + " a dimension of " +
                                  Twine(size) + ": from 1 to " +
                                  Twine(kMaxCount) + " is possible");
}

template <typename Part>
static void readPartAt(ObjectReader &reader, StringRef key, Part &part) {
  if (const Node *node = reader.find(key))
    reader.keep(readPart(*node, reader.pathTo(key), part));
}

static void readStrategyAt(ObjectReader &reader, Strategy &strategy) {
  const Node *node = reader.find("strategy");
  if (!node)
    return;
  auto read = readStrategy(*node);
  if (read)
    strategy = std::move(*read);
  else
    reader.keep(read.takeError());
}

static Error readTree(const Node &tree, Job &job) {
  ObjectReader reader(tree, "");
  std::string schema;
  if (reader.read("schema", schema) && schema != "fleet.job/1")
    reader.fail("schema", "must be 'fleet.job/1', got " + quote(schema));
  reader.require("model");
  reader.read("model", job.model);
  if (reader.find("model") && job.model.empty())
    reader.fail("model", "is empty");
  reader.read("weights", job.weights);
  reader.read("data", job.data);
  reader.require("batch", ": the samples of one step over all devices");
  reader.read("batch", job.batch, 1, kMaxCount);
  readShapes(reader, job);
  readPartAt(reader, "loss", job.loss);
  readPartAt(reader, "optimizer", job.optimizer);
  readPartAt(reader, "clip", job.clip);
  readPartAt(reader, "schedule", job.schedule);
  reader.read("accumulate", job.accumulate, 1, kMaxCount);
  reader.read("precision", job.precision, {"f32", "f64"}, {"bf16", "fp16"});
  reader.read("seed", job.seed, 0, INT64_MAX);
  reader.read("frozen", job.frozen);
  readDevices(reader, job.devices);
  reader.refuse("memory_limit");
  readNamed(reader, "shardings", job.shardings);
  readStrategyAt(reader, job.strategy);
  return reader.finish();
}

Expected<Job> readJob(const JobArguments &arguments) {
  auto tree = gatherJob(arguments);
  if (!tree)
    return tree.takeError();
  Job job;
  if (Error error = readTree(*tree, job))
    return error;
  const Node *strategy = tree->find("strategy");
  LayoutSaid said;
  said.place = {(strategy ? strategy : &*tree)->place.source, 0};
  said.devices = tree->find("devices");
  said.accumulate = tree->find("accumulate");
  if (Error error = resolveLayout(job, said))
    return error;
  return job;
}

} // namespace fleet
