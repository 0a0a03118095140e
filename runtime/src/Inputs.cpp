//===- Inputs.cpp - Batches for a rank -------------------------*- C++ -*-===//
//
// Every rank reads its own rows of the mapped files; nothing is sent.
//
//===----------------------------------------------------------------------===//

#include "Inputs.h"
#include "TensorFile.h"
#include "fleet_rt/fleet_rt.h"

#include <algorithm>
#include <cstring>

namespace fleet_rt {

RowRange rowsOf(const Program &program, const Buffer &buffer, int64_t rank,
                int64_t microBatch) {
  int64_t rows = program.globalBatch / program.microBatches;
  const AxisRefs &axes = buffer.sharding[0];
  int64_t shards = program.shardCount(axes);
  int64_t shard = program.shardIndex(axes, rank);
  int64_t begin = shard * rows / shards, end = (shard + 1) * rows / shards;
  return {microBatch * rows + begin, end - begin};
}

static std::string shapeText(const std::vector<int64_t> &shape) {
  std::string text = "[";
  for (size_t d = 0; d < shape.size(); ++d)
    text += (d ? ", " : "") + std::to_string(shape[d]);
  return text + "]";
}

namespace {
/// Tensors [steps, global batch, …], one for each input.
class StepMajorInputs : public Inputs {
public:
  StepMajorInputs(const Program &program, int64_t rank,
                  const DataOptions &options)
      : program(program), rank(rank), file(options.path) {
    for (const Buffer &buffer : program.buffers)
      if (buffer.kind == "input")
        check(buffer, options.steps);
  }

  void load(int64_t step, uint8_t *arena) override {
    for (const Buffer &buffer : program.buffers)
      if (buffer.kind == "input")
        for (int64_t m = 0; m < program.microBatches; ++m)
          copyRows(buffer, step, m, arena);
  }

private:
  void check(const Buffer &buffer, int64_t steps);
  void copyRows(const Buffer &buffer, int64_t step, int64_t microBatch,
                uint8_t *arena);

  const Program &program;
  int64_t rank;
  TensorFile file;
};
} // namespace

void StepMajorInputs::check(const Buffer &buffer, int64_t steps) {
  const FileTensor *tensor = file.find(buffer.source);
  if (!tensor)
    throw Error(file.path + ": has no tensor '" + buffer.source +
                "', which the program reads; it has " + file.names());
  std::vector<int64_t> expected = {steps, program.globalBatch};
  expected.insert(expected.end(), buffer.globalShape.begin() + 1,
                  buffer.globalShape.end());
  std::vector<int64_t> actual = tensor->shape;
  bool enough = !actual.empty() && actual[0] >= steps;
  if (!actual.empty())
    actual[0] = steps;
  if (actual != expected)
    throw Error(file.path + ": tensor '" + buffer.source + "' has shape " +
                shapeText(tensor->shape) + ", the program needs " +
                shapeText(expected) + " (steps, global batch, …)");
  if (!enough)
    throw Error(file.path + ": tensor '" + buffer.source + "' has " +
                std::to_string(tensor->shape[0]) + " steps, asked for " +
                std::to_string(steps));
  uint8_t probe[8];
  convert(tensor->dtype, tensor->data, buffer.dtype, probe, 0, buffer.source);
}

void StepMajorInputs::copyRows(const Buffer &buffer, int64_t step,
                               int64_t microBatch, uint8_t *arena) {
  const FileTensor &tensor = *file.find(buffer.source);
  int64_t row = 1;
  for (size_t d = 2; d < tensor.shape.size(); ++d)
    row *= tensor.shape[d];
  RowRange rows = rowsOf(program, buffer, rank, microBatch);
  int64_t first = (step * program.globalBatch + rows.first) * row;
  convert(tensor.dtype, tensor.data + first * tensor.elementSize, buffer.dtype,
          arena + buffer.offset +
              (microBatch % buffer.slots) * buffer.slotBytes,
          rows.count * row, buffer.source);
}

//===----------------------------------------------------------------------===//
// Token files
//===----------------------------------------------------------------------===//

/// SplitMix64 (Steele et al., 2014): a 64-bit mixer.
static uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

uint64_t shuffled(uint64_t index, uint64_t size, uint64_t seed,
                  uint64_t epoch) {
  // A Feistel network over the next even power of two, walked until it lands inside (Black and Rogaway, 2002).
  unsigned half = 1;
  while ((uint64_t(1) << (2 * half)) < size)
    ++half;
  uint64_t mask = (uint64_t(1) << half) - 1;
  do {
    uint64_t left = index >> half, right = index & mask;
    for (uint64_t round = 0; round < 4; ++round) {
      uint64_t next =
          left ^
          (mix(mix(seed + epoch * 0x10001) ^ (round << 60) ^ right) & mask);
      left = right;
      right = next;
    }
    index = (left << half) | right;
  } while (index >= size);
  return index;
}

namespace {
/// Windows of a stream of tokens.
class TokenInputs : public Inputs {
public:
  TokenInputs(const Program &program, int64_t rank, const DataOptions &options,
              const std::string &type);
  void load(int64_t step, uint8_t *arena) override;

private:
  int64_t token(uint64_t position) const;
  uint64_t windowOf(int64_t step, int64_t sample) const;
  void fill(const Buffer &buffer, int64_t step, uint8_t *arena);

