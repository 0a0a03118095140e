//===- JobTest.cpp - Jobs that are read ------------------------*- C++ -*-===//
//
// Every part of a job, recipes of reference models, the command line, and the way back to JSON.
//
//===----------------------------------------------------------------------===//

#include "JobFiles.h"
#include "gtest/gtest.h"

using namespace fleet;

static constexpr llvm::StringLiteral kWholeJob = R"({
  "schema": "fleet.job/1",
  "model": "model.onnx", "weights": "w/weights.safetensors", "data": "/data/train.bin",
  "batch": 8, "inputs": {"input_ids": [8, 32]},
  "loss": {"kind": "cross_entropy", "logits": "out", "labels": "y", "ignore_index": -1, "shift": true},
  "optimizer": {"name": "adamw", "lr": 1e-3, "beta1": 0.8, "beta2": 0.95, "eps": 1e-7, "weight_decay": 0.1},
  "clip": {"global_norm": 1.0, "epsilon": 0}, "schedule": {"kind": "cosine", "warmup": 100, "steps": 1000, "min_lr": 1e-5},
  "accumulate": 2, "precision": "f64", "seed": 1234, "frozen": ["*.bias"],
  "devices": "cpu:4",
  "shardings": {"h.0.attn.c_attn.weight": "[{}, {mp}]"},
  "strategy": {"hybrid_configs": {"dp_degree": 2, "mp_degree": 2}}
})";

TEST(JobTest, EveryPart) {
  JobFiles files;
  Job job = files.readJobText(kWholeJob);
  EXPECT_EQ(job.model, files.path("model.onnx"));
  EXPECT_EQ(job.weights, files.path("w/weights.safetensors"));
  EXPECT_EQ(job.data, "/data/train.bin");
  EXPECT_EQ(job.batch, 8);
  EXPECT_EQ(job.inputs["input_ids"], (std::vector<int64_t>{8, 32}));
  EXPECT_EQ(job.loss.kind, "cross_entropy");
  EXPECT_EQ(job.loss.output, "out");
  EXPECT_EQ(job.loss.labels, "y");
  EXPECT_EQ(job.loss.ignoreIndex, -1);
  EXPECT_TRUE(job.loss.shift);
  EXPECT_EQ(job.optimizer.name, "adamw");
  EXPECT_EQ(job.optimizer.lr, 1e-3);
  EXPECT_EQ(job.optimizer.beta1, 0.8);
  EXPECT_EQ(job.optimizer.beta2, 0.95);
  EXPECT_EQ(job.optimizer.eps, 1e-7);
  EXPECT_EQ(job.optimizer.weightDecay, 0.1);
  EXPECT_EQ(job.clip.globalNorm, 1);
  EXPECT_EQ(job.clip.epsilon, 0);
  EXPECT_EQ(job.schedule.kind, "cosine");
  EXPECT_EQ(job.schedule.warmup, 100);
  EXPECT_EQ(job.schedule.steps, 1000);
  EXPECT_EQ(job.schedule.minLr, 1e-5);
  EXPECT_EQ(job.accumulate, 2);
  EXPECT_EQ(job.precision, "f64");
  EXPECT_EQ(job.seed, 1234);
  EXPECT_EQ(job.frozen, std::vector<std::string>{"*.bias"});
  EXPECT_EQ(job.devices, 4);
  EXPECT_EQ(job.shardings["h.0.attn.c_attn.weight"], "[{}, {mp}]");
  EXPECT_EQ(job.strategy.dp, 2);
  EXPECT_EQ(job.strategy.mp, 2);
  EXPECT_EQ(job.strategy.accumulateSteps, 2);
  EXPECT_EQ(job.strategy.microBatchSize, 2);
}

