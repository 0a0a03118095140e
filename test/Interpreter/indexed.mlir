// RUN: fleet-interp %s --function lookup | FileCheck %s
// RUN: not fleet-interp %s --function outside 2>&1 | FileCheck %s --check-prefix=GATHER
// RUN: not fleet-interp %s --function outside_add 2>&1 | FileCheck %s --check-prefix=SCATTER

// CHECK: 0: {{\[\[}}5, 6], [1, 2], [5, 6]]
// With base 1 the table holds rows 1 to 3 of a larger one; index 0 is somebody else's.
// CHECK: 1: {{\[\[}}3, 4], [0, 0], [3, 4]]
// CHECK: 2: {{\[\[}}3, 4], [0, 0], [60, 80]]
// CHECK: 3: {{\[\[}}0, 0], [60, 80]]
func.func @lookup() -> (tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<2x2xf32>) {
  %table = fleet.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf64> : tensor<3x2xf32>
  %indices = fleet.constant dense<[2, 0, 2]> : tensor<3xi64> : tensor<3xi64>
  %base = fleet.constant dense<1> : tensor<i64> : tensor<i64>
  %0 = fleet.gather %table, %indices : (tensor<3x2xf32>, tensor<3xi64>) -> tensor<3x2xf32>
  %1 = fleet.gather %table, %indices base = %base : tensor<i64> : (tensor<3x2xf32>, tensor<3xi64>) -> tensor<3x2xf32>
  %u = fleet.constant dense<[[10.0, 20.0], [3.0, 4.0], [50.0, 60.0]]> : tensor<3x2xf64> : tensor<3x2xf32>
  %2 = fleet.scatter_add %u, %indices : (tensor<3x2xf32>, tensor<3xi64>) -> tensor<3x2xf32>
  %3 = fleet.scatter_add %u, %indices base = %base : tensor<i64> : (tensor<3x2xf32>, tensor<3xi64>) -> tensor<2x2xf32>
  return %0, %1, %2, %3 : tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<2x2xf32>
}

// GATHER: error: index 3 at position 1 is outside the table of 3 rows
func.func @outside() -> tensor<2xf32> {
  %table = fleet.constant dense<1.0> : tensor<3xf64> : tensor<3xf32>
  %indices = fleet.constant dense<[2, 3]> : tensor<2xi64> : tensor<2xi64>
  %0 = fleet.gather %table, %indices : (tensor<3xf32>, tensor<2xi64>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// SCATTER: error: index -1 at position 0 is outside the table of 3 rows
func.func @outside_add() -> tensor<3xf32> {
  %u = fleet.constant dense<1.0> : tensor<2xf64> : tensor<2xf32>
  %indices = fleet.constant dense<[-1, 2]> : tensor<2xi64> : tensor<2xi64>
  %0 = fleet.scatter_add %u, %indices : (tensor<2xf32>, tensor<2xi64>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
