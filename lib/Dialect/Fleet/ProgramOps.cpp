//===- ProgramOps.cpp - Meshes, micro-batches, tasks, kernels --*- C++ -*-===//
//
// Text forms and verifiers of the operations that give a program its structure.
//
//===----------------------------------------------------------------------===//

#include "AxesFormat.h"
#include "fleet/Dialect/Fleet/FleetOps.h"
#include "fleet/Dialect/Fleet/MeshPieces.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace fleet;

#define GET_OP_CLASSES
#include "fleet/Dialect/Fleet/FleetOps.cpp.inc"

//===----------------------------------------------------------------------===//
// mesh
//===----------------------------------------------------------------------===//

ParseResult MeshOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr symbol;
  SmallVector<Attribute> axes;
  SmallVector<int64_t> sizes;
  if (parser.parseSymbolName(symbol, getSymNameAttrName(result.name),
                             result.attributes) ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        std::string axis;
        if (parser.parseString(&axis) || parser.parseEqual() ||
            parser.parseInteger(sizes.emplace_back()))
          return failure();
        axes.push_back(parser.getBuilder().getStringAttr(axis));
        return success();
      }))
    return failure();
  result.addAttribute(getAxesAttrName(result.name),
                      parser.getBuilder().getArrayAttr(axes));
  result.addAttribute(getSizesAttrName(result.name),
                      parser.getBuilder().getDenseI64ArrayAttr(sizes));
  return parser.parseOptionalAttrDict(result.attributes);
}

void MeshOp::print(OpAsmPrinter &printer) {
  printer << " ";
  printer.printSymbolName(getSymName());
  printer << " [";
  llvm::interleaveComma(llvm::zip(getAxes(), getSizes()), printer,
                        [&](auto pair) {
                          auto [axis, size] = pair;
                          printer << axis << " = " << size;
                        });
  printer << "]";
  printer.printOptionalAttrDict(
      (*this)->getAttrs(),
      {getSymNameAttrName(), getAxesAttrName(), getSizesAttrName()});
}

LogicalResult MeshOp::verify() {
  if (getAxes().size() != getSizes().size())
    return emitOpError("has ")
           << getAxes().size() << " axes and " << getSizes().size() << " sizes";
  llvm::SmallDenseSet<Attribute> seen;
  for (auto [axis, size] : llvm::zip(getAxes(), getSizes())) {
    if (!seen.insert(axis).second)
      return emitOpError("names axis ") << axis << " twice";
    if (size < 1)
      return emitOpError("axis ") << axis << " has size " << size;
  }
  return success();
}

std::optional<int64_t> MeshOp::getAxisSize(StringRef axis) {
  for (auto [name, size] : llvm::zip(getAxes(), getSizes()))
    if (cast<StringAttr>(name).getValue() == axis)
      return size;
  return std::nullopt;
}

std::optional<int64_t> MeshOp::getRefSize(AxisRefAttr ref) {
  std::optional<int64_t> size = getAxisSize(ref.getName());
  if (!size || ref.getPiece() < 0)
    return size;
  SmallVector<int64_t> pieces = axisPieces(*size);
  if (ref.getPiece() >= static_cast<int64_t>(pieces.size()))
    return std::nullopt;
  return pieces[ref.getPiece()];
}

int64_t MeshOp::getNumDevices() {
  int64_t devices = 1;
  for (int64_t size : getSizes())
    devices *= size;
  return devices;
}

SmallVector<int64_t> MeshOp::getCoordinates(int64_t device) {
  SmallVector<int64_t> coordinates(getSizes().size());
  for (size_t axis = getSizes().size(); axis-- > 0;) {
    coordinates[axis] = device % getSizes()[axis];
    device /= getSizes()[axis];
  }
  return coordinates;
}

//===----------------------------------------------------------------------===//
// Operand bindings: (%inside = %outside : type, …)
//===----------------------------------------------------------------------===//

/// Parses `(%arg = %operand : type, …)`.
static ParseResult
parseBindings(OpAsmParser &parser, OperationState &result,
              SmallVectorImpl<OpAsmParser::Argument> &arguments) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types;
  SMLoc loc = parser.getCurrentLocation();
  auto parseOne = [&]() -> ParseResult {
    if (parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
        parser.parseOperand(operands.emplace_back()) ||
        parser.parseColonType(types.emplace_back()))
      return failure();
    arguments.back().type = types.back();
    return success();
  };
  return failure(
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseOne) ||
      parser.resolveOperands(operands, types, loc, result.operands));
}

