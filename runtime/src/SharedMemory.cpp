//===- SharedMemory.cpp - Ranks of one machine -----------------*- C++ -*-===//
//
// Every rank's arena is a memfd that its peers map, so that an all_reduce reads its peers' buckets where they lie. A control
// block, also shared, holds counters by which ranks wait for one another. Anonymous memory files vanish with the last
// process: nothing is left behind by a kill.
//
//===----------------------------------------------------------------------===//

#include "Communicator.h"
#include "Program.h"

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace fleet_rt {
namespace {

/// A counter that only grows, on a cache line of its own. Waiters sleep on it across processes.
struct alignas(64) Counter {
  std::atomic<uint32_t> value{0};
  std::atomic<uint32_t> sleepers{0};
};

/// What a rank publishes to one group or peer.
struct alignas(64) Mailbox {
  Counter sent, received;
  std::atomic<int64_t> offset{0};
};

struct alignas(64) RankState {
  std::atomic<int32_t> pid{0};
  std::atomic<int32_t> aborted{0};
};

/// Largest number of groups that a rank takes part in.
constexpr int64_t kMaxGroups = 16;

/// Layout of the control block: states, then a mailbox per rank and group, then one per pair of ranks.
class Control {
public:
  Control() = default;
  Control(uint8_t *memory, int64_t ranks) : memory(memory), ranks(ranks) {}
  static int64_t bytes(int64_t ranks) {
    return ranks * (sizeof(RankState) + kMaxGroups * sizeof(Mailbox) +
                    ranks * sizeof(Mailbox));
  }
  RankState &state(int64_t rank) {
    return reinterpret_cast<RankState *>(memory)[rank];
  }
  Mailbox &group(int64_t rank, int64_t id) {
    return mailboxes()[rank * kMaxGroups + id];
  }
  Mailbox &pair(int64_t from, int64_t to) {
    return mailboxes()[ranks * kMaxGroups + from * ranks + to];
  }

private:
  Mailbox *mailboxes() {
    return reinterpret_cast<Mailbox *>(memory + ranks * sizeof(RankState));
  }
  uint8_t *memory = nullptr;
  int64_t ranks = 0;
};

/// A memory file of this process.
class MemoryFile {
public:
  explicit MemoryFile(int64_t bytes) {
    descriptor = memfd_create("fleet", MFD_CLOEXEC);
    if (descriptor < 0 || ftruncate(descriptor, bytes) != 0)
      throw Error("cannot make " + std::to_string(bytes) +
                  " bytes of shared memory: " + std::strerror(errno));
  }
  ~MemoryFile() { ::close(descriptor); }
  MemoryFile(const MemoryFile &) = delete;
  /// Path under which other processes open it.
  std::string path() const {
    return "/proc/" + std::to_string(getpid()) + "/fd/" +
           std::to_string(descriptor);
  }

private:
  int descriptor;
};

uint8_t *mapShared(const std::string &path, int64_t bytes) {
  int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  void *memory = descriptor < 0 ? MAP_FAILED
                                : ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                         MAP_SHARED, descriptor, 0);
  if (descriptor >= 0)
    ::close(descriptor);
  if (memory == MAP_FAILED)
    throw Error("cannot map the memory of a peer (" + path +
                "): " + std::strerror(errno) +
                "; ranks on several machines need --transport gloo");
  return static_cast<uint8_t *>(memory);
}

class SharedMemory : public Transport {
public:
  SharedMemory(const World &world, int64_t arenaBytes);
  ~SharedMemory() override;

  uint8_t *arena() override { return arenas[rank]; }
  std::unique_ptr<Communicator>
  group(int64_t id, const std::vector<int64_t> &members) override;
  void send(int64_t to, const void *data, int64_t bytes) override;
  void recv(int64_t from, void *data, int64_t bytes) override;
  void barrier() override;
  void abort() override { control.state(rank).aborted = 1; }

  /// Waits until a counter reaches `target`; `peer` is the rank that moves it.
  void wait(Counter &counter, uint32_t target, int64_t peer);
  void advance(Counter &counter);
  int64_t offsetOf(const void *data) const {
    return static_cast<const uint8_t *>(data) - arenas[rank];
  }

  Control control;
  std::vector<uint8_t *> arenas;
  int64_t rank, size;

private:
  void checkPeer(int64_t peer, Clock::time_point deadline);

  Seconds timeout;
  int spins;
  std::vector<int64_t> arenaSizes;
  std::unique_ptr<MemoryFile> controlFile, arenaFile;
  uint8_t *controlMemory;
  std::unique_ptr<Communicator> world;
};

class SharedGroup : public Communicator {
public:
  SharedGroup(SharedMemory &shared, int64_t id, std::vector<int64_t> members)
      : shared(shared), id(id), members(std::move(members)) {
    while (this->members[index] != shared.rank)
      ++index;
  }

  void allReduce(int32_t kind, int32_t dtype, void *data,
                 int64_t count) override;
  void allGather(int32_t dtype, const void *in, void *out, int64_t outer,
                 int64_t inner) override;
  void reduceScatter(int32_t kind, int32_t dtype, const void *in, void *out,
                     int64_t outer, int64_t inner) override;
  void allToAll(int32_t dtype, const void *in, void *out, int64_t outer,
                int64_t inner) override;
  /// Publishes where this rank's data lies and waits until all members have.
  void meet(const void *data);
  /// Waits until all members have come this far.
  void meet();

private:
  const uint8_t *peerData(size_t member) {
    int64_t peer = members[member];
    return shared.arenas[peer] + shared.control.group(peer, id).offset.load();
  }
  std::vector<const void *> sources(int64_t byteOffset) {
    std::vector<const void *> all;
    for (size_t m = 0; m < members.size(); ++m)
      all.push_back(peerData(m) + byteOffset);
    return all;
  }

  SharedMemory &shared;
  int64_t id;
  std::vector<int64_t> members;
  size_t index = 0;
  uint32_t round = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

static long futex(std::atomic<uint32_t> &word, int operation, uint32_t value,
                  const timespec *timeout) {
  return syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), operation,
                 value, timeout, nullptr, 0);
}

