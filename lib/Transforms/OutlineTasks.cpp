//===- OutlineTasks.cpp - One program of tasks per stage -------*- C++ -*-===//
//
// Builds the stage programs by demand: a stage starts from the parameters that it uses and the outputs that it owns, and
// takes from the local step what these need. Whatever another stage makes becomes a slot that is sent.
//
//===----------------------------------------------------------------------===//

#include "StageSlots.h"
#include "fleet/Analysis/Sharding.h"
#include "fleet/Transforms/Passes.h"

using namespace mlir;

namespace fleet {
#define GEN_PASS_DEF_OUTLINETASKS
#include "fleet/Transforms/Passes.h.inc"

namespace {
/// Code of a stage that runs as one piece.
struct Task {
  std::string name;
  Phase phase;
  llvm::SetVector<Operation *> ops;
  /// Values from slots.
  llvm::SetVector<Value> reads;
  /// Values that go to the slot of the same key; accumulated results are keyed by accumulate's result.
  llvm::SetVector<Value> writes;
};

struct Stage {
  Task prologue{"prologue", Phase::Prologue, {}, {}, {}};
  Task forward{"forward", Phase::Forward, {}, {}, {}};
  Task backward{"backward", Phase::BackwardInput, {}, {}, {}};
  /// Tasks after the last micro-batch; what a task receives was made in one with a lower number.
  std::map<int64_t, Task> updates;
  llvm::MapVector<Value, Slot> slots;
  /// Level of values after accumulate.
  llvm::DenseMap<Value, int64_t> levels;
  /// Output slots: name in the step's results and the value that goes there.
  SmallVector<std::pair<std::string, Value>> outputs;
};

class Outliner {
public:
  Outliner(func::FuncOp func, AccumulateOp accumulate, MeshOp mesh)
      : plan(func, accumulate, mesh.getAxisSize("pp").value_or(1)), namer(plan),
        mesh(mesh), stages(plan.numStages) {}

  void run();

private:
  // Demand.
  void splitSums();
  void needAccumulated();
  void needResults();
  void needInRegion(int64_t stage, bool backward, Value value);
  void needOp(int64_t stage, bool backward, Operation *op);
  void needOutside(int64_t stage, Task &task, Value value);
  void needPrologue(int64_t stage, Value value);
  void publish(int64_t owner, int64_t reader, Value value);
  void keep(int64_t stage, Value value);
  int64_t needAfter(int64_t stage, Value value);
  int64_t needTerm(int64_t stage, Value term);
  Task &updateTask(int64_t stage, int64_t level);
  void crossLevels(int64_t stage);
  void readAcross(int64_t stage, int64_t level, Value value);

  // Slots.
  Slot &slotOf(int64_t stage, Value value);

  // Emission.
  void emit(int64_t stage, OpBuilder &b);
  void emitSlots(int64_t stage, OpBuilder &b);
  void emitTask(int64_t stage, Task &task, OpBuilder &b);
  void emitZeros(int64_t stage, OpBuilder &b, IRMapping &map, Task &task,
                 SmallVectorImpl<Value> &values,
                 SmallVectorImpl<Attribute> &symbols);
  Value written(int64_t stage, const Task &task, OpBuilder &b, IRMapping &map,
                Value key);

  bool accumulates() { return plan.accumulate.getMicroBatches() > 1; }
  Task &taskOf(int64_t stage, bool backward) {
    return backward ? stages[stage].backward : stages[stage].forward;
  }
  Value yielded(Value result) {
    return plan.accumulate.getBody()->getTerminator()->getOperand(
        *plan.accumulatedIndex(result));
  }

