//===- TextForms.h - Custom directives -------------------------*- C++ -*-===//
//
// How operations print enums as keywords, and a task its buffers with its body.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_LIB_DIALECT_RANK_TEXTFORMS_H
#define FLEET_LIB_DIALECT_RANK_TEXTFORMS_H

#include "fleet/Dialect/Rank/RankOps.h"
#include "mlir/IR/OpImplementation.h"

namespace fleet {
namespace rank {

mlir::ParseResult parsePhaseKeyword(mlir::OpAsmParser &parser,
                                    PhaseAttr &phase);
void printPhaseKeyword(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                       PhaseAttr phase);

mlir::ParseResult parseKindKeyword(mlir::OpAsmParser &parser,
                                   BufferKindAttr &kind);
void printKindKeyword(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                      BufferKindAttr kind);

/// `reads(%arg = @buffer : type, …) writes(@buffer, …) {…}`
mlir::ParseResult parseTaskBody(mlir::OpAsmParser &parser,
                                mlir::ArrayAttr &reads, mlir::ArrayAttr &writes,
                                mlir::Region &body);
void printTaskBody(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                   mlir::ArrayAttr reads, mlir::ArrayAttr writes,
                   mlir::Region &body);

} // namespace rank
} // namespace fleet

#endif // FLEET_LIB_DIALECT_RANK_TEXTFORMS_H
