//===- Layout.cpp - Degrees, ranks and micro-batches -----------*- C++ -*-===//
//
// Product law of the degrees and division of the batch. Products saturate: what a user multiplies may exceed any integer.
//
//===----------------------------------------------------------------------===//

#include "Layout.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace fleet {
namespace {
/// A product that remembers its factors for messages.
class Product {
public:
  Product &times(StringRef name, int64_t factor) {
    value = SaturatingMultiply<uint64_t>(value, factor);
    text +=
        (text.empty() ? "" : " x ") + name.str() + " " + std::to_string(factor);
    return *this;
  }
  /// "dp_degree 2 x mp_degree 2 = 4".
  std::string str() const { return text + " = " + std::to_string(value); }
  uint64_t get() const { return value; }

private:
  uint64_t value = 1;
  std::string text;
};

struct Degree {
  StringLiteral name;
  int64_t Strategy::*member;
};
} // namespace

static constexpr Degree kDegrees[] = {
    {"dp_degree", &Strategy::dp},
    {"mp_degree", &Strategy::mp},
    {"pp_degree", &Strategy::pp},
    {"sharding_degree", &Strategy::sharding},
};

static Error inferDegree(Job &job, const LayoutSaid &said) {
  Strategy &s = job.strategy;
  Product others;
  const Degree *inferred = nullptr;
  for (const Degree &degree : kDegrees) {
    if (s.*degree.member == -1)
      inferred = &degree;
    else
      others.times(degree.name, s.*degree.member);
  }
  if (!inferred)
    return Error::success();
  uint64_t devices = job.devices;
  if (!said.devices)
    s.*inferred->member = 1;
  else if (devices % others.get() == 0)
    s.*inferred->member = devices / others.get();
  else
    return userError(said.place,
                     "no " + inferred->name + " makes " + others.str() +
                         " into the devices cpu:" + Twine(job.devices));
  return Error::success();
}

static Error checkProduct(Job &job, const LayoutSaid &said) {
  Product product;
  for (const Degree &degree : kDegrees)
    product.times(degree.name, job.strategy.*degree.member);
  if (!said.devices && product.get() <= kMaxDevices)
    job.devices = product.get();
  if (product.get() == static_cast<uint64_t>(job.devices))
    return Error::success();
  if (!said.devices)
    return userError(said.place, product.str() + " is more than " +
                                     Twine(kMaxDevices) + " devices");
  return userError(
      said.place, product.str() + ", but devices is cpu:" + Twine(job.devices));
}

/// Micro-batches come from the job, from the strategy or from the size of one.
static Error resolveMicroBatches(Job &job, const LayoutSaid &said) {
  Strategy &s = job.strategy;
  if (s.accumulateSteps) {
    if (said.accumulate && *s.accumulateSteps != job.accumulate)
      return userError(said.place,
                       "accumulate is " + Twine(job.accumulate) +
                           " but accumulate_steps of the strategy is " +
                           Twine(*s.accumulateSteps));
    job.accumulate = *s.accumulateSteps;
  }
  Product shares;
  shares.times("dp_degree", s.dp).times("sharding_degree", s.sharding);
  uint64_t batch = job.batch;
  if (s.microBatchSize) {
    Product one = shares;
    one.times("micro_batch_size", *s.microBatchSize);
    bool isOpen = !s.accumulateSteps && !said.accumulate;
    if (isOpen && batch % one.get() != 0)
      return userError(said.place, "batch " + Twine(batch) +
                                       " is not a multiple of " + one.str());
    if (isOpen)
      job.accumulate = batch / one.get();
    Product all = one;
    all.times("accumulate", job.accumulate);
    if (all.get() != batch)
      return userError(said.place,
                       all.str() + ", but the batch is " + Twine(batch));
  }
  Product parts = shares;
  parts.times("accumulate", job.accumulate);
  if (batch % parts.get() != 0)
    return userError(said.place, "batch " + Twine(batch) +
                                     " does not split over " + parts.str());
  s.accumulateSteps = job.accumulate;
  s.microBatchSize = batch / parts.get();
  return Error::success();
}

Error resolveLayout(Job &job, const LayoutSaid &said) {
  if (Error error = inferDegree(job, said))
    return error;
  if (Error error = checkProduct(job, said))
    return error;
  const Strategy &s = job.strategy;
  if (!s.stageStarts.empty() &&
      static_cast<int64_t>(s.stageStarts.size()) + 1 != s.pp)
    return userError(said.place, "stage_starts has " +
                                     Twine(s.stageStarts.size()) +
                                     " names, but pp_degree " + Twine(s.pp) +
                                     " needs " + Twine(s.pp - 1));
  return resolveMicroBatches(job, said);
}

} // namespace fleet