  StagePlan plan;
  SlotNamer namer;
  MeshOp mesh;
  SmallVector<Stage, 0> stages;
};
} // namespace

//===----------------------------------------------------------------------===//
// Demand
//===----------------------------------------------------------------------===//

/// Makes the partial sums of exchanged sums operations of their own, so that each term of such a sum has one home.
void Outliner::splitSums() {
  SmallVector<SumOp> sums(plan.func.getOps<SumOp>());
  for (SumOp sum : sums) {
    auto groups = plan.termsByHome(sum);
    if (groups.size() < 2)
      continue;
    OpBuilder b(sum);
    SmallVector<Value> partials;
    for (auto &[home, terms] : groups) {
      Value partial = terms[0];
      if (terms.size() > 1) {
        auto made = SumOp::create(b, sum.getLoc(), sum.getType(), terms);
        made->setDiscardableAttrs(sum->getDiscardableAttrDictionary());
        partial = made;
      }
      partials.push_back(partial);
    }
    sum.getTermsMutable().assign(partials);
  }
}

/// Every accumulated value is made by its owner, whoever reads it.
void Outliner::needAccumulated() {
  for (OpResult result : plan.accumulate.getResults()) {
    if (result.use_empty())
      continue;
    int64_t owner = plan.ownerOf(result.getResultNumber());
    Operation *made = yielded(result).getDefiningOp();
    bool backward = made && plan.isBackward(made);
    Task &task = taskOf(owner, backward);
    task.writes.insert(result);
    if (accumulates())
      task.reads.insert(result);
    slotOf(owner, result);
    needInRegion(owner, backward, yielded(result));
  }
}

void Outliner::needOutside(int64_t stage, Task &task, Value value) {
  slotOf(stage, value);
  task.reads.insert(value);
  if (value.getDefiningOp())
    needPrologue(stage, value);
}

/// A value that is made before the micro-batches.
void Outliner::needPrologue(int64_t stage, Value value) {
  slotOf(stage, value);
  Task &prologue = stages[stage].prologue;
  if (!prologue.writes.insert(value))
    return;
  SmallVector<Operation *> pending = {value.getDefiningOp()};
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val();
    if (!prologue.ops.insert(op))
      continue;
    for (Value operand : op->getOperands()) {
      if (Operation *next = operand.getDefiningOp()) {
        pending.push_back(next);
      } else {
        slotOf(stage, operand);
        prologue.reads.insert(operand);
      }
    }
  }
}

/// `owner` writes `value` into a slot and sends it to `reader`.
void Outliner::publish(int64_t owner, int64_t reader, Value value) {
  slotOf(owner, value).toStages.insert(reader);
  slotOf(reader, value).fromStage = owner;
  keep(owner, value);
}

/// `stage` makes `value` of the region in a task and keeps it in a slot.
void Outliner::keep(int64_t stage, Value value) {
  Operation *made = value.getDefiningOp();
  bool backward = plan.isBackward(made);
  slotOf(stage, value);
  if (taskOf(stage, backward).writes.insert(value))
    needOp(stage, backward, made);
}

/// Operations that cost nothing to repeat: saving their results would only take memory.
static bool isCheap(Operation *op) {
  auto kernel = dyn_cast<KernelOpInterface>(op);
  if (!kernel)
    return false;
  KernelClass kind = kernel.getKernelClass();
  return kind == KernelClass::View || kind == KernelClass::Broadcast ||
         kind == KernelClass::Generator;
}

/// Constants and the like: every task makes its own.
static bool isGenerator(Operation *op) {
  auto kernel = dyn_cast_or_null<KernelOpInterface>(op);
  return kernel && kernel.getKernelClass() == KernelClass::Generator;
}

void Outliner::needInRegion(int64_t stage, bool backward, Value value) {
  Task &task = taskOf(stage, backward);
  Operation *made = value.getDefiningOp();
  if (isGenerator(made)) {
    task.ops.insert(made);
    return;
  }
  if (!made || !plan.inRegion(made)) {
    // An argument of the region is an input's micro-batch.
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && argument.getOwner() == plan.accumulate.getBody()) {
      task.reads.insert(value);
      slotOf(stage, plan.accumulate.getInputs()[argument.getArgNumber()]);
      return;
    }
    needOutside(stage, task, value);
    return;
  }
  int64_t owner = plan.stageOf(made).value_or(stage);
  if (owner != stage) {
    publish(owner, stage, value);
    task.reads.insert(value);
  } else if (backward && !plan.isBackward(made) && plan.stageOf(made) &&
             !isCheap(made)) {
    keep(stage, value);
    task.reads.insert(value);
  } else {
    needOp(stage, backward, made);
  }
}

