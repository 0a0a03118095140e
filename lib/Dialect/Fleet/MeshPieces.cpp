//===- MeshPieces.cpp - Prime pieces of mesh axes --------------*- C++ -*-===//
//
// Translation between axis lists and atomic pieces, and what makes a sharding well formed.
//
//===----------------------------------------------------------------------===//

#include "fleet/Dialect/Fleet/MeshPieces.h"

using namespace mlir;
using namespace fleet;

SmallVector<int64_t> fleet::axisPieces(int64_t size) {
  SmallVector<int64_t> pieces;
  for (int64_t prime = 2; prime * prime <= size; ++prime)
    for (; size % prime == 0; size /= prime)
      pieces.push_back(prime);
  if (size > 1)
    pieces.push_back(size);
  return pieces;
}

PieceList MeshPieces::piecesOf(StringRef name) const {
  PieceList pieces;
  for (auto [axis, attribute] : llvm::enumerate(mesh.getAxes())) {
    if (cast<StringAttr>(attribute).getValue() != name)
      continue;
    for (auto [piece, size] :
         llvm::enumerate(axisPieces(mesh.getSizes()[axis])))
      pieces.push_back(
          {static_cast<unsigned>(axis), static_cast<unsigned>(piece), size});
  }
  return pieces;
}

PieceList MeshPieces::expand(AxisListAttr axes) const {
  PieceList pieces;
  for (AxisRefAttr ref : axes.getAxes()) {
    PieceList all = piecesOf(ref.getName());
    if (ref.getPiece() < 0)
      pieces.append(all);
    else if (ref.getPiece() < static_cast<int64_t>(all.size()))
      pieces.push_back(all[ref.getPiece()]);
  }
  return pieces;
}

AxisListAttr MeshPieces::collapse(ArrayRef<AxisPiece> pieces) const {
  MLIRContext *context = mesh->getContext();
  SmallVector<AxisRefAttr> refs;
  while (!pieces.empty()) {
    auto name = cast<StringAttr>(mesh.getAxes()[pieces[0].axis]).getValue();
    PieceList all = piecesOf(name);
    bool whole = pieces.size() >= all.size() &&
                 ArrayRef<AxisPiece>(all) == pieces.take_front(all.size());
    int64_t piece = whole ? -1 : static_cast<int64_t>(pieces[0].piece);
    refs.push_back(AxisRefAttr::get(context, name, piece));
    pieces = pieces.drop_front(whole ? all.size() : 1);
  }
  return AxisListAttr::get(context, refs);
}

int64_t MeshPieces::product(ArrayRef<AxisPiece> pieces) {
  int64_t product = 1;
  for (const AxisPiece &piece : pieces)
    product *= piece.size;
  return product;
}

/// Checks one axis list: known axes, nothing used before, canonical form.
static LogicalResult verifyAxes(AxisListAttr axes, MeshPieces &pieces,
                                PieceList &used,
                                function_ref<InFlightDiagnostic()> emitError) {
  for (AxisRefAttr ref : axes.getAxes())
    if (!pieces.getMesh().getRefSize(ref))
      return emitError() << "mesh @" << pieces.getMesh().getSymName()
                         << " has no axis '" << ref.getName() << "'"
                         << (ref.getPiece() < 0 ? "" : " with that piece");
  for (const AxisPiece &piece : pieces.expand(axes)) {
    if (llvm::is_contained(used, piece))
      return emitError() << "axis " << pieces.getMesh().getAxes()[piece.axis]
                         << " is used twice";
    used.push_back(piece);
  }
  if (pieces.collapse(pieces.expand(axes)) != axes)
    return emitError() << "axes are not in canonical form, expected "
                       << pieces.collapse(pieces.expand(axes));
  return success();
}

LogicalResult
fleet::verifySharding(ShardingAttr sharding, RankedTensorType type, MeshOp mesh,
                      function_ref<InFlightDiagnostic()> emitError) {
  if (static_cast<int64_t>(sharding.getDims().size()) != type.getRank())
    return emitError() << "sharding has " << sharding.getDims().size()
                       << " dimensions, the tensor " << type.getRank();
  MeshPieces pieces(mesh);
  PieceList used;
  for (AxisListAttr axes : sharding.getDims())
    if (failed(verifyAxes(axes, pieces, used, emitError)))
      return failure();
  return verifyAxes(sharding.getUnreduced(), pieces, used, emitError);
}
