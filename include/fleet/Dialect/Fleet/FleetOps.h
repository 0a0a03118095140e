//===- FleetOps.h - Operations of the fleet dialect ------------*- C++ -*-===//
//
// Operation classes and the small helpers that build them.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_DIALECT_FLEET_FLEETOPS_H
#define FLEET_DIALECT_FLEET_FLEETOPS_H

#include "fleet/Dialect/Fleet/FleetDialect.h"
#include "fleet/Interfaces/FleetInterfaces.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "fleet/Dialect/Fleet/FleetOps.h.inc"

namespace fleet {

/// A tensor of `type` whose elements are all `value`: a scalar constant, broadcast.
mlir::Value buildFull(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::RankedTensorType type, double value);
/// Repeats `value`, whose dimensions are those of `like` without `dims`, along `dims` of `like`.
mlir::Value buildBroadcastAlong(mlir::OpBuilder &builder, mlir::Location loc,
                                mlir::Value value, mlir::RankedTensorType like,
                                llvm::ArrayRef<int64_t> dims);
/// Repeats a scalar into the shape of `like`, keeping the scalar's element type.
mlir::Value buildSplat(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value scalar, mlir::RankedTensorType like);
/// Type of a ranked tensor value.
inline mlir::RankedTensorType typeOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

} // namespace fleet

#endif // FLEET_DIALECT_FLEET_FLEETOPS_H
