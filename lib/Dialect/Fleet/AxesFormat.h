//===- AxesFormat.h - Text form of axis lists ------------------*- C++ -*-===//
//
// The custom directive by which operations print axes as {dp, mp:0}.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_LIB_DIALECT_FLEET_AXESFORMAT_H
#define FLEET_LIB_DIALECT_FLEET_AXESFORMAT_H

#include "fleet/Dialect/Fleet/FleetDialect.h"
#include "mlir/IR/OpImplementation.h"

namespace fleet {
mlir::ParseResult parseAxes(mlir::OpAsmParser &parser, AxisListAttr &axes);
void printAxes(mlir::OpAsmPrinter &printer, mlir::Operation *op,
               AxisListAttr axes);
} // namespace fleet

#endif // FLEET_LIB_DIALECT_FLEET_AXESFORMAT_H
