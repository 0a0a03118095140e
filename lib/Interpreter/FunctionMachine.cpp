//===- FunctionMachine.cpp - A step that is a function ---------*- C++ -*-===//
//
// Arguments are bound by their attributes; results marked `fleet.updates` replace their argument for the next step.
//
//===----------------------------------------------------------------------===//

#include "StepMachines.h"
#include "fleet/Interpreter/Interpreter.h"

using namespace mlir;
using namespace fleet;

namespace {
class FunctionMachine : public StepMachine {
public:
  FunctionMachine(func::FuncOp function, DeviceMesh mesh,
                  std::vector<Binding> bindings)
      : function(function), mesh(std::move(mesh)),
        arguments(std::move(bindings)), values(arguments.size()) {
    for (int64_t device = 0; device < this->mesh.numDevices(); ++device)
      devices.push_back(device);
  }

  SmallVector<Binding> bindings() const final {
    return llvm::to_vector(arguments);
  }
  LogicalResult load(const WeightSource *weights) final;
  FailureOr<StepOutput> step(const StepInput &input) final;
  FailureOr<std::vector<NamedTensor>> parameters() const final;

private:
  DeviceSet set() const { return {mesh, devices}; }
  LogicalResult bind(const StepInput &input);
  FailureOr<StepOutput> report(ArrayRef<DeviceValues> results);
  void update(ArrayRef<DeviceValues> results);

  func::FuncOp function;
  DeviceMesh mesh;
  SmallVector<int64_t> devices;
  std::vector<Binding> arguments;
  /// One per argument.
  std::vector<DeviceValues> values;
};
} // namespace

LogicalResult FunctionMachine::load(const WeightSource *weights) {
  for (auto [binding, value] : llvm::zip_equal(arguments, values)) {
    if (binding.kind == BindingKind::State)
      value = zeroState(binding, set());
    if (binding.kind != BindingKind::Parameter)
      continue;
    FailureOr<DeviceValues> loaded = loadParameter(binding, weights, set());
    if (failed(loaded))
      return failure();
    value = std::move(*loaded);
  }
  return success();
}

LogicalResult FunctionMachine::bind(const StepInput &input) {
  for (auto [binding, value] : llvm::zip_equal(arguments, values)) {
    if (binding.kind == BindingKind::Input ||
        binding.kind == BindingKind::Scalar) {
      FailureOr<DeviceValues> bound = bindInput(binding, input, set());
      if (failed(bound))
        return failure();
      value = std::move(*bound);
    }
    assert(!value.empty() && "parameters are loaded before the first step");
  }
  return success();
}

FailureOr<StepOutput> FunctionMachine::report(ArrayRef<DeviceValues> results) {
  StepOutput output;
  StoredTensorMap gradients;
  for (auto [i, value] : llvm::enumerate(results)) {
    auto attrOf = [&, i = i](StringRef name) {
      return function.getResultAttr(i, name);
    };
    if (attrOf(attr::kUpdates))
      continue;
    auto name = dyn_cast_or_null<StringAttr>(attrOf(attr::kOutput));
    auto gradient = dyn_cast_or_null<StringAttr>(attrOf(attr::kGradient));
    StringAttr shown = gradient ? gradient : name;
    std::string label = shown ? shown.str() : std::to_string(i);
    auto emitError = [&] {
      return function.emitError("result '") << label << "' ";
    };
    auto sharding = dyn_cast_or_null<ShardingAttr>(attrOf(attr::kSharding));
    // At levels 1 to 3 there is one device and a sharding is only a plan.
    FailureOr<TensorRef> whole =
        assemble(value, devices.size() > 1 ? sharding : ShardingAttr(), set(),
                 emitError);
    if (failed(whole))
      return failure();
    if (gradient) {
      auto piece = dyn_cast_or_null<PieceAttr>(attrOf(attr::kPiece));
      if (failed(gradients.add(label, piece, *whole, "the result", emitError)))
        return failure();
    } else {
      output.outputs.push_back({label, **whole});
    }
  }
  output.gradients = gradients.take();
  return output;
}

void FunctionMachine::update(ArrayRef<DeviceValues> results) {
  for (auto [i, value] : llvm::enumerate(results))
    if (auto target =
            function.getResultAttrOfType<IntegerAttr>(i, attr::kUpdates))
      values[target.getInt()] = value;
}

FailureOr<StepOutput> FunctionMachine::step(const StepInput &input) {
  if (failed(bind(input)))
    return failure();
  auto results = runFunction(function, values, mesh, devices);
  if (failed(results))
    return failure();
  FailureOr<StepOutput> output = report(*results);
  update(*results);
  return output;
}

FailureOr<std::vector<NamedTensor>> FunctionMachine::parameters() const {
  StoredTensorMap stored;
  for (auto [binding, value] : llvm::zip_equal(arguments, values)) {
    if (binding.kind != BindingKind::Parameter)
      continue;
    auto emitError = [&, &binding = binding] { return binding.emitError(); };
    FailureOr<TensorRef> whole =
        assemble(value, binding.sharding, set(), emitError);
    if (failed(whole) || failed(stored.add(binding.name, binding.piece, *whole,
                                           "another argument", emitError)))
      return failure();
  }
  return stored.take();
}

/// Checks that every `fleet.updates` names an argument of the result's type.
static LogicalResult verifyUpdates(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    Attribute updates = function.getResultAttr(i, attr::kUpdates);
    if (!updates)
      continue;
    auto target = dyn_cast<IntegerAttr>(updates);
    if (!target || target.getInt() < 0 ||
        target.getInt() >= static_cast<int64_t>(function.getNumArguments()) ||
        function.getArgument(target.getInt()).getType() !=
            function.getFunctionType().getResult(i))
      return function.emitError("result ")
             << i << " updates no argument of its type";
  }
  return success();
}

FailureOr<std::unique_ptr<StepMachine>>
fleet::createFunctionMachine(func::FuncOp function, bool local) {
  FailureOr<DeviceMesh> mesh = DeviceMesh();
  if (local)
    mesh = meshOf(function->getParentOfType<ModuleOp>());
  if (failed(mesh) || failed(verifyUpdates(function)))
    return failure();
  std::vector<Binding> bindings;
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    unsigned number = argument.getArgNumber();
    FailureOr<std::optional<Binding>> binding = std::optional<Binding>();
    if (type && isInterpretable(type))
      binding = Binding::get(function.getArgAttrDict(number), type,
                             argument.getLoc(), local ? &*mesh : nullptr);
    if (failed(binding))
      return failure();
    if (!*binding)
      return function.emitError("argument ")
             << number << " is no input, parameter, state or scalar";
    bindings.push_back(**binding);
  }
  return std::unique_ptr<StepMachine>(std::make_unique<FunctionMachine>(
      function, std::move(*mesh), std::move(bindings)));
}
