//===- MeshPieces.h - Prime pieces of mesh axes ----------------*- C++ -*-===//
//
// A mesh axis is a row-major grid of its prime factors. Analyses work on pieces, which are atomic; attributes hold the
// canonical form, in which all pieces of an axis in order are the axis.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_DIALECT_FLEET_MESHPIECES_H
#define FLEET_DIALECT_FLEET_MESHPIECES_H

#include "fleet/Dialect/Fleet/FleetOps.h"

namespace fleet {

/// Prime factors of an axis size, ascending, major piece first; empty for 1.
llvm::SmallVector<int64_t> axisPieces(int64_t size);

/// A piece of a mesh axis. Pieces of one axis are ordered major to minor.
struct AxisPiece {
  unsigned axis;  ///< position of the axis in the mesh
  unsigned piece; ///< number of the piece in its axis
  int64_t size;   ///< a prime

  bool operator==(const AxisPiece &other) const {
    return axis == other.axis && piece == other.piece;
  }
  bool operator!=(const AxisPiece &other) const { return !(*this == other); }
  bool operator<(const AxisPiece &other) const {
    return std::pair(axis, piece) < std::pair(other.axis, other.piece);
  }
};

/// Pieces of a list, major to minor.
using PieceList = llvm::SmallVector<AxisPiece, 2>;

/// Translates between attributes and pieces of one mesh.
class MeshPieces {
public:
  explicit MeshPieces(MeshOp mesh) : mesh(mesh) {}

  /// All pieces of the axis called `name`, in order; empty for size 1 or an unknown name.
  PieceList piecesOf(llvm::StringRef name) const;
  /// Pieces of an axis list.
  PieceList expand(AxisListAttr axes) const;
  /// Canonical attribute of a list of pieces.
  AxisListAttr collapse(llvm::ArrayRef<AxisPiece> pieces) const;
  /// Product of the sizes of `pieces`.
  static int64_t product(llvm::ArrayRef<AxisPiece> pieces);

  MeshOp getMesh() const { return mesh; }

private:
  mutable MeshOp mesh;
};

/// Checks that `sharding` fits a tensor of `type`: the bullets of the attribute's description. Emits an error through
/// `emitError` otherwise.
llvm::LogicalResult
verifySharding(ShardingAttr sharding, mlir::RankedTensorType type, MeshOp mesh,
               llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace fleet

#endif // FLEET_DIALECT_FLEET_MESHPIECES_H
