//===- Attributes.cpp - Text form of shardings -----------------*- C++ -*-===//
//
// Parsing and printing of axis lists and shardings: {dp, mp:0}.
//
//===----------------------------------------------------------------------===//

#include "AxesFormat.h"
#include "fleet/Dialect/Fleet/FleetOps.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace fleet;

/// Parses `name` or `name:piece`.
static ParseResult parseAxisRef(AsmParser &parser, AxisRefAttr &ref) {
  std::string name;
  if (parser.parseKeywordOrString(&name))
    return failure();
  int64_t piece = -1;
  if (succeeded(parser.parseOptionalColon()) && parser.parseInteger(piece))
    return failure();
  ref = AxisRefAttr::get(parser.getContext(), name, piece);
  return success();
}

static void printAxisRef(AsmPrinter &printer, AxisRefAttr ref) {
  printer.printKeywordOrString(ref.getName());
  if (ref.getPiece() >= 0)
    printer << ":" << ref.getPiece();
}

/// Parses `{a, b:0}`.
static ParseResult parseAxisList(AsmParser &parser, AxisListAttr &axes) {
  SmallVector<AxisRefAttr> refs;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, [&] {
        return parseAxisRef(parser, refs.emplace_back());
      }))
    return failure();
  axes = AxisListAttr::get(parser.getContext(), refs);
  return success();
}

static void printAxisList(AsmPrinter &printer, AxisListAttr axes) {
  printer << "{";
  llvm::interleaveComma(axes.getAxes(), printer,
                        [&](AxisRefAttr ref) { printAxisRef(printer, ref); });
  printer << "}";
}

Attribute AxisListAttr::parse(AsmParser &parser, Type) {
  AxisListAttr axes;
  if (parser.parseLess() || parseAxisList(parser, axes) ||
      parser.parseGreater())
    return {};
  return axes;
}

void AxisListAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printAxisList(printer, *this);
  printer << ">";
}

/// Parses what follows the dimension lists: `, unreduced sum {axes}`.
static ParseResult parseUnreduced(AsmParser &parser, AxisListAttr &axes,
                                  ReductionKind &kind) {
  StringRef word;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword("unreduced") || parser.parseKeyword(&word))
    return failure();
  std::optional<ReductionKind> parsed = symbolizeReductionKind(word);
  if (!parsed)
    return parser.emitError(loc) << "expected sum, max or min";
  kind = *parsed;
  return parseAxisList(parser, axes);
}

Attribute ShardingAttr::parse(AsmParser &parser, Type) {
  FlatSymbolRefAttr mesh;
  SmallVector<AxisListAttr> dims;
  AxisListAttr unreduced = AxisListAttr::get(parser.getContext());
  ReductionKind kind = ReductionKind::Sum;
  if (parser.parseLess() || parser.parseAttribute(mesh) ||
      parser.parseComma() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parseAxisList(parser, dims.emplace_back());
      }))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      parseUnreduced(parser, unreduced, kind))
    return {};
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), mesh, dims, unreduced, kind);
}

void ShardingAttr::print(AsmPrinter &printer) const {
  printer << "<" << getMesh() << ", [";
  llvm::interleaveComma(getDims(), printer, [&](AxisListAttr axes) {
    printAxisList(printer, axes);
  });
  printer << "]";
  if (!getUnreduced().empty()) {
    printer << ", unreduced " << stringifyReductionKind(getKind()) << " ";
    printAxisList(printer, getUnreduced());
  }
  printer << ">";
}

bool ShardingAttr::isReplicated() const {
  return getUnreduced().empty() &&
         llvm::all_of(getDims(),
                      [](AxisListAttr axes) { return axes.empty(); });
}

ShardingAttr ShardingAttr::replicated(FlatSymbolRefAttr mesh, int64_t rank) {
  MLIRContext *context = mesh.getContext();
  AxisListAttr none = AxisListAttr::get(context);
  SmallVector<AxisListAttr> dims(rank, none);
  return get(context, mesh, dims, none, ReductionKind::Sum);
}

/// Custom directive of the collectives: axes without the attribute's mnemonic.
ParseResult fleet::parseAxes(OpAsmParser &parser, AxisListAttr &axes) {
  return parseAxisList(parser, axes);
}

void fleet::printAxes(OpAsmPrinter &printer, Operation *, AxisListAttr axes) {
  printAxisList(printer, axes);
}
