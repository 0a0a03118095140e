//===- VerifySchedule.cpp - Proofs about rank programs ---------*- C++ -*-===//
//
// Frameworks find out at run time, by a time-out, that a schedule hangs or that
// ranks disagree. Here the programs of all stages are known, so it is proven
// before anything runs. Ranks of one stage run one program, which makes most of
// it hold inside a stage by construction; what remains is between stages, and
// between micro-batches in a stage.
//
//===----------------------------------------------------------------------===//

#include "Rendezvous.h"
#include "fleet/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace fleet {
#define GEN_PASS_DEF_VERIFYSCHEDULE
#include "fleet/Transforms/Passes.h.inc"

using rank::BufferOp;
using rank::RecvOp;
using rank::RunOp;
using rank::SendOp;

/// " for micro-batch 3", or nothing.
static std::string forMicroBatch(std::optional<uint64_t> microBatch) {
  return microBatch ? " for micro-batch " + std::to_string(*microBatch) : "";
}

static rank::TaskOp taskOf(RunOp run) {
  auto program = run->getParentOfType<rank::ProgramOp>();
  return program.lookupSymbol<rank::TaskOp>(run.getTaskAttr());
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

namespace {
/// One end of a transfer.
struct Message {
  Operation *action;
  FlatSymbolRefAttr buffer;
  std::optional<uint64_t> microBatch;

  BufferOp getBuffer() const {
    auto program = action->getParentOfType<rank::ProgramOp>();
    return program.lookupSymbol<BufferOp>(buffer);
  }
  std::string describe() const {
    return "@" + buffer.getValue().str() + forMicroBatch(microBatch);
  }
};
} // namespace

/// Messages from stage `from` to stage `to`, as the programs of both see them.
static SmallVector<Message> sentMessages(rank::ProgramOp from, uint64_t to) {
  SmallVector<Message> messages;
  for (auto send : from.getActions().getOps<SendOp>())
    if (send.getToStage() == to)
      messages.push_back({send, send.getBufferAttr(), send.getMicroBatch()});
  return messages;
}

static SmallVector<Message> receivedMessages(uint64_t from,
                                             rank::ProgramOp to) {
  SmallVector<Message> messages;
  for (auto recv : to.getActions().getOps<RecvOp>())
    if (recv.getFromStage() == from)
      messages.push_back({recv, recv.getBufferAttr(), recv.getMicroBatch()});
  return messages;
}

static LogicalResult verifyMatch(const Message &sent, const Message &received,
                                 size_t number, StringRef from, StringRef to) {
  if (sent.buffer != received.buffer ||
      sent.microBatch != received.microBatch) {
    auto error = sent.action->emitError()
                 << from << " sends " << sent.describe() << " as message "
                 << number << " to " << to << ", which expects "
                 << received.describe();
    error.attachNote(received.action->getLoc()) << "expected here";
    return error;
  }
  Type sentType = sent.getBuffer().getType();
  Type receivedType = received.getBuffer().getType();
  if (sentType == receivedType)
    return success();
  auto error = sent.action->emitError()
               << from << " sends " << sent.describe() << " as " << sentType
               << " (" << byteSize(sentType) << " bytes), " << to
               << " receives it as " << receivedType << " ("
               << byteSize(receivedType) << " bytes)";
  error.attachNote(received.action->getLoc()) << "received here";
  return error;
}

/// Every send has its receive: for each pair of stages the same buffers of the
/// same type in the same order.
static LogicalResult verifyMessages(ArrayRef<rank::ProgramOp> programs) {
  for (auto [from, sender] : llvm::enumerate(programs))
    for (auto [to, receiver] : llvm::enumerate(programs)) {
      std::string fromName = "stage " + std::to_string(from);
      std::string toName = "stage " + std::to_string(to);
      SmallVector<Message> sent = sentMessages(sender, to);
      SmallVector<Message> received = receivedMessages(from, receiver);
      size_t common = std::min(sent.size(), received.size());
      for (size_t i = 0; i < common; ++i)
        if (failed(verifyMatch(sent[i], received[i], i, fromName, toName)))
          return failure();
      if (sent.size() > common)
        return sent[common].action->emitError()
               << fromName << " sends " << sent[common].describe() << " to "
               << toName << ", which never receives it";
      if (received.size() > common)
        return received[common].action->emitError()
               << toName << " receives " << received[common].describe()
               << " from " << fromName << ", which never sends it";
    }
  return success();
}

/// Transfers name stages that exist.
static LogicalResult verifyPeers(ArrayRef<rank::ProgramOp> programs) {
  for (auto [number, program] : llvm::enumerate(programs)) {
    rank::ProgramOp op = program;
    if (op.getStage() != number)
      return op.emitError("is stage ")
             << op.getStage() << ", expected stage " << number;
    for (Operation &action : op.getActions().getRegion().front()) {
      std::optional<uint64_t> peer;
      if (auto send = dyn_cast<SendOp>(action))
        peer = send.getToStage();
      if (auto recv = dyn_cast<RecvOp>(action))
        peer = recv.getFromStage();
      if (peer && *peer >= programs.size())
        return action.emitError("stage ")
               << number << " has stage " << *peer << " of " << programs.size()
               << " as peer";
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Order of tasks
//===----------------------------------------------------------------------===//

/// Prologue, micro-batches, and what comes after them.
static int partOf(rank::TaskOp task) {
  if (task.getPhase() == Phase::Prologue)
    return 0;
  return task.runsOnce() ? 2 : 1;
}

/// Updates come after all forwards and backwards, and these after the prologue.
static LogicalResult verifyPhases(rank::ProgramOp program) {
  RunOp latest;
  for (auto run : program.getActions().getOps<RunOp>()) {
    if (latest && partOf(taskOf(run)) < partOf(taskOf(latest))) {
      auto error = run.emitError("stage ")
                   << program.getStage() << " runs @" << run.getTask()
                   << forMicroBatch(run.getMicroBatch()) << " after @"
                   << latest.getTask() << ", which belongs behind it";
      error.attachNote(latest.getLoc()) << "runs here";
      return error;
    }
    latest = run;
  }
  return success();
}

/// Every task runs once, or once for each micro-batch.
static LogicalResult verifyCounts(rank::ProgramOp program) {
  llvm::DenseMap<std::pair<Attribute, uint64_t>, RunOp> runs;
  for (auto run : program.getActions().getOps<RunOp>()) {
    auto key = std::pair(Attribute(run.getTaskAttr()),
                         run.getMicroBatch().value_or(0));
    if (!runs.try_emplace(key, run).second)
      return run.emitError("stage ")
             << program.getStage() << " runs @" << run.getTask()
             << forMicroBatch(run.getMicroBatch()) << " twice";
  }
  for (auto task : program.getOps<rank::TaskOp>()) {
    uint64_t count = task.runsOnce() ? 1 : program.getMicroBatches();
    auto name = FlatSymbolRefAttr::get(task.getSymNameAttr());
    for (uint64_t m = 0; m < count; ++m)
      if (!runs.contains({name, m}))
        return task.emitError("stage ")
               << program.getStage() << " never runs @" << task.getSymName()
               << (task.runsOnce() ? "" : forMicroBatch(m));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

namespace {
/// Which micro-batch each slot of each buffer of a program holds while its
/// actions are executed.
class SlotTracker {
public:
  explicit SlotTracker(rank::ProgramOp program);
  LogicalResult run();

private:
  /// A value of a buffer, and whether anything holds it yet.
  static constexpr int64_t kNothing = -1;

  LogicalResult read(Operation *action, Attribute ref,
                     std::optional<uint64_t> microBatch);
  void write(Attribute ref, std::optional<uint64_t> microBatch);
  LogicalResult runTask(RunOp run);
  /// The micro-batches that an action for `microBatch` touches: that one, or
  /// all of them.
  std::pair<int64_t, int64_t> range(BufferOp buffer,
                                    std::optional<uint64_t> microBatch);

  rank::ProgramOp program;
  llvm::MapVector<Attribute, std::pair<BufferOp, SmallVector<int64_t>>> held;
};
} // namespace

SlotTracker::SlotTracker(rank::ProgramOp program) : program(program) {
  for (auto buffer : program.getOps<BufferOp>()) {
    SmallVector<int64_t> slots(buffer.getSlots(), kNothing);
    if (buffer.isBound())
      for (auto [number, slot] : llvm::enumerate(slots))
        slot = number;
    held[FlatSymbolRefAttr::get(buffer.getSymNameAttr())] = {buffer,
                                                             std::move(slots)};
  }
}

std::pair<int64_t, int64_t>
SlotTracker::range(BufferOp buffer, std::optional<uint64_t> microBatch) {
  if (!buffer.getPerMicroBatch())
    return {0, 1};
  if (microBatch)
    return {*microBatch, *microBatch + 1};
  return {0, program.getMicroBatches()};
}

LogicalResult SlotTracker::read(Operation *action, Attribute ref,
                                std::optional<uint64_t> microBatch) {
  auto &[buffer, slots] = held[ref];
  auto [begin, end] = range(buffer, microBatch);
  for (int64_t m = begin; m < end; ++m) {
    int64_t holds = slots[m % slots.size()];
    if (holds == m)
      continue;
    auto error = action->emitError("stage ") << program.getStage() << " reads ";
    error << ref;
    if (buffer.getPerMicroBatch())
      error << " for micro-batch " << m;
    if (holds == kNothing)
      return error << ", which nothing has written";
    return error << ", but slot " << m % slots.size() << " of " << slots.size()
                 << " holds micro-batch " << holds;
  }
  return success();
}

void SlotTracker::write(Attribute ref, std::optional<uint64_t> microBatch) {
  auto &[buffer, slots] = held[ref];
  auto [begin, end] = range(buffer, microBatch);
  for (int64_t m = begin; m < end; ++m)
    slots[m % slots.size()] = m;
}

LogicalResult SlotTracker::runTask(RunOp run) {
  rank::TaskOp task = taskOf(run);
  for (Attribute ref : task.getReads())
    if (failed(read(run, ref, run.getMicroBatch())))
      return failure();
  for (Attribute ref : task.getWrites())
    write(ref, run.getMicroBatch());
  return success();
}

LogicalResult SlotTracker::run() {
  for (Operation &action : program.getActions().getRegion().front()) {
    if (auto run = dyn_cast<RunOp>(action)) {
      if (failed(runTask(run)))
        return failure();
    } else if (auto send = dyn_cast<SendOp>(action)) {
      if (failed(read(send, send.getBufferAttr(), send.getMicroBatch())))
        return failure();
    } else if (auto recv = dyn_cast<RecvOp>(action)) {
      write(recv.getBufferAttr(), recv.getMicroBatch());
    }
  }
  for (auto &[ref, entry] : held)
    if (entry.first.getKind() == rank::BufferKind::Output &&
        llvm::is_contained(entry.second, kNothing))
      return entry.first.emitError("stage ")
             << program.getStage() << " never writes output " << ref;
  return success();
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

/// "fleet.all_reduce of 'tensor<2xf32>', 'tensor<4xf32>'".
static std::string describeCollective(Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << op->getName() << " of ";
  llvm::interleaveComma(op->getOperandTypes(), os);
  return text;
}

/// Two members of a communicator issue the same collectives in one order.
static LogicalResult verifySequences(ArrayRef<rank::ProgramOp> programs,
                                     const SpanningCollectives &spanning,
                                     AxisListAttr axes, int64_t stage,
                                     int64_t other) {
  ArrayRef<Operation *> own = spanning.sequence(stage, axes);
  ArrayRef<Operation *> expected = spanning.sequence(other, axes);
  size_t common = std::min(own.size(), expected.size());
  for (size_t i = 0; i < common; ++i) {
    if (describeCollective(own[i]) == describeCollective(expected[i]))
      continue;
    auto error = own[i]->emitError("stage ")
                 << stage << " issues " << describeCollective(own[i])
                 << " as collective " << i << " over " << axes << ", stage "
                 << other << " issues " << describeCollective(expected[i]);
    error.attachNote(expected[i]->getLoc()) << "issued here";
    return error;
  }
  if (own.size() == expected.size())
    return success();
  rank::ProgramOp program = programs[stage];
  return program.emitError("stage ")
         << stage << " issues " << own.size() << " collectives over " << axes
         << ", stage " << other << " issues " << expected.size();
}

/// Members of a communicator agree. Ranks of one stage do, as they run one
/// program.
static LogicalResult verifyCollectives(ArrayRef<rank::ProgramOp> programs,
                                       const SpanningCollectives &spanning) {
  for (size_t stage = 0; stage < programs.size(); ++stage)
    for (auto &[axes, operations] : spanning.sequences(stage))
      for (int64_t other : spanning.members(stage, axes))
        if (failed(verifySequences(programs, spanning, axes, stage, other)))
          return failure();
  return success();
}

namespace {
struct VerifySchedule : impl::VerifyScheduleBase<VerifySchedule> {
  void runOnOperation() final {
    SmallVector<rank::ProgramOp> programs(
        getOperation().getOps<rank::ProgramOp>());
    if (failed(verify(programs)))
      signalPassFailure();
    markAllAnalysesPreserved();
  }

  LogicalResult verify(ArrayRef<rank::ProgramOp> programs) {
    if (failed(verifyPeers(programs)))
      return failure();
    for (rank::ProgramOp program : programs)
      if (failed(verifyPhases(program)) || failed(verifyCounts(program)) ||
          failed(SlotTracker(program).run()))
        return failure();
    SpanningCollectives spanning(programs);
    if (failed(verifyMessages(programs)) ||
        failed(verifyCollectives(programs, spanning)))
      return failure();
    return verifyRendezvous(programs, spanning);
  }
};
} // namespace
} // namespace fleet
