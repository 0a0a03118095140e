//===- SplitParameters.cpp - Parts of fused parameters ---------*- C++ -*-===//
//
// Moves slices up to the parameters that they are really taken from. Which operations a slice may pass is read from their
// sharding rules: the sliced dimension must be one pass-through factor of its own.
//
//===----------------------------------------------------------------------===//

#include "StepFunction.h"
#include "fleet/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace fleet {
#define GEN_PASS_DEF_SPLITPARAMETERS
#include "fleet/Transforms/Passes.h.inc"

namespace {
/// The one dimension that a slice cuts.
struct Cut {
  int64_t dim, offset, size;
};

/// Local form of an operation on a part of one factor.
class PartForm : public LocalForm {
public:
  PartForm(unsigned factor, int64_t shards) : factor(factor), count(shards) {}
  int64_t shards(unsigned other) const final {
    return other == factor ? count : 1;
  }
  Value offset(OpBuilder &, Location, unsigned) const final {
    llvm_unreachable("operations that ask for their position are not sliced");
  }
  Value combine(OpBuilder &, Location, unsigned, Value, bool) const final {
    llvm_unreachable("operations that combine shards are not sliced");
  }

private:
  unsigned factor;
  int64_t count;
};
} // namespace

static std::optional<Cut> cutOf(SliceOp op) {
  std::optional<Cut> cut;
  for (auto [d, size] : llvm::enumerate(typeOf(op.getOperand()).getShape())) {
    if (op.getSizes()[d] == size)
      continue;
    if (cut)
      return std::nullopt;
    cut = {static_cast<int64_t>(d), op.getOffsets()[d], op.getSizes()[d]};
  }
  return cut;
}

static SliceOp sliceOf(OpBuilder &b, Location loc, Value value, Cut cut) {
  SmallVector<int64_t> offsets(typeOf(value).getRank(), 0),
      sizes(typeOf(value).getShape());
  offsets[cut.dim] = cut.offset;
  sizes[cut.dim] = cut.size;
  return SliceOp::create(b, loc, value, offsets, sizes);
}

/// True when every use of `value` is a slice of one and the same dimension.
static bool isOnlySliced(Value value) {
  std::optional<int64_t> dim;
  for (Operation *user : value.getUsers()) {
    auto slice = dyn_cast<SliceOp>(user);
    std::optional<Cut> cut = slice ? cutOf(slice) : std::nullopt;
    if (!cut || (dim && *dim != cut->dim))
      return false;
    dim = cut->dim;
  }
  return dim.has_value();
}

/// The factor that dimension `dim` of the result is, when a slice of it is the operation on slices of operands.
static std::optional<unsigned> sliceableFactor(const ShardingRule &rule,
                                               int64_t dim) {
  const DimFactors &factors = rule.results[0][dim];
  if (factors.size() != 1 ||
      rule.factors[factors[0]].kind != FactorKind::PassThrough)
    return std::nullopt;
  for (const TensorFactors &operand : rule.operands)
    for (const DimFactors &other : operand)
      if (other.size() > 1 && llvm::is_contained(other, factors[0]))
        return std::nullopt;
  return factors[0];
}

/// True when following `value` up to its operations meets a parameter: only then is moving a slice of use.
static bool reachesParameter(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return false;
  auto func = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  return func && func.getArgAttr(argument.getArgNumber(), attr::kParam);
}

