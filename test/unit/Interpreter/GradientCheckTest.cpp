//===- GradientCheckTest.cpp - Derivatives against differences -*- C++ -*-===//
//
// A right gradient passes, a gradient that is wrong by 1e-5 does not.
//
//===----------------------------------------------------------------------===//

#include "fleet/Interpreter/GradientCheck.h"
#include "fleet/Dialect/Fleet/FleetDialect.h"
#include "fleet/Interpreter/Interpreter.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace fleet;

/// sum(tanh(x)), and its gradient times `scale`.
static std::string program(StringRef scale) {
  return (R"(
    func.func @forward(%x: tensor<3xf32>) -> tensor<f32> {
      %0 = fleet.tanh %x : tensor<3xf32>
      %1 = fleet.reduce sum %0, dims = [0] : tensor<3xf32> -> tensor<f32>
      return %1 : tensor<f32>
    }
    func.func @gradient(%x: tensor<3xf32>) -> tensor<3xf32> {
      %0 = fleet.tanh %x : tensor<3xf32>
      %1 = fleet.mul %0, %0 : tensor<3xf32>
      %one = fleet.constant dense<)" +
          scale + R"(> : tensor<3xf64> : tensor<3xf32>
      %2 = fleet.sub %one, %1 : tensor<3xf32>
      return %2 : tensor<3xf32>
    })")
      .str();
}

static FailureOr<GradientCheckResult> check(StringRef scale,
                                            std::string &message) {
  DialectRegistry registry;
  registry.insert<FleetDialect, func::FuncDialect>();
  registerReferenceModels(registry);
  MLIRContext context(registry);
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  auto module = parseSourceString<ModuleOp>(program(scale), &context);
  auto function = [&](StringRef name) {
    return module->lookupSymbol<func::FuncOp>(name);
  };
  auto what = GradientCheck::get(function("forward"), function("gradient"));
  auto arguments = randomArguments(function("forward"), 1);
  if (failed(what) || failed(arguments))
    return failure();
  return checkGradients(*what, *arguments);
}

TEST(GradientCheckTest, RightGradient) {
  std::string message;
  auto result = check("1.0", message);
  ASSERT_TRUE(succeeded(result)) << message;
  EXPECT_EQ(result->elements, 3);
  EXPECT_LT(result->largestError, 1e-9);
}

TEST(GradientCheckTest, WrongGradient) {
  std::string message;
  EXPECT_TRUE(failed(check("1.00001", message)));
  EXPECT_EQ(message.find("gradient of argument 0, element 0: "), 0u) << message;
}
