//===- Sharding.h - Shardings as lists of pieces ---------------*- C++ -*-===//
//
// The form of a sharding that propagation and the partitioner compute with, and its translation to factors and to the
// canonical attribute.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_ANALYSIS_SHARDING_H
#define FLEET_ANALYSIS_SHARDING_H

#include "fleet/Dialect/Fleet/MeshPieces.h"

namespace fleet {

/// How a tensor lies on a mesh: pieces of each dimension, major to minor, and the pieces over which it is still a term of
/// a sum.
struct TensorSharding {
  llvm::SmallVector<PieceList, 0> dims;
  PieceList unreduced;

  TensorSharding() = default;
  explicit TensorSharding(int64_t rank) : dims(rank) {}

  bool operator==(const TensorSharding &other) const {
    return dims == other.dims && unreduced == other.unreduced;
  }
  bool operator!=(const TensorSharding &other) const {
    return !(*this == other);
  }
  /// A dimension is cut over `piece`.
  bool shards(const AxisPiece &piece) const;
};

/// Pieces of each factor of an operation.
using FactorPieces = llvm::SmallVector<PieceList, 4>;

TensorSharding fromAttr(ShardingAttr attr, const MeshPieces &mesh);
ShardingAttr toAttr(const TensorSharding &sharding, MeshPieces &mesh);

/// Shape of one shard of `type`; nullopt when a dimension does not divide.
std::optional<mlir::RankedTensorType> localType(mlir::RankedTensorType type,
                                                const TensorSharding &sharding);

/// The part of a dimension's pieces that belongs to each of its factors: pieces fill the major factor first and go on
/// to the next only when it is used up. What a factor does not divide by stops there.
void projectToFactors(const PieceList &pieces, const DimFactors &factors,
                      llvm::ArrayRef<Factor> sizes, FactorPieces &result);

/// Pieces of a tensor's dimensions when its factors are cut as `pieces` says. A minor factor is only cut where the major
/// ones are used up: strided shards do not exist.
TensorSharding fromFactors(const TensorFactors &factors,
                           llvm::ArrayRef<Factor> sizes,
                           const FactorPieces &pieces);

/// True when `prefix` is the beginning of `list`.
bool isPrefix(llvm::ArrayRef<AxisPiece> prefix, llvm::ArrayRef<AxisPiece> list);

/// The first mesh of a module.
MeshOp findMesh(mlir::ModuleOp module);

} // namespace fleet

#endif // FLEET_ANALYSIS_SHARDING_H
