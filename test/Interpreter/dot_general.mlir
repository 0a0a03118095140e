// RUN: fleet-interp %s --function matrices | FileCheck %s --check-prefix=MATRIX
// RUN: fleet-interp %s --function batched | FileCheck %s --check-prefix=BATCH
// RUN: fleet-interp %s --function blocks | FileCheck %s --check-prefix=BLOCKS

// [1 2; 3 4] times [5 6; 7 8], with either operand transposed, and added to 100.
// MATRIX: 0: {{\[\[}}19, 22], [43, 50]]
// MATRIX: 1: {{\[\[}}26, 30], [38, 44]]
// MATRIX: 2: {{\[\[}}17, 23], [39, 53]]
// MATRIX: 3: {{\[\[}}119, 122], [143, 150]]
// MATRIX: 4: 70
func.func @matrices() -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<f32>) {
  %a = fleet.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf64> : tensor<2x2xf32>
  %b = fleet.constant dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf64> : tensor<2x2xf32>
  %c = fleet.constant dense<100.0> : tensor<2x2xf64> : tensor<2x2xf32>
  %0 = fleet.dot_general %a, %b contract = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = fleet.dot_general %a, %b contract = [0] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = fleet.dot_general %a, %b contract = [1] x [1] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = fleet.dot_general %a, %b accumulator = %c : tensor<2x2xf32> contract = [1] x [0]
     : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %4 = fleet.dot_general %a, %b contract = [0, 1] x [0, 1] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<f32>
  return %0, %1, %2, %3, %4 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<f32>
}

// Batch b holds q = b + 1 and k = [1, 2] for two positions: scores are (b + 1) * k.
// The batch is dimension 1 of the left operand and dimension 0 of the right one.
// BATCH: 0: {{\[\[}}1, 2], [2, 4], [3, 6]]
func.func @batched() -> tensor<3x2xf32> {
  %q = fleet.constant dense<[[1.0, 2.0, 3.0]]> : tensor<1x3xf64> : tensor<1x3xf32>
  %k = fleet.constant dense<[[[1.0], [2.0]], [[1.0], [2.0]], [[1.0], [2.0]]]> : tensor<3x2x1xf64> : tensor<3x2x1xf32>
  %0 = fleet.dot_general %q, %k batch = [1] x [0] contract = [0] x [2] : (tensor<1x3xf32>, tensor<3x2x1xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// Inner sizes above one block: sum of 0 … 99 is 4950, of squares 328350.
// BLOCKS: 0: {{\[\[}}328350, 4950]]
func.func @blocks() -> tensor<1x2xf32> {
  %a = fleet.iota dim = 1 : tensor<1x100xf32>
  %b = fleet.iota dim = 0 : tensor<100x1xf32>
  %one = fleet.constant dense<1.0> : tensor<100x1xf64> : tensor<100x1xf32>
  %c = fleet.concat %b, %one dim = 1 : tensor<100x1xf32>, tensor<100x1xf32> -> tensor<100x2xf32>
  %0 = fleet.dot_general %a, %c contract = [1] x [0] : (tensor<1x100xf32>, tensor<100x2xf32>) -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}
