//===- Tasks.cpp - Text form and verifier of tasks -------------*- C++ -*-===//
//
// A task names the buffers that its arguments and returned values are.
//
//===----------------------------------------------------------------------===//

#include "TextForms.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace fleet;
using namespace fleet::rank;

//===----------------------------------------------------------------------===//
// Text form
//===----------------------------------------------------------------------===//

ParseResult rank::parsePhaseKeyword(OpAsmParser &parser, PhaseAttr &phase) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<Phase> value = symbolizePhase(keyword);
  if (!value)
    return parser.emitError(loc, "unknown phase ") << keyword;
  phase = PhaseAttr::get(parser.getContext(), *value);
  return success();
}

void rank::printPhaseKeyword(OpAsmPrinter &printer, Operation *,
                             PhaseAttr phase) {
  printer << stringifyPhase(phase.getValue());
}

ParseResult rank::parseKindKeyword(OpAsmParser &parser, BufferKindAttr &kind) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<BufferKind> value = symbolizeBufferKind(keyword);
  if (!value)
    return parser.emitError(loc, "unknown buffer kind ") << keyword;
  kind = BufferKindAttr::get(parser.getContext(), *value);
  return success();
}

void rank::printKindKeyword(OpAsmPrinter &printer, Operation *,
                            BufferKindAttr kind) {
  printer << stringifyBufferKind(kind.getValue());
}

ParseResult rank::parseTaskBody(OpAsmParser &parser, ArrayAttr &reads,
                                ArrayAttr &writes, Region &body) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Attribute> read, written;
  auto parseRead = [&]() -> ParseResult {
    FlatSymbolRefAttr buffer;
    if (parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
        parser.parseAttribute(buffer) ||
        parser.parseColonType(arguments.back().type))
      return failure();
    read.push_back(buffer);
    return success();
  };
  auto parseWrite = [&]() -> ParseResult {
    FlatSymbolRefAttr buffer;
    if (parser.parseAttribute(buffer))
      return failure();
    written.push_back(buffer);
    return success();
  };
  auto delimiter = AsmParser::Delimiter::Paren;
  if (parser.parseKeyword("reads") ||
      parser.parseCommaSeparatedList(delimiter, parseRead) ||
      parser.parseKeyword("writes") ||
      parser.parseCommaSeparatedList(delimiter, parseWrite))
    return failure();
  Builder &builder = parser.getBuilder();
  reads = builder.getArrayAttr(read);
  writes = builder.getArrayAttr(written);
  if (parser.parseRegion(body, arguments))
    return failure();
  rank::TaskOp::ensureTerminator(body, builder,
                                 UnknownLoc::get(builder.getContext()));
  return success();
}

void rank::printTaskBody(OpAsmPrinter &printer, Operation *, ArrayAttr reads,
                         ArrayAttr writes, Region &body) {
  printer << "reads(";
  llvm::interleaveComma(
      llvm::zip(body.getArguments(), reads), printer, [&](auto pair) {
        auto [argument, buffer] = pair;
        printer << argument << " = " << buffer << " : " << argument.getType();
      });
  printer << ") writes(";
  llvm::interleaveComma(writes, printer);
  printer << ") ";
  printer.printRegion(body, /*printEntryBlockArgs=*/false);
}

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

bool rank::TaskOp::runsOnce() {
  return getPhase() == Phase::Prologue || getPhase() == Phase::Reduce ||
         getPhase() == Phase::Update;
}

LogicalResult rank::TaskOp::verify() {
  Block &body = getRegion().front();
  if (getReads().size() != body.getNumArguments())
    return emitOpError("reads ") << getReads().size() << " buffers but has "
                                 << body.getNumArguments() << " arguments";
  size_t returned = body.getTerminator()->getNumOperands();
  if (getWrites().size() != returned)
    return emitOpError("writes ")
           << getWrites().size() << " buffers but returns " << returned
           << " values";
  llvm::SmallDenseSet<Attribute> written;
  for (Attribute ref : getWrites())
    if (!written.insert(ref).second)
      return emitOpError("writes ") << ref << " twice";
  return success();
}

/// The type of all micro-batches side by side.
static RankedTensorType wholeType(RankedTensorType type, int64_t count) {
  SmallVector<int64_t> shape(type.getShape());
  shape[0] *= count;
  return type.clone(shape);
}

/// A task takes a buffer as what its slot holds, or all slots where it runs
/// once.
static LogicalResult verifyUse(rank::TaskOp task, BufferOp buffer, Type taken,
                               int64_t microBatches) {
  RankedTensorType type = buffer.getTensorType();
  auto emitType = [&](Type expected) -> LogicalResult {
    return task.emitOpError("takes buffer @")
           << buffer.getSymName() << " as " << taken << " but it is "
           << expected;
  };
  if (!buffer.getPerMicroBatch() || !task.runsOnce())
    return taken == type ? success() : emitType(type);
  bool sideBySide =
      type.getRank() > 0 && task.getPhase() != Phase::Reduce &&
      static_cast<int64_t>(buffer.getSlots()) == microBatches &&
      static_cast<int64_t>(buffer.getSlotBytes()) == byteSize(type);
  if (!sideBySide && (microBatches > 1 || taken != type))
    return task.emitOpError("runs once and takes buffer @")
           << buffer.getSymName() << ", whose " << buffer.getSlots()
           << " slots do not hold the " << microBatches
           << " micro-batches side by side";
  if (microBatches == 1)
    return taken == type ? success() : emitType(type);
  RankedTensorType whole = wholeType(type, microBatches);
  return taken == whole ? success() : emitType(whole);
}

LogicalResult
rank::TaskOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto program = cast<rank::ProgramOp>((*this)->getParentOp());
  auto check = [&](Attribute ref, Value value) -> LogicalResult {
    auto buffer = symbolTable.lookupNearestSymbolFrom<BufferOp>(
        *this, cast<FlatSymbolRefAttr>(ref).getAttr());
    if (!buffer)
      return emitOpError("names ") << ref << ", which is not a buffer";
    return verifyUse(*this, buffer, value.getType(), program.getMicroBatches());
  };
  Block &body = getRegion().front();
  for (auto [ref, value] : llvm::zip(getReads(), body.getArguments()))
    if (failed(check(ref, value)))
      return failure();
  for (auto [ref, value] :
       llvm::zip(getWrites(), body.getTerminator()->getOperands()))
    if (failed(check(ref, value)))
      return failure();
  return success();
}