TEST(JobTest, Defaults) {
  JobFiles files;
  Job job = files.readJobText(R"({"model": "m", "batch": 4})");
  EXPECT_EQ(job.loss.kind, "cross_entropy");
  EXPECT_EQ(job.loss.ignoreIndex, -100);
  EXPECT_FALSE(job.loss.shift);
  EXPECT_EQ(job.optimizer.name, "sgd");
  EXPECT_EQ(job.clip.globalNorm, 0);
  EXPECT_EQ(job.schedule.kind, "constant");
  EXPECT_EQ(job.precision, "f32");
  EXPECT_EQ(job.devices, 1);
  EXPECT_EQ(job.strategy.dp, 1);
  EXPECT_EQ(job.strategy.microBatchSize, 4);
}

/// The optimizer of a job that gives `text`.
static OptimizerSpec readOptimizer(const JobFiles &files,
                                   llvm::StringRef text) {
  return files
      .readJobText(
          (R"({"model": "m", "batch": 1, "optimizer": )" + text + "}").str())
      .optimizer;
}

TEST(JobTest, OptimizerDefaults) {
  JobFiles files;
  EXPECT_EQ(readOptimizer(files, R"({"name": "adamw"})").weightDecay, 0.01);
  EXPECT_EQ(readOptimizer(files, R"({"name": "adam"})").weightDecay, 0);
  EXPECT_EQ(readOptimizer(files, R"({"name": "adam"})").beta2, 0.999);
  EXPECT_EQ(readOptimizer(files, R"({"name": "momentum"})").momentum, 0.9);
  EXPECT_TRUE(readOptimizer(files, R"({"name": "momentum", "nesterov": true})")
                  .nesterov);
}

/// The loss of a job that gives `text`.
static LossSpec readLoss(const JobFiles &files, llvm::StringRef text) {
  return files
      .readJobText(
          (R"({"model": "m", "batch": 1, "loss": )" + text + "}").str())
      .loss;
}

TEST(JobTest, LossKinds) {
  JobFiles files;
  EXPECT_EQ(readLoss(files, R"({"kind": "inside"})").output, "loss");
  EXPECT_EQ(readLoss(files, R"({"kind": "inside", "output": "l"})").output,
            "l");
  EXPECT_EQ(readLoss(files, R"({"kind": "mse", "output": "y"})").output, "y");
  EXPECT_EQ(readLoss(files, R"({"kind": "mse", "logits": "y"})").output, "y");
  EXPECT_EQ(readLoss(files, R"({"ignore_index": null})").ignoreIndex,
            std::nullopt);
  EXPECT_EQ(readLoss(files, R"({"weight": 1.0})").kind, "cross_entropy");
}

/// The form of expected.json of the reference models.
static constexpr llvm::StringLiteral kExpected = R"({
  "model": "gpt2", "parameters": 234880, "steps": 20, "batch": 8,
  "tied": [["model.transformer.wte.weight", "model.lm_head.weight"]],
  "loss": {"kind": "cross_entropy", "logits": "logits", "labels": "labels", "ignore_index": -100, "shift": true},
  "recipes": {
    "sgd": {"optimizer": {"name": "sgd", "lr": 0.05}, "losses_f64": [6.2]},
    "momentum": {"optimizer": {"name": "momentum", "lr": 0.02, "momentum": 0.9, "nesterov": false, "weight_decay": 0.0}},
    "adamw_clip": {"optimizer": {"name": "adamw", "lr": 0.002, "beta1": 0.9, "beta2": 0.95, "eps": 1e-08,
                   "weight_decay": 0.1}, "clip": {"global_norm": 0.5}},
    "adamw_accum4": {"optimizer": {"name": "adamw", "lr": 0.002}, "accumulate": 4},
    "adamw_warmup": {"optimizer": {"name": "adamw", "lr": 0.004},
                     "schedule": {"kind": "cosine", "warmup": 5, "steps": 20, "min_lr": 0.0004}, "lrs": [0.0008]}}})";

/// A job of the reference model with one of its recipes.
static JobArguments withRecipe(const JobFiles &files, llvm::StringRef recipe) {
  JobArguments arguments;
  arguments.model = "gpt2.onnx";
  arguments.recipe =
      (files.write("expected.json", kExpected) + ":" + recipe).str();
  return arguments;
}

