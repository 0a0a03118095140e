//===- Passes.td - The passes of fleet -------------------------*- tablegen -*-===//
//
// The only registry of passes. Groups follow the levels of the program: simplify, step, plan, local, rank, native.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_TRANSFORMS_PASSES_TD
#define FLEET_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Simplify
//===----------------------------------------------------------------------===//

def ConvertPrecision : Pass<"fleet-convert-precision", "::mlir::ModuleOp"> {
  let summary = "Give every float tensor one element type";
  let description = [{
    The same program in another precision: `f64` makes every float double, casts to f32 included. Constants keep their data,
    which is stored in double whatever the type of their result.

    ```mlir
    func.func @model(%x: tensor<4xf32>) -> tensor<4xf32>   // before
    func.func @model(%x: tensor<4xf64>) -> tensor<4xf64>   // after, with to=f64
    ```
  }];
  let options = [Option<"to", "to", "std::string", "\"f64\"", "Element type: f32 or f64">];
  let dependentDialects = ["::fleet::FleetDialect"];
}

#endif // FLEET_TRANSFORMS_PASSES_TD
