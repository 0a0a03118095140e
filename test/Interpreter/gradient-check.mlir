// RUN: split-file %s %t
// RUN: fleet-interp %t/right.mlir --check-gradients | FileCheck %s --check-prefix=RIGHT
// RUN: not fleet-interp %t/wrong.mlir --check-gradients 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not fleet-interp %t/types.mlir --check-gradients 2>&1 | FileCheck %s --check-prefix=TYPES

// RIGHT: gradients agree: 5 elements of 2 arguments, largest relative error {{[0-9.]+}}e-1
// WRONG: error: gradient of argument 0, element 0: {{.*}}, by central differences
// WRONG-NOT: argument 1
// TYPES: error: does not return one gradient for each of 2 float arguments

//--- right.mlir
// sum(log(x) y[i]): 1 / x picked, and scattered log(x).
func.func @forward(%x: tensor<2xf32> {fleet.range = [0.5, 1.5]}, %y: tensor<3xf32>, %i: tensor<2xi64> {fleet.range = [0, 3]})
    -> tensor<f32> {
  %0 = fleet.log %x : tensor<2xf32>
  %1 = fleet.gather %y, %i : (tensor<3xf32>, tensor<2xi64>) -> tensor<2xf32>
  %2 = fleet.dot_general %0, %1 contract = [0] x [0] : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
  return %2 : tensor<f32>
}
func.func @gradient(%x: tensor<2xf32>, %y: tensor<3xf32>, %i: tensor<2xi64>) -> (tensor<2xf32>, tensor<3xf32>) {
  %0 = fleet.gather %y, %i : (tensor<3xf32>, tensor<2xi64>) -> tensor<2xf32>
  %1 = fleet.div %0, %x : tensor<2xf32>
  %2 = fleet.log %x : tensor<2xf32>
  %3 = fleet.scatter_add %2, %i : (tensor<2xf32>, tensor<2xi64>) -> tensor<3xf32>
  return %1, %3 : tensor<2xf32>, tensor<3xf32>
}

//--- wrong.mlir
// The gradient of x is that of 2 x; the one of y is right.
func.func @forward(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<f32> {
  %0 = fleet.dot_general %x, %y contract = [0] x [0] : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @gradient(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = fleet.add %y, %y : tensor<2xf32>
  return %0, %x : tensor<2xf32>, tensor<2xf32>
}

//--- types.mlir
func.func @forward(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<f32> {
  %0 = fleet.dot_general %x, %y contract = [0] x [0] : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @gradient(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  return %y : tensor<2xf32>
}
