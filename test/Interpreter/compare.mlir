// Two programs on the same made-up data. The second one is the first on two devices, or the first with a mistake.
// RUN: split-file %s %t
// RUN: fleet-interp %t/whole.mlir --random --steps 2 --compare %t/local.mlir | FileCheck %s --check-prefix=AGREE
// RUN: not fleet-interp %t/whole.mlir --random --steps 2 --compare %t/wrong.mlir 2>&1 | FileCheck %s --check-prefix=DIFFER
// RUN: not fleet-interp %t/whole.mlir --random --steps 2 --compare %t/lacking.mlir 2>&1 | FileCheck %s --check-prefix=LACK
// RUN: not fleet-interp %t/range.mlir --random 2>&1 | FileCheck %s --check-prefix=RANGE

// Output in two steps and the parameter at the end.
// AGREE: programs agree: 3 tensors over 2 steps, largest difference {{[0-9.e-]+}}
// DIFFER: error: 'rows' differs between the programs by 1.0e+00
// LACK: error: 'rows' is missing in the second program
// RANGE: error: input 'i' fleet.range is not [low, high]

//--- whole.mlir
func.func @step(%table: tensor<10x2xf32> {fleet.param = "table", fleet.range = [1.0, 2.0]},
    %i: tensor<4xi64> {fleet.input = "i", fleet.range = [0, 10]}) -> (tensor<4x2xf32> {fleet.output = "rows"}) {
  %0 = fleet.gather %table, %i : (tensor<10x2xf32>, tensor<4xi64>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

//--- local.mlir
fleet.mesh @mesh ["mp" = 2]
func.func @step(
    %table: tensor<5x2xf32> {fleet.param = "table", fleet.range = [1.0, 2.0], fleet.sharding = #fleet.sharding<@mesh, [{mp}, {}]>},
    %i: tensor<4xi64> {fleet.input = "i", fleet.range = [0, 10]})
    -> (tensor<4x2xf32> {fleet.output = "rows", fleet.sharding = #fleet.sharding<@mesh, [{}, {}], unreduced sum {mp}>}) {
  %base = fleet.shard_offset size = 10 axes = {mp} : tensor<i64>
  %0 = fleet.gather %table, %i base = %base : tensor<i64> : (tensor<5x2xf32>, tensor<4xi64>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

//--- wrong.mlir
func.func @step(%table: tensor<10x2xf32> {fleet.param = "table", fleet.range = [1.0, 2.0]},
    %i: tensor<4xi64> {fleet.input = "i", fleet.range = [0, 10]}) -> (tensor<4x2xf32> {fleet.output = "rows"}) {
  %far = fleet.constant dense<100> : tensor<i64> : tensor<i64>
  %0 = fleet.gather %table, %i base = %far : tensor<i64> : (tensor<10x2xf32>, tensor<4xi64>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

//--- lacking.mlir
func.func @step(%table: tensor<10x2xf32> {fleet.param = "table", fleet.range = [1.0, 2.0]},
    %i: tensor<4xi64> {fleet.input = "i", fleet.range = [0, 10]}) -> (tensor<4x2xf32> {fleet.output = "columns"}) {
  %0 = fleet.gather %table, %i : (tensor<10x2xf32>, tensor<4xi64>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

//--- range.mlir
func.func @step(%i: tensor<4xi64> {fleet.input = "i", fleet.range = [3, 3]}) -> tensor<4xi64> {
  return %i : tensor<4xi64>
}
