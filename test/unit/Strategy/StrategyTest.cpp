//===- StrategyTest.cpp - Strategies and layouts ---------------*- C++ -*-===//
//
// Every spelling of every honoured setting, agreement between spellings, and the rules between degrees, devices and batch.
//
//===----------------------------------------------------------------------===//

#include "JobFiles.h"
#include "gtest/gtest.h"

using namespace fleet;

TEST(StrategyTest, FlatDegrees) {
  JobFiles files;
  Strategy s = files
                   .readStrategyText(R"({"hybrid_configs": {"dp_degree": 2,
      "mp_degree": 2, "pp_degree": 1, "sharding_degree": 2, "sep_degree": 1,
      "order": ["pp", "dp", "sharding", "sep", "mp"]}})")
                   .strategy;
  EXPECT_EQ(s.dp, 2);
  EXPECT_EQ(s.mp, 2);
  EXPECT_EQ(s.pp, 1);
  EXPECT_EQ(s.sharding, 2);
  EXPECT_EQ(s.order.front(), "pp");
}

TEST(StrategyTest, NestedDegrees) {
  JobFiles files;
  Strategy s = files
                   .readStrategyText(R"({"hybrid_configs": {
      "dp_configs": {"dp_degree": 2}, "mp_configs": {"mp_degree": 2},
      "pp_configs": {"pp_degree": 2}, "sep_configs": {"sep_degree": 1},
      "sharding_configs": {"sharding_degree": 4, "stage": 1}}})")
                   .strategy;
  EXPECT_EQ(s.dp, 2);
  EXPECT_EQ(s.mp, 2);
  EXPECT_EQ(s.pp, 2);
  EXPECT_EQ(s.sharding, 4);
}

TEST(StrategyTest, StaticGraphSpelling) {
  JobFiles files;
  Strategy s = files
                   .readStrategyText(R"({"sharding": true,
      "sharding_configs": {"sharding_degree": 2, "mp_degree": 2, "pp_degree": 2,
                           "dp_degree": 2, "stage": 1}})")
                   .strategy;
  EXPECT_EQ(s.sharding, 2);
  EXPECT_EQ(s.mp, 2);
  EXPECT_EQ(s.pp, 2);
  EXPECT_EQ(s.dp, 2);
  s = files.readStrategyText(R"({"sharding": true})").strategy;
  EXPECT_EQ(s.sharding, 8);
  s = files
          .readStrategyText(R"({"tensor_parallel": true,
      "tensor_parallel_configs": {"tensor_parallel_degree": 4}})")
          .strategy;
  EXPECT_EQ(s.mp, 4);
}

TEST(StrategyTest, WrappedForm) {
  JobFiles files;
  EXPECT_EQ(files
                .readStrategyText(R"({"schema": "fleet.strategy/1",
      "strategy": {"hybrid_configs": {"mp_degree": 2}}})")
                .strategy.mp,
            2);
  EXPECT_EQ(files
                .readJobText(R"({"model": "m", "batch": 8, "strategy": {
      "schema": "fleet.strategy/1", "strategy": {"hybrid_configs":
      {"mp_degree": 2}}}})")
                .strategy.mp,
            2);
  EXPECT_EQ(
      files.strategyError(R"({"schema": "fleet.strategy/2"})"),
      "s.json:1: schema must be 'fleet.strategy/1', got 'fleet.strategy/2'");
  EXPECT_EQ(files.strategyError(R"({"schema": "fleet.strategy/1"})"),
            "s.json:1: strategy is missing");
  EXPECT_EQ(files.strategyError(R"({"strategy": {}})"),
            "s.json:1: schema is missing");
  EXPECT_EQ(
      files.strategyError(
          R"({"schema": "fleet.strategy/1", "strategy": {}, "amp": true})"),
      "s.json:1: unknown key 'amp'; the nearest key is 'schema'");
}

