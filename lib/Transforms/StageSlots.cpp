//===- StageSlots.cpp - Values that live between tasks ---------*- C++ -*-===//
//
// Slots are named after what the user knows: parameters, inputs, values of the model.
//
//===----------------------------------------------------------------------===//

#include "StageSlots.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace fleet {

std::string SlotNamer::uniqueName(StringRef base) {
  std::string name;
  for (char c : base)
    name.push_back(llvm::isAlnum(c) || c == '.' || c == '_' ? c : '_');
  if (name.empty() || !(llvm::isAlpha(name[0]) || name[0] == '_'))
    name = "_" + name;
  std::string candidate = name;
  for (unsigned i = 1; !usedNames.insert(candidate).second; ++i)
    candidate = name + "_" + std::to_string(i);
  return candidate;
}

Slot SlotNamer::describeArgument(BlockArgument argument) {
  func::FuncOp func = plan.func;
  unsigned number = argument.getArgNumber();
  auto text = [&](StringRef name) {
    auto value = func.getArgAttrOfType<StringAttr>(number, name);
    return value ? value.getValue().str() : std::string();
  };
  Slot slot;
  slot.type = typeOf(argument);
  for (NamedAttribute attribute :
       cast<FunctionOpInterface>(func.getOperation()).getArgAttrs(number))
    slot.attributes.push_back(attribute);
  if (func.getArgAttr(number, attr::kInput)) {
    slot.kind = SlotKind::Input;
    slot.name = text(attr::kInput);
    slot.perMicroBatch = true;
    SmallVector<int64_t> shape(slot.type.getShape());
    shape[0] /= static_cast<int64_t>(plan.accumulate.getMicroBatches());
    slot.type = slot.type.clone(shape);
  } else if (func.getArgAttr(number, attr::kParam)) {
    slot.kind = SlotKind::Parameter;
    slot.name = text(attr::kParam);
  } else if (func.getArgAttr(number, attr::kState)) {
    slot.kind = SlotKind::State;
    slot.name = text(attr::kOf) + "." + text(attr::kState);
  } else {
    slot.kind = SlotKind::Scalar;
    slot.name = text(attr::kScalar);
  }
  return slot;
}

Slot SlotNamer::describe(Value value) {
  Slot slot;
  Operation *made = value.getDefiningOp();
  if (!made) {
    slot = describeArgument(cast<BlockArgument>(value));
  } else {
    slot.type = typeOf(value);
    slot.kind = SlotKind::Activation;
    slot.perMicroBatch = plan.inRegion(made);
    slot.name = "v";
    if (plan.accumulatedIndex(value)) {
      slot.kind = SlotKind::Gradient;
      slot.name = "sum";
    } else if (auto name = made->getAttrOfType<StringAttr>(attr::kName)) {
      slot.name = name.getValue().str();
    }
  }
  std::string &name = names[value];
  if (name.empty())
    name = uniqueName(slot.name);
  slot.name = name;
  return slot;
}

} // namespace fleet
