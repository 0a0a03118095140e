//===- DeviceMesh.cpp - Devices, coordinates, groups -----------*- C++ -*-===//
//
// Axes and their prime pieces as digits of a device number.
//
//===----------------------------------------------------------------------===//

#include "fleet/Interpreter/DeviceMesh.h"
#include "fleet/Dialect/Fleet/MeshPieces.h"

using namespace mlir;
using namespace fleet;

ShardRange fleet::shardRange(int64_t size, int64_t shards, int64_t index) {
  int64_t begin = index * size / shards;
  return {begin, (index + 1) * size / shards - begin};
}

DeviceMesh::DeviceMesh(MeshOp mesh) {
  int64_t stride = mesh.getNumDevices();
  for (auto [name, size] : llvm::zip_equal(
           mesh.getAxes().getAsValueRange<StringAttr>(), mesh.getSizes())) {
    int64_t pieceStride = stride;
    stride /= size;
    Axis axis{name.str(), {size, stride}, {}};
    SmallVector<int64_t> factors = axisPieces(size);
    for (int64_t factor : factors) {
      pieceStride /= factor;
      axis.pieces.push_back({factor, pieceStride});
    }
    axes.push_back(std::move(axis));
  }
}

int64_t DeviceMesh::numDevices() const {
  int64_t count = 1;
  for (const Axis &axis : axes)
    count *= axis.digit.size;
  return count;
}

const DeviceMesh::Axis *DeviceMesh::find(StringRef name) const {
  auto it = llvm::find_if(axes, [&](const Axis &a) { return a.name == name; });
  return it == axes.end() ? nullptr : &*it;
}

int64_t DeviceMesh::axisSize(StringRef name) const {
  const Axis *axis = find(name);
  return axis ? axis->digit.size : 1;
}

int64_t DeviceMesh::coordinate(int64_t device, StringRef name) const {
  const Axis *axis = find(name);
  return axis ? device / axis->digit.stride % axis->digit.size : 0;
}

int64_t DeviceMesh::withCoordinate(int64_t device, StringRef name,
                                   int64_t value) const {
  const Axis *axis = find(name);
  if (!axis)
    return device;
  return device + (value - coordinate(device, name)) * axis->digit.stride;
}

LogicalResult
DeviceMesh::verify(AxisListAttr list,
                   function_ref<InFlightDiagnostic()> emitError) const {
  for (AxisRefAttr ref : list.getAxes()) {
    const Axis *axis = find(ref.getName());
    if (!axis)
      return emitError() << "the mesh has no axis '" << ref.getName() << "'";
    int64_t numPieces = axis->pieces.size();
    if (ref.getPiece() >= numPieces)
      return emitError() << "axis '" << ref.getName() << "' of size "
                         << axis->digit.size << " has " << numPieces
                         << " pieces, there is no piece " << ref.getPiece();
  }
  return success();
}

SmallVector<DeviceMesh::Digit, 4> DeviceMesh::digits(AxisListAttr list) const {
  SmallVector<Digit, 4> result;
  for (AxisRefAttr ref : list.getAxes()) {
    const Axis *axis = find(ref.getName());
    assert(axis && "axes were verified against the mesh");
    result.push_back(ref.getPiece() < 0 ? axis->digit
                                        : axis->pieces[ref.getPiece()]);
  }
  return result;
}

int64_t DeviceMesh::numShards(AxisListAttr list) const {
  int64_t count = 1;
  for (Digit digit : digits(list))
    count *= digit.size;
  return count;
}

int64_t DeviceMesh::shardIndex(int64_t device, AxisListAttr list) const {
  int64_t index = 0;
  for (Digit digit : digits(list))
    index = index * digit.size + device / digit.stride % digit.size;
  return index;
}

SmallVector<int64_t> DeviceMesh::group(int64_t device,
                                       AxisListAttr list) const {
  SmallVector<Digit, 4> moving = digits(list);
  int64_t base = device;
  for (Digit digit : moving)
    base -= device / digit.stride % digit.size * digit.stride;
  SmallVector<int64_t> result = {base};
  for (Digit digit : moving) {
    SmallVector<int64_t> grown;
    for (int64_t member : result)
      for (int64_t c = 0; c < digit.size; ++c)
        grown.push_back(member + c * digit.stride);
    result = std::move(grown);
  }
  return result;
}