static void printBindings(OpAsmPrinter &printer, Block &body,
                          ValueRange operands) {
  printer << "(";
  llvm::interleaveComma(
      llvm::zip(body.getArguments(), operands), printer, [&](auto pair) {
        auto [argument, operand] = pair;
        printer << argument << " = " << operand << " : " << operand.getType();
      });
  printer << ")";
}

/// Parses `-> (types) attributes {…} {region}`.
static ParseResult parseBody(OpAsmParser &parser, OperationState &result,
                             ArrayRef<OpAsmParser::Argument> arguments) {
  if (parser.parseOptionalArrowTypeList(result.types) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  return parser.parseRegion(*result.addRegion(), arguments);
}

static void printBody(OpAsmPrinter &printer, Operation *op,
                      ArrayRef<StringRef> elided) {
  printer.printOptionalArrowTypeList(op->getResultTypes());
  printer.printOptionalAttrDictWithKeyword(op->getAttrs(), elided);
  printer << " ";
  printer.printRegion(op->getRegion(0), /*printEntryBlockArgs=*/false);
}

/// The terminator of `op` yields values of the result types.
static LogicalResult verifyYield(Operation *op) {
  Operation *yield = op->getRegion(0).front().getTerminator();
  if (yield->getOperandTypes() != op->getResultTypes())
    return op->emitOpError("yields ")
           << yield->getOperandTypes() << " but has results "
           << op->getResultTypes();
  return success();
}

//===----------------------------------------------------------------------===//
// accumulate
//===----------------------------------------------------------------------===//

/// One micro-batch of `type`: dimension 0 cut into `count` parts. Null when that is not possible.
static RankedTensorType microBatchType(RankedTensorType type, int64_t count) {
  if (type.getRank() == 0 || count < 1 || type.getDimSize(0) % count != 0)
    return {};
  SmallVector<int64_t> shape(type.getShape());
  shape[0] /= count;
  return type.clone(shape);
}

ParseResult AccumulateOp::parse(OpAsmParser &parser, OperationState &result) {
  int64_t count = 0;
  SmallVector<OpAsmParser::Argument> arguments;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword("micro_batches") || parser.parseEqual() ||
      parser.parseInteger(count) || parseBindings(parser, result, arguments))
    return failure();
  for (OpAsmParser::Argument &argument : arguments) {
    auto type = dyn_cast<RankedTensorType>(argument.type);
    argument.type = type ? microBatchType(type, count) : RankedTensorType();
    if (!argument.type)
      return parser.emitError(loc, "cannot cut ")
             << type << " into " << count << " micro-batches";
  }
  result.addAttribute(getMicroBatchesAttrName(result.name),
                      parser.getBuilder().getI64IntegerAttr(count));
  if (parseBody(parser, result, arguments))
    return failure();
  ensureTerminator(*result.regions.front(), parser.getBuilder(),
                   result.location);
  return success();
}

void AccumulateOp::print(OpAsmPrinter &printer) {
  printer << " micro_batches = " << getMicroBatches() << " ";
  printBindings(printer, *getBody(), getInputs());
  printBody(printer, *this, {getMicroBatchesAttrName()});
}

LogicalResult AccumulateOp::verify() {
  if (getBody()->getNumArguments() != getInputs().size())
    return emitOpError("has ") << getInputs().size() << " inputs and "
                               << getBody()->getNumArguments() << " arguments";
  auto count = static_cast<int64_t>(getMicroBatches());
  for (auto [input, argument] :
       llvm::zip(getInputs(), getBody()->getArguments()))
    if (argument.getType() != microBatchType(typeOf(input), count))
      return emitOpError("cannot cut ")
             << input.getType() << " into " << count << " micro-batches of "
             << argument.getType();
  return verifyYield(*this);
}

/// Floating-point operations of everything in a region.
static int64_t flopsOf(Region &region) {
  int64_t flops = 0;
  for (Operation &op : region.getOps())
    if (auto cost = dyn_cast<CostOpInterface>(op))
      flops += cost.getFlops();
  return flops;
}

int64_t AccumulateOp::getFlops() {
  return static_cast<int64_t>(getMicroBatches()) * flopsOf(getRegion());
}

//===----------------------------------------------------------------------===//
// kernel
//===----------------------------------------------------------------------===//

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  if (parseBindings(parser, result, arguments) ||
      parseBody(parser, result, arguments))
    return failure();
  ensureTerminator(*result.regions.front(), parser.getBuilder(),
                   result.location);
  return success();
}

void KernelOp::print(OpAsmPrinter &printer) {
  printer << " ";
  printBindings(printer, *getBody(), getInputs());
  printBody(printer, *this, {});
}

