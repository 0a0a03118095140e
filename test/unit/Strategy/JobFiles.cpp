//===- JobFiles.cpp - Job files for tests ----------------------*- C++ -*-===//
//
// Files in a folder of their own below the temporary one, removed with it.
//
//===----------------------------------------------------------------------===//

#include "JobFiles.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace llvm;

namespace fleet {

JobFiles::JobFiles() {
  EXPECT_FALSE(sys::fs::createUniqueDirectory("fleet-job", folder));
}

JobFiles::~JobFiles() { EXPECT_FALSE(sys::fs::remove_directories(folder)); }

std::string JobFiles::path(StringRef name) const {
  SmallString<128> result = folder;
  sys::path::append(result, name);
  return result.str().str();
}

std::string JobFiles::write(StringRef name, StringRef text) const {
  std::error_code error;
  raw_fd_ostream(path(name), error) << text;
  EXPECT_FALSE(error) << error.message();
  return path(name);
}

Job JobFiles::read(const JobArguments &arguments) const {
  auto job = readJob(arguments);
  if (job)
    return *job;
  ADD_FAILURE() << toString(job.takeError());
  return Job();
}

std::string JobFiles::error(const JobArguments &arguments) const {
  auto job = readJob(arguments);
  if (job)
    return "no error";
  std::string message = toString(job.takeError());
  std::string prefix = (folder + "/").str();
  for (size_t at; (at = message.find(prefix)) != std::string::npos;)
    message.erase(at, prefix.size());
  return message;
}

Job JobFiles::readJobText(StringRef text) const {
  JobArguments arguments;
  arguments.jobFile = write("job.json", text);
  return read(arguments);
}

std::string JobFiles::jobError(StringRef text) const {
  JobArguments arguments;
  arguments.jobFile = write("job.json", text);
  return error(arguments);
}

JobArguments JobFiles::strategyArguments(StringRef text,
                                         StringRef devices) const {
  JobArguments arguments;
  arguments.jobFile = write("base.json", R"({"model": "m.onnx", "batch": 8})");
  arguments.strategyFile = write("s.json", text);
  arguments.devices = devices.str();
  return arguments;
}

Job JobFiles::readStrategyText(StringRef text, StringRef devices) const {
  return read(strategyArguments(text, devices));
}

std::string JobFiles::strategyError(StringRef text, StringRef devices) const {
  return error(strategyArguments(text, devices));
}

} // namespace fleet
