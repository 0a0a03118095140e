//===- Partition.cpp - Local shapes and explicit collectives ---*- C++ -*-===//
//
// Rewrites the planned step into what one device executes, by sharding rules alone.
//
//===----------------------------------------------------------------------===//

#include "Reshard.h"
#include "fleet/Analysis/Propagation.h"
#include "fleet/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace fleet {
#define GEN_PASS_DEF_PARTITION
#include "fleet/Transforms/Passes.h.inc"

namespace {
/// Local form of one operation: its factors are cut over mesh pieces.
class MeshForm : public LocalForm {
public:
  MeshForm(const ShardingRule &rule, const FactorPieces &pieces,
           MeshPieces &mesh)
      : rule(rule), pieces(pieces), mesh(mesh) {}

  int64_t shards(unsigned factor) const final {
    return MeshPieces::product(pieces[factor]);
  }
  Value offset(OpBuilder &b, Location loc, unsigned factor) const final {
    auto type = RankedTensorType::get({}, b.getI64Type());
    return ShardOffsetOp::create(b, loc, type, rule.factors[factor].size,
                                 mesh.collapse(pieces[factor]));
  }
  Value combine(OpBuilder &b, Location loc, unsigned factor, Value value,
                bool max) const final {
    return AllReduceOp::create(b, loc, value, mesh.collapse(pieces[factor]),
                               max ? ReductionKind::Max : ReductionKind::Sum)
        .getResult(0);
  }

private:
  const ShardingRule &rule;
  const FactorPieces &pieces;
  MeshPieces &mesh;
};

/// Gives every new operation the discardable attributes of the operation that it is made for.
class AttributeStamp : public OpBuilder::Listener {
public:
  void setSource(Operation *op) { source = op; }
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) final {
    for (StringRef name : {attr::kPhase, attr::kStage, attr::kOrigin})
      if (Attribute value = source->getAttr(name))
        if (!op->hasAttr(name))
          op->setAttr(name, value);
  }

private:
  Operation *source = nullptr;
};

class Partitioner {
public:
  Partitioner(func::FuncOp func, MeshOp mesh)
      : func(func), propagation(func, mesh), mesh(propagation.getMesh()),
        builder(func.getContext()) {
    builder.setListener(&stamp);
  }

  LogicalResult run();

private:
  LogicalResult readPlan();
  void partitionBlock(Block &from);
  void partitionOp(ShardingRuleOpInterface op);
  void partitionAccumulate(AccumulateOp op);
  void partitionReturn(func::ReturnOp op);
  void define(Value planned, Value local, const TensorSharding &produced);
  Value get(Value planned, const TensorSharding &wanted);
  void remarkGather(Value planned, const TensorSharding &wanted);

  func::FuncOp func;
  Propagation propagation;
  MeshPieces &mesh;
  OpBuilder builder;
  AttributeStamp stamp;
  /// For each planned value the shardings in which it exists, the planned one first.
  llvm::DenseMap<Value, SmallVector<std::pair<TensorSharding, Value>, 1>> local;
  /// Operation that operands are being brought to.
  Operation *current = nullptr;
};
} // namespace

/// Loads the shardings that the plan wrote.
LogicalResult Partitioner::readPlan() {
  for (BlockArgument argument : func.getArguments()) {
    auto sharding = func.getArgAttrOfType<ShardingAttr>(argument.getArgNumber(),
                                                        attr::kSharding);
    if (!sharding)
      return func.emitError("argument ")
             << argument.getArgNumber() << " has no sharding";
    propagation.set(argument, fromAttr(sharding, mesh), true);
  }
  WalkResult walk = func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == func || op->getNumResults() == 0)
      return WalkResult::advance();
    auto shardings = op->getAttrOfType<ArrayAttr>(attr::kShardings);
    if (!shardings || shardings.size() != op->getNumResults()) {
      op->emitError("has no sharding for each result");
      return WalkResult::interrupt();
    }
    for (auto [result, sharding] : llvm::zip(op->getResults(), shardings))
      propagation.set(result, fromAttr(cast<ShardingAttr>(sharding), mesh),
                      true);
    if (auto accumulate = dyn_cast<AccumulateOp>(op))
      for (auto [outer, inner] : llvm::zip(
               accumulate.getInputs(), accumulate.getBody()->getArguments()))
        propagation.set(inner, propagation.get(outer), true);
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

