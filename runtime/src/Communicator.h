//===- Communicator.h - Transports -----------------------------*- C++ -*-===//
//
// What a transport provides. A transport is made once for all ranks of a job; groups are made from it. Operations block until
// they are done, fail with Error when a peer is gone or a wait exceeds the deadline, and take sums in the order of ranks.
// Streams and device memory come as further arguments of the same operations.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_RUNTIME_SRC_COMMUNICATOR_H
#define FLEET_RUNTIME_SRC_COMMUNICATOR_H

#include "Store.h"

#include <cstdint>
#include <vector>

namespace fleet_rt {

/// Collectives over one group of ranks. Data lies in the arena of the transport.
class Communicator {
public:
  virtual ~Communicator() = default;

  virtual void allReduce(int32_t kind, int32_t dtype, void *data,
                         int64_t count) = 0;
  virtual void allGather(int32_t dtype, const void *in, void *out,
                         int64_t outer, int64_t inner) = 0;
  virtual void reduceScatter(int32_t kind, int32_t dtype, const void *in,
                             void *out, int64_t outer, int64_t inner) = 0;
  virtual void allToAll(int32_t dtype, const void *in, void *out, int64_t outer,
                        int64_t inner) = 0;
};

/// Connects all ranks of a job.
class Transport {
public:
  virtual ~Transport() = default;

  /// Memory of this rank that collectives work on, zeroed; lives as long as the transport.
  virtual uint8_t *arena() = 0;
  /// The group of `members`, one of which is this rank; `id` is equal on all of them and unique among the groups of a
  /// rank. All members make their groups in the same order.
  virtual std::unique_ptr<Communicator>
  group(int64_t id, const std::vector<int64_t> &members) = 0;
  /// Sends to a rank; returns when the data may change again.
  virtual void send(int64_t rank, const void *data, int64_t bytes) = 0;
  virtual void recv(int64_t rank, void *data, int64_t bytes) = 0;
  /// Waits for all ranks.
  virtual void barrier() = 0;
  /// Tells the others that this rank stops, so that they need not wait for their deadline.
  virtual void abort() = 0;
};

/// Where a rank stands among the others.
struct World {
  int64_t rank, size;
  Seconds timeout;
  Store &store;
};

/// Shared memory of one machine: peers read one another's arena in place.
std::unique_ptr<Transport> makeSharedMemory(const World &world,
                                            int64_t arenaBytes);
/// Gloo over TCP.
std::unique_ptr<Transport> makeGloo(const World &world, int64_t arenaBytes);

/// out[i] = combination of sources[0][i], sources[1][i], … in that order. `out` may be one of the sources.
void combine(int32_t kind, int32_t dtype, void *out,
             const std::vector<const void *> &sources, int64_t count);

} // namespace fleet_rt

#endif // FLEET_RUNTIME_SRC_COMMUNICATOR_H
