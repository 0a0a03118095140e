//===- NetworkForms.h - Cross entropy in simple operations -----*- C++ -*-===//
//
// The expansion of cross entropy that both its decomposition and its local form on sharded classes are made of.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_LIB_DIALECT_FLEET_NETWORKFORMS_H
#define FLEET_LIB_DIALECT_FLEET_NETWORKFORMS_H

#include "fleet/Dialect/Fleet/FleetOps.h"

namespace fleet {

/// Builds loss and lse of `op` from local `logits`, `labels` and `count` (null: counted here). `base` is the first class
/// of the logits, null when they hold all. `combine(value, max)` reduces one number per row over the shards of the
/// classes.
llvm::SmallVector<mlir::Value> buildCrossEntropy(
    mlir::OpBuilder &builder, CrossEntropyOp op, mlir::Value logits,
    mlir::Value labels, mlir::Value count, mlir::Value base,
    llvm::function_ref<mlir::Value(mlir::Value value, bool max)> combine);

} // namespace fleet

#endif // FLEET_LIB_DIALECT_FLEET_NETWORKFORMS_H
