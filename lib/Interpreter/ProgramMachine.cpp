//===- ProgramMachine.cpp - A step of stage programs -----------*- C++ -*-===//
//
// All stages in one process. Prologue; then micro-batch after micro-batch, forward from the first stage to the last and
// backward the other way; then reduce and update. No schedule of level 5 may give other numbers, since tasks meet in
// slots alone. Slots are empty when a step starts, so that a value left over from the step before, or a sum that nobody
// set to zero, is found.
//
//===----------------------------------------------------------------------===//

#include "StageState.h"
#include "StepMachines.h"

using namespace mlir;
using namespace fleet;

/// Micro-batches of a step at most.
static constexpr int64_t kMaxMicroBatches = 65536;

/// The axis that tells pipeline stages apart.
static constexpr StringLiteral kStageAxis = "pp";

static bool isBackward(Phase phase) {
  return phase == Phase::BackwardInput || phase == Phase::BackwardWeight;
}

namespace {
class ProgramMachine : public StepMachine {
public:
  explicit ProgramMachine(DeviceMesh mesh) : mesh(std::move(mesh)) {}

  LogicalResult addStage(ProgramOp program);
  LogicalResult verifyStages() const;

  SmallVector<Binding> bindings() const final;
  LogicalResult load(const WeightSource *weights) final;
  FailureOr<StepOutput> step(const StepInput &input) final;
  FailureOr<std::vector<NamedTensor>> parameters() const final;

private:
  LogicalResult start(const StepInput &input);
  LogicalResult runMicroBatches();
  LogicalResult runReady(llvm::function_ref<bool(Phase)> inPhase);
  LogicalResult runTask(StageState &stage, TaskOp task, MicroBatch which);
  bool isReady(StageState &stage, TaskOp task,
               ArrayRef<std::vector<TaskOp>> pending) const;
  FailureOr<DeviceValues> read(StageState &stage, StringRef slot,
                               MicroBatch which, TaskOp reader) const;
  FailureOr<StepOutput> report() const;

  DeviceMesh mesh;
  /// By stage number.
  std::vector<StageState> stages;
};
} // namespace

LogicalResult ProgramMachine::addStage(ProgramOp program) {
  auto number = static_cast<int64_t>(program.getStage());
  if (number != static_cast<int64_t>(stages.size()))
    return program.emitError("is stage ")
           << number << ", expected stage " << stages.size()
           << ": programs stand in the order of their stages, from 0";
  if (!program->getParentOfType<ModuleOp>().lookupSymbol<MeshOp>(
          program.getMesh()))
    return program.emitError("runs on @")
           << program.getMesh() << ", which is no mesh";
  auto count = static_cast<int64_t>(program.getMicroBatches());
  if (count < 1 || count > kMaxMicroBatches)
    return program.emitError("runs ")
           << count << " micro-batches, not 1 to " << kMaxMicroBatches;
  int64_t coordinate = number % mesh.axisSize(kStageAxis);
  SmallVector<int64_t> devices;
  for (int64_t device = 0; device < mesh.numDevices(); ++device)
    if (mesh.coordinate(device, kStageAxis) == coordinate)
      devices.push_back(device);
  StageState stage(program, std::move(devices));
  if (failed(stage.readSlots(mesh)))
    return failure();
  stages.push_back(std::move(stage));
  return success();
}

LogicalResult ProgramMachine::verifyStages() const {
  for (const StageState &stage : stages) {
    if (stage.numMicroBatches() != stages.front().numMicroBatches())
      return stage.getProgram().emitError("runs ")
             << stage.numMicroBatches() << " micro-batches, stage 0 runs "
             << stages.front().numMicroBatches();
    for (const auto &[name, slot] : stage.getSlots()) {
      SlotOp op = slot.op;
      if (!op.getFromStage())
        continue;
      uint64_t from = *op.getFromStage();
      if (from >= stages.size() || !stages[from].getSlots().contains(name))
        return op.emitError("comes from stage ")
               << from << ", which has no slot of this name";
      SlotOp source = stages[from].getSlots().find(name)->second.op;
      if (source.getType() != op.getType() ||
          source.getPerMicroBatch() != op.getPerMicroBatch())
        return op.emitError("comes from stage ")
               << from << ", where it is declared otherwise";
    }
  }
  return success();
}

