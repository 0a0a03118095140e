//===- ReferenceOpInterface.td - What an operation computes ----*- tablegen -*-===//
//
// The reference semantics of an operation, attached from outside the dialect, so that nothing of the compiler can lean
// on it and it leans on nothing of the code generator.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_INTERPRETER_REFERENCEOPINTERFACE_TD
#define FLEET_INTERPRETER_REFERENCEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def ReferenceOpInterface : OpInterface<"ReferenceOpInterface"> {
  let cppNamespace = "::fleet";
  let description = [{
    What the operation computes, in double precision. An operation implements one of the two methods: `evaluate` when a
    device needs nothing from others, else `evaluateAll`.
  }];
  let methods = [
    InterfaceMethod<[{
        Computes the results on one device. `results` have the shapes of the result types and are filled with zeros.
        Errors of the data are reported at the operation.
      }],
      "::llvm::LogicalResult", "evaluate",
      (ins "::llvm::ArrayRef<const ::fleet::Tensor *>":$operands, "::llvm::MutableArrayRef<::fleet::Tensor>":$results,
           "::fleet::EvalContext &":$context),
      [{}], [{ llvm_unreachable("operation has no meaning on a single device"); }]>,
    InterfaceMethod<"Defines the results on all devices that run in lock-step.",
      "::llvm::LogicalResult", "evaluateAll", (ins "::fleet::EvalContext &":$context),
      [{}], [{ return context.evaluateOnEachDevice($_op); }]>,
  ];
}

#endif // FLEET_INTERPRETER_REFERENCEOPINTERFACE_TD