void SharedMemory::advance(Counter &counter) {
  counter.value.fetch_add(1, std::memory_order_seq_cst);
  if (counter.sleepers.load(std::memory_order_seq_cst) != 0)
    futex(counter.value, FUTEX_WAKE, INT_MAX, nullptr);
}

/// Throws when `peer` is gone, or anybody is, or the deadline has passed.
void SharedMemory::checkPeer(int64_t peer, Clock::time_point deadline) {
  for (int64_t other = 0; other < size; ++other) {
    int32_t pid = control.state(other).pid;
    bool dead = pid != 0 && ::kill(pid, 0) != 0 && errno == ESRCH;
    if (dead || control.state(other).aborted)
      throw Error("waiting for rank " + std::to_string(peer) + ": rank " +
                  std::to_string(other) + (dead ? " died" : " stopped"));
  }
  if (Clock::now() > deadline)
    throw Error("waited " + std::to_string(static_cast<int>(timeout.count())) +
                " s for rank " + std::to_string(peer));
}

void SharedMemory::wait(Counter &counter, uint32_t target, int64_t peer) {
  auto reached = [&] {
    return static_cast<int32_t>(counter.value.load(std::memory_order_acquire) -
                                target) >= 0;
  };
  for (int spin = 0; spin < spins; ++spin) {
    if (reached())
      return;
    __builtin_ia32_pause();
  }
  auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(timeout);
  while (!reached()) {
    counter.sleepers.fetch_add(1, std::memory_order_seq_cst);
    uint32_t seen = counter.value.load(std::memory_order_seq_cst);
    timespec nap{0, 50'000'000};
    bool slept = false;
    if (static_cast<int32_t>(seen - target) < 0)
      slept = futex(counter.value, FUTEX_WAIT, seen, &nap) != 0 &&
              errno == ETIMEDOUT;
    counter.sleepers.fetch_sub(1, std::memory_order_seq_cst);
    if (slept && !reached())
      checkPeer(peer, deadline);
  }
}

//===----------------------------------------------------------------------===//
// Set-up and point to point
//===----------------------------------------------------------------------===//

SharedMemory::SharedMemory(const World &w, int64_t arenaBytes)
    : rank(w.rank), size(w.size), timeout(w.timeout) {
  // More ranks than cores: spinning would take the core from the peer that is waited for.
  spins = size <= static_cast<int64_t>(std::thread::hardware_concurrency())
              ? 20000
              : 0;
  arenaBytes = std::max<int64_t>(arenaBytes, 4096);
  arenaFile = std::make_unique<MemoryFile>(arenaBytes);
  if (rank == 0) {
    controlFile = std::make_unique<MemoryFile>(Control::bytes(size));
    w.store.set("shm/control", controlFile->path());
  }
  w.store.set("shm/arena/" + std::to_string(rank),
              arenaFile->path() + " " + std::to_string(arenaBytes));
  controlMemory = mapShared(w.store.get("shm/control"), Control::bytes(size));
  control = Control(controlMemory, size);
  control.state(rank).pid = getpid();
  for (int64_t peer = 0; peer < size; ++peer) {
    std::string text = w.store.get("shm/arena/" + std::to_string(peer));
    size_t space = text.find(' ');
    arenaSizes.push_back(std::stoll(text.substr(space + 1)));
    arenas.push_back(mapShared(text.substr(0, space), arenaSizes.back()));
  }
  std::vector<int64_t> all(size);
  for (int64_t peer = 0; peer < size; ++peer)
    all[peer] = peer;
  world = std::make_unique<SharedGroup>(*this, kMaxGroups - 1, all);
  barrier();
}

