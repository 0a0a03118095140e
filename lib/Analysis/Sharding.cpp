//===- Sharding.cpp - Shardings as lists of pieces -------------*- C++ -*-===//
//
// Translation between shardings of tensors, factors of operations and attributes.
//
//===----------------------------------------------------------------------===//

#include "fleet/Analysis/Sharding.h"

using namespace mlir;

namespace fleet {

bool TensorSharding::shards(const AxisPiece &piece) const {
  return llvm::any_of(dims, [&](const PieceList &pieces) {
    return llvm::is_contained(pieces, piece);
  });
}

TensorSharding fromAttr(ShardingAttr attr, const MeshPieces &mesh) {
  TensorSharding sharding;
  for (AxisListAttr axes : attr.getDims())
    sharding.dims.push_back(mesh.expand(axes));
  sharding.unreduced = mesh.expand(attr.getUnreduced());
  return sharding;
}

ShardingAttr toAttr(const TensorSharding &sharding, MeshPieces &mesh) {
  MLIRContext *context = mesh.getMesh()->getContext();
  SmallVector<AxisListAttr> dims;
  for (const PieceList &pieces : sharding.dims)
    dims.push_back(mesh.collapse(pieces));
  auto symbol = FlatSymbolRefAttr::get(context, mesh.getMesh().getSymName());
  return ShardingAttr::get(context, symbol, dims,
                           mesh.collapse(sharding.unreduced),
                           ReductionKind::Sum);
}

std::optional<RankedTensorType> localType(RankedTensorType type,
                                          const TensorSharding &sharding) {
  SmallVector<int64_t> shape(type.getShape());
  for (auto [size, pieces] : llvm::zip(shape, sharding.dims)) {
    int64_t shards = MeshPieces::product(pieces);
    if (size % shards != 0)
      return std::nullopt;
    size /= shards;
  }
  return type.clone(shape);
}

void projectToFactors(const PieceList &pieces, const DimFactors &factors,
                      ArrayRef<Factor> sizes, FactorPieces &result) {
  ArrayRef<AxisPiece> rest = pieces;
  for (unsigned factor : factors) {
    int64_t size = sizes[factor].size;
    PieceList taken;
    while (!rest.empty() && size % rest.front().size == 0) {
      size /= rest.front().size;
      taken.push_back(rest.front());
      rest = rest.drop_front();
    }
    result[factor] = taken;
    if (size != 1)
      return;
  }
}

TensorSharding fromFactors(const TensorFactors &factors, ArrayRef<Factor> sizes,
                           const FactorPieces &pieces) {
  TensorSharding sharding(factors.size());
  for (auto [dim, list] : llvm::zip(sharding.dims, factors))
    for (unsigned factor : list) {
      dim.append(pieces[factor]);
      if (MeshPieces::product(pieces[factor]) != sizes[factor].size)
        break;
    }
  return sharding;
}

bool isPrefix(ArrayRef<AxisPiece> prefix, ArrayRef<AxisPiece> list) {
  return prefix.size() <= list.size() &&
         list.take_front(prefix.size()) == prefix;
}

MeshOp findMesh(ModuleOp module) {
  auto meshes = module.getOps<MeshOp>();
  return meshes.empty() ? MeshOp() : *meshes.begin();
}

} // namespace fleet