SmallVector<Binding> ProgramMachine::bindings() const {
  SmallVector<Binding> result;
  for (const StageState &stage : stages)
    for (const auto &[name, slot] : stage.getSlots())
      if (slot.binding)
        result.push_back(*slot.binding);
  return result;
}

LogicalResult ProgramMachine::load(const WeightSource *weights) {
  for (StageState &stage : stages)
    for (auto &[name, slot] : stage.getSlots()) {
      if (!slot.binding)
        continue;
      DeviceSet set{mesh, stage.getDevices()};
      if (slot.binding->kind == BindingKind::State)
        slot.values = {zeroState(*slot.binding, set)};
      if (slot.binding->kind != BindingKind::Parameter)
        continue;
      auto loaded = loadParameter(*slot.binding, weights, set);
      if (failed(loaded))
        return failure();
      slot.values = {std::move(*loaded)};
    }
  return success();
}

/// Binds inputs and scalars; empties what lived in the step before.
LogicalResult ProgramMachine::start(const StepInput &input) {
  for (StageState &stage : stages)
    for (auto &[name, slot] : stage.getSlots()) {
      if (slot.isPersistent())
        continue;
      stage.reset(slot);
      if (!slot.binding)
        continue;
      auto bound = bindInput(*slot.binding, input, {mesh, stage.getDevices()});
      if (failed(bound))
        return failure();
      stage.write(slot, MicroBatch::all(), *bound);
    }
  return success();
}

FailureOr<DeviceValues> ProgramMachine::read(StageState &stage, StringRef name,
                                             MicroBatch which,
                                             TaskOp reader) const {
  const Slot &slot = stage.getSlots().find(name)->second;
  SlotOp op = slot.op;
  const StageState &owner =
      op.getFromStage() ? stages[*op.getFromStage()] : stage;
  const Slot &source = owner.getSlots().find(name)->second;
  FailureOr<DeviceValues> value = owner.read(source, which);
  if (failed(value))
    return reader.emitError("reads slot @")
           << name << " before stage " << owner.getProgram().getStage()
           << " has written it";
  if (&owner == &stage)
    return value;
  // The device of the other stage with the same coordinates sends.
  DeviceValues received;
  int64_t coordinate = mesh.coordinate(owner.getDevices().front(), kStageAxis);
  for (int64_t device : stage.getDevices()) {
    int64_t sender = mesh.withCoordinate(device, kStageAxis, coordinate);
    auto it = llvm::find(owner.getDevices(), sender);
    received.push_back((*value)[it - owner.getDevices().begin()]);
  }
  return received;
}

LogicalResult ProgramMachine::runTask(StageState &stage, TaskOp task,
                                      MicroBatch which) {
  Block &body = task.getRegion().front();
  EvalContext context(mesh, stage.getDevices());
  for (auto [argument, slot] :
       llvm::zip_equal(body.getArguments(),
                       task.getReads().getAsRange<FlatSymbolRefAttr>())) {
    auto value = read(stage, slot.getValue(), which, task);
    if (failed(value))
      return failure();
    context.define(argument, std::move(*value));
  }
  if (failed(context.run(body)))
    return failure();
  for (auto [value, slot] :
       llvm::zip_equal(body.getTerminator()->getOperands(),
                       task.getWrites().getAsRange<FlatSymbolRefAttr>()))
    stage.write(stage.getSlots().find(slot.getValue())->second, which,
                context.lookup(value));
  return success();
}

LogicalResult ProgramMachine::runMicroBatches() {
  for (int64_t m = 0; m < stages.front().numMicroBatches(); ++m) {
    for (StageState &stage : stages)
      for (TaskOp task : stage.tasks())
        if (task.getPhase() == Phase::Forward &&
            failed(runTask(stage, task, MicroBatch::one(m))))
          return failure();
    for (StageState &stage : llvm::reverse(stages))
      for (TaskOp task : stage.tasks())
        if (isBackward(task.getPhase()) &&
            failed(runTask(stage, task, MicroBatch::one(m))))
          return failure();
  }
  return success();
}

/// A task is ready when no task that has yet to run writes a slot that it receives from another stage.
bool ProgramMachine::isReady(StageState &stage, TaskOp task,
                             ArrayRef<std::vector<TaskOp>> pending) const {
  for (auto ref : task.getReads().getAsRange<FlatSymbolRefAttr>()) {
    SlotOp slot = stage.getSlots().find(ref.getValue())->second.op;
    if (!slot.getFromStage())
      continue;
    for (TaskOp writer : pending[*slot.getFromStage()])
      if (llvm::is_contained(writer.getWrites(), Attribute(ref)))
        return false;
  }
  return true;
}

