//===- StepMachine.cpp - A training step of any level ----------*- C++ -*-===//
//
// Choice of the form by what the module holds.
//
//===----------------------------------------------------------------------===//

#include "fleet/Interpreter/StepMachine.h"
#include "StepMachines.h"
#include "fleet/Dialect/Fleet/FleetOps.h"

using namespace mlir;
using namespace fleet;

/// Devices that one process simulates at most.
static constexpr int64_t kMaxDevices = 4096;

const Tensor *StepOutput::find(StringRef name) const {
  for (const NamedTensor &output : outputs)
    if (output.name == name)
      return &output.tensor;
  return nullptr;
}

FailureOr<DeviceMesh> fleet::meshOf(ModuleOp module) {
  auto meshes = llvm::to_vector(module.getOps<MeshOp>());
  if (meshes.empty())
    return DeviceMesh();
  if (meshes.size() > 1)
    return meshes[1].emitError("is a second mesh, the interpreter runs one");
  std::optional<int64_t> devices = countElements(meshes[0].getSizes());
  if (!devices || *devices > kMaxDevices)
    return meshes[0].emitError("has too many devices to simulate, at most ")
           << kMaxDevices;
  return DeviceMesh(meshes[0]);
}

/// The function called `entry`, else `step`, else `model`, else the only one.
static FailureOr<func::FuncOp> findEntry(ModuleOp module, StringRef entry) {
  if (!entry.empty()) {
    if (auto function = module.lookupSymbol<func::FuncOp>(entry))
      return function;
    return module.emitError("has no function @") << entry;
  }
  for (StringRef name : {"step", "model"})
    if (auto function = module.lookupSymbol<func::FuncOp>(name))
      return function;
  auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
  if (functions.size() != 1)
    return module.emitError("has no stage program, no @step and no @model, "
                            "and not a single other function");
  return functions.front();
}

/// From level 4 on shapes are those of one device. A function on its way there says so by the shardings of its results,
/// which only partitioning writes.
static bool isLocal(ModuleOp module, func::FuncOp function) {
  auto level = module->getAttrOfType<IntegerAttr>(attr::kLevel);
  if (level && level.getInt() >= 4)
    return true;
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (function.getResultAttr(i, attr::kSharding))
      return true;
  return false;
}

FailureOr<std::unique_ptr<StepMachine>> StepMachine::create(ModuleOp module,
                                                            StringRef entry) {
  if (entry.empty() && !module.getOps<ProgramOp>().empty())
    return createProgramMachine(module);
  FailureOr<func::FuncOp> function = findEntry(module, entry);
  if (failed(function))
    return failure();
  if (function->isDeclaration())
    return function->emitError("has no body");
  return createFunctionMachine(*function, isLocal(module, *function));
}
