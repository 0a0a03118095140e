//===- StageState.h - Slots of one stage program ---------------*- C++ -*-===//
//
// The values that live between the tasks of a stage, on all devices of the stage.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_LIB_INTERPRETER_STAGESTATE_H
#define FLEET_LIB_INTERPRETER_STAGESTATE_H

#include "fleet/Dialect/Fleet/FleetOps.h"
#include "fleet/Interpreter/Binding.h"
#include "llvm/ADT/MapVector.h"

namespace fleet {

/// The micro-batch that a task runs for: one, or all side by side.
struct MicroBatch {
  std::optional<int64_t> index;

  static MicroBatch one(int64_t index) { return {index}; }
  static MicroBatch all() { return {std::nullopt}; }
};

/// A slot and its values.
struct Slot {
  SlotOp op;
  /// What fills the slot from outside, if anything does.
  std::optional<Binding> binding;
  /// One value per micro-batch, or one. Without tensors where nothing was written yet.
  llvm::SmallVector<DeviceValues> values;

  /// Parameters and state outlive the step.
  bool isPersistent() const {
    return binding && (binding->kind == BindingKind::Parameter ||
                       binding->kind == BindingKind::State);
  }
};

class StageState {
public:
  StageState(ProgramOp program, llvm::SmallVector<int64_t> devices)
      : program(program), devices(std::move(devices)) {}

  /// Makes the slots of the program and checks that its tasks use them in a way that has a meaning.
  llvm::LogicalResult readSlots(const DeviceMesh &mesh);

  ProgramOp getProgram() const { return program; }
  /// Devices that run this stage, ascending.
  llvm::ArrayRef<int64_t> getDevices() const { return devices; }
  int64_t numMicroBatches() const {
    return ProgramOp(program).getMicroBatches();
  }
  llvm::MapVector<llvm::StringRef, Slot> &getSlots() { return slots; }
  const llvm::MapVector<llvm::StringRef, Slot> &getSlots() const {
    return slots;
  }
  /// Tasks in the order written.
  auto tasks() const { return ProgramOp(program).getOps<TaskOp>(); }
  /// "stage 1".
  std::string describe() const;

  /// Empties a slot for a new step.
  void reset(Slot &slot) const;
  /// The value that a task for `which` sees; failure when it was not written yet.
  llvm::FailureOr<DeviceValues> read(const Slot &slot, MicroBatch which) const;
  void write(Slot &slot, MicroBatch which, const DeviceValues &value) const;

private:
  /// Whether all micro-batches of the slot can stand side by side.
  bool isSeenWhole(SlotOp slot) const;
  llvm::LogicalResult verifyTask(TaskOp task) const;

  ProgramOp program;
  llvm::SmallVector<int64_t> devices;
  llvm::MapVector<llvm::StringRef, Slot> slots;
};

} // namespace fleet

#endif // FLEET_LIB_INTERPRETER_STAGESTATE_H
