//===- Rendezvous.cpp - Execution of all stages against each other -*- C++
//-*-===//
//
// The stages are played forward as far as they go. What one stage can do never
// takes away what another can, so the order of play does not matter: if it gets
// stuck, every execution does.
//
//===----------------------------------------------------------------------===//

#include "Rendezvous.h"
#include "fleet/Dialect/Fleet/MeshPieces.h"

using namespace mlir;
using namespace fleet;
using fleet::rank::RecvOp;
using fleet::rank::RunOp;
using fleet::rank::SendOp;

/// The axis that tells pipeline stages apart.
static constexpr StringLiteral kStageAxis = "pp";

//===----------------------------------------------------------------------===//
// Collectives over several stages
//===----------------------------------------------------------------------===//

/// The axes of a collective; null for any other operation.
static AxisListAttr collectiveAxes(Operation *op) {
  auto kernel = dyn_cast<KernelOpInterface>(op);
  if (!kernel || !kernel.communicates())
    return {};
  return op->getAttrOfType<AxisListAttr>("axes");
}

static bool spansStages(AxisListAttr axes) {
  return llvm::any_of(axes.getAxes(), [](AxisRefAttr axis) {
    return axis.getName() == kStageAxis;
  });
}

static rank::TaskOp taskOf(RunOp run) {
  auto program = run->getParentOfType<rank::ProgramOp>();
  return program.lookupSymbol<rank::TaskOp>(run.getTaskAttr());
}

SpanningCollectives::SpanningCollectives(ArrayRef<rank::ProgramOp> programs)
    : numStages(programs.size()), perStage(programs.size()) {
  if (programs.empty())
    return;
  rank::ProgramOp first = programs.front();
  auto mesh = SymbolTable::lookupNearestSymbolFrom<MeshOp>(first->getParentOp(),
                                                           first.getMeshAttr());
  pieces = axisPieces(mesh.getAxisSize(kStageAxis).value_or(1));
  for (auto [stage, program] : llvm::enumerate(programs))
    for (auto run : rank::ProgramOp(program).getActions().getOps<RunOp>())
      for (Operation &op : taskOf(run).getRegion().front())
        if (AxisListAttr axes = collectiveAxes(&op))
          if (spansStages(axes))
            perStage[stage][axes].push_back(&op);
}

ArrayRef<Operation *> SpanningCollectives::sequence(int64_t stage,
                                                    AxisListAttr axes) const {
  auto it = perStage[stage].find(axes);
  if (it == perStage[stage].end())
    return {};
  return it->second;
}

SmallVector<AxisListAttr> SpanningCollectives::axesOf(rank::TaskOp task) const {
  SmallVector<AxisListAttr> result;
  for (Operation &op : task.getRegion().front())
    if (AxisListAttr axes = collectiveAxes(&op))
      if (spansStages(axes))
        result.push_back(axes);
  return result;
}

SmallVector<int64_t> SpanningCollectives::members(int64_t stage,
                                                  AxisListAttr axes) const {
  // Digits of a stage number that differ between members.
  llvm::SmallDenseSet<int64_t> free;
  for (AxisRefAttr axis : axes.getAxes()) {
    if (axis.getName() != kStageAxis)
      continue;
    for (int64_t piece = 0; piece < static_cast<int64_t>(pieces.size());
         ++piece)
      if (axis.getPiece() < 0 || axis.getPiece() == piece)
        free.insert(piece);
  }
  auto isMember = [&](int64_t other) {
    int64_t a = stage, b = other;
    for (int64_t piece = pieces.size(); piece-- > 0;) {
      if (a % pieces[piece] != b % pieces[piece] && !free.contains(piece))
        return false;
      a /= pieces[piece];
      b /= pieces[piece];
    }
    return true;
  };
  SmallVector<int64_t> result;
  for (int64_t other = 0; other < numStages; ++other)
    if (isMember(other))
      result.push_back(other);
  return result;
}

//===----------------------------------------------------------------------===//
// Play
//===----------------------------------------------------------------------===//

namespace {
/// What a stage may have to wait in.
struct Step {
  Operation *action;
  enum Kind { Send, Recv, Collective } kind;
  /// Send and receive.
  int64_t peer = 0;
  /// Collective.
  AxisListAttr axes;
};

class Play {
public:
  Play(ArrayRef<rank::ProgramOp> programs, const SpanningCollectives &spanning);

  /// Executes as much as there is, with room for `capacity` messages on their
  /// way between two stages; true when everything was executed.
  bool run(int64_t capacity);
  /// Reports a cycle of the stages that are stuck.
  LogicalResult reportCycle(int64_t enough) const;

private:
  bool isDone(int64_t stage) const {
    return next[stage] == steps[stage].size();
  }
  const Step &current(int64_t stage) const { return steps[stage][next[stage]]; }
  bool advance(int64_t stage, int64_t capacity);
  bool advanceCollective(int64_t stage);
  /// A stage that `stage` waits for.
  int64_t awaited(int64_t stage) const;
  std::string describe(int64_t stage) const;

  const SpanningCollectives &spanning;
  std::vector<std::vector<Step>> steps;
  std::vector<size_t> next;
  /// Messages on their way, by sender and receiver.
  std::vector<std::vector<int64_t>> inFlight;
};
} // namespace