/// A value that is gathered for a use is memory and traffic that the user did not ask for: say where.
void Partitioner::remarkGather(Value planned, const TensorSharding &wanted) {
  const TensorSharding &have = propagation.get(planned);
  for (auto [own, other] : llvm::zip(have.dims, wanted.dims))
    if (!isPrefix(own, other)) {
      current->emitRemark("gathers an operand of ")
          << planned.getType() << ": it lies as " << toAttr(have, mesh)
          << ", needed as " << toAttr(wanted, mesh);
      return;
    }
}

Value Partitioner::get(Value planned, const TensorSharding &wanted) {
  auto &forms = local.find(planned)->second;
  for (auto &[sharding, value] : forms)
    if (sharding == wanted)
      return value;
  if (!isa<func::ReturnOp>(current))
    remarkGather(planned, wanted);
  Value value = reshard(builder, current->getLoc(), mesh, forms.front().second,
                        forms.front().first, wanted);
  // Forms made inside a region are not visible outside of it.
  if (forms.front().second.getParentBlock() == builder.getInsertionBlock())
    forms.push_back({wanted, value});
  return value;
}

void Partitioner::define(Value planned, Value value,
                         const TensorSharding &produced) {
  const TensorSharding &final = propagation.get(planned);
  Value placed = reshard(builder, value.getLoc(), mesh, value, produced, final);
  local[planned] = {{final, placed}};
}

void Partitioner::partitionOp(ShardingRuleOpInterface op) {
  const ShardingRule &rule = propagation.ruleOf(op);
  FactorPieces pieces = propagation.factorPieces(op);
  SmallVector<PieceList> unreduced;
  for (Value operand : op->getOperands())
    unreduced.push_back(propagation.get(operand).unreduced);
  const auto *group = linearGroup(rule, pieces, unreduced);
  SmallVector<Value> operands;
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    TensorSharding wanted =
        fromFactors(rule.operands[index], rule.factors, pieces);
    if (group && llvm::is_contained(*group, index))
      wanted.unreduced = unreduced[index];
    else
      unreduced[index].clear();
    operands.push_back(get(operand, wanted));
  }
  SmallVector<Value> results =
      op.buildLocal(builder, operands, MeshForm(rule, pieces, mesh));
  SmallVector<TensorSharding, 2> produced =
      producedShardings(rule, pieces, unreduced);
  for (auto [planned, value, sharding] :
       llvm::zip(op->getResults(), results, produced)) {
    if (Attribute name = op->getAttr(attr::kName))
      if (Operation *made = value.getDefiningOp())
        made->setAttr(attr::kName, name);
    define(planned, value, sharding);
  }
}

/// Operand numbers of a terminator in the order in which the operands are made.
static SmallVector<unsigned> readyOrder(Operation *yield) {
  llvm::DenseMap<Operation *, unsigned> position;
  for (auto [index, op] : llvm::enumerate(*yield->getBlock()))
    position[&op] = index + 1;
  SmallVector<std::pair<unsigned, unsigned>> keyed;
  for (OpOperand &operand : yield->getOpOperands())
    keyed.push_back({position.lookup(operand.get().getDefiningOp()),
                     operand.getOperandNumber()});
  llvm::sort(keyed);
  return llvm::map_to_vector(keyed, [](auto pair) { return pair.second; });
}