  const Program &program;
  int64_t rank;
  MappedFile file;
  int64_t width;
  uint64_t seed, windows;
};
} // namespace

TokenInputs::TokenInputs(const Program &program, int64_t rank,
                         const DataOptions &options, const std::string &type)
    : program(program), rank(rank), file(options.path), seed(options.seed) {
  width = type == "uint8" ? 1 : type == "uint16" ? 2 : 4;
  if (!program.tokens)
    throw Error(options.path + ": the inputs of this program are not token "
                               "ids: it needs a safetensors file");
  // Labels that are the next token need one more than the sequence.
  uint64_t span = program.tokens->sequence + (program.tokens->shift ? 0 : 1);
  uint64_t tokens = file.size / width;
  windows = tokens < span ? 0 : (tokens - span) / program.tokens->sequence + 1;
  if (windows == 0)
    throw Error(options.path + ": has " + std::to_string(tokens) +
                " tokens, one window needs " + std::to_string(span));
}

int64_t TokenInputs::token(uint64_t position) const {
  const uint8_t *at = file.data + position * width;
  if (width == 1)
    return *at;
  if (width == 2) {
    uint16_t value;
    std::memcpy(&value, at, 2);
    return value;
  }
  int32_t value;
  std::memcpy(&value, at, 4);
  return value;
}

uint64_t TokenInputs::windowOf(int64_t step, int64_t sample) const {
  uint64_t number = static_cast<uint64_t>(step * program.globalBatch + sample);
  return shuffled(number % windows, windows, seed, number / windows);
}

void TokenInputs::fill(const Buffer &buffer, int64_t step, uint8_t *arena) {
  int64_t sequence = program.tokens->sequence;
  bool next = buffer.source == program.tokens->labels && !program.tokens->shift;
  for (int64_t m = 0; m < program.microBatches; ++m) {
    RowRange rows = rowsOf(program, buffer, rank, m);
    uint8_t *out =
        arena + buffer.offset + (m % buffer.slots) * buffer.slotBytes;
    for (int64_t r = 0; r < rows.count; ++r) {
      uint64_t start = windowOf(step, rows.first + r) * sequence + next;
      for (int64_t i = 0; i < sequence; ++i) {
        int64_t value = token(start + i);
        if (buffer.dtype == FLEET_RT_I64)
          std::memcpy(out + (r * sequence + i) * 8, &value, 8);
        else
          std::memcpy(out + (r * sequence + i) * 4, &value, 4);
      }
    }
  }
}

void TokenInputs::load(int64_t step, uint8_t *arena) {
  for (const Buffer &buffer : program.buffers)
    if (buffer.kind == "input")
      fill(buffer, step, arena);
}

static std::string tokenType(const DataOptions &options) {
  if (!options.tokenType.empty()) {
    if (options.tokenType != "uint8" && options.tokenType != "uint16" &&
        options.tokenType != "int32")
      throw Error("token type '" + options.tokenType +
                  "' is not one of uint8, uint16, int32");
    return options.tokenType;
  }
  auto ends = [&](const char *suffix) {
    size_t n = std::strlen(suffix);
    return options.path.size() >= n &&
           options.path.compare(options.path.size() - n, n, suffix) == 0;
  };
  return ends(".u8")    ? "uint8"
         : ends(".u16") ? "uint16"
         : ends(".i32") ? "int32"
                        : "";
}

std::unique_ptr<Inputs> openInputs(const Program &program, int64_t rank,
                                   const DataOptions &options) {
  std::string type = tokenType(options);
  if (!type.empty())
    return std::make_unique<TokenInputs>(program, rank, options, type);
  return std::make_unique<StepMajorInputs>(program, rank, options);
}

} // namespace fleet_rt