Play::Play(ArrayRef<rank::ProgramOp> programs,
           const SpanningCollectives &spanning)
    : spanning(spanning), steps(programs.size()) {
  for (auto [stage, program] : llvm::enumerate(programs))
    for (Operation &action :
         rank::ProgramOp(program).getActions().getRegion().front()) {
      if (auto send = dyn_cast<SendOp>(action))
        steps[stage].push_back(
            {send, Step::Send, static_cast<int64_t>(send.getToStage()), {}});
      else if (auto recv = dyn_cast<RecvOp>(action))
        steps[stage].push_back(
            {recv, Step::Recv, static_cast<int64_t>(recv.getFromStage()), {}});
      else if (auto run = dyn_cast<RunOp>(action))
        for (AxisListAttr axes : spanning.axesOf(taskOf(run)))
          steps[stage].push_back({run, Step::Collective, 0, axes});
    }
}

bool Play::advanceCollective(int64_t stage) {
  AxisListAttr axes = current(stage).axes;
  SmallVector<int64_t> members = spanning.members(stage, axes);
  for (int64_t member : members)
    if (isDone(member) || current(member).kind != Step::Collective ||
        current(member).axes != axes)
      return false;
  for (int64_t member : members)
    ++next[member];
  return true;
}

bool Play::advance(int64_t stage, int64_t capacity) {
  if (isDone(stage))
    return false;
  const Step &step = current(stage);
  if (step.kind == Step::Collective)
    return advanceCollective(stage);
  if (step.kind == Step::Recv) {
    // Without room on the way the sender moves both.
    int64_t &messages = inFlight[step.peer][stage];
    if (messages == 0)
      return false;
    --messages;
    ++next[stage];
    return true;
  }
  if (capacity > 0) {
    if (inFlight[stage][step.peer] == capacity)
      return false;
    ++inFlight[stage][step.peer];
    ++next[stage];
    return true;
  }
  if (isDone(step.peer))
    return false;
  const Step &other = current(step.peer);
  if (other.kind != Step::Recv || other.peer != stage)
    return false;
  ++next[step.peer];
  ++next[stage];
  return true;
}

bool Play::run(int64_t capacity) {
  next.assign(steps.size(), 0);
  inFlight.assign(steps.size(), std::vector<int64_t>(steps.size(), 0));
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t stage = 0; stage < steps.size(); ++stage)
      while (advance(stage, capacity))
        moved = true;
  }
  for (size_t stage = 0; stage < steps.size(); ++stage)
    if (!isDone(stage))
      return false;
  return true;
}

int64_t Play::awaited(int64_t stage) const {
  const Step &step = current(stage);
  if (step.kind != Step::Collective)
    return step.peer;
  for (int64_t member : spanning.members(stage, step.axes))
    if (member != stage &&
        (isDone(member) || current(member).kind != Step::Collective ||
         current(member).axes != step.axes))
      return member;
  llvm_unreachable("a collective for which every member is there is executed");
}

std::string Play::describe(int64_t stage) const {
  const Step &step = current(stage);
  std::string text = "stage " + std::to_string(stage);
  std::optional<uint64_t> microBatch;
  if (auto send = dyn_cast<SendOp>(step.action)) {
    text += " sends @" + send.getBuffer().str();
    microBatch = send.getMicroBatch();
  } else if (auto recv = dyn_cast<RecvOp>(step.action)) {
    text += " receives @" + recv.getBuffer().str();
    microBatch = recv.getMicroBatch();
  } else {
    auto run = cast<RunOp>(step.action);
    text += " is in a collective of @" + run.getTask().str();
    microBatch = run.getMicroBatch();
  }
  if (microBatch)
    text += " for micro-batch " + std::to_string(*microBatch);
  return text + " and waits for stage " + std::to_string(awaited(stage));
}

LogicalResult Play::reportCycle(int64_t enough) const {
  int64_t stage = 0;
  while (isDone(stage))
    ++stage;
  // Whoever is awaited is stuck too: messages match, so nobody who is done owes
  // any.
  llvm::SetVector<int64_t> path;
  while (path.insert(stage))
    stage = awaited(stage);
  auto cycle = llvm::drop_begin(path, llvm::find(path, stage) - path.begin());
  auto error = current(stage).action->emitError("deadlock: ")
               << describe(stage);
  if (enough > 0)
    error << " (" << enough
          << " messages on their way between two stages would be enough)";
  for (int64_t member : llvm::drop_begin(cycle))
    error.attachNote(current(member).action->getLoc()) << describe(member);
  return error;
}

LogicalResult fleet::verifyRendezvous(ArrayRef<rank::ProgramOp> programs,
                                      const SpanningCollectives &spanning) {
  Play play(programs, spanning);
  if (play.run(/*capacity=*/0))
    return success();
  // How far from safe it is: the smallest capacity that lets it through, 0 when
  // none does.
  int64_t most = 0;
  for (rank::ProgramOp program : programs)
    most = std::max<int64_t>(
        most, llvm::range_size(program.getActions().getOps<SendOp>()));
  int64_t enough = 1;
  while (enough <= most && !play.run(enough))
    ++enough;
  play.run(/*capacity=*/0);
  return play.reportCycle(enough <= most ? enough : 0);
}
