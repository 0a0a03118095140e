//===- FleetDialect.h - The fleet dialect ----------------------*- C++ -*-===//
//
// Dialect, attributes and names of the discardable attributes that the levels use.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_DIALECT_FLEET_FLEETDIALECT_H
#define FLEET_DIALECT_FLEET_FLEETDIALECT_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"

#include "fleet/Dialect/Fleet/FleetEnums.h.inc"

#include "fleet/Dialect/Fleet/FleetDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "fleet/Dialect/Fleet/FleetAttrs.h.inc"

namespace fleet {

/// Names of discardable attributes. What they mean stands in docs/levels.md.
namespace attr {
inline constexpr llvm::StringLiteral kLevel = "fleet.level";
inline constexpr llvm::StringLiteral kInput = "fleet.input";
inline constexpr llvm::StringLiteral kParam = "fleet.param";
inline constexpr llvm::StringLiteral kBuffer = "fleet.buffer";
inline constexpr llvm::StringLiteral kPiece = "fleet.piece";
inline constexpr llvm::StringLiteral kState = "fleet.state";
inline constexpr llvm::StringLiteral kOf = "fleet.of";
inline constexpr llvm::StringLiteral kScalar = "fleet.scalar";
inline constexpr llvm::StringLiteral kOutput = "fleet.output";
inline constexpr llvm::StringLiteral kUpdates = "fleet.updates";
inline constexpr llvm::StringLiteral kGradient = "fleet.gradient";
inline constexpr llvm::StringLiteral kPhase = "fleet.phase";
inline constexpr llvm::StringLiteral kStage = "fleet.stage";
inline constexpr llvm::StringLiteral kSharding = "fleet.sharding";
inline constexpr llvm::StringLiteral kShardings = "fleet.shardings";
inline constexpr llvm::StringLiteral kPinned = "fleet.pinned";
inline constexpr llvm::StringLiteral kName = "fleet.name";
inline constexpr llvm::StringLiteral kOrigin = "fleet.origin";
inline constexpr llvm::StringLiteral kToStages = "fleet.to_stages";
} // namespace attr

} // namespace fleet

#endif // FLEET_DIALECT_FLEET_FLEETDIALECT_H
