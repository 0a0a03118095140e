//===- AttributeVerifiers.cpp - Discardable attributes ---------*- C++ -*-===//
//
// What the levels write on operations and arguments is checked wherever it stands: a sharding fits its tensor and its mesh.
//
//===----------------------------------------------------------------------===//

#include "fleet/Dialect/Fleet/MeshPieces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace fleet;

/// Checks the sharding of a value whose global or local type has `rank` dimensions.
static LogicalResult verifyShardingOf(Operation *op, Attribute attribute,
                                      Type type, const Twine &where) {
  auto sharding = dyn_cast<ShardingAttr>(attribute);
  if (!sharding)
    return op->emitError(where) << " is not a sharding";
  auto mesh = SymbolTable::lookupNearestSymbolFrom<MeshOp>(
      op, sharding.getMesh().getAttr());
  if (!mesh)
    return op->emitError(where)
           << " names mesh " << sharding.getMesh() << ", which does not exist";
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return op->emitError(where) << " stands on " << type << ", not a tensor";
  return verifySharding(sharding, tensor, mesh,
                        [&] { return op->emitError(where) << ": "; });
}

LogicalResult FleetDialect::verifyOperationAttribute(Operation *op,
                                                     NamedAttribute attribute) {
  if (attribute.getName() == attr::kPinned && op->getNumResults() > 0)
    return verifyShardingOf(op, attribute.getValue(),
                            op->getResult(0).getType(), attr::kPinned);
  if (attribute.getName() != attr::kShardings)
    return success();
  auto list = dyn_cast<ArrayAttr>(attribute.getValue());
  if (!list || list.size() != op->getNumResults())
    return op->emitError(attr::kShardings) << " needs one sharding for each of "
                                           << op->getNumResults() << " results";
  for (auto [result, sharding] : llvm::zip(op->getResults(), list))
    if (failed(
            verifyShardingOf(op, sharding, result.getType(), attr::kShardings)))
      return failure();
  return success();
}

LogicalResult FleetDialect::verifyRegionArgAttribute(Operation *op,
                                                     unsigned region,
                                                     unsigned argument,
                                                     NamedAttribute attribute) {
  if (attribute.getName() != attr::kSharding)
    return success();
  auto func = dyn_cast<FunctionOpInterface>(op);
  if (!func)
    return success();
  return verifyShardingOf(op, attribute.getValue(),
                          func.getArgumentTypes()[argument],
                          "sharding of argument " + Twine(argument));
}

LogicalResult FleetDialect::verifyRegionResultAttribute(
    Operation *op, unsigned region, unsigned result, NamedAttribute attribute) {
  if (attribute.getName() != attr::kSharding)
    return success();
  auto func = dyn_cast<FunctionOpInterface>(op);
  if (!func)
    return success();
  return verifyShardingOf(op, attribute.getValue(),
                          func.getResultTypes()[result],
                          "sharding of result " + Twine(result));
}
