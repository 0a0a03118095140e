//===- Compare.cpp - The same program twice --------------------*- C++ -*-===//
//
// Differences relative to the largest element of a tensor.
//
//===----------------------------------------------------------------------===//

#include "fleet/Interpreter/Compare.h"

#include <cmath>

using namespace mlir;
using namespace fleet;

/// max|a - b| / max(|a|, |b|); infinite where a NaN stands on one side alone.
static double difference(const Tensor &a, const Tensor &b) {
  double largest = 0, scale = 0;
  for (auto [x, y] : llvm::zip_equal(a.data, b.data)) {
    if (std::isnan(x) != std::isnan(y))
      return HUGE_VAL;
    if (std::isnan(x) || x == y)
      continue;
    largest = std::max(largest, std::fabs(x - y));
    scale = std::max({scale, std::fabs(x), std::fabs(y)});
  }
  return largest == 0 ? 0 : largest / scale;
}

/// Adds the tensors of one kind to the comparison.
static LogicalResult compare(ArrayRef<NamedTensor> first,
                             ArrayRef<NamedTensor> second, bool mayLack,
                             Comparison &comparison) {
  for (const auto &[name, a] : first) {
    auto it =
        llvm::find_if(second, [&, &name = name](const NamedTensor &other) {
          return other.name == name;
        });
    if (it == second.end() && mayLack)
      continue;
    if (it == second.end() || it->tensor.shape != a.shape) {
      llvm::errs() << "error: '" << name << "' is "
                   << (it == second.end() ? "missing" : "of another shape")
                   << " in the second program\n";
      return failure();
    }
    double delta = difference(a, it->tensor);
    ++comparison.tensors;
    if (delta >= comparison.largestDifference) {
      comparison.largestDifference = delta;
      comparison.where = name;
    }
  }
  return success();
}

FailureOr<Comparison> fleet::compareSteps(StepMachine &first,
                                          StepMachine &second,
                                          const WeightSource *data,
                                          std::optional<Schedule> schedule,
                                          int64_t steps) {
  Trainer a(first, data, schedule), b(second, data, schedule);
  Comparison comparison;
  for (int64_t step = 0; step < steps; ++step) {
    FailureOr<StepReport> one = a.next(), other = b.next();
    if (failed(one) || failed(other) ||
        failed(compare(one->output.outputs, other->output.outputs,
                       /*mayLack=*/false, comparison)) ||
        failed(compare(one->output.gradients, other->output.gradients,
                       /*mayLack=*/true, comparison)))
      return failure();
  }
  auto before = first.parameters(), after = second.parameters();
  if (failed(before) || failed(after) ||
      failed(compare(*before, *after, /*mayLack=*/false, comparison)))
    return failure();
  return comparison;
}
