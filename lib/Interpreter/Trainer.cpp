//===- Trainer.cpp - Steps over data ---------------------------*- C++ -*-===//
//
// Batches out of step-major tensors, and reports.
//
//===----------------------------------------------------------------------===//

#include "fleet/Interpreter/Trainer.h"

#include <cmath>

using namespace mlir;
using namespace fleet;

std::string StepReport::toJson() const {
  std::string text =
      "{\"step\":" + std::to_string(step) + ",\"loss\":" + formatExact(loss);
  if (lr)
    text += ",\"lr\":" + formatExact(*lr);
  if (gradNorm)
    text += ",\"grad_norm\":" + formatExact(*gradNorm);
  return text + "}";
}

FailureOr<std::optional<Schedule>> Trainer::scheduleOf(ModuleOp module) {
  auto attr = module->getAttrOfType<DictionaryAttr>(kScheduleAttr);
  if (!attr)
    return std::optional<Schedule>();
  llvm::Expected<Schedule> schedule = Schedule::fromAttr(attr);
  if (!schedule)
    return module.emitError(llvm::toString(schedule.takeError()));
  return std::optional<Schedule>(*schedule);
}

/// The batch of `step` (from 1) in a step-major tensor.
static FailureOr<TensorRef> batchOf(const Binding &binding,
                                    const StoredTensor &stored, int64_t step) {
  if (stored.shape.empty() || step > stored.shape.front())
    return binding.emitError()
           << "has data for " << (stored.shape.empty() ? 0 : stored.shape[0])
           << " steps, step " << step << " needs more";
  if (isFloat(stored.type) && !isa<FloatType>(binding.type.getElementType()))
    return binding.emitError() << "holds " << nameOf(stored.type)
                               << " in the data, the program expects "
                               << binding.type.getElementType();
  StoredTensor batch = stored;
  batch.shape.erase(batch.shape.begin());
  size_t bytes = stored.bytes.size() / stored.shape.front();
  batch.bytes = stored.bytes.slice((step - 1) * bytes, bytes);
  return TensorRef(std::make_shared<const Tensor>(toTensor(batch)));
}

FailureOr<StepInput> Trainer::nextInput() const {
  StepInput input;
  if (schedule)
    input.lr = schedule->rate(step);
  input.step = step;
  for (const Binding &binding : machine.bindings()) {
    if (binding.kind != BindingKind::Input)
      continue;
    auto stored = data ? data->find(binding.name) : std::nullopt;
    if (!stored)
      return binding.emitError() << "is not in the data";
    FailureOr<TensorRef> batch = batchOf(binding, *stored, step);
    if (failed(batch))
      return failure();
    input.batch[binding.name] = *batch;
  }
  return input;
}

/// A scalar output; nullopt when there is none of this name.
static std::optional<double> scalarOf(const StepOutput &output,
                                      StringRef name) {
  const Tensor *tensor = output.find(name);
  if (!tensor || tensor->size() != 1)
    return std::nullopt;
  return tensor->data.front();
}

FailureOr<StepReport> Trainer::next() {
  FailureOr<StepInput> input = nextInput();
  if (failed(input))
    return failure();
  FailureOr<StepOutput> output = machine.step(*input);
  // Putting the parameters together is how replicas that drift apart are found in the step in which they do.
  if (failed(output) || failed(machine.parameters()))
    return failure();
  StepReport report{step, scalarOf(*output, "loss").value_or(0), input->lr,
                    scalarOf(*output, "grad_norm"), std::move(*output)};
  if (!std::isfinite(report.loss)) {
    llvm::errs() << "error: step " << step << ": the loss is "
                 << formatNumber(report.loss) << "\n";
    return failure();
  }
  ++step;
  return report;
}