TEST(JobTest, Recipes) {
  JobFiles files;
  Job sgd = files.read(withRecipe(files, "sgd"));
  EXPECT_EQ(sgd.model, "gpt2.onnx");
  EXPECT_EQ(sgd.batch, 8);
  EXPECT_TRUE(sgd.loss.shift);
  EXPECT_EQ(sgd.optimizer.lr, 0.05);
  EXPECT_EQ(files.read(withRecipe(files, "momentum")).optimizer.momentum, 0.9);
  Job clip = files.read(withRecipe(files, "adamw_clip"));
  EXPECT_EQ(clip.clip.globalNorm, 0.5);
  EXPECT_EQ(clip.clip.epsilon, 1e-6);
  EXPECT_EQ(files.read(withRecipe(files, "adamw_accum4")).accumulate, 4);
  Job warmup = files.read(withRecipe(files, "adamw_warmup"));
  EXPECT_EQ(warmup.schedule.warmup, 5);
  EXPECT_EQ(warmup.schedule.minLr, 0.0004);
}

TEST(JobTest, RecipeErrors) {
  JobFiles files;
  EXPECT_EQ(
      files.error(withRecipe(files, "adamw_clap")),
      "expected.json:1: has no recipe 'adamw_clap'; the nearest key is 'adamw_clip'");
  JobArguments arguments = withRecipe(files, "adamw_accum4");
  arguments.optimizer = "adamw,lr=0.1";
  EXPECT_EQ(
      files.error(arguments),
      "expected.json:10: optimizer.lr is given twice: 0.002 here and 0.1 in --optimizer");
  arguments.recipe = "expected.json";
  EXPECT_EQ(files.error(arguments),
            "--recipe: must be FILE:RECIPE, got 'expected.json'");
}

TEST(JobTest, CommandLineAlone) {
  JobFiles files;
  JobArguments arguments;
  arguments.model = "m.onnx";
  arguments.jobFile = files.write("job.json", R"({"batch": 8})");
  arguments.optimizer = "adamw,lr=1e-2,weight_decay=0";
  arguments.loss = "cross_entropy,shift=true,logits=out";
  arguments.devices = "cpu:4";
  arguments.precision = "f64";
  Job job = files.read(arguments);
  EXPECT_EQ(job.model, "m.onnx");
  EXPECT_EQ(job.optimizer.lr, 1e-2);
  EXPECT_EQ(job.optimizer.weightDecay, 0);
  EXPECT_TRUE(job.loss.shift);
  EXPECT_EQ(job.loss.output, "out");
  EXPECT_EQ(job.devices, 4);
  EXPECT_EQ(job.strategy.dp, 4);
  EXPECT_EQ(job.precision, "f64");
}

TEST(JobTest, GivenTwiceAndEqual) {
  JobFiles files;
  JobArguments arguments;
  arguments.jobFile = files.write("job.json", kWholeJob);
  files.write("model.onnx", "");
  arguments.model =
      files.path("../") +
      llvm::StringRef(files.path("")).rtrim('/').rsplit('/').second.str() +
      "/model.onnx";
  arguments.optimizer = "adamw,lr=0.001";
  arguments.loss = "cross_entropy";
  arguments.devices = "cpu:4";
  arguments.precision = "f64";
  arguments.strategyFile =
      files.write("s.json", R"({"pipeline_configs": {"accumulate_steps": 2}})");
  EXPECT_EQ(files.error(arguments), "no error");
}

