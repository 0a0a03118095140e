//===- Main.cpp - A rank executable ----------------------------*- C++ -*-===//
//
// Start-up of a rank: environment, options, rendezvous, then the loop. Runs under fleet-run, torchrun or by hand with RANK,
// WORLD_SIZE, MASTER_ADDR and MASTER_PORT set.
//
//===----------------------------------------------------------------------===//

#include "Executor.h"

#include <cblas.h>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <sys/resource.h>
#include <unistd.h>

using namespace fleet_rt;

namespace {
struct Options {
  RunOptions run;
  std::string transport = "shm", bundle, summary;
  double timeout = 300;
};
} // namespace

/// An integer from the environment.
static int64_t environment(const char *name, int64_t otherwise) {
  const char *text = std::getenv(name);
  if (!text)
    return otherwise;
  char *end = nullptr;
  int64_t value = std::strtoll(text, &end, 10);
  if (*end || end == text)
    throw Error(std::string(name) + " is '" + text + "', not a number");
  return value;
}

/// The folder of this executable.
static std::string ownFolder() {
  char path[PATH_MAX];
  ssize_t size = ::readlink("/proc/self/exe", path, sizeof(path) - 1);
  if (size < 0)
    return ".";
  std::string text(path, size);
  return text.substr(0, text.rfind('/'));
}

static double number(const std::string &name, const std::string &text) {
  char *end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end || !(value >= 0))
    throw Error(name + " needs a number, got '" + text + "'");
  return value;
}

static Options parseOptions(int argc, char **argv) {
  Options options;
  options.bundle = ownFolder();
  for (int i = 1; i < argc; ++i) {
    std::string name = argv[i], value;
    size_t equals = name.find('=');
    if (equals != std::string::npos) {
      value = name.substr(equals + 1);
      name = name.substr(0, equals);
    } else if (i + 1 < argc) {
      value = argv[++i];
    }
    if (name == "--data")
      options.run.data.path = value;
    else if (name == "--token-type")
      options.run.data.tokenType = value;
    else if (name == "--seed")
      options.run.data.seed = static_cast<uint64_t>(number(name, value));
    else if (name == "--steps")
      options.run.data.steps = static_cast<int64_t>(number(name, value));
    else if (name == "--log")
      options.run.log = value;
    else if (name == "--transport")
      options.transport = value;
    else if (name == "--timeout")
      options.timeout = number(name, value);
    else if (name == "--bundle")
      options.bundle = value;
    else if (name == "--summary")
      options.summary = value;
    else
      throw Error("unknown option '" + name + "'");
  }
  if (options.run.data.path.empty())
    throw Error("--data is not given");
  if (options.run.data.steps < 1)
    throw Error("--steps must be at least 1");
  if (options.transport != "shm" && options.transport != "gloo")
    throw Error("--transport '" + options.transport +
                "' is not one of shm, gloo");
  options.run.weights = options.bundle + "/weights.safetensors";
  return options;
}

static void writeSummary(const Options &options, const Program &program,
                         int64_t rank) {
  if (options.summary.empty())
    return;
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  std::string path = options.summary + "." + std::to_string(rank);
  std::FILE *file = std::fopen(path.c_str(), "w");
  if (!file)
    throw Error(path + ": " + std::strerror(errno));
  std::fprintf(file,
               "{\"rank\":%lld,\"arena_bytes\":%lld,\"peak_rss_kb\":%ld}\n",
               static_cast<long long>(rank),
               static_cast<long long>(program.arenaBytes), usage.ru_maxrss);
  std::fclose(file);
}

static void runRank(const Options &options, const Program &program,
                    int64_t rank) {
  int64_t size = environment("WORLD_SIZE", 1);
  if (size != program.numRanks())
    throw Error("WORLD_SIZE is " + std::to_string(size) +
                ", the program is for " + std::to_string(program.numRanks()) +
                " ranks");
  const char *address = std::getenv("MASTER_ADDR");
  auto port = static_cast<int>(environment("MASTER_PORT", 29500));
  // torchrun serves a store of its own on the port.
  if (const char *agent = std::getenv("TORCHELASTIC_USE_AGENT_STORE");
      agent && std::strcmp(agent, "True") == 0)
    ++port;
  Seconds timeout(options.timeout);
  std::unique_ptr<StoreServer> server;
  if (rank == 0)
    server = std::make_unique<StoreServer>(port);
  Store store(address ? address : "127.0.0.1", port, timeout);
  World world{rank, size, timeout, store};
  std::unique_ptr<Transport> transport =
      options.transport == "shm" ? makeSharedMemory(world, program.arenaBytes)
                                 : makeGloo(world, program.arenaBytes);
  try {
    Executor executor(program, fleet_tasks, rank, *transport, options.run);
    executor.run();
  } catch (...) {
    transport->abort();
    throw;
  }
  writeSummary(options, program, rank);
}

int main(int argc, char **argv) {
  int64_t rank = 0;
  try {
    rank = environment("RANK", 0);
    ::setenv("OMP_NUM_THREADS", "1", 0);
    openblas_set_num_threads(1);
    Options options = parseOptions(argc, argv);
    Program program = Program::parse(fleet_program, fleet_program_size);
    runRank(options, program, rank);
    return 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "fleet: error: rank %lld: %s\n",
                 static_cast<long long>(rank), error.what());
    return 1;
  }
}