TEST(StrategyTest, MicroBatches) {
  JobFiles files;
  for (
      const char *text :
      {R"({"pipeline_configs": {"accumulate_steps": 4}})",
       R"({"pipeline": true, "hybrid_configs": {"pp_degree": 1,
            "pp_configs": {"accumulate_steps": 4}}})",
       R"({"gradient_merge": true, "gradient_merge_configs": {"k_steps": 4}})",
       R"({"gradient_merge_configs": {"k_steps": 4, "avg": true}})",
       R"({"hybrid_configs": {"sharding_configs": {"accumulate_steps": 4}}})",
       R"({"sharding_configs": {"gradient_merge_acc_step": 4}})",
       R"({"pipeline_configs": {"micro_batch_size": 2}})",
       R"({"hybrid_configs": {"pp_configs": {"micro_batch_size": 2}}})",
       R"({"pipeline_configs": {"micro_batch_size": 2, "accumulate_steps": 4}})"}) {
    Job job = files.readStrategyText(text);
    EXPECT_EQ(job.accumulate, 4) << text;
    EXPECT_EQ(job.strategy.accumulateSteps, 4) << text;
    EXPECT_EQ(job.strategy.microBatchSize, 2) << text;
  }
}

TEST(StrategyTest, PipelineAndFusion) {
  JobFiles files;
  Strategy s = files
                   .readStrategyText(R"({"fuse_all_reduce_ops": false,
      "fuse_grad_size_in_MB": 16, "hybrid_configs": {"pp_degree": 2},
      "pipeline_configs": {"schedule_mode": "F-then-B",
                           "stage_starts": ["h.2.ln_1.weight"]}})")
                   .strategy;
  EXPECT_FALSE(s.fuseAllReduce);
  EXPECT_EQ(s.fuseSizeMB, 16);
  EXPECT_EQ(s.scheduleMode, "F-then-B");
  EXPECT_EQ(s.stageStarts, std::vector<std::string>{"h.2.ln_1.weight"});
}

TEST(StrategyTest, InferredDegrees) {
  JobFiles files;
  EXPECT_EQ(
      files.readStrategyText(R"({"hybrid_configs": {"mp_degree": 2}})", "cpu:8")
          .strategy.dp,
      4);
  EXPECT_EQ(files
                .readStrategyText(R"({"hybrid_configs": {"dp_degree": -1,
      "sharding_degree": 4}})",
                                  "cpu:8")
                .strategy.dp,
            2);
  Strategy s = files
                   .readStrategyText(R"({"hybrid_configs": {"mp_degree": -1,
      "pp_degree": 2}})",
                                     "cpu:8")
                   .strategy;
  EXPECT_EQ(s.mp, 4);
  EXPECT_EQ(s.dp, 1);
  Job job = files.readStrategyText(
      R"({"hybrid_configs": {"dp_degree": 2, "mp_degree": 2}})");
  EXPECT_EQ(job.devices, 4);
  job = files.readStrategyText("{}");
  EXPECT_EQ(job.devices, 1);
  EXPECT_EQ(job.strategy.dp, 1);
}

namespace {
/// A strategy that is refused on some devices.
struct Refusal {
  const char *strategy;
  const char *devices;
  const char *message;
};
} // namespace

