//===- Commands.cpp - What fleet-interp does -------------------*- C++ -*-===//
//
// Files in, steps, files out.
//
//===----------------------------------------------------------------------===//

#include "fleet/Interpreter/Commands.h"
#include "fleet/Interpreter/Compare.h"
#include "fleet/Interpreter/GradientCheck.h"
#include "fleet/Interpreter/RandomTensors.h"
#include "fleet/Support/Safetensors.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace fleet;

/// Prints an error that belongs to no place in the program.
static LogicalResult report(llvm::Error error) {
  if (!error)
    return success();
  llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
  return failure();
}

/// Opens a file, null for an empty path.
static FailureOr<std::unique_ptr<SafetensorsFile>> openFile(StringRef path) {
  if (path.empty())
    return std::unique_ptr<SafetensorsFile>();
  auto file = SafetensorsFile::open(path);
  if (!file)
    return report(file.takeError());
  return std::move(*file);
}

static LogicalResult runGradientCheck(ModuleOp module,
                                      const InterpretOptions &options) {
  auto forward = module.lookupSymbol<func::FuncOp>("forward");
  auto gradient = module.lookupSymbol<func::FuncOp>("gradient");
  auto step = module.lookupSymbol<func::FuncOp>(
      options.entry.empty() ? "step" : options.entry);
  if (!step && !(forward && gradient))
    return module.emitError(
        "has no functions @forward and @gradient, and no @step, to compare");
  auto check =
      step ? GradientCheck::get(step) : GradientCheck::get(forward, gradient);
  if (failed(check))
    return failure();
  auto arguments = randomArguments(check->forward, options.seed);
  if (failed(arguments))
    return failure();
  auto result = checkGradients(*check, *arguments);
  if (failed(result))
    return failure();
  llvm::outs() << "gradients agree: " << result->elements << " elements of "
               << check->pairs.size() << " arguments, largest relative error "
               << llvm::format("%.1e", result->largestError) << "\n";
  return success();
}

static void printOutputs(const StepOutput &output, int64_t limit) {
  for (const auto &[name, tensor] : output.outputs) {
    llvm::outs() << name << ": ";
    printTensor(llvm::outs(), tensor, limit);
    llvm::outs() << "\n";
  }
}

/// Writes what was asked for of the first step.
static LogicalResult saveStep(const StepOutput &output,
                              const InterpretOptions &options) {
  if (!options.saveGradients.empty() &&
      failed(report(writeTensors(options.saveGradients, output.gradients))))
    return failure();
  if (options.saveOutputs.empty())
    return success();
  return report(writeTensors(options.saveOutputs, output.outputs));
}

static LogicalResult runSteps(Trainer &trainer, llvm::raw_ostream &log,
                              const InterpretOptions &options) {
  for (int64_t step = 1; step <= options.steps; ++step) {
    FailureOr<StepReport> report = trainer.next();
    if (failed(report))
      return failure();
    bool hasLoss = report->output.find("loss") != nullptr;
    if (hasLoss) {
      log << report->toJson() << "\n";
      log.flush();
    }
    if (!hasLoss || options.printOutputs)
      printOutputs(report->output, options.maxElements);
    if (step == 1 && failed(saveStep(report->output, options)))
      return failure();
  }
  return success();
}

namespace {
/// Where weights and data come from.
struct Sources {
  std::unique_ptr<SafetensorsFile> weightFile, dataFile;
  RandomTensors random;
  const WeightSource *weights = nullptr, *data = nullptr;

  /// Opens the files, or makes the tensors up.
  LogicalResult open(const InterpretOptions &options, StepMachine &machine,
                     const WeightSource *given) {
    auto weightsOpened = openFile(options.weights);
    auto dataOpened = openFile(options.data);
    if (failed(weightsOpened) || failed(dataOpened))
      return failure();
    weightFile = std::move(*weightsOpened);
    dataFile = std::move(*dataOpened);
    weights = given ? given : weightFile.get();
    data = dataFile.get();
    if (!options.random)
      return success();
    weights = weights ? weights : &random;
    data = data ? data : &random;
    return random.add(machine.bindings(), options.steps, options.seed);
  }
};
} // namespace

static LogicalResult train(StepMachine &machine, const WeightSource *data,
                           std::optional<Schedule> schedule,
                           const InterpretOptions &options) {
  std::error_code code;
  llvm::ToolOutputFile log(options.log.empty() ? "-" : options.log, code,
                           llvm::sys::fs::OF_Text);
  if (code)
    return report(llvm::createStringError(options.log + ": " + code.message()));
  log.keep();
  Trainer trainer(machine, data, schedule);
  if (failed(runSteps(trainer, log.os(), options)))
    return failure();
  if (options.saveParameters.empty())
    return success();
  auto parameters = machine.parameters();
  if (failed(parameters))
    return failure();
  return report(writeTensors(options.saveParameters, *parameters));
}

static LogicalResult compare(StepMachine &first, ModuleOp other,
                             const Sources &sources,
                             std::optional<Schedule> schedule,
                             const InterpretOptions &options) {
  auto second = StepMachine::create(other, options.entry);
  if (failed(second) || failed((*second)->load(sources.weights)))
    return failure();
  auto result =
      compareSteps(first, **second, sources.data, schedule, options.steps);
  if (failed(result))
    return failure();
  auto difference = llvm::format("%.1e", result->largestDifference);
  if (result->largestDifference > options.tolerance) {
    llvm::errs() << "error: '" << result->where
                 << "' differs between the programs by " << difference << "\n";
    return failure();
  }
  llvm::outs() << "programs agree: " << result->tensors << " tensors over "
               << options.steps << " steps, largest difference " << difference
               << "\n";
  return success();
}

LogicalResult fleet::interpret(ModuleOp module, const InterpretOptions &options,
                               const WeightSource *weights, ModuleOp other) {
  if (options.checkGradients)
    return runGradientCheck(module, options);
  auto machine = StepMachine::create(module, options.entry);
  auto schedule = Trainer::scheduleOf(module);
  Sources sources;
  if (failed(machine) || failed(schedule) ||
      failed(sources.open(options, **machine, weights)) ||
      failed((*machine)->load(sources.weights)))
    return failure();
  if (other)
    return compare(**machine, other, sources, *schedule, options);
  return train(**machine, sources.data, *schedule, options);
}