/// Runs each stage's tasks of some phases in their order, waiting for what other stages send.
LogicalResult
ProgramMachine::runReady(llvm::function_ref<bool(Phase)> inPhase) {
  std::vector<std::vector<TaskOp>> pending(stages.size());
  for (auto [stage, tasks] : llvm::zip_equal(stages, pending))
    for (TaskOp task : stage.tasks())
      if (inPhase(task.getPhase()))
        tasks.push_back(task);
  for (bool progress = true; progress;) {
    progress = false;
    for (auto [stage, tasks] : llvm::zip_equal(stages, pending))
      while (!tasks.empty() && isReady(stage, tasks.front(), pending)) {
        if (failed(runTask(stage, tasks.front(), MicroBatch::all())))
          return failure();
        tasks.erase(tasks.begin());
        progress = true;
      }
  }
  for (const std::vector<TaskOp> &tasks : pending)
    if (!tasks.empty()) {
      TaskOp stuck = tasks.front();
      return stuck.emitError(
          "waits for a slot of another stage, which waits for this one");
    }
  return success();
}

FailureOr<StepOutput> ProgramMachine::report() const {
  StepOutput output;
  StoredTensorMap gradients, outputs;
  for (const StageState &stage : stages)
    for (const auto &[name, slot] : stage.getSlots()) {
      SlotOp op = slot.op;
      auto shown = op->getAttrOfType<StringAttr>(attr::kOutput);
      auto gradient = op->getAttrOfType<StringAttr>(attr::kGradient);
      if ((!shown && !gradient) || op.getFromStage())
        continue;
      auto emitError = [&] {
        return op.emitError("slot @") << op.getSymName() << " ";
      };
      FailureOr<DeviceValues> value = stage.read(slot, MicroBatch::all());
      if (failed(value))
        return emitError() << "is an output that no task has written";
      auto sharding = op->getAttrOfType<ShardingAttr>(attr::kSharding);
      FailureOr<TensorRef> whole =
          assemble(*value, sharding, {mesh, stage.getDevices()}, emitError);
      if (failed(whole))
        return failure();
      auto piece = op->getAttrOfType<PieceAttr>(attr::kPiece);
      StoredTensorMap &map = gradient ? gradients : outputs;
      StringAttr label = gradient ? gradient : shown;
      if (failed(map.add(label, piece, *whole, stage.describe(), emitError)))
        return failure();
    }
  output.outputs = outputs.take();
  output.gradients = gradients.take();
  return output;
}

FailureOr<StepOutput> ProgramMachine::step(const StepInput &input) {
  auto isPrologue = [](Phase phase) { return phase == Phase::Prologue; };
  auto isEnd = [](Phase phase) {
    return phase == Phase::Reduce || phase == Phase::Update;
  };
  if (failed(start(input)) || failed(runReady(isPrologue)) ||
      failed(runMicroBatches()) || failed(runReady(isEnd)))
    return failure();
  return report();
}

FailureOr<std::vector<NamedTensor>> ProgramMachine::parameters() const {
  StoredTensorMap stored;
  for (const StageState &stage : stages)
    for (const auto &[name, slot] : stage.getSlots()) {
      if (!slot.binding || slot.binding->kind != BindingKind::Parameter)
        continue;
      const Binding &binding = *slot.binding;
      auto emitError = [&] { return binding.emitError(); };
      FailureOr<TensorRef> whole =
          assemble(slot.values.front(), binding.sharding,
                   {mesh, stage.getDevices()}, emitError);
      if (failed(whole) ||
          failed(stored.add(binding.name, binding.piece, *whole,
                            stage.describe(), emitError)))
        return failure();
    }
  return stored.take();
}

FailureOr<std::unique_ptr<StepMachine>>
fleet::createProgramMachine(ModuleOp module) {
  FailureOr<DeviceMesh> mesh = meshOf(module);
  if (failed(mesh))
    return failure();
  auto machine = std::make_unique<ProgramMachine>(std::move(*mesh));
  for (ProgramOp program : module.getOps<ProgramOp>())
    if (failed(machine->addStage(program)))
      return failure();
  if (failed(machine->verifyStages()))
    return failure();
  return std::unique_ptr<StepMachine>(std::move(machine));
}
