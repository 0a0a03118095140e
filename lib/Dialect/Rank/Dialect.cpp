//===- Dialect.cpp - The rank dialect --------------------------*- C++ -*-===//
//
// Registration, and the check of the attribute that places results.
//
//===----------------------------------------------------------------------===//

#include "fleet/Dialect/Rank/RankDialect.h"
#include "fleet/Dialect/Rank/RankOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fleet;
using namespace fleet::rank;

#include "fleet/Dialect/Rank/RankDialect.cpp.inc"

#include "fleet/Dialect/Rank/RankEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "fleet/Dialect/Rank/RankAttrs.cpp.inc"

void RankDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "fleet/Dialect/Rank/RankOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "fleet/Dialect/Rank/RankAttrs.cpp.inc"
      >();
}

LogicalResult RankDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  if (attribute.getName() != kBuffersAttr)
    return success();
  auto program = op->getParentOfType<rank::ProgramOp>();
  auto buffers = dyn_cast<ArrayAttr>(attribute.getValue());
  if (!program || !buffers || buffers.size() != op->getNumResults())
    return op->emitOpError("carries ")
           << kBuffersAttr << ", which names one buffer for each of the "
           << op->getNumResults() << " results of an operation in a task";
  for (auto [ref, result] : llvm::zip(buffers, op->getResults())) {
    auto symbol = dyn_cast<FlatSymbolRefAttr>(ref);
    auto buffer = symbol ? program.lookupSymbol<BufferOp>(symbol) : BufferOp();
    if (!buffer)
      return op->emitOpError("writes to ") << ref << ", which is not a buffer";
    if (byteSize(result.getType()) >
        static_cast<int64_t>(buffer.getSlotBytes()))
      return op->emitOpError("writes ")
             << byteSize(result.getType()) << " bytes to " << ref
             << ", whose slots have " << buffer.getSlotBytes();
  }
  return success();
}
