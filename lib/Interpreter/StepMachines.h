//===- StepMachines.h - The forms of a step --------------------*- C++ -*-===//
//
// Constructors of the step machines, private to the library.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_LIB_INTERPRETER_STEPMACHINES_H
#define FLEET_LIB_INTERPRETER_STEPMACHINES_H

#include "fleet/Interpreter/StepMachine.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace fleet {

/// A function on all devices of the module's mesh when `local`, else on one.
llvm::FailureOr<std::unique_ptr<StepMachine>>
createFunctionMachine(mlir::func::FuncOp function, bool local);

/// The stage programs of a module of level 4.
llvm::FailureOr<std::unique_ptr<StepMachine>>
createProgramMachine(mlir::ModuleOp module);

/// The mesh of a module, or one device where it has none. Reports more than one mesh and meshes too large to simulate.
llvm::FailureOr<DeviceMesh> meshOf(mlir::ModuleOp module);

} // namespace fleet

#endif // FLEET_LIB_INTERPRETER_STEPMACHINES_H
