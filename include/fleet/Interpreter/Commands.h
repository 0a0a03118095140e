//===- Commands.h - What fleet-interp does ---------------------*- C++ -*-===//
//
// The command without its parsing, so that drivers which have a module already (an imported ONNX file) can run it.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_INTERPRETER_COMMANDS_H
#define FLEET_INTERPRETER_COMMANDS_H

#include "fleet/Support/StoredTensor.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace fleet {

/// Paths are empty where nothing is read or written.
struct InterpretOptions {
  std::string weights;
  std::string data;
  std::string log;
  std::string saveGradients;
  std::string saveParameters;
  std::string saveOutputs;
  /// Function to run, see StepMachine::create.
  std::string entry;
  int64_t steps = 1;
  /// Print outputs even where the step has a loss to log.
  bool printOutputs = false;
  int64_t maxElements = 1000;
  bool checkGradients = false;
  /// Make weights and data up where no file gives them.
  bool random = false;
  uint64_t seed = 1;
  /// Largest difference of two programs that are the same, relative to the largest element of a tensor.
  double tolerance = 1e-9;
};

/// Runs `steps` steps of a module; a line of JSON for each where it has a loss, else its outputs. Everything that is
/// wrong has been reported when it fails. `weights` serves parameters in place of `options.weights` where given. With
/// `other` both modules run and are compared.
llvm::LogicalResult interpret(mlir::ModuleOp module,
                              const InterpretOptions &options,
                              const WeightSource *weights = nullptr,
                              mlir::ModuleOp other = {});

} // namespace fleet

#endif // FLEET_INTERPRETER_COMMANDS_H
