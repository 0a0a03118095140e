//===- Interpreter.cpp - Running functions by reference --------*- C++ -*-===//
//
// Registration of all models, and functions as straight-line code.
//
//===----------------------------------------------------------------------===//

#include "fleet/Interpreter/Interpreter.h"
#include "Models.h"

using namespace mlir;
using namespace fleet;

void fleet::registerReferenceModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, FleetDialect *) {
    attachElementwiseModels(context);
    attachShapeModels(context);
    attachContractionModels(context);
    attachIndexedModels(context);
    attachNetworkModels(context);
    attachLossModels(context);
    attachOptimizerModels(context);
    attachCollectiveModels(context);
    attachRegionModels(context);
  });
}

FailureOr<SmallVector<DeviceValues>>
fleet::runFunction(func::FuncOp function, ArrayRef<DeviceValues> arguments,
                   const DeviceMesh &mesh, ArrayRef<int64_t> devices) {
  if (!function.getBody().hasOneBlock())
    return function.emitError("is not a function of one block");
  Block &body = function.getBody().front();
  EvalContext context(mesh, devices);
  for (auto [argument, value] : llvm::zip_equal(body.getArguments(), arguments))
    context.define(argument, value);
  if (failed(context.run(body)))
    return failure();
  return context.lookup(body.getTerminator()->getOperands());
}

FailureOr<SmallVector<TensorRef>>
fleet::runFunction(func::FuncOp function, ArrayRef<TensorRef> arguments) {
  auto values = llvm::map_to_vector(
      arguments, [](const TensorRef &tensor) { return DeviceValues{tensor}; });
  auto results = runFunction(function, values, DeviceMesh(), {0});
  if (failed(results))
    return failure();
  return llvm::map_to_vector(
      *results, [](const DeviceValues &value) { return value.front(); });
}
