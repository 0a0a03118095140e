//===- Reshard.cpp - From one sharding to another --------------*- C++ -*-===//
//
// A fixed order of moves (reduce, exchange, gather, slice): right for every pair, and for the pairs that data, tensor and
// optimizer-state parallelism make the one collective that is needed.
//
//===----------------------------------------------------------------------===//

#include "Reshard.h"

using namespace mlir;

namespace fleet {
namespace {
class Resharder {
public:
  Resharder(OpBuilder &b, Location loc, MeshPieces &mesh, Value value,
            TensorSharding from, const TensorSharding &to)
      : b(b), loc(loc), mesh(mesh), value(value), from(std::move(from)),
        to(to) {}

  Value run() {
    scatterTerms();
    reduceTerms();
    exchange();
    gather();
    slice();
    assert(from == to && "resharding ends at its target");
    return value;
  }

private:
  void scatterTerms();
  void reduceTerms();
  void exchange();
  void gather();
  void slice();
  RankedTensorType resized(int64_t dim, int64_t numerator,
                           int64_t denominator) const;
  /// Pieces of `list` beyond the beginning that it shares with `other`.
  static PieceList beyond(const PieceList &list, const PieceList &other) {
    size_t shared = 0;
    while (shared < list.size() && shared < other.size() &&
           list[shared] == other[shared])
      ++shared;
    return PieceList(ArrayRef(list).drop_front(shared));
  }

  OpBuilder &b;
  Location loc;
  MeshPieces &mesh;
  Value value;
  TensorSharding from;
  const TensorSharding &to;
};
} // namespace

RankedTensorType Resharder::resized(int64_t dim, int64_t numerator,
                                    int64_t denominator) const {
  SmallVector<int64_t> shape(typeOf(value).getShape());
  shape[dim] = shape[dim] * numerator / denominator;
  return typeOf(value).clone(shape);
}

/// Terms over axes that the target is cut by: each device gets the sum of its own shard only.
void Resharder::scatterTerms() {
  for (size_t d = 0; d < from.dims.size(); ++d) {
    if (!isPrefix(from.dims[d], to.dims[d]))
      continue;
    PieceList added = beyond(to.dims[d], from.dims[d]);
    bool terms = !added.empty() && llvm::all_of(added, [&](const AxisPiece &p) {
      return llvm::is_contained(from.unreduced, p);
    });
    if (!terms)
      continue;
    value = ReduceScatterOp::create(
        b, loc, resized(d, 1, MeshPieces::product(added)), value, d,
        mesh.collapse(added), ReductionKind::Sum);
    from.dims[d].append(added);
    llvm::erase_if(from.unreduced, [&](const AxisPiece &p) {
      return llvm::is_contained(added, p);
    });
  }
}

void Resharder::reduceTerms() {
  PieceList lost;
  for (const AxisPiece &piece : from.unreduced)
    if (!llvm::is_contained(to.unreduced, piece))
      lost.push_back(piece);
  if (lost.empty())
    return;
  value = AllReduceOp::create(b, loc, value, mesh.collapse(lost),
                              ReductionKind::Sum)
              .getResult(0);
  llvm::erase_if(from.unreduced, [&](const AxisPiece &p) {
    return llvm::is_contained(lost, p);
  });
}

/// Minor axes of one dimension that the target has at the end of another.
void Resharder::exchange() {
  for (size_t a = 0; a < from.dims.size(); ++a) {
    PieceList leaving = beyond(from.dims[a], to.dims[a]);
    if (leaving.empty())
      continue;
    for (size_t d = 0; d < to.dims.size(); ++d) {
      if (d == a || !isPrefix(from.dims[d], to.dims[d]) ||
          beyond(to.dims[d], from.dims[d]) != leaving)
        continue;
      int64_t count = MeshPieces::product(leaving);
      SmallVector<int64_t> shape(typeOf(value).getShape());
      shape[a] *= count;
      shape[d] /= count;
      value = AllToAllOp::create(b, loc, typeOf(value).clone(shape), value, d,
                                 a, mesh.collapse(leaving));
      from.dims[a].truncate(from.dims[a].size() - leaving.size());
      from.dims[d].append(leaving);
      break;
    }
  }
}

void Resharder::gather() {
  for (size_t d = 0; d < from.dims.size(); ++d) {
    PieceList extra = beyond(from.dims[d], to.dims[d]);
    if (extra.empty())
      continue;
    value =
        AllGatherOp::create(b, loc, resized(d, MeshPieces::product(extra), 1),
                            value, d, mesh.collapse(extra));
    from.dims[d].truncate(from.dims[d].size() - extra.size());
  }
}

void Resharder::slice() {
  for (size_t d = 0; d < to.dims.size(); ++d) {
    PieceList extra = beyond(to.dims[d], from.dims[d]);
    if (extra.empty())
      continue;
    value =
        ShardSliceOp::create(b, loc, resized(d, 1, MeshPieces::product(extra)),
                             value, d, mesh.collapse(extra));
    from.dims[d].append(extra);
  }
}

Value reshard(OpBuilder &b, Location loc, MeshPieces &mesh, Value local,
              TensorSharding from, const TensorSharding &to) {
  if (from == to)
    return local;
  return Resharder(b, loc, mesh, local, std::move(from), to).run();
}

} // namespace fleet
