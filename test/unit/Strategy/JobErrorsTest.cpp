//===- JobErrorsTest.cpp - Mistakes in a job file --------------*- C++ -*-===//
//
// Each message of the parts of a job, and files that are no jobs at all.
//
//===----------------------------------------------------------------------===//

#include "JobFiles.h"
#include "gtest/gtest.h"

using namespace fleet;

namespace {
/// A part of a job that is wrong, on line 2 of the file, and its message.
struct Mistake {
  const char *part;
  const char *message;
};
} // namespace

static const Mistake kMistakes[] = {
    {R"("schema": "fleet.job/2")",
     "schema must be 'fleet.job/1', got 'fleet.job/2'"},
    {R"("optimiser": {})",
     "unknown key 'optimiser'; the nearest key is 'optimizer'"},
    {R"("weights": 3)", "weights must be a string, got the number 3"},
    {R"("accumulate": 0)", "accumulate must be at least 1, got 0"},
    {R"("accumulate": 1.0)", "accumulate must be an integer, got the number 1"},
    {R"("seed": -1)", "seed must be at least 0, got -1"},
    {R"("seed": 18446744073709551615)",
     "the integer '18446744073709551615' does not fit in 64 bits"},
    {R"("precision": "bf16")", "precision 'bf16' is not yet supported"},
    {R"("precision": "fp16")", "precision 'fp16' is not yet supported"},
    {R"("precision": "f16")", "precision must be one of f32, f64, got 'f16'"},
    {R"("memory_limit": "16GiB")", "memory_limit is not yet supported"},
    {R"("devices": "cuda:2")",
     "devices 'cuda:2' is not yet supported: cpu:N is"},
    {R"("devices": "cpu:two")",
     "devices must be cpu:N with N from 1 to 65536, got 'cpu:two'"},
    {R"("devices": "cpu:")",
     "devices must be cpu:N with N from 1 to 65536, got 'cpu:'"},
    {R"("devices": 4)", "devices must be a string, got the number 4"},
    {R"("frozen": ["a", 3])",
     "frozen must be a list of strings, got the number 3 in it"},
    {R"("frozen": "a")",
     "frozen must be a list of strings, got the string 'a'"},
    {R"("inputs": [8])", "inputs must be an object, got a list"},
    {R"("inputs": {"x": [8, "n"]})",
     "inputs.x must be a list of integers, got the string 'n' in it"},
    {R"("inputs": {"x": [8, 0]})",
     "inputs gives 'x' a dimension of 0: from 1 to 1099511627776 is possible"},
    {R"("shardings": {"w": [1]})", "shardings.w must be a string, got a list"},
    {R"("loss": [{"kind": "mse"}])",
     "a list of losses at loss is not yet supported"},
    {R"("loss": "mse")", "loss must be an object, got the string 'mse'"},
    {R"("loss": {"kind": "bce_with_logits"})",
     "loss.kind 'bce_with_logits' is not yet supported"},
    {R"("loss": {"kind": "hinge"})",
     "loss.kind must be one of cross_entropy, mse, inside, got 'hinge'"},
    {R"("loss": {"auxiliary": {"output": "balance", "weight": 0.01}})",
     "loss.auxiliary is not yet supported"},
    {R"("loss": {"heads": []})", "loss.heads is not yet supported"},
    {R"("loss": {"weight": 0.5})", "loss.weight = 0.5 is not yet supported"},
    {R"("loss": {"ignore_index": "none"})",
     "loss.ignore_index must be an integer, got the string 'none'"},
    {R"("loss": {"kind": "mse", "shift": true})",
     "unknown key 'loss.shift'; the nearest key is 'kind'"},
    {R"("loss": {"kind": "mse", "logits": "a", "output": "b"})",
     "loss.output and loss.logits are the same: give one"},
    {R"("optimizer": {"lr": 1})", "optimizer.name is missing"},
    {R"("optimizer": {"name": "lamb"})",
     "optimizer.name 'lamb' is not yet supported"},
    {R"("optimizer": {"name": "sgd", "lr": -1})",
     "optimizer.lr must lie between 0 and 1e+06, got -1"},
    {R"("optimizer": {"name": "sgd", "lr": true})",
     "optimizer.lr must be a number, got true"},
    {R"("optimizer": {"name": "sgd", "beta1": 0.9})",
     "unknown key 'optimizer.beta1'; the nearest key is 'name'"},
    {R"("optimizer": {"name": "adam", "beta2": 1.5})",
     "optimizer.beta2 must lie between 0 and 1, got 1.5"},
    {R"("clip": {})", "clip.global_norm is missing"},
    {R"("clip": {"global_norm": 0})",
     "clip.global_norm must be above 0, got 0"},
    {R"("clip": {"global_norm": 1, "epsilon": -1e-6})",
     "clip.epsilon must lie between 0 and 1, got -1e-06"},
    {R"("schedule": {"kind": "step"})",
     "schedule.kind must be one of constant, linear, cosine, got 'step'"},
    {R"("schedule": {"warmup": 2})", "schedule.kind is missing"},
    {R"("schedule": {"kind": "linear"})", "schedule.steps is missing"},
    {R"("schedule": {"kind": "linear", "warmup": 9, "steps": 9})",
     "schedule.steps must be above warmup 9, got 9"},
    {R"("schedule": {"kind": "constant", "min_lr": 1})",
     "unknown key 'schedule.min_lr'; the nearest key is 'kind'"},
    {R"("strategy": 3)", "the strategy must be an object, got the number 3"},
    {R"("strategy": {"amp": true})", "amp = true is not yet supported"},
    {R"("model": "n")", "key 'model' is given twice"},
    {R"("seed": 1e999)", "not valid JSON: number overflow parsing '1e999'"},
    {R"("seed": NaN)",
     "not valid JSON: syntax error while parsing value - invalid literal"},
};

