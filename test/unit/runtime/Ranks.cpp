//===- Ranks.cpp - Several ranks in one test -------------------*- C++ -*-===//
//
// Forking and collecting.
//
//===----------------------------------------------------------------------===//

#include "Ranks.h"

#include <cstdlib>
#include <exception>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace fleet_rt;

static int freePort() {
  int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t size = sizeof(address);
  ::bind(socket, reinterpret_cast<sockaddr *>(&address), size);
  ::getsockname(socket, reinterpret_cast<sockaddr *>(&address), &size);
  ::close(socket);
  return ntohs(address.sin_port);
}

static int runOne(int rank, int size, int port, const std::string &name,
                  int64_t arenaBytes, double timeout, int output,
                  const std::function<std::string(int, Transport &)> &body) {
  std::string text;
  int code = 0;
  try {
    std::unique_ptr<StoreServer> server;
    if (rank == 0)
      server = std::make_unique<StoreServer>(port);
    Store store("127.0.0.1", port, Seconds(timeout));
    World world{rank, size, Seconds(timeout), store};
    std::unique_ptr<Transport> transport =
        name == "shm" ? makeSharedMemory(world, arenaBytes)
                      : makeGloo(world, arenaBytes);
    try {
      text = body(rank, *transport);
      transport->barrier();
    } catch (...) {
      transport->abort();
      throw;
    }
  } catch (const std::exception &error) {
    text = error.what();
    code = 1;
  }
  if (::write(output, text.data(), text.size()) < 0)
    code = 2;
  return code;
}

std::vector<RankResult>
runRanks(int size, const std::string &transport, int64_t arenaBytes,
         const std::function<std::string(int, Transport &)> &body,
         double timeout) {
  ::setenv("MASTER_ADDR", "127.0.0.1", 1);
  int port = freePort();
  std::vector<pid_t> pids;
  std::vector<int> outputs;
  for (int rank = 0; rank < size; ++rank) {
    int ends[2];
    if (::pipe(ends) != 0)
      std::abort();
    pid_t pid = ::fork();
    if (pid == 0) {
      ::close(ends[0]);
      ::_exit(runOne(rank, size, port, transport, arenaBytes, timeout, ends[1],
                     body));
    }
    ::close(ends[1]);
    pids.push_back(pid);
    outputs.push_back(ends[0]);
  }
  // Statuses first: a rank that died must not stay a zombie while others wait for it.
  std::vector<RankResult> results(size);
  for (int left = size; left > 0; --left) {
    int status = 0;
    pid_t pid = ::wait(&status);
    for (int rank = 0; rank < size; ++rank)
      if (pids[rank] == pid)
        results[rank].code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  for (int rank = 0; rank < size; ++rank) {
    char buffer[4096];
    ssize_t got;
    while ((got = ::read(outputs[rank], buffer, sizeof(buffer))) > 0)
      results[rank].text.append(buffer, got);
    ::close(outputs[rank]);
  }
  return results;
}
