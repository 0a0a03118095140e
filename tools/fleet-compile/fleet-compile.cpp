//===- fleet-compile.cpp - A model and a job to a program ------*- C++ -*-===//
//
// The command line of the compiler.
//
//===----------------------------------------------------------------------===//

#include "fleet/Driver/Compiler.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"

namespace cl = llvm::cl;

namespace {
struct CommandLine {
  fleet::JobArguments job;
  cl::OptionCategory category{"fleet-compile options"};
  cl::opt<std::string, true> model{cl::Positional, cl::desc("MODEL"),
                                   cl::location(job.model), cl::cat(category)};
  cl::opt<std::string, true> file{"job", cl::desc("Job file (fleet.job/1)"),
                                  cl::location(job.jobFile), cl::cat(category)};
  cl::opt<std::string, true> strategy{
      "strategy", cl::desc("DistributedStrategy as JSON"),
      cl::location(job.strategyFile), cl::cat(category)};
  cl::opt<std::string, true> optimizer{
      "optimizer", cl::desc("For example adamw,lr=1e-3"),
      cl::location(job.optimizer), cl::cat(category)};
  cl::opt<std::string, true> loss{"loss",
                                  cl::desc("cross_entropy, mse or inside"),
                                  cl::location(job.loss), cl::cat(category)};
  cl::opt<std::string, true> devices{"devices", cl::desc("cpu:N"),
                                     cl::location(job.devices),
                                     cl::cat(category)};
  cl::opt<std::string, true> precision{"precision", cl::desc("f32 or f64"),
                                       cl::location(job.precision),
                                       cl::cat(category)};
  cl::opt<std::string, true> recipe{
      "recipe", cl::desc("FILE:NAME, a recipe of a reference model"),
      cl::location(job.recipe), cl::cat(category)};
  cl::opt<std::string> emit{
      "emit", cl::desc("Level to stop at: model, step, plan, local or rank"),
      cl::init("rank"), cl::cat(category)};
  cl::opt<std::string> dumpLevels{
      "dump-levels", cl::desc("Folder for the text of every level"),
      cl::cat(category)};
  cl::opt<std::string> output{
      "o", cl::desc("File to write, default standard output"), cl::init("-"),
      cl::cat(category)};
};
} // namespace

/// One line about what is wrong; the exit code of a user's mistake.
static int fail(const llvm::Twine &message) {
  llvm::errs() << "fleet-compile: error: " << message << "\n";
  return 1;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  CommandLine line;
  cl::HideUnrelatedOptions(line.category);
  cl::ParseCommandLineOptions(argc, argv, "fleet compiler\n");
  auto level = fleet::parseLevel(line.emit);
  if (!level)
    return fail("--emit '" + line.emit +
                "' is not one of model, step, plan, local, rank");
  auto job = fleet::readJob(line.job);
  if (!job)
    return fail(llvm::toString(job.takeError()));

  mlir::MLIRContext context;
  context.printOpOnDiagnostic(false); // An operation may be a whole step.
  mlir::ScopedDiagnosticHandler handler(&context, [](mlir::Diagnostic &d) {
    bool error = d.getSeverity() == mlir::DiagnosticSeverity::Error;
    if (!error && d.getSeverity() != mlir::DiagnosticSeverity::Warning)
      return mlir::success();
    llvm::errs() << "fleet-compile: " << (error ? "error: " : "warning: ") << d;
    if (auto name = mlir::dyn_cast<mlir::NameLoc>(d.getLocation()))
      llvm::errs() << " (at '" << name.getName().getValue() << "')";
    llvm::errs() << "\n";
    return mlir::success();
  });
  fleet::CompileOptions options;
  options.stopAt = *level;
  options.dumpLevels = line.dumpLevels;
  auto model = fleet::compile(*job, options, &context);
  if (failed(model))
    return 1;

  std::error_code error;
  llvm::ToolOutputFile file(line.output, error, llvm::sys::fs::OF_Text);
  if (error)
    return fail(line.output + ": " + error.message());
  model->module->print(file.os());
  file.os() << "\n";
  file.keep();
  return 0;
}