void Partitioner::partitionAccumulate(AccumulateOp op) {
  SmallVector<Value> inputs;
  for (Value input : op.getInputs())
    inputs.push_back(get(input, propagation.get(input)));
  Operation *yield = op.getBody()->getTerminator();
  SmallVector<Type> types;
  for (Value result : yield->getOperands())
    types.push_back(*localType(typeOf(result), propagation.get(result)));
  auto made = AccumulateOp::create(builder, op.getLoc(), types, inputs,
                                   op.getMicroBatches());
  {
    OpBuilder::InsertionGuard guard(builder);
    Block *body = builder.createBlock(&made.getRegion());
    for (BlockArgument argument : op.getBody()->getArguments()) {
      const TensorSharding &sharding = propagation.get(argument);
      Value inner = body->addArgument(*localType(typeOf(argument), sharding),
                                      argument.getLoc());
      local[argument] = {{sharding, inner}};
    }
    partitionBlock(*op.getBody());
    current = yield;
    stamp.setSource(yield);
    SmallVector<Value> yielded;
    for (Value result : yield->getOperands())
      yielded.push_back(get(result, propagation.get(result)));
    YieldOp::create(builder, yield->getLoc(), yielded);
  }
  stamp.setSource(op);
  // Reductions stand in the order in which their operands become ready.
  for (unsigned index : readyOrder(yield))
    define(op.getResult(index), made.getResult(index),
           propagation.get(yield->getOperand(index)));
}

/// Updated arguments go back to how they are stored; everything else leaves whole and reduced.
void Partitioner::partitionReturn(func::ReturnOp op) {
  SmallVector<Value> results;
  for (auto [index, value] : llvm::enumerate(op.getOperands())) {
    TensorSharding wanted(typeOf(value).getRank());
    if (auto updated =
            func.getResultAttrOfType<IntegerAttr>(index, attr::kUpdates))
      wanted = propagation.get(func.getArgument(updated.getInt()));
    else if (func.getResultAttr(index, attr::kGradient))
      wanted.dims = propagation.get(value).dims;
    func.setResultAttr(index, attr::kSharding, toAttr(wanted, mesh));
    results.push_back(get(value, wanted));
  }
  func::ReturnOp::create(builder, op.getLoc(), results);
}

void Partitioner::partitionBlock(Block &from) {
  for (Operation &op : from) {
    current = &op;
    stamp.setSource(&op);
    if (auto accumulate = dyn_cast<AccumulateOp>(op))
      partitionAccumulate(accumulate);
    else if (auto ruled = dyn_cast<ShardingRuleOpInterface>(op))
      partitionOp(ruled);
    else if (auto returned = dyn_cast<func::ReturnOp>(op))
      partitionReturn(returned);
  }
}

LogicalResult Partitioner::run() {
  if (failed(readPlan()))
    return failure();
  Block &planned = func.getBody().front();
  Block *body = builder.createBlock(&func.getBody(), func.getBody().end());
  for (BlockArgument argument : planned.getArguments()) {
    const TensorSharding &sharding = propagation.get(argument);
    std::optional<RankedTensorType> type =
        localType(typeOf(argument), sharding);
    if (!type)
      return func.emitError("argument ")
             << argument.getArgNumber() << " of " << argument.getType()
             << " does not divide over " << toAttr(sharding, mesh);
    local[argument] = {{sharding, body->addArgument(*type, argument.getLoc())}};
  }
  partitionBlock(planned);
  planned.dropAllDefinedValueUses();
  planned.erase();
  func.setType(FunctionType::get(func.getContext(), body->getArgumentTypes(),
                                 body->getTerminator()->getOperandTypes()));
  func.walk([](Operation *op) { op->removeAttr(attr::kShardings); });
  func.walk([](Operation *op) { op->removeAttr(attr::kPinned); });
  return success();
}

namespace {
struct Partition : impl::PartitionBase<Partition> {
  using PartitionBase::PartitionBase;

  void runOnOperation() final {
    auto func = getOperation().lookupSymbol<func::FuncOp>("step");
    MeshOp mesh = findMesh(getOperation());
    if (!func || !mesh) {
      getOperation().emitError("partition needs @step and a mesh");
      return signalPassFailure();
    }
    if (failed(Partitioner(func, mesh).run()))
      return signalPassFailure();
    func.walk([&](KernelOpInterface op) {
      numCollectives += op.getKernelClass() == KernelClass::Collective;
    });
  }
};
} // namespace
} // namespace fleet
