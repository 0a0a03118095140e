//===- TextFormatTest.cpp - Strategies in protobuf text --------*- C++ -*-===//
//
// Files as Fleet's save_to_prototxt writes them, and what the text form allows beyond them.
//
//===----------------------------------------------------------------------===//

#include "JobFiles.h"
#include "gtest/gtest.h"

using namespace fleet;

TEST(TextFormatTest, AsFleetWritesIt) {
  JobFiles files;
  Job job = files.readStrategyText(R"(# strategy of a run
mode: COLLECTIVE
amp: false
a_sync: true
fuse_all_reduce_ops: true
fuse_grad_size_in_MB: 16
fuse_grad_size_in_TFLOPS: 50.0
hybrid_configs {
  dp_degree: -1
  mp_degree: 2
  pp_degree: 2
  sharding_degree: 1
  pp_configs {
    use_batch_p2p_comm: true
  }
}
pipeline_configs {
  micro_batch_size: 2
  accumulate_steps: 4
  schedule_mode: "1F1B"
}
)",
                                   "cpu:4");
  EXPECT_EQ(job.strategy.mp, 2);
  EXPECT_EQ(job.strategy.pp, 2);
  EXPECT_EQ(job.strategy.dp, 1);
  EXPECT_EQ(job.strategy.fuseSizeMB, 16);
  EXPECT_EQ(job.accumulate, 4);
  ASSERT_EQ(job.strategy.ignored.size(), 1u);
  EXPECT_EQ(job.strategy.ignored[0].key, "a_sync");
}

TEST(TextFormatTest, OtherForms) {
  JobFiles files;
  Job job = files.readStrategyText(R"(hybrid_configs: < pp_degree: 0x2; >,
      pipeline_configs { stage_starts: 'h.1' ".w\145ight" schedule_mode: 'F-' "then-B" })");
  EXPECT_EQ(job.strategy.stageStarts, std::vector<std::string>{"h.1.weight"});
  EXPECT_EQ(job.strategy.scheduleMode, "F-then-B");
  job = files.readStrategyText(R"(hybrid_configs { pp_degree: 3
      order: "pp" order: ["dp", "sharding"] order: "sep" order: "mp" }
      pipeline_configs { stage_starts: ["a", "b"] })");
  EXPECT_EQ(job.strategy.order,
            (std::vector<std::string>{"pp", "dp", "sharding", "sep", "mp"}));
  EXPECT_EQ(job.strategy.stageStarts, (std::vector<std::string>{"a", "b"}));
}

TEST(TextFormatTest, Errors) {
  JobFiles files;
  const std::pair<const char *, const char *> cases[] = {
      {"amp: true", "s.json:1: amp = true is not yet supported"},
      {"\namp 3", "s.json:2: ':' is expected after 'amp'"},
      {"amp:", "s.json:1: ends where a value is expected"},
      {"amp: }", "s.json:1: a value is expected, got '}'"},
      {"amp: false }", "s.json:1: a key is expected, got '}'"},
      {"amp: false\namp: false", "s.json:2: key 'amp' is given twice"},
      {"hybrid_configs { }\nhybrid_configs { }",
       "s.json:2: key 'hybrid_configs' is given twice"},
      {"hybrid_configs {\ndp_degree: 2\n",
       "s.json:3: ends inside of hybrid_configs"},
      {"hybrid_configs { dp_degree: 2.5 }",
       "s.json:1: hybrid_configs.dp_degree must be an integer, got the number 2.5"},
      {"hybrid_configs { dp_degree: -x }", "s.json:1: '-x' is no number"},
      {"fuse_grad_size_in_TFLOPS: inf", "s.json:1: 'inf' is no finite number"},
      {"fuse_grad_size_in_TFLOPS: 1e999", "s.json:1: '1e999' is no number"},
      {"save_dir: \"a\n", "s.json:1: a string does not end on its line"},
      {"save_dir: \"\\q\"",
       "s.json:1: a string has an escape that does not exist"},
      {"hybrid_configs { order: [\"dp\" }",
       "s.json:1: ']' is expected in hybrid_configs.order"},
      {"unknown { a: 1 } unknown { a: 2 }",
       "s.json:1: unknown key 'unknown'; the nearest key is 'tuning'"},
      {"fs_client_param { passwd: \"secret\" }",
       "s.json:1: fs_client_param is not yet supported"},
      {"downpour_table_param { table_id: 1 }",
       "s.json:1: downpour_table_param is not yet supported"}};
  for (auto [text, message] : cases)
    EXPECT_EQ(files.strategyError(text), message) << text;
}

TEST(TextFormatTest, Depth) {
  JobFiles files;
  std::string text;
  for (int i = 0; i < 100000; ++i)
    text += "a {";
  EXPECT_EQ(files.strategyError(text), "s.json:1: nests deeper than 64");
  EXPECT_EQ(files.strategyError("a: " + std::string(100000, '[')),
            "s.json:1: nests deeper than 64");
}
