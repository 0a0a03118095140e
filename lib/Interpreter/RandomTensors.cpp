//===- RandomTensors.cpp - Data that nobody has to write -------*- C++ -*-===//
//
// One generator per tensor, seeded by its name.
//
//===----------------------------------------------------------------------===//

#include "fleet/Interpreter/RandomTensors.h"
#include "llvm/Support/xxhash.h"

#include <cmath>
#include <random>

using namespace mlir;
using namespace fleet;

/// Reads [low, high] of floats or integers.
static FailureOr<std::pair<double, double>> readRange(ArrayAttr range,
                                                      EmitError emitError) {
  SmallVector<double, 2> bounds;
  for (Attribute bound : range) {
    if (auto number = dyn_cast<FloatAttr>(bound))
      bounds.push_back(number.getValueAsDouble());
    else if (auto integer = dyn_cast<IntegerAttr>(bound))
      bounds.push_back(integer.getInt());
  }
  if (range.size() != 2 || bounds.size() != 2 || !(bounds[0] < bounds[1]))
    return emitError() << kRangeAttr << " is not [low, high]";
  return std::pair(bounds[0], bounds[1]);
}

LogicalResult fleet::fillRandom(Tensor &tensor, Type elementType,
                                ArrayAttr range, uint64_t seed,
                                EmitError emitError) {
  bool isFloat = isa<FloatType>(elementType);
  std::pair<double, double> bounds = {isFloat ? 0.1 : 0, isFloat ? 1 : 2};
  if (range) {
    auto given = readRange(range, emitError);
    if (failed(given))
      return failure();
    bounds = *given;
  }
  std::mt19937_64 engine(seed);
  for (double &x : tensor.data) {
    // Not std::uniform_real_distribution, whose numbers are the library's choice.
    double uniform = std::ldexp(static_cast<double>(engine() >> 11), -53);
    x = bounds.first + (bounds.second - bounds.first) * uniform;
    x = isFloat ? x : std::floor(x);
    if (isFloat && !range && engine() % 2)
      x = -x;
  }
  return success();
}

LogicalResult RandomTensors::add(ArrayRef<Binding> bindings, int64_t steps,
                                 uint64_t seed) {
  for (const Binding &binding : bindings) {
    bool isInput = binding.kind == BindingKind::Input;
    if (!isInput && binding.kind != BindingKind::Parameter)
      continue;
    Dims shape = binding.global;
    if (binding.piece)
      shape = Dims(binding.piece.getShape());
    if (isInput)
      shape.insert(shape.begin(), steps);
    if (!isInterpretable(binding.type.clone(shape)))
      return binding.emitError() << "is too large to make up";
    auto [it, isNew] = entries.try_emplace(binding.name);
    if (!isNew)
      continue;
    Type type = binding.type.getElementType();
    Entry &entry = it->second;
    entry.tensor = Tensor(shape);
    if (failed(fillRandom(entry.tensor, type, binding.range,
                          seed ^ llvm::xxh3_64bits(binding.name),
                          [&] { return binding.emitError(); })))
      return failure();
    if (!isa<FloatType>(type))
      entry.integers.assign(entry.tensor.data.begin(), entry.tensor.data.end());
  }
  return success();
}

std::optional<StoredTensor> RandomTensors::find(StringRef name) const {
  auto it = entries.find(name);
  if (it == entries.end())
    return std::nullopt;
  const auto &[tensor, integers] = it->second;
  StoredTensor stored = asStored(tensor);
  if (!integers.empty()) {
    stored.type = StoredType::I64;
    stored.bytes = {reinterpret_cast<const char *>(integers.data()),
                    integers.size() * sizeof(int64_t)};
  }
  return stored;
}
