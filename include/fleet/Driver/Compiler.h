//===- Compiler.h - From a job to a program --------------------*- C++ -*-===//
//
// The levels of the program as pipelines of passes, and the driver that runs them for a job.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_DRIVER_COMPILER_H
#define FLEET_DRIVER_COMPILER_H

#include "fleet/Import/Import.h"
#include "fleet/Strategy/Job.h"
#include "mlir/Pass/PassManager.h"

namespace fleet {

/// Levels that a compilation can stop at.
enum class Level { Model = 1, Step = 2, Plan = 3, Local = 4, Rank = 5 };

/// Level by its name on the command line (model, step, plan, local, rank); nullopt for another word.
std::optional<Level> parseLevel(llvm::StringRef name);
llvm::StringRef nameOf(Level level);

/// The passes from the level before to `level`. Each pipeline reads from top to bottom; the order is explained where it
/// matters.
void buildPipeline(Level level, const Job &job, mlir::OpPassManager &passes);

struct CompileOptions {
  Level stopAt = Level::Rank;
  /// Folder for the text of every level, empty for none. Made where it does not exist.
  std::string dumpLevels;
};

/// Imports the model of `job` and lowers it. Everything that is wrong has been reported when it fails.
mlir::FailureOr<ImportedModel> compile(const Job &job,
                                       const CompileOptions &options,
                                       mlir::MLIRContext *context);

} // namespace fleet

#endif // FLEET_DRIVER_COMPILER_H