static const Refusal kRefusals[] = {
    // Names
    {R"({"recomputee": true})", "",
     "s.json:1: unknown key 'recomputee'; the nearest key is 'recompute'"},
    {R"({"hybrid_configs": {"mp_degre": 2}})", "",
     "s.json:1: unknown key 'hybrid_configs.mp_degre'; the nearest key is 'hybrid_configs.mp_degree'"},
    {R"({"micro_batch_size": 2})", "",
     "s.json:1: unknown key 'micro_batch_size'; the nearest key is 'pipeline_configs.micro_batch_size'"},
    {R"({"hybrid_configs": 4})", "",
     "s.json:1: hybrid_configs must be an object, got the number 4"},
    {"[]", "", "s.json:1: the strategy must be an object, got a list"},
    {R"({"sharding": {"enable": true, "stage": 2}})", "",
     "s.json:1: sharding must be a boolean, got an object (the groups of paddle.distributed.Strategy are not yet supported)"},
    // Values
    {R"({"hybrid_configs": {"sep_degree": 2}})", "",
     "s.json:1: hybrid_configs.sep_degree = 2 is not yet supported"},
    {R"({"sharding_configs": {"stage": 2}})", "",
     "s.json:1: sharding_configs.stage = 2 is not yet supported"},
    {R"({"hybrid_configs": {"sharding_configs": {"stage": 3}}})", "",
     "s.json:1: hybrid_configs.sharding_configs.stage = 3 is not yet supported"},
    {R"({"sharding_configs": {"stage": 4}})", "",
     "s.json:1: sharding_configs.stage must be at most 3, got 4"},
    {R"({"hybrid_configs": {"mp_degree": 0}})", "",
     "s.json:1: hybrid_configs.mp_degree must be at least 1, got 0"},
    {R"({"hybrid_configs": {"pp_degree": -2}})", "",
     "s.json:1: hybrid_configs.pp_degree must be at least 1, got -2"},
    {R"({"hybrid_configs": {"dp_degree": 65537}})", "",
     "s.json:1: hybrid_configs.dp_degree must be at most 65536, got 65537"},
    {R"({"hybrid_configs": {"dp_degree": 18446744073709551615}})", "",
     "s.json:1: the integer '18446744073709551615' does not fit in 64 bits"},
    {R"({"hybrid_configs": {"mp_degree": -1, "pp_degree": -1}})", "cpu:4",
     "s.json:1: hybrid_configs.pp_degree and hybrid_configs.mp_degree are both -1: one degree follows from the others"},
    {R"({"hybrid_configs": {"order": ["dp", "mp"]}})", "",
     "s.json:1: hybrid_configs.order must name dp, pp, sharding, sep and mp once each, got 'dp, mp'"},
    {R"({"hybrid_configs": {"order": [1]}})", "",
     "s.json:1: hybrid_configs.order must be a list of strings, got a list"},
    {R"({"pipeline_configs": {"schedule_mode": "ZBH1"}})", "",
     "s.json:1: pipeline_configs.schedule_mode = 'ZBH1' is not yet supported"},
    {R"({"pipeline_configs": {"schedule_mode": "1f1b"}})", "",
     "s.json:1: pipeline_configs.schedule_mode must be one of 1F1B, F-then-B, got '1f1b'"},
    {R"({"pipeline_configs": {"accumulate_steps": 0}})", "",
     "s.json:1: pipeline_configs.accumulate_steps must be at least 1, got 0"},
    {R"({"fuse_grad_size_in_MB": 0})", "",
     "s.json:1: fuse_grad_size_in_MB must be at least 1, got 0"},
    {R"({"fuse_grad_size_in_MB": 32.0})", "",
     "s.json:1: fuse_grad_size_in_MB must be an integer, got the number 32"},
    // Settings that contradict each other
    {R"({"hybrid_configs": {"dp_degree": 2, "dp_configs": {"dp_degree": 4}}})",
     "",
     "s.json:1: hybrid_configs.dp_configs.dp_degree is 4 but hybrid_configs.dp_degree is 2"},
    {R"({"gradient_merge_configs": {"k_steps": 4},
         "pipeline_configs": {"accumulate_steps": 2}})",
     "",
     "s.json:2: pipeline_configs.accumulate_steps is 2 but gradient_merge_configs.k_steps is 4"},
    {R"({"sharding": false, "sharding_configs": {"sharding_degree": 2}})", "",
     "s.json:1: sharding_configs.sharding_degree is 2 but sharding is false"},
    {R"({"gradient_merge_configs": {"k_steps": 4}, "gradient_merge": false})",
     "",
     "s.json:1: gradient_merge_configs.k_steps is 4 but gradient_merge is false"},
    {R"({"pipeline": true})", "",
     "s.json:1: pipeline is true but no pp_degree is given"},
    {R"({"tensor_parallel": true})", "",
     "s.json:1: tensor_parallel is true but no tensor_parallel_degree is given"},
    {R"({"pipeline_configs": {"stage_starts": ["a", "b"]}})", "cpu:1",
     "s.json: stage_starts has 2 names, but pp_degree 1 needs 0"},
    // Degrees and devices
    {R"({"hybrid_configs": {"dp_degree": 2, "mp_degree": 2}})", "cpu:8",
     "s.json: dp_degree 2 x mp_degree 2 x pp_degree 1 x sharding_degree 1 = 4, but devices is cpu:8"},
    {R"({"hybrid_configs": {"mp_degree": 3}})", "cpu:8",
     "s.json: no dp_degree makes mp_degree 3 x pp_degree 1 x sharding_degree 1 = 3 into the devices cpu:8"},
    {R"({"hybrid_configs": {"dp_degree": 65536, "mp_degree": 65536,
         "pp_degree": 65536, "sharding_degree": 65536}})",
     "",
     "s.json: dp_degree 65536 x mp_degree 65536 x pp_degree 65536 x sharding_degree 65536 = 18446744073709551615 is more than 65536 devices"},
    // Batch 8
    {R"({"hybrid_configs": {"dp_degree": 4},
         "pipeline_configs": {"accumulate_steps": 4}})",
     "",
     "s.json: batch 8 does not split over dp_degree 4 x sharding_degree 1 x accumulate 4 = 16"},
    {R"({"hybrid_configs": {"sharding_degree": 3}})", "",
     "s.json: batch 8 does not split over dp_degree 1 x sharding_degree 3 x accumulate 1 = 3"},
    {R"({"pipeline_configs": {"accumulate_steps": 2, "micro_batch_size": 2}})",
     "",
     "s.json: dp_degree 1 x sharding_degree 1 x micro_batch_size 2 x accumulate 2 = 4, but the batch is 8"},
    {R"({"pipeline_configs": {"micro_batch_size": 3}})", "",
     "s.json: batch 8 is not a multiple of dp_degree 1 x sharding_degree 1 x micro_batch_size 3 = 3"},
};

