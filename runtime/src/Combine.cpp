//===- Combine.cpp - Reductions over ranks ---------------------*- C++ -*-===//
//
// Element by element, in the order of the sources: the result does not depend on who computes it.
//
//===----------------------------------------------------------------------===//

#include "Communicator.h"
#include "Program.h"
#include "fleet_rt/fleet_rt.h"

#include <algorithm>

namespace fleet_rt {
namespace {
/// Elements that are combined at a time, so that partial results stay in the cache.
constexpr int64_t kBlock = 2048;

template <typename T, typename Function>
void combineAs(void *out, const std::vector<const void *> &sources,
               int64_t count, Function function) {
  T block[kBlock];
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    int64_t size = std::min(kBlock, count - begin);
    const T *first = static_cast<const T *>(sources[0]) + begin;
    std::copy(first, first + size, block);
    for (size_t s = 1; s < sources.size(); ++s) {
      const T *next = static_cast<const T *>(sources[s]) + begin;
      for (int64_t i = 0; i < size; ++i)
        block[i] = function(block[i], next[i]);
    }
    std::copy(block, block + size, static_cast<T *>(out) + begin);
  }
}

template <typename T>
void combineKind(int32_t kind, void *out,
                 const std::vector<const void *> &sources, int64_t count) {
  if (kind == FLEET_RT_SUM)
    combineAs<T>(out, sources, count, [](T a, T b) { return T(a + b); });
  else if (kind == FLEET_RT_MAX)
    combineAs<T>(out, sources, count, [](T a, T b) { return b > a ? b : a; });
  else
    combineAs<T>(out, sources, count, [](T a, T b) { return b < a ? b : a; });
}
} // namespace

void combine(int32_t kind, int32_t dtype, void *out,
             const std::vector<const void *> &sources, int64_t count) {
  switch (dtype) {
  case FLEET_RT_F32:
    return combineKind<float>(kind, out, sources, count);
  case FLEET_RT_F64:
    return combineKind<double>(kind, out, sources, count);
  case FLEET_RT_I32:
    return combineKind<int32_t>(kind, out, sources, count);
  case FLEET_RT_I64:
    return combineKind<int64_t>(kind, out, sources, count);
  default:
    return combineKind<uint8_t>(kind, out, sources, count);
  }
}

} // namespace fleet_rt