TEST(JobTest, GivenTwiceAndDifferent) {
  JobFiles files;
  JobArguments base;
  base.jobFile = files.write("job.json", kWholeJob);
  auto with = [&](std::string JobArguments::*member, llvm::StringRef text) {
    JobArguments arguments = base;
    arguments.*member = text.str();
    return files.error(arguments);
  };
  EXPECT_EQ(
      with(&JobArguments::model, "other.onnx"),
      "job.json:3: model is given twice: 'model.onnx' here and 'other.onnx' in the command line");
  EXPECT_EQ(
      with(&JobArguments::devices, "cpu:2"),
      "job.json:9: devices is given twice: 'cpu:4' here and 'cpu:2' in --devices");
  EXPECT_EQ(
      with(&JobArguments::precision, "f32"),
      "job.json:8: precision is given twice: 'f64' here and 'f32' in --precision");
  EXPECT_EQ(
      with(&JobArguments::loss, "mse"),
      "job.json:5: loss.kind is given twice: 'cross_entropy' here and 'mse' in --loss");
  EXPECT_EQ(
      with(&JobArguments::optimizer, "sgd"),
      "job.json:6: optimizer.name is given twice: 'adamw' here and 'sgd' in --optimizer");
  EXPECT_EQ(
      with(&JobArguments::strategyFile,
           files.write("s.json", R"({"hybrid_configs": {"dp_degree": 4}})")),
      "job.json:11: strategy.hybrid_configs.dp_degree is given twice: 2 here and 4 in s.json:1");
  EXPECT_EQ(
      with(&JobArguments::strategyFile,
           files.write("s.json",
                       R"({"gradient_merge_configs": {"k_steps": 4}})")),
      "job.json: accumulate is 2 but accumulate_steps of the strategy is 4");
}

TEST(JobTest, OptionErrors) {
  JobFiles files;
  auto with = [&](std::string JobArguments::*member, llvm::StringRef text) {
    JobArguments arguments;
    arguments.jobFile =
        files.write("job.json", R"({"model": "m", "batch": 8})");
    arguments.*member = text.str();
    return files.error(arguments);
  };
  EXPECT_EQ(with(&JobArguments::optimizer, "adamw,lr"),
            "--optimizer: 'lr' must be KEY=VALUE");
  EXPECT_EQ(with(&JobArguments::optimizer, "adamw,lr=1,lr=2"),
            "--optimizer: key 'lr' is given twice");
  EXPECT_EQ(
      with(&JobArguments::optimizer, "adamw,lr=fast"),
      "--optimizer: optimizer.lr must be a number, got the string 'fast'");
  EXPECT_EQ(
      with(&JobArguments::optimizer, "adamq"),
      "--optimizer: optimizer.name must be one of sgd, momentum, adam, adamw, got 'adamq'");
  EXPECT_EQ(
      with(&JobArguments::optimizer, ",lr=1"),
      "--optimizer: optimizer.name must be one of sgd, momentum, adam, adamw, got ''");
  EXPECT_EQ(with(&JobArguments::loss, "bce_with_logits"),
            "--loss: loss.kind 'bce_with_logits' is not yet supported");
  EXPECT_EQ(with(&JobArguments::precision, "bf16"),
            "--precision: precision 'bf16' is not yet supported");
  EXPECT_EQ(with(&JobArguments::devices, "h100:64"),
            "--devices: devices 'h100:64' is not yet supported: cpu:N is");
  EXPECT_EQ(
      with(&JobArguments::devices, "cpu:0"),
      "--devices: devices must be cpu:N with N from 1 to 65536, got 'cpu:0'");
  EXPECT_EQ(with(&JobArguments::jobFile, files.path("none.json")),
            "none.json: No such file or directory");
}

TEST(JobTest, JsonReadsBack) {
  JobFiles files;
  std::string whole = toJson(files.readJobText(kWholeJob));
  EXPECT_EQ(toJson(files.readJobText(whole)), whole);
  for (llvm::StringRef recipe :
       {"sgd", "momentum", "adamw_clip", "adamw_accum4", "adamw_warmup"}) {
    JobArguments arguments = withRecipe(files, recipe);
    arguments.model = "/models/gpt2.onnx";
    std::string text = toJson(files.read(arguments));
    EXPECT_EQ(toJson(files.readJobText(text)), text);
  }
  std::string inside = toJson(files.readJobText(
      R"({"model": "/m", "batch": 1, "loss": {"kind": "inside"},
          "strategy": {"asp": false}})"));
  EXPECT_EQ(toJson(files.readJobText(R"({"model": "/m", "batch": 1,
          "loss": {"kind": "inside"}, "strategy": {"asp": false}})")),
            inside);
  EXPECT_NE(inside.find(R"("key": "asp")"), std::string::npos);
}