void Outliner::needOp(int64_t stage, bool backward, Operation *op) {
  if (!taskOf(stage, backward).ops.insert(op))
    return;
  for (Value operand : op->getOperands())
    needInRegion(stage, backward, operand);
}

Task &Outliner::updateTask(int64_t stage, int64_t level) {
  auto [it, inserted] = stages[stage].updates.try_emplace(level);
  if (inserted) {
    it->second.name = "update_" + std::to_string(level);
    it->second.phase = Phase::Update;
  }
  return it->second;
}

/// Makes a value after the last micro-batch available on a stage; returns the update task in which it is first there.
int64_t Outliner::needAfter(int64_t stage, Value value) {
  auto &levels = stages[stage].levels;
  if (auto it = levels.find(value); it != levels.end())
    return it->second;
  Operation *made = value.getDefiningOp();
  int64_t level = 0;
  if (std::optional<unsigned> index = plan.accumulatedIndex(value)) {
    int64_t owner = plan.ownerOf(*index);
    slotOf(stage, value);
    if (owner != stage) {
      slotOf(owner, value).toStages.insert(stage);
      slotOf(stage, value).fromStage = owner;
    }
  } else if (!made) {
    slotOf(stage, value);
  } else if (isGenerator(made)) {
    return 0;
  } else if (made->isBeforeInBlock(plan.accumulate)) {
    needPrologue(stage, value);
  } else {
    auto sum = dyn_cast<SumOp>(made);
    bool exchanged = sum && plan.termsByHome(sum).size() > 1;
    for (Value operand : made->getOperands())
      level = std::max(level, exchanged ? needTerm(stage, operand)
                                        : needAfter(stage, operand));
    updateTask(stage, level).ops.insert(made);
  }
  levels[value] = level;
  return level;
}

/// A term of an exchanged sum: made here, or received from its home one task later.
int64_t Outliner::needTerm(int64_t stage, Value term) {
  int64_t home = plan.homeOf(term);
  if (home == stage || plan.accumulatedIndex(term))
    return needAfter(stage, term);
  auto &levels = stages[stage].levels;
  if (auto it = levels.find(term); it != levels.end())
    return it->second;
  int64_t made = needAfter(home, term);
  updateTask(home, made).writes.insert(term);
  slotOf(home, term).toStages.insert(stage);
  slotOf(stage, term).fromStage = home;
  return levels[term] = made + 1;
}

/// Parameters of a stage are those that its tasks read; their updates and state, and the outputs, are what it must make.
void Outliner::needResults() {
  func::FuncOp func = plan.func;
  Operation *terminator = func.getBody().front().getTerminator();
  auto identity = [&](unsigned argument, StringRef name) {
    return std::pair(func.getArgAttr(argument, name),
                     func.getArgAttr(argument, attr::kPiece));
  };
  int64_t last = plan.numStages - 1;
  for (int64_t stage = 0; stage <= last; ++stage) {
    llvm::DenseSet<std::pair<Attribute, Attribute>> used;
    for (Task *task : {&stages[stage].forward, &stages[stage].backward})
      for (Value value : task->reads)
        if (auto argument = dyn_cast<BlockArgument>(value))
          if (argument.getOwner() == &func.getBody().front())
            used.insert(identity(argument.getArgNumber(), attr::kParam));
    for (OpOperand &result : terminator->getOpOperands()) {
      unsigned number = result.getOperandNumber();
      if (auto updated =
              func.getResultAttrOfType<IntegerAttr>(number, attr::kUpdates)) {
        auto argument = static_cast<unsigned>(updated.getInt());
        StringRef kind =
            func.getArgAttr(argument, attr::kParam) ? attr::kParam : attr::kOf;
        if (!used.contains(identity(argument, kind)))
          continue;
        BlockArgument target = func.getArgument(argument);
        slotOf(stage, target);
        stages[stage].outputs.push_back(
            {slotOf(stage, target).name, result.get()});
      } else if (auto name = func.getResultAttrOfType<StringAttr>(
                     number, attr::kOutput)) {
        if (stage != last)
          continue;
        stages[stage].outputs.push_back(
            {namer.uniqueName("out_" + name.getValue().str()), result.get()});
      } else {
        continue;
      }
      updateTask(stage, needAfter(stage, result.get()));
    }
  }
}

