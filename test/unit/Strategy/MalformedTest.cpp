//===- MalformedTest.cpp - Damaged files -----------------------*- C++ -*-===//
//
// Jobs and strategies that are cut or changed anywhere are read or refused in one line. The sanitizer build makes this a
// search for overruns.
//
//===----------------------------------------------------------------------===//

#include "JobFiles.h"
#include "gtest/gtest.h"

#include <random>

using namespace fleet;

static constexpr llvm::StringLiteral kJob = R"({
  "schema": "fleet.job/1", "model": "m.onnx", "batch": 8, "inputs": {"x": [8, 32]},
  "loss": {"kind": "cross_entropy", "ignore_index": null, "shift": true},
  "optimizer": {"name": "adamw", "lr": 1e-3, "weight_decay": 0.1},
  "clip": {"global_norm": 1.0}, "schedule": {"kind": "cosine", "warmup": 1, "steps": 10},
  "devices": "cpu:4", "frozen": ["h.\u00e9.*"], "shardings": {"w": "[{}, {mp}]"},
  "strategy": {"amp": false, "hybrid_configs": {"dp_degree": 2, "mp_degree": -1}}
})";

static constexpr llvm::StringLiteral kText =
    "amp: false # no\nhybrid_configs {\n dp_degree: 2 order: ['dp', \"pp\"]\n"
    " order: \"sharding\" order: '\\163ep' order: 'mp' }\n"
    "pipeline_configs < accumulate_steps: 0x2; schedule_mode: \"1F1B\" >\n";

/// Whether reading ends in a job or in one line.
static void expectOrderly(const std::string &error) {
  EXPECT_FALSE(error.empty());
  EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  EXPECT_LT(error.size(), 500u) << error;
}

TEST(MalformedTest, TruncatedJob) {
  JobFiles files;
  EXPECT_EQ(files.jobError(kJob), "no error");
  for (size_t length = 0; length < kJob.size(); ++length) {
    std::string error = files.jobError(kJob.take_front(length));
    EXPECT_NE(error, "no error") << length;
    expectOrderly(error);
  }
}

TEST(MalformedTest, TruncatedTextFormat) {
  JobFiles files;
  EXPECT_EQ(files.strategyError(kText), "no error");
  for (size_t length = 0; length < kText.size(); ++length)
    expectOrderly(files.strategyError(kText.take_front(length)));
}

TEST(MalformedTest, ChangedBytes) {
  JobFiles files;
  std::mt19937 random(7);
  auto change = [&](llvm::StringRef text) {
    std::string changed = text.str();
    for (unsigned i = 0, n = 1 + random() % 3; i < n; ++i)
      changed[random() % changed.size()] = static_cast<char>(random());
    return changed;
  };
  for (int i = 0; i < 300; ++i) {
    expectOrderly(files.jobError(change(kJob)));
    expectOrderly(files.strategyError(change(kText)));
  }
}
