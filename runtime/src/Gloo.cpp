//===- Gloo.cpp - Ranks over TCP -------------------------------*- C++ -*-===//
//
// The same operations between machines. Sums are taken here and not by Gloo's algorithms, whose order of additions depends on
// the topology: every rank collects the terms of its share, adds them in the order of ranks, and shares the result.
//
//===----------------------------------------------------------------------===//

#include "Communicator.h"
#include "Program.h"

#include <csignal>
#include <cstring>
#include <gloo/allgatherv.h>
#include <gloo/alltoallv.h>
#include <gloo/barrier.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/prefix_store.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>

namespace fleet_rt {
namespace {

/// Gloo's view of the store.
class StoreAdapter : public gloo::rendezvous::Store {
public:
  explicit StoreAdapter(fleet_rt::Store &store) : store(store) {}
  void set(const std::string &key, const std::vector<char> &data) override {
    store.set(key, std::string(data.begin(), data.end()));
  }
  std::vector<char> get(const std::string &key) override {
    std::string value = store.get(key);
    return std::vector<char>(value.begin(), value.end());
  }
  void wait(const std::vector<std::string> &keys) override {
    for (const std::string &key : keys)
      store.get(key);
  }
  void wait(const std::vector<std::string> &keys,
            const std::chrono::milliseconds &) override {
    wait(keys);
  }

private:
  fleet_rt::Store &store;
};

/// Runs an operation of Gloo; its exceptions become a line that says who was waited for.
template <typename Function>
void guarded(const std::string &what, Function function) {
  try {
    function();
  } catch (const std::exception &error) {
    throw Error(what + ": " + error.what());
  }
}

class GlooGroup : public Communicator {
public:
  GlooGroup(std::shared_ptr<gloo::Context> context,
            std::vector<int64_t> members)
      : context(std::move(context)) {
    name = "waiting for ranks";
    for (int64_t member : members)
      name += " " + std::to_string(member);
  }

  void allReduce(int32_t kind, int32_t dtype, void *data,
                 int64_t count) override;
  void allGather(int32_t dtype, const void *in, void *out, int64_t outer,
                 int64_t inner) override;
  void reduceScatter(int32_t kind, int32_t dtype, const void *in, void *out,
                     int64_t outer, int64_t inner) override;
  void allToAll(int32_t dtype, const void *in, void *out, int64_t outer,
                int64_t inner) override;

private:
  /// Sends part r of `in` (of sizes[r] bytes) to rank r and receives own-sized parts from all, in order.
  void exchange(const uint8_t *in, const std::vector<int64_t> &sizes,
                uint8_t *out);
  /// Puts parts of all ranks (of sizes[r] bytes) side by side in `out`.
  void collect(const uint8_t *own, const std::vector<int64_t> &sizes,
               uint8_t *out);
  int64_t size() const { return context->size; }
  int64_t index() const { return context->rank; }

  std::shared_ptr<gloo::Context> context;
  std::string name;
  uint32_t tag = 0;
};

class GlooTransport : public Transport {
public:
  GlooTransport(const World &world, int64_t arenaBytes);

  uint8_t *arena() override { return memory.get(); }
  std::unique_ptr<Communicator>
  group(int64_t id, const std::vector<int64_t> &members) override;
  void send(int64_t to, const void *data, int64_t bytes) override;
  void recv(int64_t from, void *data, int64_t bytes) override;
  void barrier() override;
  void abort() override {}

private:
  std::shared_ptr<gloo::Context> connect(const std::string &name, int rank,
                                         int size);

