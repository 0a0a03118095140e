//===- Inputs.h - Batches for a rank ---------------------------*- C++ -*-===//
//
// Where the inputs of a step come from: step-major safetensors, or windows of a token file.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_RUNTIME_SRC_INPUTS_H
#define FLEET_RUNTIME_SRC_INPUTS_H

#include "Program.h"

#include <memory>

namespace fleet_rt {

/// Fills the input buffers of a rank.
class Inputs {
public:
  virtual ~Inputs() = default;
  /// Writes the inputs of `step`, counted from 0, for all micro-batches into the arena.
  virtual void load(int64_t step, uint8_t *arena) = 0;
};

struct DataOptions {
  std::string path;
  /// uint8, uint16 or int32 for a token file; empty: by the file's extension (.u8, .u16, .i32).
  std::string tokenType;
  uint64_t seed = 0;
  int64_t steps = 0;
};

/// Opens the data and checks that it has every input of the program for `steps` steps, before anything runs; throws Error.
std::unique_ptr<Inputs> openInputs(const Program &program, int64_t rank,
                                   const DataOptions &options);

/// Samples (rows of the global batch) of micro-batch `microBatch` that a rank holds in dimension 0 of `buffer`: the first,
/// and how many.
struct RowRange {
  int64_t first, count;
};
RowRange rowsOf(const Program &program, const Buffer &buffer, int64_t rank,
                int64_t microBatch);

/// Position `index` of a shuffled sequence of `size` items: a bijection for every seed and epoch that needs no table, so
/// that the order does not depend on who asks.
uint64_t shuffled(uint64_t index, uint64_t size, uint64_t seed, uint64_t epoch);

} // namespace fleet_rt

#endif // FLEET_RUNTIME_SRC_INPUTS_H
