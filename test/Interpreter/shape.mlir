// RUN: fleet-interp %s --function views | FileCheck %s --check-prefix=VIEWS
// RUN: fleet-interp %s --function boxes | FileCheck %s --check-prefix=BOXES
// RUN: fleet-interp %s --function reductions | FileCheck %s --check-prefix=REDUCE

// VIEWS: 0: {{\[\[}}0, 1, 2], [0, 1, 2]]
// VIEWS: 1: {{\[\[}}0, 0, 0], [1, 1, 1]]
// VIEWS: 2: {{\[\[}}0, 1], [2, 0], [1, 2]]
// VIEWS: 3: {{\[\[}}0, 0], [1, 1], [2, 2]]
// VIEWS: 4: {{\[\[\[}}7, 7], [8, 8], [9, 9]], {{\[\[}}7, 7], [8, 8], [9, 9]]]
// VIEWS: 5: [2, 1, 3]
func.func @views() -> (tensor<2x3xi64>, tensor<2x3xf32>, tensor<3x2xi64>, tensor<3x2xi64>, tensor<2x3x2xi64>, tensor<3xi64>) {
  %0 = fleet.iota dim = 1 : tensor<2x3xi64>
  %1 = fleet.iota dim = 0 : tensor<2x3xf32>
  %2 = fleet.reshape %0 : tensor<2x3xi64> -> tensor<3x2xi64>
  %3 = fleet.transpose %0, [1, 0] : tensor<2x3xi64> -> tensor<3x2xi64>
  %b = fleet.constant dense<[7, 8, 9]> : tensor<3xi64> : tensor<3xi64>
  %4 = fleet.broadcast %b, dims = [1] : tensor<3xi64> -> tensor<2x3x2xi64>
  // Dimension d of the result is dimension permutation[d]: a rotation by one tells the two readings apart.
  %i = fleet.iota dim = 0 : tensor<2x1x3xi64>
  %t = fleet.transpose %i, [2, 0, 1] : tensor<2x1x3xi64> -> tensor<3x2x1xi64>
  %shape = fleet.constant dense<[2, 1, 3]> : tensor<3xi64> : tensor<3xi64>
  return %0, %1, %2, %3, %4, %shape : tensor<2x3xi64>, tensor<2x3xf32>, tensor<3x2xi64>, tensor<3x2xi64>, tensor<2x3x2xi64>,
    tensor<3xi64>
}

// BOXES: 0: {{\[\[}}5, 6], [8, 9]]
// BOXES: 1: {{\[\[}}-1, 1, 2, 3], [-1, 4, 5, 6], [-1, 7, 8, 9], [-1, -1, -1, -1]]
// BOXES: 2: {{\[\[}}1, 2, 3, 5, 6], [4, 5, 6, 8, 9]]
func.func @boxes() -> (tensor<2x2xi64>, tensor<4x4xi64>, tensor<2x5xi64>) {
  %a = fleet.constant dense<[[1, 2, 3], [4, 5, 6], [7, 8, 9]]> : tensor<3x3xi64> : tensor<3x3xi64>
  %0 = fleet.slice %a, offsets = [1, 1], sizes = [2, 2] : tensor<3x3xi64> -> tensor<2x2xi64>
  %1 = fleet.pad %a, low = [0, 1], high = [1, 0], value = -1.0 : tensor<3x3xi64> -> tensor<4x4xi64>
  %top = fleet.slice %a, offsets = [0, 0], sizes = [2, 3] : tensor<3x3xi64> -> tensor<2x3xi64>
  %2 = fleet.concat %top, %0 dim = 1 : tensor<2x3xi64>, tensor<2x2xi64> -> tensor<2x5xi64>
  return %0, %1, %2 : tensor<2x2xi64>, tensor<4x4xi64>, tensor<2x5xi64>
}

// REDUCE: 0: [5, -3]
// REDUCE: 1: [4, -1]
// REDUCE: 2: [-1, 2, 1]
// REDUCE: 3: -4
// REDUCE: 4: 2
func.func @reductions() -> (tensor<2xf32>, tensor<2xf32>, tensor<3xf32>, tensor<f32>, tensor<f32>) {
  %a = fleet.constant dense<[[0.0, 4.0, 1.0], [-1.0, -2.0, 0.0]]> : tensor<2x3xf64> : tensor<2x3xf32>
  %b = fleet.constant dense<[[0.0, 4.0, 1.0], [-1.0, -2.0, -4.0]]> : tensor<2x3xf64> : tensor<2x3xf32>
  %0 = fleet.reduce sum %a, dims = [1] : tensor<2x3xf32> -> tensor<2xf32>
  %1 = fleet.reduce max %b, dims = [1] : tensor<2x3xf32> -> tensor<2xf32>
  %2 = fleet.reduce sum %a, dims = [0] : tensor<2x3xf32> -> tensor<3xf32>
  %3 = fleet.reduce min %b, dims = [0, 1] : tensor<2x3xf32> -> tensor<f32>
  %4 = fleet.reduce sum %a, dims = [0, 1] : tensor<2x3xf32> -> tensor<f32>
  return %0, %1, %2, %3, %4 : tensor<2xf32>, tensor<2xf32>, tensor<3xf32>, tensor<f32>, tensor<f32>
}