  World world;
  std::unique_ptr<uint8_t[]> memory;
  std::shared_ptr<gloo::transport::Device> device;
  StoreAdapter adapter;
  std::shared_ptr<gloo::Context> all;
};

} // namespace

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

void GlooGroup::exchange(const uint8_t *in, const std::vector<int64_t> &sizes,
                         uint8_t *out) {
  guarded(name, [&] {
    gloo::AlltoallvOptions options(context);
    std::vector<int64_t> received(size(), sizes[index()]);
    options.setInput(const_cast<uint8_t *>(in), sizes);
    options.setOutput(out, received);
    options.setTag(tag++);
    gloo::alltoallv(options);
  });
}

void GlooGroup::collect(const uint8_t *own, const std::vector<int64_t> &sizes,
                        uint8_t *out) {
  guarded(name, [&] {
    gloo::AllgathervOptions options(context);
    std::vector<size_t> counts(sizes.begin(), sizes.end());
    options.setInput(const_cast<uint8_t *>(own), counts[index()]);
    options.setOutput(out, counts);
    options.setTag(tag++);
    gloo::allgatherv(options);
  });
}

void GlooGroup::allReduce(int32_t kind, int32_t dtype, void *data,
                          int64_t count) {
  int64_t width = elementBytes(dtype);
  std::vector<int64_t> sizes;
  for (int64_t r = 0; r < size(); ++r)
    sizes.push_back(((r + 1) * count / size() - r * count / size()) * width);
  int64_t own = sizes[index()];
  std::vector<uint8_t> terms(own * size() + 1);
  exchange(static_cast<uint8_t *>(data), sizes, terms.data());
  std::vector<const void *> sources;
  for (int64_t r = 0; r < size(); ++r)
    sources.push_back(terms.data() + r * own);
  combine(kind, dtype, terms.data(), sources, own / width);
  collect(terms.data(), sizes, static_cast<uint8_t *>(data));
}

void GlooGroup::allGather(int32_t dtype, const void *in, void *out,
                          int64_t outer, int64_t inner) {
  int64_t bytes = inner * elementBytes(dtype);
  std::vector<int64_t> sizes(size(), outer * bytes);
  std::vector<uint8_t> parts(size() * outer * bytes + 1);
  collect(static_cast<const uint8_t *>(in), sizes, parts.data());
  for (int64_t r = 0; r < size(); ++r)
    for (int64_t o = 0; o < outer; ++o)
      std::memcpy(static_cast<uint8_t *>(out) + (o * size() + r) * bytes,
                  parts.data() + (r * outer + o) * bytes, bytes);
}

void GlooGroup::allToAll(int32_t dtype, const void *in, void *out,
                         int64_t outer, int64_t inner) {
  int64_t bytes = inner * elementBytes(dtype);
  std::vector<uint8_t> parts(size() * outer * bytes + 1);
  for (int64_t r = 0; r < size(); ++r)
    for (int64_t o = 0; o < outer; ++o)
      std::memcpy(parts.data() + (r * outer + o) * bytes,
                  static_cast<const uint8_t *>(in) + (o * size() + r) * bytes,
                  bytes);
  exchange(parts.data(), std::vector<int64_t>(size(), outer * bytes),
           static_cast<uint8_t *>(out));
}

void GlooGroup::reduceScatter(int32_t kind, int32_t dtype, const void *in,
                              void *out, int64_t outer, int64_t inner) {
  int64_t bytes = outer * inner * elementBytes(dtype);
  std::vector<uint8_t> terms(size() * bytes + 1);
  allToAll(dtype, in, terms.data(), outer, inner);
  std::vector<const void *> sources;
  for (int64_t r = 0; r < size(); ++r)
    sources.push_back(terms.data() + r * bytes);
  combine(kind, dtype, out, sources, outer * inner);
}

//===----------------------------------------------------------------------===//
// Transport
//===----------------------------------------------------------------------===//

GlooTransport::GlooTransport(const World &w, int64_t arenaBytes)
    : world(w), memory(new uint8_t[arenaBytes + 64]()), adapter(w.store) {
  guarded("start-up of Gloo", [&] {
    gloo::transport::tcp::attr address;
    address.hostname = w.size == 1 ? "127.0.0.1" : "";
    if (const char *host = std::getenv("MASTER_ADDR");
        host &&
        (std::string(host) == "127.0.0.1" || std::string(host) == "localhost"))
      address.hostname = "127.0.0.1";
    device = gloo::transport::tcp::CreateDevice(address);
  });
  all = connect("world", static_cast<int>(w.rank), static_cast<int>(w.size));
}

std::shared_ptr<gloo::Context> GlooTransport::connect(const std::string &name,
                                                      int rank, int size) {
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, size);
  context->setTimeout(
      std::chrono::duration_cast<std::chrono::milliseconds>(world.timeout));
  guarded("waiting for the ranks of group " + name, [&] {
    gloo::rendezvous::PrefixStore prefixed("gloo/" + name, adapter);
    context->connectFullMesh(prefixed, device);
  });
  return context;
}

std::unique_ptr<Communicator>
GlooTransport::group(int64_t id, const std::vector<int64_t> &members) {
  int index = 0;
  std::string name = std::to_string(id);
  for (size_t m = 0; m < members.size(); ++m) {
    name += "-" + std::to_string(members[m]);
    if (members[m] == world.rank)
      index = static_cast<int>(m);
  }
  return std::make_unique<GlooGroup>(
      connect(name, index, static_cast<int>(members.size())), members);
}

void GlooTransport::send(int64_t to, const void *data, int64_t bytes) {
  guarded("waiting for rank " + std::to_string(to), [&] {
    auto buffer = all->createUnboundBuffer(const_cast<void *>(data), bytes);
    buffer->send(static_cast<int>(to), 1);
    buffer->waitSend(all->getTimeout());
  });
}

void GlooTransport::recv(int64_t from, void *data, int64_t bytes) {
  guarded("waiting for rank " + std::to_string(from), [&] {
    auto buffer = all->createUnboundBuffer(data, bytes);
    buffer->recv(static_cast<int>(from), 1);
    buffer->waitRecv(all->getTimeout());
  });
}

void GlooTransport::barrier() {
  guarded("waiting for all ranks", [&] {
    gloo::BarrierOptions options(all);
    gloo::barrier(options);
  });
}

std::unique_ptr<Transport> makeGloo(const World &world, int64_t arenaBytes) {
  // A peer that is gone must be an error of the write, not a signal.
  ::signal(SIGPIPE, SIG_IGN);
  return std::make_unique<GlooTransport>(world, arenaBytes);
}

} // namespace fleet_rt
