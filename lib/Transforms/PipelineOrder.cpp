//===- PipelineOrder.cpp - When every stage does what ----------*- C++ -*-===//
//
// First the tasks of each stage are put into the order of the schedule. Then
// all stages are played forward together: a transfer happens as one event on
// both sides, when its receiver is about to run the first task that reads the
// value; a stage runs its next task when it has received what the task reads
// and sent what it made. Where the last rule would stop everything (a value
// that is wanted much later), the sends at hand are put off to when they are
// wanted. Sends thus stand right after the task that makes the value, receives
// right before the one that reads it, and neighbouring stages exchange in the
// same order.
//
//===----------------------------------------------------------------------===//

#include "PipelineOrder.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace fleet;

namespace {
/// Parts of a step that follow one another on every stage.
enum class Part { Before, MicroBatches, After };

struct TaskRun {
  TaskOp task;
  std::optional<int64_t> microBatch;
  /// Transfers that this run needs and no earlier one does, and those of values
  /// that are complete after it.
  SmallVector<unsigned> needs, makes;
};

struct Transfer {
  StringAttr slot;
  int64_t from, to;
  std::optional<int64_t> microBatch;
  bool done = false;
};

struct Stage {
  ProgramOp program;
  std::vector<TaskRun> runs;
  size_t next = 0;
  /// Transfers that are made and hold up the next run until they are done.
  SmallVector<unsigned> unsent;
  std::vector<StageAction> actions;
};

class Orderer {
public:
  Orderer(ArrayRef<ProgramOp> programs, PipelineMode mode);
  FailureOr<SmallVector<std::vector<StageAction>>> order();

private:
  LogicalResult addTransfers(int64_t to);
  LogicalResult addTransfer(SlotOp slot, int64_t to,
                            std::optional<int64_t> microBatch);
  bool transferNeeded();
  bool canRun(const Stage &stage) const;
  void runNext(Stage &stage);
  LogicalResult putOffSends();

  SmallVector<Stage> stages;
  SmallVector<Transfer> transfers;
  /// Transfers that are made and not done, oldest first.
  std::vector<unsigned> waiting;
};
} // namespace

static Part partOf(TaskOp task) {
  switch (task.getPhase()) {
  case Phase::Prologue:
    return Part::Before;
  case Phase::Forward:
  case Phase::BackwardInput:
  case Phase::BackwardWeight:
    return Part::MicroBatches;
  case Phase::Reduce:
  case Phase::Update:
    return Part::After;
  }
  llvm_unreachable("unknown phase");
}

static bool contains(ArrayAttr refs, StringAttr name) {
  return llvm::is_contained(refs, FlatSymbolRefAttr::get(name));
}

/// The runs of a stage in the order of the schedule.
static std::vector<TaskRun> runsOf(ProgramOp program, int64_t numStages,
                                   PipelineMode mode) {
  std::vector<TaskRun> runs;
  auto add = [&](std::optional<int64_t> microBatch, auto wanted) {
    for (TaskOp task : program.getOps<TaskOp>())
      if (wanted(task))
        runs.push_back({task, microBatch, {}, {}});
  };
  auto forward = [&](int64_t m) {
    add(m, [](TaskOp task) { return task.getPhase() == Phase::Forward; });
  };
  auto backward = [&](int64_t m) {
    add(m, [](TaskOp task) {
      return partOf(task) == Part::MicroBatches &&
             task.getPhase() != Phase::Forward;
    });
  };
  int64_t count = program.getMicroBatches();
  int64_t stage = program.getStage();
  int64_t warmUp = mode == PipelineMode::ForwardThenBackward
                       ? count
                       : std::min(count, numStages - 1 - stage);
  add({}, [](TaskOp task) { return partOf(task) == Part::Before; });
  for (int64_t m = 0; m < warmUp; ++m)
    forward(m);
  for (int64_t m = 0; m < count; ++m) {
    if (warmUp + m < count)
      forward(warmUp + m);
    backward(m);
  }
  add({}, [](TaskOp task) { return partOf(task) == Part::After; });
  return runs;
}

Orderer::Orderer(ArrayRef<ProgramOp> programs, PipelineMode mode) {
  for (ProgramOp program : programs)
    stages.push_back(
        {program, runsOf(program, programs.size(), mode), 0, {}, {}});
}

/// The first run of `stage` that reads a slot; null when none does.
static TaskRun *findReader(Stage &stage, StringAttr slot,
                           std::optional<int64_t> microBatch) {
  for (TaskRun &run : stage.runs)
    if (contains(run.task.getReads(), slot) &&
        (!microBatch || !run.microBatch || run.microBatch == microBatch))
      return &run;
  return nullptr;
}

/// The run of `stage` after which the value of a slot that a task of part
/// `reader` gets is complete.
static TaskRun *findWriter(Stage &stage, StringAttr slot, Part reader,
                           std::optional<int64_t> microBatch) {
  for (TaskRun &run : llvm::reverse(stage.runs)) {
    if (!contains(run.task.getWrites(), slot))
      continue;
    bool inTime =
        microBatch ? run.microBatch == microBatch
                   : reader == Part::After || partOf(run.task) == Part::Before;
    if (inTime)
      return &run;
  }
  return nullptr;
}

