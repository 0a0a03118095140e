//===- fleet-interp.cpp - The oracle as a command --------------*- C++ -*-===//
//
// Runs a module of any level up to 4 in double precision, all ranks in this process, and prints losses or outputs.
//
//===----------------------------------------------------------------------===//

#include "fleet/Import/Import.h"
#include "fleet/Interpreter/Commands.h"
#include "fleet/Interpreter/Interpreter.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"

namespace cl = llvm::cl;

namespace {
/// The command line. Options write straight into the struct that the library takes.
struct CommandLine {
  fleet::InterpretOptions options;
  cl::OptionCategory category{"fleet-interp options"};
  cl::opt<std::string> file{cl::Positional, cl::Required, cl::desc("FILE.mlir"),
                            cl::cat(category)};
  cl::opt<std::string> weights{"weights",
                               cl::desc("Parameters, safetensors or ONNX"),
                               cl::cat(category)};
  cl::opt<std::string, true> data{
      "data", cl::desc("Inputs, step-major safetensors"),
      cl::location(options.data), cl::cat(category)};
  cl::opt<int64_t, true> steps{"steps", cl::desc("Number of steps, default 1"),
                               cl::location(options.steps), cl::cat(category)};
  cl::opt<std::string, true> log{
      "log", cl::desc("File for the metrics, default standard output"),
      cl::location(options.log), cl::cat(category)};
  cl::opt<std::string, true> saveGradients{
      "save-grads", cl::desc("File for the gradients of the first step"),
      cl::location(options.saveGradients), cl::cat(category)};
  cl::opt<std::string, true> saveParameters{
      "save-params", cl::desc("File for the parameters after the last step"),
      cl::location(options.saveParameters), cl::cat(category)};
  cl::opt<std::string, true> saveOutputs{
      "save-outputs", cl::desc("File for the outputs of the first step"),
      cl::location(options.saveOutputs), cl::cat(category)};
  cl::opt<bool, true> printOutputs{
      "print-outputs", cl::desc("Print the outputs of every step"),
      cl::location(options.printOutputs), cl::cat(category)};
  cl::opt<int64_t, true> maxElements{
      "max-elements", cl::desc("Elements of an output to print, default 1000"),
      cl::location(options.maxElements), cl::cat(category)};
  cl::opt<std::string, true> entry{
      "function",
      cl::desc("Function to run, default @step, @model or the only one"),
      cl::location(options.entry), cl::cat(category)};
  cl::opt<bool, true> checkGradients{
      "check-gradients",
      cl::desc("Compare gradients with central differences: the marked results "
               "of @step, or @gradient with @forward"),
      cl::location(options.checkGradients), cl::cat(category)};
  cl::opt<bool, true> random{
      "random", cl::desc("Make weights and data up where no file is given"),
      cl::location(options.random), cl::cat(category)};
  cl::opt<std::string> other{
      "compare", cl::desc("Run this file too and compare what both compute"),
      cl::cat(category)};
  cl::opt<double, true> tolerance{
      "tolerance", cl::desc("Largest relative difference, default 1e-9"),
      cl::location(options.tolerance), cl::cat(category)};
  cl::opt<uint64_t, true> seed{"seed", cl::desc("Seed of what is made up"),
                               cl::location(options.seed), cl::cat(category)};
};
} // namespace

/// Parses a file; whatever is wrong has been reported when the result is null.
static mlir::OwningOpRef<mlir::ModuleOp> parse(llvm::StringRef file,
                                               llvm::SourceMgr &sources,
                                               mlir::MLIRContext &context) {
  std::string message;
  auto buffer = mlir::openInputFile(file, &message);
  if (!buffer) {
    llvm::errs() << "error: " << message << "\n";
    return {};
  }
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  mlir::SourceMgrDiagnosticHandler handler(sources, &context);
  return mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  CommandLine line;
  cl::HideUnrelatedOptions(line.category);
  cl::ParseCommandLineOptions(argc, argv, "fleet reference interpreter\n");

  mlir::DialectRegistry registry;
  registry.insert<fleet::FleetDialect, mlir::func::FuncDialect>();
  fleet::registerReferenceModels(registry);
  mlir::MLIRContext context(registry);
  context.printOpOnDiagnostic(false); // An operation may be a whole module.
  llvm::SourceMgr sources, otherSources;
  auto module = parse(line.file, sources, context);
  mlir::OwningOpRef<mlir::ModuleOp> other;
  if (!line.other.empty())
    other = parse(line.other, otherSources, context);
  if (!module || (!line.other.empty() && !other))
    return 1;
  mlir::SourceMgrDiagnosticHandler handler(sources, &context);
  std::unique_ptr<fleet::WeightSource> weights;
  if (!line.weights.empty()) {
    auto opened = fleet::openWeights(line.weights);
    if (!opened) {
      llvm::errs() << "error: " << llvm::toString(opened.takeError()) << "\n";
      return 1;
    }
    weights = std::move(*opened);
  }
  return failed(fleet::interpret(*module, line.options, weights.get(), *other));
}
