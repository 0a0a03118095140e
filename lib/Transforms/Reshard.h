//===- Reshard.h - From one sharding to another ----------------*- C++ -*-===//
//
// The moves by which a local value gets another sharding of the same mesh.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_LIB_TRANSFORMS_RESHARD_H
#define FLEET_LIB_TRANSFORMS_RESHARD_H

#include "fleet/Analysis/Sharding.h"

namespace fleet {

/// Builds the operations that bring `local`, which lies as `from` says, to `to`. Axes that a term of a sum loses are
/// reduced (reduce_scatter where the target is cut over them, else all_reduce); minor axes that move from one dimension to
/// another are an all_to_all; what only the source has is gathered, what only the target has is sliced, which is free. No
/// target is unreduced over axes that the source is not.
mlir::Value reshard(mlir::OpBuilder &builder, mlir::Location loc,
                    MeshPieces &mesh, mlir::Value local, TensorSharding from,
                    const TensorSharding &to);

} // namespace fleet

#endif // FLEET_LIB_TRANSFORMS_RESHARD_H