LogicalResult KernelOp::verify() {
  if (getBody()->getArgumentTypes() != getInputs().getTypes())
    return emitOpError("arguments ")
           << getBody()->getArgumentTypes() << " do not match the inputs "
           << getInputs().getTypes();
  return verifyYield(*this);
}

int64_t KernelOp::getFlops() { return flopsOf(getRegion()); }

//===----------------------------------------------------------------------===//
// task
//===----------------------------------------------------------------------===//

ParseResult TaskOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr symbol;
  std::string phase;
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Attribute> reads, writes;
  SMLoc loc;
  auto parseRead = [&]() -> ParseResult {
    FlatSymbolRefAttr slot;
    if (parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
        parser.parseAttribute(slot) ||
        parser.parseColonType(arguments.back().type))
      return failure();
    reads.push_back(slot);
    return success();
  };
  auto parseWrite = [&]() -> ParseResult {
    FlatSymbolRefAttr slot;
    if (parser.parseAttribute(slot))
      return failure();
    writes.push_back(slot);
    return success();
  };
  if (parser.parseSymbolName(symbol, getSymNameAttrName(result.name),
                             result.attributes) ||
      parser.getCurrentLocation(&loc) || parser.parseKeywordOrString(&phase) ||
      parser.parseKeyword("reads") ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseRead) ||
      parser.parseKeyword("writes") ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseWrite) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  std::optional<Phase> value = symbolizePhase(phase);
  if (!value)
    return parser.emitError(loc, "unknown phase ") << phase;
  Builder &builder = parser.getBuilder();
  result.addAttribute(getPhaseAttrName(result.name),
                      PhaseAttr::get(builder.getContext(), *value));
  result.addAttribute(getReadsAttrName(result.name),
                      builder.getArrayAttr(reads));
  result.addAttribute(getWritesAttrName(result.name),
                      builder.getArrayAttr(writes));
  if (parser.parseRegion(*result.addRegion(), arguments))
    return failure();
  ensureTerminator(*result.regions.front(), builder, result.location);
  return success();
}

void TaskOp::print(OpAsmPrinter &printer) {
  printer << " ";
  printer.printSymbolName(getSymName());
  printer << " " << stringifyPhase(getPhase()) << " reads(";
  llvm::interleaveComma(llvm::zip(getBody()->getArguments(), getReads()),
                        printer, [&](auto pair) {
                          auto [argument, slot] = pair;
                          printer << argument << " = " << slot << " : "
                                  << argument.getType();
                        });
  printer << ") writes(";
  llvm::interleaveComma(getWrites(), printer);
  printer << ")";
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {getSymNameAttrName(), getPhaseAttrName(),
                            getReadsAttrName(), getWritesAttrName()});
  printer << " ";
  printer.printRegion(getRegion(), /*printEntryBlockArgs=*/false);
}

LogicalResult TaskOp::verify() {
  if (getReads().size() != getBody()->getNumArguments())
    return emitOpError("reads ")
           << getReads().size() << " slots but has "
           << getBody()->getNumArguments() << " arguments";
  size_t returned = getBody()->getTerminator()->getNumOperands();
  if (getWrites().size() != returned)
    return emitOpError("writes ") << getWrites().size() << " slots but returns "
                                  << returned << " values";
  return success();
}

/// Type that a task sees of a slot: a prologue or update task sees all micro-batches of an input side by side.
static RankedTensorType seenType(SlotOp slot, Phase phase, int64_t count) {
  auto type = cast<RankedTensorType>(slot.getType());
  bool whole = phase == Phase::Prologue || phase == Phase::Update;
  if (!slot.getPerMicroBatch() || !whole || type.getRank() == 0)
    return type;
  SmallVector<int64_t> shape(type.getShape());
  shape[0] *= count;
  return type.clone(shape);
}

LogicalResult TaskOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto program = cast<ProgramOp>((*this)->getParentOp());
  auto check = [&](Attribute ref, Value value) -> LogicalResult {
    auto slot = symbolTable.lookupNearestSymbolFrom<SlotOp>(
        *this, cast<FlatSymbolRefAttr>(ref).getAttr());
    if (!slot)
      return emitOpError("names ") << ref << ", which is not a slot";
    RankedTensorType seen =
        seenType(slot, getPhase(), program.getMicroBatches());
    if (value.getType() != seen)
      return emitOpError("takes slot ")
             << ref << " as " << value.getType() << " but it is " << seen;
    return success();
  };
  for (auto [slot, value] : llvm::zip(getReads(), getBody()->getArguments()))
    if (failed(check(slot, value)))
      return failure();
  for (auto [slot, value] :
       llvm::zip(getWrites(), getBody()->getTerminator()->getOperands()))
    if (failed(check(slot, value)))
      return failure();
  return success();
}
