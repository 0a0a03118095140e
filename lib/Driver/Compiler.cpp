//===- Compiler.cpp - From a job to a program ------------------*- C++ -*-===//
//
// Runs the pipelines level by level and writes what was asked for.
//
//===----------------------------------------------------------------------===//

#include "fleet/Driver/Compiler.h"
#include "fleet/Dialect/Fleet/FleetDialect.h"
#include "fleet/Support/Schedule.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

namespace fleet {

static constexpr Level kLevels[] = {Level::Model, Level::Step, Level::Plan,
                                    Level::Local, Level::Rank};

StringRef nameOf(Level level) {
  static constexpr StringLiteral names[] = {"model", "step", "plan", "local",
                                            "rank"};
  return names[static_cast<unsigned>(level) - 1];
}

std::optional<Level> parseLevel(StringRef name) {
  for (Level level : kLevels)
    if (nameOf(level) == name)
      return level;
  return std::nullopt;
}

/// Writes the module to DIR/N-level.mlir.
static LogicalResult dump(ModuleOp module, Level level, StringRef folder) {
  SmallString<128> path(folder);
  if (std::error_code error = llvm::sys::fs::create_directories(folder))
    return emitError(UnknownLoc::get(module.getContext()))
           << folder << ": " << error.message();
  llvm::sys::path::append(path, llvm::Twine(static_cast<unsigned>(level)) +
                                    "-" + nameOf(level) + ".mlir");
  std::error_code error;
  llvm::ToolOutputFile file(path, error, llvm::sys::fs::OF_Text);
  if (error)
    return emitError(UnknownLoc::get(module.getContext()))
           << path << ": " << error.message();
  module.print(file.os());
  file.os() << "\n";
  file.keep();
  return success();
}

/// The learning-rate schedule travels with the module.
static void attachSchedule(ModuleOp module, const Job &job) {
  Schedule schedule;
  schedule.kind = job.schedule.kind == "linear"   ? ScheduleKind::Linear
                  : job.schedule.kind == "cosine" ? ScheduleKind::Cosine
                                                  : ScheduleKind::Constant;
  schedule.lr = job.optimizer.lr;
  schedule.minLr = job.schedule.minLr;
  schedule.warmup = job.schedule.warmup;
  schedule.steps = job.schedule.steps;
  module->setAttr(kScheduleAttr, schedule.toAttr(module.getContext()));
}

FailureOr<ImportedModel> compile(const Job &job, const CompileOptions &options,
                                 MLIRContext *context) {
  ImportOptions import;
  import.batch = job.batch;
  for (auto &[name, shape] : job.inputs)
    import.inputs[name].assign(shape.begin(), shape.end());
  FailureOr<ImportedModel> model = importModel(job.model, import, context);
  if (failed(model))
    return failure();
  ModuleOp module = *model->module;
  attachSchedule(module, job);
  for (Level level : kLevels) {
    PassManager passes(context);
    buildPipeline(level, job, passes);
    if (failed(passes.run(module)))
      return failure();
    if (!options.dumpLevels.empty() &&
        failed(dump(module, level, options.dumpLevels)))
      return failure();
    if (level == options.stopAt)
      break;
  }
  return model;
}

} // namespace fleet
