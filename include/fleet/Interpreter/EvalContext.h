//===- EvalContext.h - State of one evaluation -----------------*- C++ -*-===//
//
// The devices that run a piece of program in lock-step and the values they have computed: operation by operation, every
// device of the set, so that a collective finds the operands of all.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_INTERPRETER_EVALCONTEXT_H
#define FLEET_INTERPRETER_EVALCONTEXT_H

#include "fleet/Interpreter/DeviceMesh.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

namespace fleet {

/// One value on every device of a set, in the order of the set.
using DeviceValues = llvm::SmallVector<TensorRef>;

/// True for a tensor of static shape that is small enough to interpret.
bool isInterpretable(mlir::RankedTensorType type);

class EvalContext {
public:
  /// Evaluation on `devices` of `mesh`, which outlives this object.
  EvalContext(const DeviceMesh &mesh, llvm::ArrayRef<int64_t> devices)
      : deviceMesh(mesh), deviceNumbers(devices) {}

  const DeviceMesh &mesh() const { return deviceMesh; }
  /// Numbers in the mesh of the devices that run, ascending.
  llvm::ArrayRef<int64_t> devices() const { return deviceNumbers; }
  /// Number in the mesh of the device that `evaluate` is called for.
  int64_t device() const { return deviceNumbers[current]; }
  /// Position in `devices()` of a device, nullopt when it does not run here.
  std::optional<unsigned> positionOf(int64_t device) const;

  /// Binds a value: to one tensor per device, or to one tensor that all share.
  void define(mlir::Value value, DeviceValues tensors);
  const DeviceValues &lookup(mlir::Value value) const;
  /// The tensors of several values.
  llvm::SmallVector<DeviceValues> lookup(mlir::ValueRange values) const;

  /// Runs all operations of a block but its terminator; the block's arguments are bound. Values of the block that only
  /// its operations use are freed after their last use.
  llvm::LogicalResult run(mlir::Block &block);
  /// Calls the operation's `evaluate` for every device.
  llvm::LogicalResult evaluateOnEachDevice(mlir::Operation *op);

private:
  const DeviceMesh &deviceMesh;
  llvm::SmallVector<int64_t> deviceNumbers;
  unsigned current = 0;
  llvm::DenseMap<mlir::Value, DeviceValues> values;
};

} // namespace fleet

#include "fleet/Interpreter/ReferenceOpInterface.h.inc"

#endif // FLEET_INTERPRETER_EVALCONTEXT_H
