//===- JobWriter.cpp - A job as JSON ---------------------------*- C++ -*-===//
//
// Everything with its defaults, in the form that the reader reads: what a manifest holds can be compiled again.
//
//===----------------------------------------------------------------------===//

#include "fleet/Strategy/Job.h"

#include <nlohmann/json.hpp>

namespace fleet {

using Json = nlohmann::ordered_json;

static Json write(const LossSpec &loss) {
  if (loss.kind == "inside")
    return {{"kind", loss.kind}, {"output", loss.output}};
  if (loss.kind == "mse")
    return {
        {"kind", loss.kind}, {"output", loss.output}, {"labels", loss.labels}};
  return {{"kind", loss.kind},
          {"logits", loss.output},
          {"labels", loss.labels},
          {"ignore_index", loss.ignoreIndex ? Json(*loss.ignoreIndex) : Json()},
          {"shift", loss.shift}};
}

static Json write(const OptimizerSpec &optimizer) {
  Json json = {{"name", optimizer.name},
               {"lr", optimizer.lr},
               {"weight_decay", optimizer.weightDecay}};
  if (optimizer.name == "momentum") {
    json["momentum"] = optimizer.momentum;
    json["nesterov"] = optimizer.nesterov;
  }
  if (optimizer.name == "adam" || optimizer.name == "adamw") {
    json["beta1"] = optimizer.beta1;
    json["beta2"] = optimizer.beta2;
    json["eps"] = optimizer.eps;
  }
  return json;
}

static Json write(const ClipSpec &clip) {
  if (clip.globalNorm == 0)
    return nullptr;
  return {{"global_norm", clip.globalNorm}, {"epsilon", clip.epsilon}};
}

static Json write(const ScheduleSpec &schedule) {
  Json json = {{"kind", schedule.kind}, {"warmup", schedule.warmup}};
  if (schedule.kind != "constant") {
    json["steps"] = schedule.steps;
    json["min_lr"] = schedule.minLr;
  }
  return json;
}

static Json write(const Strategy &strategy) {
  Json ignored = Json::array();
  for (const IgnoredKey &key : strategy.ignored)
    ignored.push_back({{"key", key.key}, {"reason", key.reason}});
  Json pipeline = {{"schedule_mode", strategy.scheduleMode},
                   {"stage_starts", strategy.stageStarts}};
  if (strategy.accumulateSteps)
    pipeline["accumulate_steps"] = *strategy.accumulateSteps;
  if (strategy.microBatchSize)
    pipeline["micro_batch_size"] = *strategy.microBatchSize;
  return {{"fuse_all_reduce_ops", strategy.fuseAllReduce},
          {"fuse_grad_size_in_MB", strategy.fuseSizeMB},
          {"hybrid_configs",
           {{"dp_degree", strategy.dp},
            {"mp_degree", strategy.mp},
            {"pp_degree", strategy.pp},
            {"sharding_degree", strategy.sharding},
            {"sep_degree", strategy.sep},
            {"order", strategy.order},
            {"sharding_configs", {{"stage", strategy.shardingStage}}}}},
          {"pipeline_configs", pipeline},
          {"ignored", ignored}};
}

std::string toJson(const Job &job) {
  Json json = {{"schema", "fleet.job/1"},
               {"model", job.model},
               {"weights", job.weights},
               {"data", job.data},
               {"batch", job.batch},
               {"inputs", job.inputs},
               {"loss", write(job.loss)},
               {"optimizer", write(job.optimizer)},
               {"clip", write(job.clip)},
               {"schedule", write(job.schedule)},
               {"accumulate", job.accumulate},
               {"precision", job.precision},
               {"seed", job.seed},
               {"frozen", job.frozen},
               {"devices", "cpu:" + std::to_string(job.devices)},
               {"shardings", job.shardings},
               {"strategy", write(job.strategy)}};
  // Names of the command line may be no UTF-8; a manifest must be.
  return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

} // namespace fleet
