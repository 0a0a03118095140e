//===- ScheduleTest.cpp - Learning rate of each step -----------*- C++ -*-===//
//
// Rates at the corners of each kind, and the checks of the attribute form.
//
//===----------------------------------------------------------------------===//

#include "fleet/Support/Schedule.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace mlir;
using namespace fleet;

TEST(ScheduleTest, Constant) {
  Schedule schedule;
  schedule.lr = 0.5;
  EXPECT_EQ(schedule.rate(1), 0.5);
  EXPECT_EQ(schedule.rate(1000), 0.5);
}

TEST(ScheduleTest, WarmUp) {
  Schedule schedule;
  schedule.lr = 1;
  schedule.warmup = 4;
  EXPECT_EQ(schedule.rate(1), 0.25);
  EXPECT_EQ(schedule.rate(4), 1);
  EXPECT_EQ(schedule.rate(5), 1);
}

TEST(ScheduleTest, Linear) {
  Schedule schedule{ScheduleKind::Linear, 1.0, 0.5, 2, 6};
  EXPECT_EQ(schedule.rate(3), 1);
  EXPECT_EQ(schedule.rate(5), 0.75);
  EXPECT_EQ(schedule.rate(7), 0.5);
  EXPECT_EQ(schedule.rate(70), 0.5);
}

TEST(ScheduleTest, Cosine) {
  Schedule schedule{ScheduleKind::Cosine, 4e-3, 4e-4, 5, 20};
  EXPECT_DOUBLE_EQ(schedule.rate(1), 8e-4);
  EXPECT_DOUBLE_EQ(schedule.rate(6), 4e-3);
  double t = 10.0 / 15;
  EXPECT_DOUBLE_EQ(schedule.rate(16),
                   4e-4 + 0.5 * 3.6e-3 * (1 + std::cos(std::acos(-1.0) * t)));
}

/// The message for a dictionary, or its text after a round trip.
static std::string read(StringRef text) {
  MLIRContext context;
  auto dictionary = cast<DictionaryAttr>(parseAttribute(text, &context));
  auto schedule = Schedule::fromAttr(dictionary);
  if (!schedule)
    return llvm::toString(schedule.takeError());
  std::string again;
  llvm::raw_string_ostream(again) << schedule->toAttr(&context);
  return again;
}

TEST(ScheduleTest, Attribute) {
  EXPECT_EQ(
      read(
          "{kind = \"cosine\", lr = 1.0, min_lr = 0.5, warmup = 2, steps = 9}"),
      "{kind = \"cosine\", lr = 1.000000e+00 : f64, min_lr = "
      "5.000000e-01 : f64, steps = 9 : i64, warmup = 2 : i64}");
  EXPECT_EQ(read("{kind = \"cosine\"}"), "fleet.schedule: 'lr' is missing");
  EXPECT_EQ(read("{lr = 1.0, kind = \"step\"}"),
            "fleet.schedule: unknown kind 'step', expected constant, linear or "
            "cosine");
  EXPECT_EQ(read("{lr = 1.0, warmup = -1}"),
            "fleet.schedule: 'warmup' is not a number of steps");
  EXPECT_EQ(read("{lr = 1.0, kind = \"linear\", warmup = 5, steps = 5}"),
            "fleet.schedule: 5 warm-up steps leave none of 5 steps");
}
