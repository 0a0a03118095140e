//===- Program.h - The program of a rank -----------------------*- C++ -*-===//
//
// The JSON text inside an executable as tables. Format: docs/program-format.md.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_RUNTIME_SRC_PROGRAM_H
#define FLEET_RUNTIME_SRC_PROGRAM_H

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace fleet_rt {

/// What is wrong, as one line for the user.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct MeshAxis {
  std::string name;
  int64_t size;
};

/// The axes of one dimension, as (mesh axis, prime piece or -1 for all of it).
struct AxisRef {
  size_t axis;
  int64_t piece;
};
using AxisRefs = std::vector<AxisRef>;

struct Buffer {
  std::string name, kind, source, scalar;
  int32_t dtype;
  std::vector<int64_t> shape, globalShape;
  int64_t offset, slots, slotBytes;
  std::vector<AxisRefs> sharding;
  std::vector<int64_t> pieceOffsets, pieceOf;

  int64_t elements() const;
};

struct Action {
  enum Kind { Run, Send, Recv } kind;
  int64_t target; ///< task or buffer
  int64_t microBatch = 0;
  int64_t peerStage = 0;
};

struct Schedule {
  std::string kind = "constant";
  double lr = 0, minLr = 0;
  int64_t warmup = 0, steps = 0;

  /// Rate of update `step`, counted from 1: linear warm-up to lr, then constant, a line or half a cosine to minLr.
  double rate(int64_t step) const;
};

/// How windows of a token file feed the inputs.
struct TokenBinding {
  std::string input, labels;
  bool shift = false;
  int64_t sequence = 0;
};

struct Program {
  int64_t stage = 0, stages = 1;
  std::string precision;
  std::vector<MeshAxis> mesh;
  int64_t arenaBytes = 0, globalBatch = 0, microBatches = 1;
  std::vector<Buffer> buffers;
  std::vector<std::string> communicatorNames;
  std::vector<AxisRefs> communicators;
  std::vector<std::string> tasks;
  std::vector<Action> actions;
  std::optional<int64_t> loss, gradNorm;
  Schedule schedule;
  std::optional<TokenBinding> tokens;

  /// Parses the text; throws Error when it is not a program.
  static Program parse(const char *text, size_t size);

  int64_t numRanks() const;
  /// Coordinates of a rank along the mesh axes.
  std::vector<int64_t> coordinates(int64_t rank) const;
  int64_t rankAt(const std::vector<int64_t> &coordinates) const;
  /// Index of a rank among the shards of `axes`, and their number.
  int64_t shardIndex(const AxisRefs &axes, int64_t rank) const;
  int64_t shardCount(const AxisRefs &axes) const;
  /// Ranks that differ from `rank` in `axes` alone, by their shard index.
  std::vector<int64_t> group(const AxisRefs &axes, int64_t rank) const;
  /// The rank of `stage` with the same other coordinates.
  int64_t peer(int64_t rank, int64_t stage) const;

private:
  int64_t pieceSize(const AxisRef &ref) const;
  int64_t pieceIndex(const AxisRef &ref, int64_t coordinate) const;
  std::vector<int64_t> pieces(const AxisRef &ref) const;
};

/// Bytes of an element of a fleet_rt type.
int64_t elementBytes(int32_t dtype);

} // namespace fleet_rt

#endif // FLEET_RUNTIME_SRC_PROGRAM_H
