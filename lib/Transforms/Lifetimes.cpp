//===- Lifetimes.cpp - When buffers hold something that is needed -*- C++
//-*-===//
//
// Slots are followed through the whole list of actions. Temporaries need no
// such list: whether one overlaps another, or a slot, is decided inside the
// task, where a slot counts as living at a position if it does so in any run.
// That keeps a step of hundreds of micro-batches as cheap as one of a few.
//
//===----------------------------------------------------------------------===//

#include "Lifetimes.h"
#include "fleet/Analysis/Placement.h"

using namespace mlir;
using namespace fleet;
using fleet::rank::BufferOp;

//===----------------------------------------------------------------------===//
// Intervals
//===----------------------------------------------------------------------===//

/// Sorts and merges what touches.
static void normalize(std::vector<Interval> &intervals) {
  llvm::sort(intervals, [](const Interval &a, const Interval &b) {
    return a.begin < b.begin;
  });
  std::vector<Interval> merged;
  for (const Interval &interval : intervals) {
    if (!merged.empty() && interval.begin <= merged.back().end)
      merged.back().end = std::max(merged.back().end, interval.end);
    else
      merged.push_back(interval);
  }
  intervals = std::move(merged);
}

/// Whether two sorted lists have a moment in common.
static bool intersect(ArrayRef<Interval> a, ArrayRef<Interval> b) {
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i].begin < b[j].end && b[j].begin < a[i].end)
      return true;
    a[i].end < b[j].end ? ++i : ++j;
  }
  return false;
}

void Lifetimes::Piece::read(int64_t moment) {
  if (since < 0)
    since = moment;
  needed = moment;
}

void Lifetimes::Piece::write(int64_t moment) {
  close();
  since = needed = moment;
}

void Lifetimes::Piece::close() {
  if (since >= 0)
    moments.push_back({since, needed + 1});
  since = -1;
}

//===----------------------------------------------------------------------===//
// Reading the program
//===----------------------------------------------------------------------===//

bool Lifetimes::isTemporary(unsigned buffer) const {
  return BufferOp(buffers[buffer]).getKind() == rank::BufferKind::Temporary;
}

bool Lifetimes::isPermanent(unsigned buffer) const {
  BufferOp op = buffers[buffer];
  return op.isBound() || op.getKind() == rank::BufferKind::Output;
}

LogicalResult Lifetimes::readTasks(rank::ProgramOp program) {
  for (auto op : program.getOps<rank::TaskOp>()) {
    FailureOr<Placement> placement = Placement::get(op);
    if (failed(placement))
      return failure();
    taskNumbers[FlatSymbolRefAttr::get(op.getSymNameAttr())] = tasks.size();
    Task &task = tasks.emplace_back();
    auto numberAt = [&](Value value) {
      BufferOp buffer = placement->lookup(value).buffer;
      return numberOf(FlatSymbolRefAttr::get(buffer.getSymNameAttr()));
    };
    for (Operation &inner : op.getRegion().front().without_terminator()) {
      if (!inner.hasAttr(rank::kBuffersAttr))
        continue; // A view touches nothing; who reads it does.
      for (Value operand : inner.getOperands())
        task.accesses.push_back({numberAt(operand), task.length, false});
      for (Value result : inner.getResults())
        task.accesses.push_back({numberAt(result), task.length, true});
      ++task.length;
    }
    task.length = std::max<int64_t>(task.length, 1);
  }
  return success();
}

MutableArrayRef<Lifetimes::Piece>
Lifetimes::piecesOf(unsigned buffer, std::optional<uint64_t> microBatch) {
  MutableArrayRef<Piece> all = pieces[buffer];
  if (microBatch)
    return all.slice(*microBatch % all.size(), 1);
  return all;
}

void Lifetimes::addAccesses(unsigned task, int64_t base,
                            std::optional<uint64_t> microBatch) {
  for (const Access &access : tasks[task].accesses) {
    if (isTemporary(access.buffer))
      continue;
    for (Piece &piece : piecesOf(access.buffer, microBatch))
      access.isWrite ? piece.write(base + access.position)
                     : piece.read(base + access.position);
  }
}

void Lifetimes::playTransfer(Attribute ref, std::optional<uint64_t> microBatch,
                             bool isWrite) {
  for (Piece &piece : piecesOf(numberOf(ref), microBatch))
    isWrite ? piece.write(numMoments) : piece.read(numMoments);
  ++numMoments;
}

void Lifetimes::playActions(rank::ProgramOp program) {
  for (Operation &action : program.getActions().getRegion().front()) {
    if (auto run = dyn_cast<rank::RunOp>(action)) {
      unsigned task = taskNumbers.lookup(run.getTaskAttr());
      tasks[task].runs.push_back(numMoments);
      addAccesses(task, numMoments, run.getMicroBatch());
      numMoments += tasks[task].length;
    } else if (auto send = dyn_cast<rank::SendOp>(action)) {
      playTransfer(send.getBufferAttr(), send.getMicroBatch(), false);
    } else if (auto recv = dyn_cast<rank::RecvOp>(action)) {
      playTransfer(recv.getBufferAttr(), recv.getMicroBatch(), true);
    }
  }
}

