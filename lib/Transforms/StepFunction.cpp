//===- StepFunction.cpp - Reading and changing a step ----------*- C++ -*-===//
//
// Results and phases of step functions.
//
//===----------------------------------------------------------------------===//

#include "StepFunction.h"

using namespace mlir;

namespace fleet {

SmallVector<StepResult> getResults(func::FuncOp func) {
  SmallVector<StepResult> results;
  Operation *terminator = func.getBody().front().getTerminator();
  for (auto [index, value] : llvm::enumerate(terminator->getOperands())) {
    DictionaryAttr attributes = func.getResultAttrDict(index);
    results.push_back({value, attributes
                                  ? attributes
                                  : DictionaryAttr::get(func.getContext())});
  }
  return results;
}

void setResults(func::FuncOp func, ArrayRef<StepResult> results) {
  SmallVector<Value> values;
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  for (const StepResult &result : results) {
    values.push_back(result.value);
    types.push_back(result.value.getType());
    attributes.push_back(result.attributes);
  }
  func.getBody().front().getTerminator()->setOperands(values);
  func.removeResAttrsAttr();
  func.setType(
      FunctionType::get(func.getContext(), func.getArgumentTypes(), types));
  func.setAllResultAttrs(attributes);
}

StepResult namedResult(Value value, StringRef kind, StringRef name) {
  MLIRContext *context = value.getContext();
  NamedAttribute attribute(StringAttr::get(context, kind),
                           StringAttr::get(context, name));
  return {value, DictionaryAttr::get(context, attribute)};
}

StringRef nameOf(const StepResult &result, StringRef kind) {
  auto name = result.attributes.getAs<StringAttr>(kind);
  return name ? name.getValue() : StringRef();
}

void setPhase(Operation *op, Phase phase) {
  op->setAttr(attr::kPhase, PhaseAttr::get(op->getContext(), phase));
}

std::optional<Phase> getPhase(Operation *op) {
  auto phase = op->getAttrOfType<PhaseAttr>(attr::kPhase);
  return phase ? std::optional<Phase>(phase.getValue()) : std::nullopt;
}

} // namespace fleet
