//===- DeviceMeshTest.cpp - Coordinates, pieces, groups --------*- C++ -*-===//
//
// Shard numbers and groups on a mesh with an axis of several prime factors.
//
//===----------------------------------------------------------------------===//

#include "fleet/Interpreter/DeviceMesh.h"
#include "fleet/Dialect/Fleet/FleetOps.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace fleet;

namespace {
class DeviceMeshTest : public testing::Test {
protected:
  DeviceMeshTest() {
    context.loadDialect<FleetDialect>();
    module = parseSourceString<ModuleOp>(
        "fleet.mesh @mesh [\"dp\" = 2, \"mp\" = 12]", &context);
    mesh = DeviceMesh(*module->getOps<MeshOp>().begin());
  }

  AxisListAttr axes(StringRef text) {
    return cast<AxisListAttr>(
        parseAttribute(("#fleet.axes<{" + text + "}>").str(), &context));
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  DeviceMesh mesh;
};
} // namespace

TEST_F(DeviceMeshTest, Coordinates) {
  EXPECT_EQ(mesh.numDevices(), 24);
  EXPECT_EQ(mesh.coordinate(17, "dp"), 1);
  EXPECT_EQ(mesh.coordinate(17, "mp"), 5);
  EXPECT_EQ(mesh.coordinate(17, "pp"), 0);
  EXPECT_EQ(mesh.withCoordinate(17, "dp", 0), 5);
}

TEST_F(DeviceMeshTest, PiecesAreAscendingFactorsMajorFirst) {
  // 12 = 2 x 2 x 3; coordinate 7 = 1, 0, 1.
  EXPECT_EQ(mesh.numShards(axes("mp:0")), 2);
  EXPECT_EQ(mesh.numShards(axes("mp:2")), 3);
  EXPECT_EQ(mesh.shardIndex(7, axes("mp:0")), 1);
  EXPECT_EQ(mesh.shardIndex(7, axes("mp:1")), 0);
  EXPECT_EQ(mesh.shardIndex(7, axes("mp:2")), 1);
  EXPECT_EQ(mesh.shardIndex(7, axes("mp:0, mp:1, mp:2")),
            mesh.shardIndex(7, axes("mp")));
}

TEST_F(DeviceMeshTest, GroupsAreInTheOrderOfShards) {
  EXPECT_EQ(mesh.group(5, axes("dp")), (SmallVector<int64_t>{5, 17}));
  EXPECT_EQ(mesh.group(17, axes("mp:0, dp")),
            (SmallVector<int64_t>{5, 17, 11, 23}));
  for (int64_t device = 0; device < 24; ++device) {
    AxisListAttr list = axes("mp:2, dp");
    EXPECT_EQ(mesh.group(device, list)[mesh.shardIndex(device, list)], device);
  }
}

TEST_F(DeviceMeshTest, UnknownAxesAreReported) {
  ScopedDiagnosticHandler quiet(&context,
                                [](Diagnostic &) { return success(); });
  auto emitError = [&] { return mlir::emitError(UnknownLoc::get(&context)); };
  EXPECT_TRUE(succeeded(mesh.verify(axes("dp, mp:2"), emitError)));
  EXPECT_TRUE(failed(mesh.verify(axes("tp"), emitError)));
  EXPECT_TRUE(failed(mesh.verify(axes("mp:3"), emitError)));
}

TEST(ShardRangeTest, UnevenShardsCoverTheDimension) {
  EXPECT_EQ(shardRange(10, 4, 0).size, 2);
  EXPECT_EQ(shardRange(10, 4, 1).size, 3);
  EXPECT_EQ(shardRange(10, 4, 1).offset, 2);
  // 2 over 8 land on shards 3 and 7.
  for (int64_t s = 0; s < 8; ++s)
    EXPECT_EQ(shardRange(2, 8, s).size, s == 3 || s == 7);
}
