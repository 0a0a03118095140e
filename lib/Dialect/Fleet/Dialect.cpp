//===- Dialect.cpp - The fleet dialect -------------------------*- C++ -*-===//
//
// Registration of operations and attributes.
//
//===----------------------------------------------------------------------===//

#include "fleet/Dialect/Fleet/FleetDialect.h"
#include "fleet/Dialect/Fleet/FleetOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fleet;

#include "fleet/Dialect/Fleet/FleetDialect.cpp.inc"

#include "fleet/Dialect/Fleet/FleetEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "fleet/Dialect/Fleet/FleetAttrs.cpp.inc"

void FleetDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "fleet/Dialect/Fleet/FleetOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "fleet/Dialect/Fleet/FleetAttrs.cpp.inc"
      >();
}
