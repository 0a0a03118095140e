//===- Launcher.cpp - Start and watch the ranks ----------------*- C++ -*-===//
//
// Ranks are children in the process group of the launcher, so that a terminal's interrupt reaches all of them.
//
//===----------------------------------------------------------------------===//

#include "Launcher.h"
#include "Program.h"
#include "Store.h"

#include <arpa/inet.h>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace fleet_rt {

/// Number of ranks from the manifest of a bundle.
static int64_t readRanks(const std::string &bundle) {
  std::string path = bundle + "/manifest.json";
  std::ifstream file(path);
  if (!file)
    throw Error(bundle + ": not a bundle: it has no manifest.json");
  auto json = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object() || !json.contains("ranks") ||
      !json["ranks"].is_number_integer() || json["ranks"].get<int64_t>() < 1)
    throw Error(path + ": not the manifest of a bundle");
  return json["ranks"];
}

/// A port that nobody listens on right now.
static int freePort() {
  int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  bool bound =
      ::bind(socket, reinterpret_cast<sockaddr *>(&address), size) == 0 &&
      ::getsockname(socket, reinterpret_cast<sockaddr *>(&address), &size) == 0;
  ::close(socket);
  if (!bound)
    throw Error("no free port on this machine");
  return ntohs(address.sin_port);
}

static pid_t startRank(const std::string &path,
                       const std::vector<std::string> &arguments, int64_t rank,
                       int64_t size, int port) {
  pid_t parent = ::getpid();
  pid_t pid = ::fork();
  if (pid < 0)
    throw Error(std::string("cannot start a process: ") + std::strerror(errno));
  if (pid > 0)
    return pid;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent)
    ::_exit(1);
  ::setenv("RANK", std::to_string(rank).c_str(), 1);
  ::setenv("LOCAL_RANK", std::to_string(rank).c_str(), 1);
  ::setenv("WORLD_SIZE", std::to_string(size).c_str(), 1);
  ::setenv("MASTER_ADDR", "127.0.0.1", 1);
  ::setenv("MASTER_PORT", std::to_string(port).c_str(), 1);
  std::vector<char *> argv = {const_cast<char *>(path.c_str())};
  for (const std::string &argument : arguments)
    argv.push_back(const_cast<char *>(argument.c_str()));
  argv.push_back(nullptr);
  ::execv(path.c_str(), argv.data());
  std::fprintf(stderr, "fleet: error: %s: %s\n", path.c_str(),
               std::strerror(errno));
  ::_exit(1);
}

namespace {
/// The running ranks.
class Ranks {
public:
  ~Ranks() { killAll(); }
  void add(pid_t pid) { pids.push_back(pid); }
  /// Waits for all; returns 0 when all succeed.
  int wait();

private:
  void killAll() {
    for (pid_t pid : pids)
      if (pid > 0)
        ::kill(pid, SIGKILL);
  }
  /// Takes the status of a rank that ended; false when none has.
  bool reap();

  std::vector<pid_t> pids;
  bool failed = false;
};
} // namespace

bool Ranks::reap() {
  int status = 0;
  pid_t pid = ::waitpid(-1, &status, WNOHANG);
  if (pid <= 0)
    return false;
  for (size_t rank = 0; rank < pids.size(); ++rank) {
    if (pids[rank] != pid)
      continue;
    pids[rank] = 0;
    if (WIFSIGNALED(status) && !failed)
      std::fprintf(stderr,
                   "fleet: error: rank %zu was ended by signal %d (%s)\n", rank,
                   WTERMSIG(status), strsignal(WTERMSIG(status)));
    failed |= !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  }
  return true;
}

int Ranks::wait() {
  auto firstFailure = Clock::time_point::max();
  auto running = [&] {
    for (pid_t pid : pids)
      if (pid > 0)
        return true;
    return false;
  };
  while (running()) {
    if (reap()) {
      if (failed && firstFailure == Clock::time_point::max())
        firstFailure = Clock::now();
      continue;
    }
    if (failed && Clock::now() - firstFailure > std::chrono::seconds(2)) {
      killAll();
      firstFailure = Clock::now();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return failed ? 1 : 0;
}

int launch(const std::string &bundle,
           const std::vector<std::string> &arguments) {
  int64_t size = readRanks(bundle);
  for (int64_t rank = 0; rank < size; ++rank)
    if (std::string path = bundle + "/rank_" + std::to_string(rank);
        ::access(path.c_str(), X_OK) != 0)
      throw Error(path + ": " + std::strerror(errno));
  int port = freePort();
  Ranks ranks;
  for (int64_t rank = 0; rank < size; ++rank)
    ranks.add(startRank(bundle + "/rank_" + std::to_string(rank), arguments,
                        rank, size, port));
  return ranks.wait();
}

} // namespace fleet_rt
