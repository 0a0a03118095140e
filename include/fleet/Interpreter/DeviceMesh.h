//===- DeviceMesh.h - Devices, coordinates, groups -------------*- C++ -*-===//
//
// Which devices take part in a collective and in which order. Everything follows from two rules: a device's number is
// the row-major index of its coordinates, and an axis is a row-major grid of its prime factors (ascending, the first
// one major).
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_INTERPRETER_DEVICEMESH_H
#define FLEET_INTERPRETER_DEVICEMESH_H

#include "fleet/Dialect/Fleet/FleetDialect.h"
#include "fleet/Interpreter/Tensor.h"

namespace fleet {

class MeshOp;

/// Elements [offset, offset + size) of a dimension.
struct ShardRange {
  int64_t offset;
  int64_t size;
};

/// Shard `index` of a dimension of `size` elements over `shards`: [floor(s*n/k), floor((s+1)*n/k)).
ShardRange shardRange(int64_t size, int64_t shards, int64_t index);

/// A grid of devices with named axes.
class DeviceMesh {
public:
  /// A mesh of one device without axes.
  DeviceMesh() = default;
  explicit DeviceMesh(MeshOp mesh);

  int64_t numDevices() const;
  /// Size of the axis named, 1 when the mesh has no such axis.
  int64_t axisSize(llvm::StringRef axis) const;
  /// Coordinate of a device along the axis named, 0 when the mesh has no such axis.
  int64_t coordinate(int64_t device, llvm::StringRef axis) const;
  /// The device with `device`'s coordinates except along one axis.
  int64_t withCoordinate(int64_t device, llvm::StringRef axis,
                         int64_t value) const;

  /// Reports an axis or piece that the mesh does not have.
  llvm::LogicalResult
  verify(AxisListAttr axes,
         llvm::function_ref<mlir::InFlightDiagnostic()> emitError) const;
  /// Number of shards that a list of axes makes.
  int64_t numShards(AxisListAttr axes) const;
  /// Number of a device's shard over a list of axes, major to minor.
  int64_t shardIndex(int64_t device, AxisListAttr axes) const;
  /// The devices that differ from `device` in these axes alone, itself included, by shard index.
  llvm::SmallVector<int64_t> group(int64_t device, AxisListAttr axes) const;

private:
  /// A digit of a device number: (device / stride) % size.
  struct Digit {
    int64_t size;
    int64_t stride;
  };
  struct Axis {
    std::string name;
    Digit digit;
    /// The axis' prime pieces, major to minor.
    llvm::SmallVector<Digit, 4> pieces;
  };

  const Axis *find(llvm::StringRef name) const;
  llvm::SmallVector<Digit, 4> digits(AxisListAttr axes) const;

  std::vector<Axis> axes;
};

} // namespace fleet

#endif // FLEET_INTERPRETER_DEVICEMESH_H