TEST(JobErrorsTest, EveryMessage) {
  JobFiles files;
  for (auto [part, message] : kMistakes) {
    std::string text =
        "{\"model\": \"m\", \"batch\": 8,\n" + std::string(part) + "\n}";
    EXPECT_EQ(files.jobError(text), "job.json:2: " + std::string(message))
        << part;
  }
}

TEST(JobErrorsTest, WhatIsMissing) {
  JobFiles files;
  EXPECT_EQ(files.jobError(R"({"batch": 8})"), "job.json:1: model is missing");
  EXPECT_EQ(
      files.jobError(R"({"model": "m"})"),
      "job.json:1: batch is missing: the samples of one step over all devices");
  EXPECT_EQ(files.jobError(R"({"model": "m", "batch": 0})"),
            "job.json:1: batch must be at least 1, got 0");
  EXPECT_EQ(
      files.jobError(R"({"model": "m", "batch": 9000000000000000000})"),
      "job.json:1: batch must be at most 1099511627776, got 9000000000000000000");
  EXPECT_EQ(files.error({}), "the command line: model is missing");
}

TEST(JobErrorsTest, NoJobAtAll) {
  JobFiles files;
  EXPECT_EQ(files.jobError(""), "job.json: is empty");
  EXPECT_EQ(files.jobError(" \n"), "job.json: is empty");
  EXPECT_EQ(files.jobError("[]"),
            "job.json:1: a job must be an object, got a list");
  EXPECT_EQ(
      files.jobError("\n\n{\"model\""),
      "job.json:3: not valid JSON: syntax error while parsing object separator - unexpected end of input; expected ':'");
  EXPECT_EQ(
      files.jobError("\xff\xfe"),
      "job.json:1: not valid JSON: syntax error while parsing value - invalid literal");
  EXPECT_EQ(files.jobError(std::string(100000, '[')),
            "job.json:1: nests deeper than 64");
  std::string objects;
  for (int i = 0; i < 100000; ++i)
    objects += "{\"a\":";
  EXPECT_EQ(files.jobError(objects), "job.json:1: nests deeper than 64");
}

TEST(JobErrorsTest, OneLineWhateverTheNames) {
  JobFiles files;
  EXPECT_EQ(
      files.jobError(R"({"a\nb\u0000\u001b": 1})"),
      "job.json:1: unknown key 'a\\x0ab\\x00\\x1b'; the nearest key is 'model'");
  std::string longKey(1000, 'k');
  EXPECT_EQ(files.jobError("{\"" + longKey + "\": 1}"),
            "job.json:1: unknown key '" + longKey.substr(0, 60) +
                "...'; the nearest key is 'schema'");
}
