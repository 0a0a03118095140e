//===- RandomTensors.h - Data that nobody has to write ---------*- C++ -*-===//
//
// Tests that run a program before and after a rewrite need some weights and some batches, the same for both programs.
// A tensor here depends on the seed and its name alone, not on the layout of the program that reads it.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_INTERPRETER_RANDOMTENSORS_H
#define FLEET_INTERPRETER_RANDOMTENSORS_H

#include "fleet/Interpreter/Binding.h"
#include "llvm/ADT/StringMap.h"

namespace fleet {

/// Fills a tensor: floats in ±[0.1, 1], integers 0 or 1; or from the half-open range [low, high] that `range` gives.
llvm::LogicalResult fillRandom(Tensor &tensor, mlir::Type elementType,
                               mlir::ArrayAttr range, uint64_t seed,
                               EmitError emitError);

/// Weights and step-major data for the inputs and parameters of a step.
class RandomTensors : public WeightSource {
public:
  /// Adds what `bindings` name; of inputs so many steps.
  llvm::LogicalResult add(llvm::ArrayRef<Binding> bindings, int64_t steps,
                          uint64_t seed);

  std::optional<StoredTensor> find(llvm::StringRef name) const final;

private:
  /// A tensor, and its elements once more where they are integers.
  struct Entry {
    Tensor tensor;
    std::vector<int64_t> integers;
  };
  llvm::StringMap<Entry> entries;
};

} // namespace fleet

#endif // FLEET_INTERPRETER_RANDOMTENSORS_H
