//===- Compare.h - The same program twice ----------------------*- C++ -*-===//
//
// A rewrite is right when the program computes the same before and after it. Both are trained side by side on the same
// data; outputs, gradients and parameters are compared by name.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_INTERPRETER_COMPARE_H
#define FLEET_INTERPRETER_COMPARE_H

#include "fleet/Interpreter/Trainer.h"

namespace fleet {

struct Comparison {
  /// Tensors that both programs gave, over all steps.
  int64_t tensors = 0;
  /// Largest of max|a - b| / max(|a|, |b|) over the tensors.
  double largestDifference = 0;
  /// Name of the tensor with that difference.
  std::string where;
};

/// Trains both for `steps` steps. Fails when one of them fails, or a tensor of `first` is missing from `second` or has
/// another shape; gradients may be missing, since later levels do not keep them.
llvm::FailureOr<Comparison>
compareSteps(StepMachine &first, StepMachine &second, const WeightSource *data,
             std::optional<Schedule> schedule, int64_t steps);

} // namespace fleet

#endif // FLEET_INTERPRETER_COMPARE_H
