//===- DistributeTest.cpp - Global values and shards -----------*- C++ -*-===//
//
// What is distributed and assembled again is the same; replicas that differ are reported.
//
//===----------------------------------------------------------------------===//

#include "fleet/Interpreter/Distribute.h"
#include "fleet/Dialect/Fleet/FleetOps.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace fleet;

namespace {
class DistributeTest : public testing::Test {
protected:
  DistributeTest()
      : handler(&context, [this](Diagnostic &diagnostic) {
          message = diagnostic.str();
          return success();
        }) {
    context.loadDialect<FleetDialect>();
    module = parseSourceString<ModuleOp>(
        "fleet.mesh @mesh [\"dp\" = 2, \"mp\" = 3]", &context);
    mesh = DeviceMesh(*module->getOps<MeshOp>().begin());
  }

  ShardingAttr sharding(StringRef text) {
    return cast<ShardingAttr>(parseAttribute(
        ("#fleet.sharding<@mesh, " + text + ">").str(), &context));
  }
  static TensorRef counting(ArrayRef<int64_t> shape) {
    auto tensor = std::make_shared<Tensor>(shape);
    for (int64_t i = 0; i < tensor->size(); ++i)
      tensor->data[i] = i;
    return tensor;
  }
  FailureOr<DeviceValues> cut(const TensorRef &tensor, ShardingAttr how) {
    return distribute(tensor, how, {mesh, devices},
                      [&] { return emitError(UnknownLoc::get(&context)); });
  }
  FailureOr<TensorRef> join(const DeviceValues &shards, ShardingAttr how) {
    return assemble(shards, how, {mesh, devices},
                    [&] { return emitError(UnknownLoc::get(&context)); });
  }

  MLIRContext context;
  std::string message;
  ScopedDiagnosticHandler handler;
  OwningOpRef<ModuleOp> module;
  DeviceMesh mesh;
  SmallVector<int64_t> devices = {0, 1, 2, 3, 4, 5};
};
} // namespace

TEST_F(DistributeTest, RoundTrip) {
  TensorRef tensor = counting({7, 5});
  for (StringRef text : {"[{}, {}]", "[{dp}, {}]", "[{}, {mp}]", "[{mp}, {dp}]",
                         "[{mp, dp}, {}]", "[{}, {dp, mp}]"}) {
    auto shards = cut(tensor, sharding(text));
    ASSERT_TRUE(succeeded(shards)) << text.str();
    auto whole = join(*shards, sharding(text));
    ASSERT_TRUE(succeeded(whole)) << text.str() << message;
    EXPECT_EQ((*whole)->shape, tensor->shape) << text.str();
    EXPECT_EQ((*whole)->data, tensor->data) << text.str();
  }
}

TEST_F(DistributeTest, MajorAxisFirst) {
  auto shards = cut(counting({6}), sharding("[{mp, dp}]"));
  ASSERT_TRUE(succeeded(shards));
  // Device (dp, mp) holds element 2 mp + dp.
  for (int64_t device = 0; device < 6; ++device)
    EXPECT_EQ((*shards)[device]->data.front(), device % 3 * 2 + device / 3);
}

TEST_F(DistributeTest, TermsAreCombined) {
  DeviceValues terms;
  for (int64_t device = 0; device < 6; ++device)
    terms.push_back(std::make_shared<Tensor>(Tensor({1}, device)));
  auto sum = join(terms, sharding("[{mp}], unreduced sum {dp}"));
  ASSERT_TRUE(succeeded(sum)) << message;
  EXPECT_EQ((*sum)->data, (std::vector<double>{3, 5, 7}));
  auto max = join(terms, sharding("[{mp}], unreduced max {dp}"));
  ASSERT_TRUE(succeeded(max)) << message;
  EXPECT_EQ((*max)->data, (std::vector<double>{3, 4, 5}));
}

TEST_F(DistributeTest, ReplicasThatDiffer) {
  auto shards = cut(counting({6}), sharding("[{mp}]"));
  ASSERT_TRUE(succeeded(shards));
  auto wrong = std::make_shared<Tensor>(*(*shards)[4]);
  wrong->data[1] = 99;
  (*shards)[4] = wrong;
  EXPECT_TRUE(failed(join(*shards, sharding("[{mp}]"))));
  EXPECT_EQ(message, "differs between replicas: element 1 is 3 on device 1 "
                     "and 99 on device 4");
}
