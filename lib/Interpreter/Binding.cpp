//===- Binding.cpp - What an argument is in the user's files ---*- C++ -*-===//
//
// Reading the attributes, and values from weights, batches and schedules.
//
//===----------------------------------------------------------------------===//

#include "fleet/Interpreter/Binding.h"

using namespace mlir;
using namespace fleet;

/// Name of the kind in messages.
static StringRef describe(BindingKind kind) {
  static constexpr StringLiteral kNames[] = {"input", "parameter", "state",
                                             "scalar"};
  return kNames[static_cast<unsigned>(kind)];
}

/// The attribute that binds, and what it binds to.
static std::optional<std::pair<BindingKind, StringRef>>
findKind(DictionaryAttr attrs) {
  std::pair<StringRef, BindingKind> kinds[] = {
      {attr::kInput, BindingKind::Input},
      {attr::kParam, BindingKind::Parameter},
      {attr::kBuffer, BindingKind::Parameter},
      {attr::kState, BindingKind::State},
      {attr::kScalar, BindingKind::Scalar}};
  for (auto [key, kind] : kinds)
    if (auto name = attrs.getAs<StringAttr>(key))
      return std::pair(kind, name.getValue());
  return std::nullopt;
}

FailureOr<std::optional<Binding>> Binding::get(DictionaryAttr attrs,
                                               RankedTensorType type,
                                               Location loc,
                                               const DeviceMesh *mesh) {
  auto found = attrs ? findKind(attrs) : std::nullopt;
  if (!found)
    return std::optional<Binding>();
  Binding binding{found->first,
                  found->second,
                  attrs.getAs<PieceAttr>(attr::kPiece),
                  mesh ? attrs.getAs<ShardingAttr>(attr::kSharding)
                       : ShardingAttr(),
                  type,
                  Dims(type.getShape()),
                  attrs.getAs<ArrayAttr>(kRangeAttr),
                  loc};
  if (binding.sharding) {
    auto emitError = [&] { return binding.emitError(); };
    if (failed(
            verifySharding(binding.sharding, type.getRank(), *mesh, emitError)))
      return failure();
    binding.global = globalShape(type.getShape(), binding.sharding, *mesh);
  }
  if (!isInterpretable(type.clone(binding.global)))
    return binding.emitError() << "is too large to interpret";
  return std::optional<Binding>(binding);
}

InFlightDiagnostic Binding::emitError() const {
  return mlir::emitError(loc) << describe(kind) << " '" << name << "' ";
}

/// Checks that every device's shard has the shape of the binding's type.
static FailureOr<DeviceValues> distributeChecked(const Binding &binding,
                                                 const TensorRef &global,
                                                 DeviceSet set) {
  if (global->shape != binding.global)
    return binding.emitError()
           << "has shape [" << ArrayRef(global->shape)
           << "], the program expects [" << ArrayRef(binding.global) << "]";
  return distribute(global, binding.sharding, set,
                    [&] { return binding.emitError(); });
}

/// Checks that the piece lies in the stored tensor.
static LogicalResult verifyPiece(const Binding &binding,
                                 ArrayRef<int64_t> stored) {
  ArrayRef<int64_t> sizes = binding.global;
  if (binding.piece.getShape() != stored)
    return binding.emitError()
           << "is stored with shape [" << stored << "], its piece is one of ["
           << binding.piece.getShape() << "]";
  ArrayRef<int64_t> offsets = binding.piece.getOffsets();
  bool inside =
      offsets.size() == stored.size() && sizes.size() == stored.size();
  for (size_t d = 0; inside && d < stored.size(); ++d)
    inside = offsets[d] >= 0 && offsets[d] <= stored[d] - sizes[d];
  if (!inside)
    return binding.emitError() << "is a piece [" << sizes << "] at [" << offsets
                               << "] outside the stored [" << stored << "]";
  return success();
}

FailureOr<DeviceValues> fleet::loadParameter(const Binding &binding,
                                             const WeightSource *weights,
                                             DeviceSet set) {
  if (!weights)
    return binding.emitError() << "needs weights, none are given";
  std::optional<StoredTensor> stored = weights->find(binding.name);
  if (!stored)
    return binding.emitError() << "is not among the weights";
  auto tensor = std::make_shared<Tensor>(toTensor(*stored));
  if (binding.piece) {
    if (failed(verifyPiece(binding, tensor->shape)))
      return failure();
    *tensor = sliceOf(*tensor, binding.piece.getOffsets(), binding.global);
  }
  return distributeChecked(binding, tensor, set);
}

DeviceValues fleet::zeroState(const Binding &binding, DeviceSet set) {
  auto zero = std::make_shared<const Tensor>(Tensor(binding.type.getShape()));
  return DeviceValues(set.devices.size(), zero);
}

FailureOr<DeviceValues> fleet::bindInput(const Binding &binding,
                                         const StepInput &input,
                                         DeviceSet set) {
  if (binding.kind == BindingKind::Input) {
    TensorRef global = input.batch.lookup(binding.name);
    if (!global)
      return binding.emitError() << "is not in the data";
    return distributeChecked(binding, global, set);
  }
  if (binding.name != "lr" && binding.name != "t")
    return binding.emitError() << "is neither 'lr' nor 't'";
  if (binding.name == "lr" && !input.lr)
    return binding.emitError() << "has no value: the module has no schedule";
  double value = binding.name == "lr" ? *input.lr : input.step;
  return DeviceValues(set.devices.size(),
                      std::make_shared<const Tensor>(Tensor::scalar(value)));
}

LogicalResult StoredTensorMap::add(StringRef name, PieceAttr piece,
                                   const TensorRef &value, StringRef where,
                                   EmitError emitError) {
  auto [it, isNew] = index.try_emplace(name, entries.size());
  if (isNew)
    entries.push_back({name.str(), {}});
  Entry &entry = entries[it->second];
  for (const Part &part : entry.parts)
    if (part.piece == piece)
      return verifyEqual(*part.value, part.where, *value, where, emitError);
  entry.parts.push_back({piece, value, where.str()});
  return success();
}

std::vector<NamedTensor> StoredTensorMap::take() {
  std::vector<NamedTensor> tensors;
  for (Entry &entry : entries) {
    const Part &first = entry.parts.front();
    Tensor whole = first.piece ? Tensor(first.piece.getShape()) : *first.value;
    for (const Part &part : entry.parts)
      if (part.piece)
        insertInto(whole, *part.value, part.piece.getOffsets());
    tensors.push_back({entry.name, std::move(whole)});
  }
  return tensors;
}