SharedMemory::~SharedMemory() {
  for (size_t peer = 0; peer < arenas.size(); ++peer)
    ::munmap(arenas[peer], arenaSizes[peer]);
  ::munmap(controlMemory, Control::bytes(size));
}

std::unique_ptr<Communicator>
SharedMemory::group(int64_t id, const std::vector<int64_t> &members) {
  if (id >= kMaxGroups - 1)
    throw Error("a rank takes part in more than " +
                std::to_string(kMaxGroups - 1) + " groups");
  return std::make_unique<SharedGroup>(*this, id, members);
}

void SharedMemory::barrier() { static_cast<SharedGroup &>(*world).meet(); }

void SharedMemory::send(int64_t to, const void *data, int64_t) {
  Mailbox &box = control.pair(rank, to);
  box.offset.store(offsetOf(data));
  advance(box.sent);
  wait(box.received, box.sent.value.load(), to);
}

void SharedMemory::recv(int64_t from, void *data, int64_t bytes) {
  Mailbox &box = control.pair(from, rank);
  wait(box.sent, box.received.value.load() + 1, from);
  std::memcpy(data, arenas[from] + box.offset.load(), bytes);
  advance(box.received);
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

void SharedGroup::meet() {
  ++round;
  shared.advance(shared.control.group(shared.rank, id).sent);
  for (int64_t peer : members)
    if (peer != shared.rank)
      shared.wait(shared.control.group(peer, id).sent, round, peer);
}

void SharedGroup::meet(const void *data) {
  shared.control.group(shared.rank, id).offset.store(shared.offsetOf(data));
  meet();
}

void SharedGroup::allReduce(int32_t kind, int32_t dtype, void *data,
                            int64_t count) {
  int64_t width = elementBytes(dtype);
  auto size = static_cast<int64_t>(members.size());
  auto begin = [&](int64_t member) { return member * count / size; };
  meet(data);
  // Own share of the elements, over all ranks. Nobody else reads it from here before the next meeting.
  int64_t first = begin(index), length = begin(index + 1) - first;
  combine(kind, dtype, static_cast<uint8_t *>(data) + first * width,
          sources(first * width), length);
  meet();
  for (size_t m = 0; m < members.size(); ++m)
    if (m != index)
      std::memcpy(static_cast<uint8_t *>(data) + begin(m) * width,
                  peerData(m) + begin(m) * width,
                  (begin(m + 1) - begin(m)) * width);
  meet();
}

void SharedGroup::allGather(int32_t dtype, const void *in, void *out,
                            int64_t outer, int64_t inner) {
  int64_t bytes = inner * elementBytes(dtype);
  auto size = static_cast<int64_t>(members.size());
  meet(in);
  for (int64_t m = 0; m < size; ++m)
    for (int64_t o = 0; o < outer; ++o)
      std::memcpy(static_cast<uint8_t *>(out) + (o * size + m) * bytes,
                  peerData(m) + o * bytes, bytes);
  meet();
}

void SharedGroup::reduceScatter(int32_t kind, int32_t dtype, const void *in,
                                void *out, int64_t outer, int64_t inner) {
  int64_t bytes = inner * elementBytes(dtype);
  auto size = static_cast<int64_t>(members.size());
  meet(in);
  for (int64_t o = 0; o < outer; ++o)
    combine(kind, dtype, static_cast<uint8_t *>(out) + o * bytes,
            sources((o * size + static_cast<int64_t>(index)) * bytes), inner);
  meet();
}

void SharedGroup::allToAll(int32_t dtype, const void *in, void *out,
                           int64_t outer, int64_t inner) {
  int64_t bytes = inner * elementBytes(dtype);
  auto size = static_cast<int64_t>(members.size());
  meet(in);
  for (int64_t m = 0; m < size; ++m)
    for (int64_t o = 0; o < outer; ++o)
      std::memcpy(static_cast<uint8_t *>(out) + (m * outer + o) * bytes,
                  peerData(m) +
                      (o * size + static_cast<int64_t>(index)) * bytes,
                  bytes);
  meet();
}

std::unique_ptr<Transport> makeSharedMemory(const World &world,
                                            int64_t arenaBytes) {
  return std::make_unique<SharedMemory>(world, arenaBytes);
}

} // namespace fleet_rt
