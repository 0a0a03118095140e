//===- Interpreter.h - Running functions by reference ----------*- C++ -*-===//
//
// The oracle of the project: every operation in double precision, all devices of a mesh in one process. A function of
// levels 1 to 3 has global shapes and runs on one device; a local function runs on all devices in lock-step.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_INTERPRETER_INTERPRETER_H
#define FLEET_INTERPRETER_INTERPRETER_H

#include "fleet/Interpreter/EvalContext.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace fleet {

/// Gives every operation of the fleet dialect its reference semantics when the dialect is loaded.
void registerReferenceModels(mlir::DialectRegistry &registry);

/// Runs a function of one block on `devices` of `mesh`. `arguments` holds one value per argument.
llvm::FailureOr<llvm::SmallVector<DeviceValues>>
runFunction(mlir::func::FuncOp function, llvm::ArrayRef<DeviceValues> arguments,
            const DeviceMesh &mesh, llvm::ArrayRef<int64_t> devices);

/// Runs a function of global shapes.
llvm::FailureOr<llvm::SmallVector<TensorRef>>
runFunction(mlir::func::FuncOp function, llvm::ArrayRef<TensorRef> arguments);

} // namespace fleet

#endif // FLEET_INTERPRETER_INTERPRETER_H