TEST(StrategyTest, Refusals) {
  JobFiles files;
  for (auto [strategy, devices, message] : kRefusals)
    EXPECT_EQ(files.strategyError(strategy, devices), message) << strategy;
}

TEST(StrategyTest, DefaultsUnderASwitchThatIsOff) {
  JobFiles files;
  Job job =
      files.readStrategyText(R"({"sharding": false, "gradient_merge": false,
      "tensor_parallel": false, "pipeline": false,
      "sharding_configs": {"sharding_degree": 8, "stage": 1},
      "gradient_merge_configs": {"k_steps": 1},
      "tensor_parallel_configs": {"tensor_parallel_degree": 1},
      "hybrid_configs": {"sharding_degree": 2}})");
  EXPECT_EQ(job.strategy.sharding, 2);
  EXPECT_EQ(job.devices, 2);
}

TEST(StrategyTest, AccumulateGivenTwice) {
  JobFiles files;
  EXPECT_EQ(
      files.jobError(R"({"model": "m", "batch": 8, "accumulate": 4,
      "strategy": {"pipeline_configs": {"accumulate_steps": 2}}})"),
      "job.json: accumulate is 4 but accumulate_steps of the strategy is 2");
  EXPECT_EQ(files
                .readJobText(R"({"model": "m", "batch": 8, "accumulate": 4,
      "strategy": {"pipeline_configs": {"accumulate_steps": 4}}})")
                .accumulate,
            4);
}
