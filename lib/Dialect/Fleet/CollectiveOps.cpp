//===- CollectiveOps.cpp - Communication between ranks ---------*- C++ -*-===//
//
// Kernel classes and costs of the collectives. They appear at level 4, where shardings are gone: they have no rule.
//
//===----------------------------------------------------------------------===//

#include "fleet/Dialect/Fleet/FleetOps.h"

using namespace mlir;
using namespace fleet;

/// Collectives move bytes; the additions of a reduction count one per element.
#define FLEET_COLLECTIVE(Op, flops)                                            \
  KernelClass Op::getKernelClass() { return KernelClass::Collective; }         \
  int64_t Op::getFlops() { return flops; }

FLEET_COLLECTIVE(AllGatherOp, 0)
FLEET_COLLECTIVE(ReduceScatterOp, countElements(getOperand()))
FLEET_COLLECTIVE(AllToAllOp, 0)
FLEET_COLLECTIVE(ShardSliceOp, 0)
FLEET_COLLECTIVE(ShardOffsetOp, 0)
#undef FLEET_COLLECTIVE

KernelClass AllReduceOp::getKernelClass() { return KernelClass::Collective; }

int64_t AllReduceOp::getFlops() {
  int64_t flops = 0;
  for (Value operand : getOperands())
    flops += countElements(operand);
  return flops;
}

std::optional<unsigned> AllReduceOp::getTiedOperand(unsigned result) {
  return result;
}

// A device cuts its own shard out of what it holds: nothing is sent, and any layout will do.
bool ShardSliceOp::communicates() { return false; }
bool ShardSliceOp::acceptsLayout(unsigned, const StridedLayout &) {
  return true;
}
bool ShardOffsetOp::communicates() { return false; }
bool ShardOffsetOp::acceptsLayout(unsigned, const StridedLayout &) {
  return true;
}

LogicalResult AllReduceOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location>,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &inferred) {
  llvm::append_range(inferred, adaptor.getOperands().getTypes());
  return success();
}
