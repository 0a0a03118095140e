//===- Store.h - Rendezvous of ranks ---------------------------*- C++ -*-===//
//
// A key-value store that rank 0 serves over TCP at MASTER_ADDR:MASTER_PORT. Ranks use it to find one another; nothing goes
// through it while training.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_RUNTIME_SRC_STORE_H
#define FLEET_RUNTIME_SRC_STORE_H

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace fleet_rt {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

/// Serves the store from threads of its own until it is destroyed.
class StoreServer {
public:
  /// Listens on `port`; throws Error when that is not possible.
  explicit StoreServer(int port);
  ~StoreServer();

private:
  struct State;
  std::shared_ptr<State> state;
};

/// A connection to the store.
class Store {
public:
  /// Connects, trying again until `timeout` has passed.
  Store(const std::string &host, int port, Seconds timeout);
  ~Store();
  Store(const Store &) = delete;

  void set(const std::string &key, const std::string &value);
  /// The value of a key, waiting for it up to the timeout; throws Error when it does not come.
  std::string get(const std::string &key);
  /// True when the key has a value.
  bool has(const std::string &key);

private:
  void request(char kind, const std::string &key, const std::string &value);

  int socket = -1;
  Seconds timeout;
  std::mutex mutex;
};

} // namespace fleet_rt

#endif // FLEET_RUNTIME_SRC_STORE_H