/// Temporaries: positions in the tasks that use them.
void Lifetimes::finishTemporaries() {
  for (auto [number, task] : llvm::enumerate(tasks)) {
    for (const Access &access : task.accesses) {
      if (!isTemporary(access.buffer))
        continue;
      Piece &piece = pieces[access.buffer].front();
      access.isWrite ? piece.write(access.position)
                     : piece.read(access.position);
      auto &inTasks = piece.inTasks;
      if (inTasks.empty() || inTasks.back().first != number)
        inTasks.push_back({static_cast<unsigned>(number), {}});
    }
    for (auto [buffer, slots] : llvm::enumerate(pieces)) {
      Piece &piece = slots.front();
      if (!isTemporary(buffer) || piece.inTasks.empty() ||
          piece.inTasks.back().first != number)
        continue;
      piece.close();
      normalize(piece.moments);
      piece.inTasks.back().second = std::move(piece.moments);
      piece.moments.clear();
    }
  }
}

/// Slots: what was written last and outlives the step, and where runs of tasks
/// meet them.
void Lifetimes::finishSlots() {
  for (auto [buffer, slots] : llvm::enumerate(pieces)) {
    if (isTemporary(buffer) || isPermanent(buffer))
      continue;
    bool reported = BufferOp(buffers[buffer])->hasAttr(attr::kGradient);
    for (Piece &piece : slots) {
      if (reported)
        piece.read(numMoments - 1);
      piece.close();
      normalize(piece.moments);
      for (auto [number, task] : llvm::enumerate(tasks)) {
        std::vector<Interval> positions;
        for (const Interval &life : piece.moments) {
          auto first = llvm::upper_bound(task.runs, life.begin - task.length);
          for (auto run = first; run != task.runs.end() && *run < life.end;
               ++run)
            positions.push_back(
                {std::max<int64_t>(life.begin - *run, 0),
                 std::min<int64_t>(life.end - *run, task.length)});
          normalize(positions);
        }
        if (!positions.empty())
          piece.inTasks.push_back(
              {static_cast<unsigned>(number), std::move(positions)});
      }
    }
  }
}

FailureOr<Lifetimes> Lifetimes::get(rank::ProgramOp program) {
  Lifetimes lifetimes;
  for (auto buffer : program.getOps<BufferOp>()) {
    lifetimes.numbers[FlatSymbolRefAttr::get(buffer.getSymNameAttr())] =
        lifetimes.buffers.size();
    lifetimes.buffers.push_back(buffer);
    lifetimes.pieces.emplace_back(buffer.getSlots());
  }
  if (failed(lifetimes.readTasks(program)))
    return failure();
  lifetimes.playActions(program);
  lifetimes.finishTemporaries();
  lifetimes.finishSlots();
  return lifetimes;
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

bool Lifetimes::conflict(unsigned bufferA, unsigned slotA, unsigned bufferB,
                         unsigned slotB) const {
  const Piece &a = pieces[bufferA][slotA];
  const Piece &b = pieces[bufferB][slotB];
  if (!isTemporary(bufferA) && !isTemporary(bufferB))
    return intersect(a.moments, b.moments);
  for (const auto &[task, positions] : a.inTasks)
    for (const auto &[other, otherPositions] : b.inTasks)
      if (task == other && intersect(positions, otherPositions))
        return true;
  return false;
}

int64_t Lifetimes::getStart(unsigned buffer) const {
  int64_t start = numMoments;
  for (const Piece &piece : pieces[buffer]) {
    if (!piece.moments.empty())
      start = std::min(start, piece.moments.front().begin);
    if (isTemporary(buffer))
      for (const auto &[task, positions] : piece.inTasks)
        if (!tasks[task].runs.empty())
          start = std::min(start,
                           tasks[task].runs.front() + positions.front().begin);
  }
  return start;
}

int64_t Lifetimes::getPeak() const {
  std::vector<int64_t> change(numMoments + 1, 0);
  auto add = [&](int64_t base, ArrayRef<Interval> intervals, int64_t bytes) {
    for (const Interval &interval : intervals) {
      change[base + interval.begin] += bytes;
      change[base + interval.end] -= bytes;
    }
  };
  int64_t permanent = 0;
  for (unsigned buffer = 0; buffer < buffers.size(); ++buffer) {
    BufferOp op = buffers[buffer];
    int64_t bytes = op.getSlotBytes();
    if (isPermanent(buffer)) {
      permanent += op.getBytes();
      continue;
    }
    for (const Piece &piece : pieces[buffer]) {
      add(0, piece.moments, bytes);
      if (!isTemporary(buffer))
        continue;
      for (const auto &[task, positions] : piece.inTasks)
        for (int64_t run : tasks[task].runs)
          add(run, positions, bytes);
    }
  }
  int64_t peak = 0, live = 0;
  for (int64_t bytes : change) {
    live += bytes;
    peak = std::max(peak, live);
  }
  return permanent + peak;
}
