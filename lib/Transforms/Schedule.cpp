//===- Schedule.cpp - Stage programs become rank programs ------*- C++ -*-===//
//
// Level 4 says what a stage computes; level 5 adds when, and where values live.
// Slots become buffers with as many slots as micro-batches of them are in
// flight at once, which follows from the list of actions and needs no formula
// per schedule.
//
//===----------------------------------------------------------------------===//

#include "PipelineOrder.h"
#include "fleet/Dialect/Rank/RankOps.h"
#include "fleet/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace fleet {
#define GEN_PASS_DEF_SCHEDULE
#include "fleet/Transforms/Passes.h.inc"

static bool contains(ArrayAttr refs, StringAttr name) {
  return llvm::is_contained(refs, FlatSymbolRefAttr::get(name));
}

static bool reads(const StageAction &action, StringAttr slot) {
  if (action.kind == StageAction::Run)
    return contains(TaskOp(action.task).getReads(), slot);
  return action.kind == StageAction::Send && action.slot == slot;
}

static bool writes(const StageAction &action, StringAttr slot) {
  if (action.kind == StageAction::Run)
    return contains(TaskOp(action.task).getWrites(), slot);
  return action.kind == StageAction::Recv && action.slot == slot;
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// Smallest number k of slots such that micro-batch m + k is first written
/// after micro-batch m was last used.
static int64_t slotsInFlight(ArrayRef<StageAction> actions, StringAttr slot,
                             int64_t microBatches) {
  std::vector<int64_t> first(microBatches, actions.size());
  std::vector<int64_t> last(microBatches, -1);
  for (auto [index, action] : llvm::enumerate(actions)) {
    if (!action.microBatch || (!reads(action, slot) && !writes(action, slot)))
      continue;
    int64_t m = *action.microBatch;
    first[m] = std::min<int64_t>(first[m], index);
    last[m] = index;
  }
  auto fits = [&](int64_t slots) {
    for (int64_t m = 0; m + slots < microBatches; ++m)
      if (last[m] >= first[m + slots])
        return false;
    return true;
  };
  int64_t slots = 1;
  while (!fits(slots))
    ++slots;
  return slots;
}

/// Whether anything but the outside uses the slot.
static bool isUsed(ArrayRef<StageAction> actions, SlotOp slot) {
  StringAttr name = slot.getSymNameAttr();
  return slot->hasAttr(attr::kOutput) || slot->hasAttr(attr::kGradient) ||
         llvm::any_of(actions, [&](const StageAction &action) {
           return reads(action, name) || writes(action, name);
         });
}

static void emitBuffer(OpBuilder &b, SlotOp slot, ArrayRef<StageAction> actions,
                       int64_t microBatches) {
  int64_t bytes = byteSize(slot.getType());
  int64_t slots = 1;
  // The micro-batches of an input lie side by side, since a task that runs once
  // sees them as one tensor.
  bool isInput = slot.getKind() == SlotKind::Input;
  if (slot.getPerMicroBatch())
    slots = isInput
                ? microBatches
                : slotsInFlight(actions, slot.getSymNameAttr(), microBatches);
  if (!isInput)
    bytes = llvm::alignTo(bytes, rank::kAlignment);
  auto kind = static_cast<rank::BufferKind>(slot.getKind());
  auto buffer = rank::BufferOp::create(
      b, slot.getLoc(), slot.getSymName(), slot.getType(), kind,
      slot.getPerMicroBatch(), IntegerAttr(), slots, bytes);
  buffer->setDiscardableAttrs(slot->getDiscardableAttrDictionary());
  buffer->removeAttr(attr::kToStages);
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

static void emitTask(OpBuilder &b, TaskOp task) {
  auto made =
      rank::TaskOp::create(b, task.getLoc(), task.getSymName(), task.getPhase(),
                           task.getReads(), task.getWrites());
  made->setDiscardableAttrs(task->getDiscardableAttrDictionary());
  made.getRegion().takeBody(task.getRegion());
  Operation *terminator = made.getRegion().front().getTerminator();
  OpBuilder end(terminator);
  rank::ReturnOp::create(end, terminator->getLoc(), terminator->getOperands());
  terminator->erase();
}

/// Sums that a task adds to before anything has written them. Level 4 lets them
/// start at 0.
static SmallVector<SlotOp> sumsToClear(ProgramOp program,
                                       ArrayRef<StageAction> actions) {
  SmallVector<SlotOp> sums;
  for (SlotOp slot : program.getOps<SlotOp>()) {
    bool isSum = slot.getKind() == SlotKind::Gradient ||
                 slot.getKind() == SlotKind::Output;
    if (!isSum || slot.getPerMicroBatch() || slot.getFromStage())
      continue;
    StringAttr name = slot.getSymNameAttr();
    const StageAction *first =
        llvm::find_if(actions, [&](const StageAction &action) {
          return reads(action, name) || writes(action, name);
        });
    if (first != actions.end() && reads(*first, name))
      sums.push_back(slot);
  }
  return sums;
}

/// A task that sets sums to 0; null when there is none.
static rank::TaskOp emitClear(OpBuilder &b, ArrayRef<SlotOp> sums,
                              StringRef name) {
  if (sums.empty())
    return {};
  SmallVector<Attribute> written;
  for (SlotOp sum : sums)
    written.push_back(FlatSymbolRefAttr::get(sum.getSymNameAttr()));
  auto task = rank::TaskOp::create(b, sums.front()->getParentOp()->getLoc(),
                                   name, Phase::Prologue, b.getArrayAttr({}),
                                   b.getArrayAttr(written));
  OpBuilder inner = OpBuilder::atBlockEnd(&task.getRegion().emplaceBlock());
  SmallVector<Value> zeros;
  for (SlotOp sum : sums)
    zeros.push_back(buildFull(inner, sum.getLoc(),
                              cast<RankedTensorType>(sum.getType()), 0));
  rank::ReturnOp::create(inner, task.getLoc(), zeros);
  return task;
}

//===----------------------------------------------------------------------===//
// Program
//===----------------------------------------------------------------------===//

/// A symbol of `program` that nothing has yet.
static std::string uniqueSymbol(rank::ProgramOp program, std::string name) {
  std::string candidate = name;
  for (unsigned i = 0; program.lookupSymbol(candidate); ++i)
    candidate = name + "_" + std::to_string(i);
  return candidate;
}

/// "dp_mp.1" for the axes {dp, mp:1}.
static std::string nameOf(AxisListAttr axes) {
  return llvm::join(llvm::map_range(axes.getAxes(),
                                    [](AxisRefAttr axis) {
                                      std::string name = axis.getName().str();
                                      if (axis.getPiece() >= 0)
                                        name += "." +
                                                std::to_string(axis.getPiece());
                                      return name;
                                    }),
                    "_");
}

/// One communicator for each distinct list of axes, in the order of their first
/// use, before everything else.
static void emitCommunicators(rank::ProgramOp program) {
  llvm::SetVector<AxisListAttr> lists;
  program.walk([&](KernelOpInterface op) {
    if (op.getKernelClass() == KernelClass::Collective)
      if (auto axes = op->getAttrOfType<AxisListAttr>("axes"))
        lists.insert(axes);
  });
  auto b = OpBuilder::atBlockBegin(&program.getRegion().front());
  for (AxisListAttr axes : lists)
    rank::CommunicatorOp::create(b, program.getLoc(),
                                 uniqueSymbol(program, nameOf(axes)), axes);
}

static void emitActions(OpBuilder &b, rank::ProgramOp program,
                        rank::TaskOp clear, ArrayRef<StageAction> actions) {
  Location loc = program.getLoc();
  auto list = rank::ActionsOp::create(b, loc);
  OpBuilder inner = OpBuilder::atBlockEnd(&list.getRegion().emplaceBlock());
  if (clear)
    rank::RunOp::create(inner, loc, clear.getSymName(), IntegerAttr());
  for (const StageAction &action : actions) {
    IntegerAttr microBatch;
    if (action.microBatch)
      microBatch = b.getI64IntegerAttr(*action.microBatch);
    switch (action.kind) {
    case StageAction::Run:
      rank::RunOp::create(inner, loc, TaskOp(action.task).getSymName(),
                          microBatch);
      break;
    case StageAction::Send:
      rank::SendOp::create(inner, loc, action.slot.getValue(), microBatch,
                           action.peer);
      break;
    case StageAction::Recv:
      rank::RecvOp::create(inner, loc, action.slot.getValue(), microBatch,
                           action.peer);
      break;
    }
  }
}

static void emitProgram(ProgramOp program, ArrayRef<StageAction> actions) {
  OpBuilder b(program);
  int64_t microBatches = program.getMicroBatches();
  auto made = rank::ProgramOp::create(b, program.getLoc(), program.getSymName(),
                                      program.getMesh(), program.getStage(),
                                      microBatches, IntegerAttr());
  made->setDiscardableAttrs(program->getDiscardableAttrDictionary());
  OpBuilder inner = OpBuilder::atBlockEnd(&made.getRegion().emplaceBlock());
  for (SlotOp slot : program.getOps<SlotOp>())
    if (isUsed(actions, slot))
      emitBuffer(inner, slot, actions, microBatches);
  std::string clearName = "clear";
  while (program.lookupSymbol(clearName))
    clearName += "_";
  rank::TaskOp clear =
      emitClear(inner, sumsToClear(program, actions), clearName);
  for (TaskOp task : program.getOps<TaskOp>())
    emitTask(inner, task);
  emitActions(inner, made, clear, actions);
  emitCommunicators(made);
  program.erase();
}

/// Stages stand in order, from 0, and run the same micro-batches.
static LogicalResult verifyStages(ModuleOp module,
                                  ArrayRef<ProgramOp> programs) {
  if (programs.empty())
    return module.emitError("has no stage program to schedule");
  for (auto [stage, program] : llvm::enumerate(programs)) {
    ProgramOp op = program;
    if (op.getStage() != stage)
      return op.emitError("is stage ")
             << op.getStage() << ", expected stage " << stage;
    ProgramOp first = programs.front();
    if (op.getMicroBatches() != first.getMicroBatches())
      return op.emitError("runs ")
             << op.getMicroBatches() << " micro-batches, stage 0 runs "
             << first.getMicroBatches();
  }
  return success();
}

namespace {
struct Schedule : impl::ScheduleBase<Schedule> {
  using ScheduleBase::ScheduleBase;

  void runOnOperation() final {
    ModuleOp module = getOperation();
    std::optional<PipelineMode> order =
        llvm::StringSwitch<std::optional<PipelineMode>>(mode)
            .Case("1F1B", PipelineMode::OneForwardOneBackward)
            .Case("F-then-B", PipelineMode::ForwardThenBackward)
            .Default(std::nullopt);
    SmallVector<ProgramOp> programs(module.getOps<ProgramOp>());
    if (!order) {
      module.emitError("schedule mode '")
          << mode << "' is not known, expected 1F1B or F-then-B";
      return signalPassFailure();
    }
    if (failed(verifyStages(module, programs)))
      return signalPassFailure();
    auto actions = orderPipeline(programs, *order);
    if (failed(actions))
      return signalPassFailure();
    for (auto [program, list] : llvm::zip_equal(programs, *actions))
      emitProgram(program, list);
    module->setAttr(attr::kLevel, Builder(module).getI32IntegerAttr(5));
  }
};
} // namespace
} // namespace fleet
