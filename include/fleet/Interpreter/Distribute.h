//===- Distribute.h - Global values and shards -----------------*- C++ -*-===//
//
// Cutting a global tensor into the shards of a mesh, and putting shards together again with a check that replicas
// agree bit for bit.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_INTERPRETER_DISTRIBUTE_H
#define FLEET_INTERPRETER_DISTRIBUTE_H

#include "fleet/Interpreter/EvalContext.h"

namespace fleet {

/// Emits an error at whatever is being distributed.
using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// A set of devices of a mesh, ascending.
struct DeviceSet {
  const DeviceMesh &mesh;
  llvm::ArrayRef<int64_t> devices;
};

/// Checks that a sharding of a tensor of `rank` dimensions fits a mesh.
llvm::LogicalResult verifySharding(ShardingAttr sharding, int64_t rank,
                                   const DeviceMesh &mesh, EmitError emitError);

/// Shape of the global tensor whose shards have the shape `local`. A null sharding is a replica everywhere; any other
/// was verified.
Dims globalShape(llvm::ArrayRef<int64_t> local, ShardingAttr sharding,
                 const DeviceMesh &mesh);

/// Every device's shard of a global tensor.
llvm::FailureOr<DeviceValues> distribute(const TensorRef &global,
                                         ShardingAttr sharding, DeviceSet set,
                                         EmitError emitError);

/// The global tensor of shards. Terms over unreduced axes are combined in the order of device numbers; replicas must
/// be bitwise equal.
llvm::FailureOr<TensorRef> assemble(const DeviceValues &shards,
                                    ShardingAttr sharding, DeviceSet set,
                                    EmitError emitError);

/// Reports the first element in which two tensors differ bit for bit; `a` and `b` say whose they are.
llvm::LogicalResult verifyEqual(const Tensor &first, llvm::StringRef a,
                                const Tensor &second, llvm::StringRef b,
                                EmitError emitError);

} // namespace fleet

#endif // FLEET_INTERPRETER_DISTRIBUTE_H
