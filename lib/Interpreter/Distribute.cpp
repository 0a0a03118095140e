//===- Distribute.cpp - Global values and shards ---------------*- C++ -*-===//
//
// The box of a device follows from its shard number in each dimension.
//
//===----------------------------------------------------------------------===//

#include "fleet/Interpreter/Distribute.h"
#include "Models.h"
#include "fleet/Interpreter/TensorIO.h"

#include <cstring>
#include <map>

using namespace mlir;
using namespace fleet;

LogicalResult fleet::verifySharding(ShardingAttr sharding, int64_t rank,
                                    const DeviceMesh &mesh,
                                    EmitError emitError) {
  if (static_cast<int64_t>(sharding.getDims().size()) != rank)
    return emitError() << "the sharding has " << sharding.getDims().size()
                       << " dimensions, the tensor " << rank;
  for (AxisListAttr axes : sharding.getDims())
    if (failed(mesh.verify(axes, emitError)))
      return failure();
  return mesh.verify(sharding.getUnreduced(), emitError);
}

Dims fleet::globalShape(ArrayRef<int64_t> local, ShardingAttr sharding,
                        const DeviceMesh &mesh) {
  Dims shape(local);
  if (sharding)
    for (auto [size, axes] : llvm::zip(shape, sharding.getDims()))
      size *= mesh.numShards(axes);
  return shape;
}

FailureOr<DeviceValues> fleet::distribute(const TensorRef &global,
                                          ShardingAttr sharding, DeviceSet set,
                                          EmitError emitError) {
  if (!sharding)
    return DeviceValues(set.devices.size(), global);
  if (failed(
          fleet::verifySharding(sharding, global->rank(), set.mesh, emitError)))
    return failure();
  DeviceValues shards;
  for (int64_t device : set.devices) {
    Dims offsets, sizes;
    for (auto [size, axes] :
         llvm::zip_equal(global->shape, sharding.getDims())) {
      ShardRange range = shardRange(size, set.mesh.numShards(axes),
                                    set.mesh.shardIndex(device, axes));
      offsets.push_back(range.offset);
      sizes.push_back(range.size);
    }
    shards.push_back(
        std::make_shared<const Tensor>(sliceOf(*global, offsets, sizes)));
  }
  return shards;
}

LogicalResult fleet::verifyEqual(const Tensor &first, StringRef a,
                                 const Tensor &second, StringRef b,
                                 EmitError emitError) {
  if (first.shape != second.shape)
    return emitError() << "has different shapes on " << a << " and " << b;
  for (int64_t i = 0; i < first.size(); ++i)
    if (std::memcmp(&first.data[i], &second.data[i], sizeof(double)) != 0)
      return emitError() << "differs between replicas: element " << i << " is "
                         << formatNumber(first.data[i]) << " on " << a
                         << " and " << formatNumber(second.data[i]) << " on "
                         << b;
  return success();
}

namespace {
/// Puts shards together.
class Assembler {
public:
  Assembler(const DeviceValues &shards, ShardingAttr sharding, DeviceSet set,
            EmitError emitError)
      : shards(shards), sharding(sharding), set(set), emitError(emitError) {}

  FailureOr<TensorRef> run() {
    if (failed(collect()))
      return failure();
    auto result = std::make_shared<Tensor>(measure());
    for (auto &[box, piece] : pieces) {
      Dims offsets;
      for (auto [d, shard] : llvm::enumerate(box))
        offsets.push_back(
            shardRange(result->shape[d], numShards(d), shard).offset);
      insertInto(*result, piece.tensor, offsets);
    }
    return TensorRef(result);
  }

private:
  /// A box of the result and the device that it was taken from.
  struct Piece {
    Tensor tensor;
    int64_t device;
  };

  int64_t numShards(unsigned d) const {
    return set.mesh.numShards(sharding.getDims()[d]);
  }

  /// The device's value: its own, or the combination over the unreduced axes.
  FailureOr<Tensor> valueOf(int64_t device, const Tensor &own) {
    SmallVector<int64_t> group =
        set.mesh.group(device, sharding.getUnreduced());
    llvm::sort(group);
    std::optional<Tensor> value;
    for (int64_t member : group) {
      auto it = llvm::find(set.devices, member);
      if (it == set.devices.end())
        return emitError() << "device " << member << " does not hold a term";
      const Tensor &term = *shards[it - set.devices.begin()];
      if (!value)
        value = term;
      else if (term.shape != own.shape)
        return emitError() << "has terms of different shapes";
      else
        for (auto [y, x] : llvm::zip_equal(value->data, term.data))
          y = combine(sharding.getKind(), y, x);
    }
    return *value;
  }

  LogicalResult collect() {
    for (auto [device, shard] : llvm::zip_equal(set.devices, shards)) {
      // One member of each group of terms stands for all.
      if (set.mesh.shardIndex(device, sharding.getUnreduced()) != 0)
        continue;
      FailureOr<Tensor> value = valueOf(device, *shard);
      if (failed(value))
        return failure();
      std::vector<int64_t> box;
      for (AxisListAttr axes : sharding.getDims())
        box.push_back(set.mesh.shardIndex(device, axes));
      auto [it, isNew] = pieces.try_emplace(box, Piece{*value, device});
      std::string first = "device " + std::to_string(it->second.device);
      std::string second = "device " + std::to_string(device);
      if (!isNew && failed(verifyEqual(it->second.tensor, first, *value, second,
                                       emitError)))
        return failure();
    }
    return success();
  }

  /// Global shape: in each dimension the shards of one line side by side.
  Dims measure() const {
    Dims shape(sharding.getDims().size(), 0);
    for (const auto &[box, piece] : pieces)
      for (size_t d = 0; d < box.size(); ++d) {
        bool onLine = true;
        for (size_t other = 0; other < box.size(); ++other)
          onLine &= other == d || box[other] == 0;
        if (onLine)
          shape[d] += piece.tensor.shape[d];
      }
    return shape;
  }

  const DeviceValues &shards;
  ShardingAttr sharding;
  DeviceSet set;
  EmitError emitError;
  std::map<std::vector<int64_t>, Piece> pieces;
};
} // namespace

FailureOr<TensorRef> fleet::assemble(const DeviceValues &shards,
                                     ShardingAttr sharding, DeviceSet set,
                                     EmitError emitError) {
  if (sharding) {
    if (failed(fleet::verifySharding(sharding, shards.front()->rank(), set.mesh,
                                     emitError)))
      return failure();
    return Assembler(shards, sharding, set, emitError).run();
  }
  std::string first = "device " + std::to_string(set.devices.front());
  for (auto [device, shard] : llvm::zip_equal(set.devices, shards))
    if (failed(verifyEqual(*shards.front(), first, *shard,
                           "device " + std::to_string(device), emitError)))
      return failure();
  return shards.front();
}