LogicalResult Orderer::addTransfer(SlotOp slot, int64_t to,
                                   std::optional<int64_t> microBatch) {
  int64_t from = *slot.getFromStage();
  TaskRun *reader = findReader(stages[to], slot.getSymNameAttr(), microBatch);
  if (!reader)
    return success();
  if (microBatch && !reader->microBatch)
    return reader->task.emitError("reads @")
           << slot.getSymName() << " of stage " << from
           << ", which is sent one micro-batch at a time";
  TaskRun *writer = findWriter(stages[from], slot.getSymNameAttr(),
                               partOf(reader->task), microBatch);
  if (!writer)
    return slot.emitError("comes from stage ")
           << from << ", where no task writes it before @"
           << reader->task.getSymName() << " of stage " << to << " reads it";
  unsigned number = transfers.size();
  transfers.push_back({slot.getSymNameAttr(), from, to, microBatch});
  reader->needs.push_back(number);
  writer->makes.push_back(number);
  return success();
}

LogicalResult Orderer::addTransfers(int64_t to) {
  ProgramOp program = stages[to].program;
  for (SlotOp slot : program.getOps<SlotOp>()) {
    if (!slot.getFromStage())
      continue;
    if (*slot.getFromStage() >= stages.size())
      return slot.emitError("comes from stage ")
             << *slot.getFromStage() << " of " << stages.size();
    int64_t count = slot.getPerMicroBatch() ? program.getMicroBatches() : 1;
    for (int64_t m = 0; m < count; ++m)
      if (failed(addTransfer(slot, to,
                             slot.getPerMicroBatch() ? std::optional<int64_t>(m)
                                                     : std::nullopt)))
        return failure();
  }
  return success();
}

/// Performs the transfers that are made and that the next run of their receiver
/// needs, oldest first; false when there are none.
bool Orderer::transferNeeded() {
  size_t before = waiting.size();
  llvm::erase_if(waiting, [&](unsigned number) {
    Transfer &transfer = transfers[number];
    Stage &receiver = stages[transfer.to];
    Stage &sender = stages[transfer.from];
    if (!llvm::is_contained(receiver.runs[receiver.next].needs, number))
      return false;
    transfer.done = true;
    llvm::erase(sender.unsent, number);
    sender.actions.push_back({StageAction::Send,
                              {},
                              transfer.slot,
                              transfer.to,
                              transfer.microBatch});
    receiver.actions.push_back({StageAction::Recv,
                                {},
                                transfer.slot,
                                transfer.from,
                                transfer.microBatch});
    return true;
  });
  return waiting.size() < before;
}

bool Orderer::canRun(const Stage &stage) const {
  return stage.next < stage.runs.size() &&
         llvm::all_of(
             stage.runs[stage.next].needs,
             [&](unsigned number) { return transfers[number].done; });
}

void Orderer::runNext(Stage &stage) {
  TaskRun &run = stage.runs[stage.next++];
  stage.actions.push_back({StageAction::Run, run.task, {}, 0, run.microBatch});
  llvm::append_range(waiting, run.makes);
  llvm::append_range(stage.unsent, run.makes);
}

/// Nothing moves: lets the stage that has done least go on before it has sent
/// what it made.
LogicalResult Orderer::putOffSends() {
  Stage *least = nullptr;
  for (Stage &stage : stages)
    if (canRun(stage) && (!least || stage.next < least->next))
      least = &stage;
  if (least) {
    least->unsent.clear();
    return success();
  }
  for (Stage &stage : stages)
    if (stage.next < stage.runs.size())
      for (unsigned number : stage.runs[stage.next].needs)
        if (!transfers[number].done)
          return stage.runs[stage.next].task.emitError("needs @")
                 << transfers[number].slot.getValue() << " of stage "
                 << transfers[number].from << ", which waits for stage "
                 << stage.program.getStage() << " in turn";
  llvm_unreachable("a stage that can run was not found");
}

FailureOr<SmallVector<std::vector<StageAction>>> Orderer::order() {
  for (size_t stage = 0; stage < stages.size(); ++stage)
    if (failed(addTransfers(stage)))
      return failure();
  auto isDone = [](const Stage &stage) {
    return stage.next == stage.runs.size();
  };
  while (!llvm::all_of(stages, isDone)) {
    bool moved = transferNeeded();
    for (Stage &stage : stages)
      if (!moved && stage.unsent.empty() && canRun(stage)) {
        runNext(stage);
        moved = true;
      }
    if (!moved && failed(putOffSends()))
      return failure();
  }
  SmallVector<std::vector<StageAction>> actions;
  for (Stage &stage : stages)
    actions.push_back(std::move(stage.actions));
  return actions;
}

FailureOr<SmallVector<std::vector<StageAction>>>
fleet::orderPipeline(ArrayRef<ProgramOp> programs, PipelineMode mode) {
  return Orderer(programs, mode).order();
}