/// slice(op(x, y)) becomes op(slice(x), slice(y)) where the sliced factor stands in the operands.
static LogicalResult moveSliceUp(SliceOp slice, PatternRewriter &rewriter) {
  auto op = slice.getOperand().getDefiningOp<ShardingRuleOpInterface>();
  std::optional<Cut> cut = cutOf(slice);
  if (!op || !cut || op->getNumResults() != 1 || op->getNumOperands() == 0 ||
      isa<SliceOp>(op) || !isOnlySliced(op->getResult(0)))
    return failure();
  int64_t whole = typeOf(op->getResult(0)).getDimSize(cut->dim);
  // Parts of equal size that tile the dimension: shards, as a local form understands them.
  if (whole % cut->size != 0 || cut->offset % cut->size != 0)
    return failure();
  ShardingRule rule = op.getShardingRule();
  std::optional<unsigned> factor = sliceableFactor(rule, cut->dim);
  if (!factor)
    return failure();
  SmallVector<Value> operands;
  bool useful = false;
  for (auto [operand, dims] : llvm::zip(op->getOperands(), rule.operands)) {
    Value part = operand;
    for (auto [d, list] : llvm::enumerate(dims))
      if (llvm::is_contained(list, *factor)) {
        part = sliceOf(rewriter, slice.getLoc(), operand,
                       {static_cast<int64_t>(d), cut->offset, cut->size});
        useful |= reachesParameter(operand) || operand.getDefiningOp();
      }
    operands.push_back(part);
  }
  if (!useful)
    return failure();
  SmallVector<Value> local =
      op.buildLocal(rewriter, operands, PartForm(*factor, whole / cut->size));
  rewriter.replaceOp(slice, local[0]);
  return success();
}

/// Makes one argument for each slice of a parameter that is only sliced. True when it was.
static bool splitArgument(func::FuncOp func, unsigned number) {
  BlockArgument argument = func.getArgument(number);
  if (!func.getArgAttr(number, attr::kParam) ||
      func.getArgAttr(number, attr::kPiece) || !isOnlySliced(argument))
    return false;
  llvm::MapVector<Attribute, SmallVector<SliceOp>> parts;
  for (Operation *user : argument.getUsers()) {
    auto slice = cast<SliceOp>(user);
    parts[slice.getOffsetsAttr()].push_back(slice);
  }
  for (auto &[key, slices] : parts)
    for (SliceOp slice : slices)
      if (slice.getType() != slices.front().getType())
        return false;
  SmallVector<Attribute> order;
  for (auto &[key, slices] : parts)
    order.push_back(key);
  llvm::sort(order, [](Attribute a, Attribute b) {
    return cast<DenseI64ArrayAttr>(a).asArrayRef() <
           cast<DenseI64ArrayAttr>(b).asArrayRef();
  });
  unsigned next = number + 1;
  for (Attribute key : order) {
    SliceOp first = parts[key].front();
    NamedAttrList attributes(func.getArgAttrDict(number));
    attributes.set(attr::kPiece,
                   PieceAttr::get(func.getContext(), first.getOffsets(),
                                  typeOf(argument).getShape()));
    LogicalResult inserted = func.insertArgument(
        next, first.getType(), attributes.getDictionary(func.getContext()),
        func.getLoc());
    assert(succeeded(inserted) && "a function takes more arguments");
    (void)inserted;
    for (SliceOp slice : parts[key]) {
      slice.replaceAllUsesWith(Value(func.getArgument(next)));
      slice.erase();
    }
    ++next;
  }
  LogicalResult erased = func.eraseArgument(number);
  assert(succeeded(erased) && "the argument has no uses left");
  (void)erased;
  return true;
}

namespace {
struct SplitParameters : impl::SplitParametersBase<SplitParameters> {
  using SplitParametersBase::SplitParametersBase;

  void runOnOperation() final {
    auto func = getOperation().lookupSymbol<func::FuncOp>("model");
    if (!func) {
      getOperation().emitError(
          "the module has no @model to split parameters of");
      return signalPassFailure();
    }
    RewritePatternSet patterns(&getContext());
    patterns.add(moveSliceUp);
    if (failed(applyPatternsGreedily(func, std::move(patterns))))
      return signalPassFailure();
    for (unsigned number = func.getNumArguments(); number-- > 0;)
      numSplit += splitArgument(func, number);
  }
};
} // namespace
} // namespace fleet