/// Values that one update task makes and a later one reads go through slots.
void Outliner::crossLevels(int64_t stage) {
  for (auto &[level, task] : stages[stage].updates) {
    SmallVector<Operation *> ops(task.ops.begin(), task.ops.end());
    for (Operation *op : ops)
      for (Value operand : op->getOperands())
        if (isGenerator(operand.getDefiningOp()))
          task.ops.insert(operand.getDefiningOp());
        else
          readAcross(stage, level, operand);
  }
}

/// An update task that does not make `value` reads it from a slot, which the task that makes it writes.
void Outliner::readAcross(int64_t stage, int64_t level, Value value) {
  auto &updates = stages[stage].updates;
  Task &task = updates.find(level)->second;
  Operation *made = value.getDefiningOp();
  if (made && task.ops.contains(made))
    return;
  task.reads.insert(value);
  for (auto &[other, producer] : updates)
    if (other != level && made && producer.ops.contains(made)) {
      slotOf(stage, value);
      producer.writes.insert(value);
    }
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

Slot &Outliner::slotOf(int64_t stage, Value value) {
  auto &slots = stages[stage].slots;
  auto it = slots.find(value);
  if (it == slots.end())
    it = slots.insert({value, namer.describe(value)}).first;
  return it->second;
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

void Outliner::emitSlots(int64_t stage, OpBuilder &b) {
  for (auto &[value, slot] : stages[stage].slots) {
    IntegerAttr from;
    if (slot.fromStage)
      from = b.getI64IntegerAttr(*slot.fromStage);
    auto made = SlotOp::create(b, value.getLoc(), slot.name, slot.type,
                               slot.kind, slot.perMicroBatch, from);
    made->setDiscardableAttrs(b.getDictionaryAttr(slot.attributes));
    if (!slot.toStages.empty()) {
      SmallVector<int64_t> to(slot.toStages.begin(), slot.toStages.end());
      llvm::sort(to);
      made->setAttr(attr::kToStages, b.getDenseI64ArrayAttr(to));
    }
  }
  for (auto &[name, value] : stages[stage].outputs) {
    StringRef output = name;
    if (!output.consume_front("out_"))
      continue;
    auto made = SlotOp::create(b, value.getLoc(), name, typeOf(value),
                               SlotKind::Output, false, IntegerAttr());
    made->setAttr(attr::kOutput, b.getStringAttr(output));
  }
}

/// Prologue: sums over micro-batches start from zero.
void Outliner::emitZeros(int64_t stage, OpBuilder &b, IRMapping &map,
                         Task &task, SmallVectorImpl<Value> &values,
                         SmallVectorImpl<Attribute> &symbols) {
  if (!accumulates())
    return;
  for (auto &[value, slot] : stages[stage].slots) {
    if (slot.kind != SlotKind::Gradient || slot.fromStage)
      continue;
    values.push_back(buildFull(b, value.getLoc(), slot.type, 0));
    symbols.push_back(FlatSymbolRefAttr::get(b.getContext(), slot.name));
  }
}

/// The value that goes to the slot of `key`: one of the region's results is added to what the slot holds.
Value Outliner::written(int64_t stage, const Task &task, OpBuilder &b,
                        IRMapping &map, Value key) {
  if (!plan.accumulatedIndex(key) || task.phase == Phase::Update)
    return map.lookup(key);
  Value term = map.lookup(yielded(key));
  if (!accumulates())
    return term;
  auto sum = AddOp::create(b, key.getLoc(), map.lookup(key), term);
  if (Operation *made = yielded(key).getDefiningOp())
    sum->setDiscardableAttrs(made->getDiscardableAttrDictionary());
  return sum;
}

void Outliner::emitTask(int64_t stage, Task &task, OpBuilder &b) {
  Stage &own = stages[stage];
  SmallVector<Attribute> reads, symbols;
  IRMapping map;
  auto block = std::make_unique<Block>();
  for (Value value : task.reads) {
    Value key = value;
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && argument.getOwner() == plan.accumulate.getBody())
      key = plan.accumulate.getInputs()[argument.getArgNumber()];
    reads.push_back(
        FlatSymbolRefAttr::get(b.getContext(), slotOf(stage, key).name));
    map.map(value, block->addArgument(value.getType(), value.getLoc()));
  }
  OpBuilder inner(b.getContext());
  inner.setInsertionPointToEnd(block.get());
  SmallVector<Operation *> ops(task.ops.begin(), task.ops.end());
  // Constants may stand outside of the region whose operations read them.
  llvm::sort(ops, [&](Operation *a, Operation *b) {
    if (a->getBlock() != b->getBlock())
      return plan.inRegion(b);
    return a->isBeforeInBlock(b);
  });
  for (Operation *op : ops) {
    Operation *clone = inner.clone(*op, map);
    clone->removeAttr(attr::kStage);
  }
  SmallVector<Value> values;
  for (Value key : task.writes) {
    values.push_back(written(stage, task, inner, map, key));
    symbols.push_back(
        FlatSymbolRefAttr::get(b.getContext(), slotOf(stage, key).name));
  }
  if (task.phase == Phase::Prologue)
    emitZeros(stage, inner, map, task, values, symbols);
  if (task.phase == Phase::Update)
    for (auto &[name, value] : own.outputs)
      if (&updateTask(stage, own.levels[value]) == &task) {
        values.push_back(map.lookup(value));
        symbols.push_back(FlatSymbolRefAttr::get(b.getContext(), name));
      }
  if (values.empty())
    return;
  ReturnOp::create(inner, plan.func.getLoc(), values);
  auto made = TaskOp::create(b, plan.func.getLoc(), task.name, task.phase,
                             b.getArrayAttr(reads), b.getArrayAttr(symbols));
  made.getRegion().push_back(block.release());
}

void Outliner::emit(int64_t stage, OpBuilder &b) {
  auto program = ProgramOp::create(
      b, plan.func.getLoc(), "stage" + std::to_string(stage), mesh.getSymName(),
      stage, plan.accumulate.getMicroBatches());
  Block *body = b.createBlock(&program.getRegion());
  OpBuilder inner = OpBuilder::atBlockEnd(body);
  Stage &own = stages[stage];
  // Values that go out unchanged are read by the task that writes the output.
  for (auto &[name, value] : own.outputs) {
    Task &task = updateTask(stage, own.levels[value]);
    Operation *made = value.getDefiningOp();
    if (!made || !task.ops.contains(made)) {
      slotOf(stage, value);
      task.reads.insert(value);
    }
  }
  OpBuilder::InsertionGuard guard(b);
  emitSlots(stage, inner);
  emitTask(stage, own.prologue, inner);
  emitTask(stage, own.forward, inner);
  emitTask(stage, own.backward, inner);
  for (auto &[level, task] : own.updates)
    emitTask(stage, task, inner);
}

void Outliner::run() {
  splitSums();
  needAccumulated();
  needResults();
  for (int64_t stage = 0; stage < plan.numStages; ++stage)
    crossLevels(stage);
  OpBuilder b(plan.func);
  for (int64_t stage = 0; stage < plan.numStages; ++stage) {
    b.setInsertionPoint(plan.func);
    emit(stage, b);
  }
  plan.func.erase();
}

namespace {
struct OutlineTasks : impl::OutlineTasksBase<OutlineTasks> {
  using OutlineTasksBase::OutlineTasksBase;

  void runOnOperation() final {
    auto func = getOperation().lookupSymbol<func::FuncOp>("step");
    MeshOp mesh = findMesh(getOperation());
    if (!func || !mesh) {
      getOperation().emitError("tasks need @step and a mesh");
      return signalPassFailure();
    }
    auto accumulates = func.getOps<AccumulateOp>();
    if (accumulates.empty()) {
      func.emitError("tasks need the micro-batches of fleet.accumulate");
      return signalPassFailure();
    }
    Outliner(func, *accumulates.begin(), mesh).run();
    getOperation()->setAttr(
        attr::kLevel, IntegerAttr::get(IntegerType::get(&getContext(), 32), 4));
  }
};
} // namespace
} // namespace fleet
