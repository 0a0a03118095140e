//===- Store.cpp - Rendezvous of ranks -------------------------*- C++ -*-===//
//
// Requests are a letter (S set, G get, H has), a key and a value, each with its length in 8 bytes; a response is a letter (Y or
// N) and a value.
//
//===----------------------------------------------------------------------===//

#include "Store.h"
#include "Program.h"

#include <arpa/inet.h>
#include <cstring>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace fleet_rt {

/// Longest key or value; anything above is not from a rank.
static constexpr uint64_t kMaxLength = 1 << 20;

static bool sendAll(int socket, const void *data, size_t size) {
  const char *bytes = static_cast<const char *>(data);
  while (size > 0) {
    ssize_t sent = ::send(socket, bytes, size, MSG_NOSIGNAL);
    if (sent <= 0)
      return false;
    bytes += sent;
    size -= sent;
  }
  return true;
}

static bool recvAll(int socket, void *data, size_t size) {
  char *bytes = static_cast<char *>(data);
  while (size > 0) {
    ssize_t got = ::recv(socket, bytes, size, 0);
    if (got <= 0)
      return false;
    bytes += got;
    size -= got;
  }
  return true;
}

/// Requests are small and answered at once: do not wait to fill a packet.
static void disableDelay(int socket) {
  int yes = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
}

static bool sendText(int socket, const std::string &text) {
  uint64_t size = text.size();
  return sendAll(socket, &size, sizeof(size)) &&
         sendAll(socket, text.data(), size);
}

static bool recvText(int socket, std::string &text) {
  uint64_t size = 0;
  if (!recvAll(socket, &size, sizeof(size)) || size > kMaxLength)
    return false;
  text.resize(size);
  return recvAll(socket, text.data(), size);
}

//===----------------------------------------------------------------------===//
// Server
//===----------------------------------------------------------------------===//

struct StoreServer::State {
  int listener = -1;
  std::thread acceptor;
  std::mutex mutex;
  std::map<std::string, std::string> values;
  std::vector<int> sockets;
  std::vector<std::thread> workers;

  void serve(int socket);
  void accept();
};

void StoreServer::State::serve(int socket) {
  char kind = 0;
  std::string key, value;
  while (recvAll(socket, &kind, 1) && recvText(socket, key) &&
         recvText(socket, value)) {
    std::string answer;
    char found = 'Y';
    {
      std::lock_guard<std::mutex> lock(mutex);
      if (kind == 'S') {
        values[key] = value;
      } else {
        auto it = values.find(key);
        found = it == values.end() ? 'N' : 'Y';
        if (found == 'Y' && kind == 'G')
          answer = it->second;
      }
    }
    if (!sendAll(socket, &found, 1) || !sendText(socket, answer))
      return;
  }
}

void StoreServer::State::accept() {
  for (;;) {
    int socket = ::accept(listener, nullptr, nullptr);
    if (socket < 0)
      return;
    disableDelay(socket);
    std::lock_guard<std::mutex> lock(mutex);
    sockets.push_back(socket);
    workers.emplace_back([this, socket] { serve(socket); });
  }
}

StoreServer::StoreServer(int port) : state(std::make_shared<State>()) {
  state->listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int yes = 1;
  ::setsockopt(state->listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = INADDR_ANY;
  address.sin_port = htons(static_cast<uint16_t>(port));
  if (::bind(state->listener, reinterpret_cast<sockaddr *>(&address),
             sizeof(address)) != 0 ||
      ::listen(state->listener, 1024) != 0) {
    std::string reason = std::strerror(errno);
    ::close(state->listener);
    throw Error("rank 0 cannot listen on MASTER_PORT " + std::to_string(port) +
                ": " + reason);
  }
  state->acceptor = std::thread([s = state.get()] { s->accept(); });
}

StoreServer::~StoreServer() {
  ::shutdown(state->listener, SHUT_RDWR);
  ::close(state->listener);
  state->acceptor.join();
  for (int socket : state->sockets)
    ::shutdown(socket, SHUT_RDWR);
  for (std::thread &worker : state->workers)
    worker.join();
  for (int socket : state->sockets)
    ::close(socket);
}

//===----------------------------------------------------------------------===//
// Client
//===----------------------------------------------------------------------===//

/// One attempt to connect; -1 when nobody answers.
static int connectOnce(const std::string &host, int port) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints,
                    &found) != 0)
    return -1;
  int result = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(result, found->ai_addr, found->ai_addrlen) != 0) {
    ::close(result);
    result = -1;
  }
  ::freeaddrinfo(found);
  return result;
}

Store::Store(const std::string &host, int port, Seconds timeout)
    : timeout(timeout) {
  auto deadline = Clock::now() + timeout;
  while ((socket = connectOnce(host, port)) < 0) {
    if (Clock::now() > deadline)
      throw Error("cannot reach rank 0 at " + host + ":" +
                  std::to_string(port) + " within " +
                  std::to_string(static_cast<int>(timeout.count())) + " s");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  disableDelay(socket);
}

Store::~Store() {
  if (socket >= 0)
    ::close(socket);
}

void Store::request(char kind, const std::string &key,
                    const std::string &value) {
  if (!sendAll(socket, &kind, 1) || !sendText(socket, key) ||
      !sendText(socket, value))
    throw Error("lost the connection to rank 0");
}

void Store::set(const std::string &key, const std::string &value) {
  std::lock_guard<std::mutex> lock(mutex);
  request('S', key, value);
  char found = 0;
  std::string answer;
  if (!recvAll(socket, &found, 1) || !recvText(socket, answer))
    throw Error("lost the connection to rank 0");
}

bool Store::has(const std::string &key) {
  std::lock_guard<std::mutex> lock(mutex);
  request('H', key, "");
  char found = 0;
  std::string answer;
  if (!recvAll(socket, &found, 1) || !recvText(socket, answer))
    throw Error("lost the connection to rank 0");
  return found == 'Y';
}

std::string Store::get(const std::string &key) {
  auto deadline = Clock::now() + timeout;
  for (;;) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      request('G', key, "");
      char found = 0;
      std::string answer;
      if (!recvAll(socket, &found, 1) || !recvText(socket, answer))
        throw Error("lost the connection to rank 0");
      if (found == 'Y')
        return answer;
    }
    if (Clock::now() > deadline)
      throw Error("waited " +
                  std::to_string(static_cast<int>(timeout.count())) +
                  " s for '" + key + "' at start-up");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

} // namespace fleet_rt
