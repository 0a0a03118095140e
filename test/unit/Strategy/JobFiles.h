//===- JobFiles.h - Job files for tests ------------------------*- C++ -*-===//
//
// A folder with the files of one test, and what reading a job from them gives.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_TEST_UNIT_STRATEGY_JOBFILES_H
#define FLEET_TEST_UNIT_STRATEGY_JOBFILES_H

#include "fleet/Strategy/Job.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"

namespace fleet {

class JobFiles {
public:
  JobFiles();
  ~JobFiles();
  JobFiles(const JobFiles &) = delete;
  JobFiles &operator=(const JobFiles &) = delete;

  /// Writes a file and returns its path.
  std::string write(llvm::StringRef name, llvm::StringRef text) const;
  std::string path(llvm::StringRef name) const;

  /// The job, or a failure of the test and a default one.
  Job read(const JobArguments &arguments) const;
  /// The message of the error, paths cut to names; "no error" where there is none.
  std::string error(const JobArguments &arguments) const;

  /// Reads the text of a job file.
  Job readJobText(llvm::StringRef text) const;
  std::string jobError(llvm::StringRef text) const;

  /// Reads a strategy file for a batch of 8 samples; `devices` may be empty.
  Job readStrategyText(llvm::StringRef text,
                       llvm::StringRef devices = "") const;
  std::string strategyError(llvm::StringRef text,
                            llvm::StringRef devices = "") const;

private:
  JobArguments strategyArguments(llvm::StringRef text,
                                 llvm::StringRef devices) const;

  llvm::SmallString<128> folder;
};

} // namespace fleet

#endif // FLEET_TEST_UNIT_STRATEGY_JOBFILES_H
