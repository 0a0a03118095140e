// RUN: fleet-opt %s --fleet-split-parameters | FileCheck %s
// RUN: fleet-opt %s --fleet-split-parameters -o %t
// RUN: fleet-interp %s --random --compare %t

// GPT-2's fused projection: three parts of one weight and of one bias. A parameter with another use stays whole.
// CHECK: func.func @model(%[[X:[^:]*]]: tensor<2x4xf32>
// CHECK-SAME: %[[W0:[^:]*]]: tensor<4x4xf32> {fleet.param = "w", fleet.piece = #fleet.piece<offsets = [0, 0], of = [4, 12]>}
// CHECK-SAME: %[[W1:[^:]*]]: tensor<4x4xf32> {fleet.param = "w", fleet.piece = #fleet.piece<offsets = [0, 4], of = [4, 12]>}
// CHECK-SAME: %[[W2:[^:]*]]: tensor<4x4xf32> {fleet.param = "w", fleet.piece = #fleet.piece<offsets = [0, 8], of = [4, 12]>}
// CHECK-SAME: tensor<4xf32> {fleet.param = "b", fleet.piece = #fleet.piece<offsets = [0], of = [12]>}
// CHECK-SAME: tensor<4x4xf32> {fleet.param = "tied"}
// CHECK: fleet.dot_general %[[X]], %[[W0]]
func.func @model(%x: tensor<2x4xf32> {fleet.input = "x"}, %w: tensor<4x12xf32> {fleet.param = "w"},
                 %b: tensor<12xf32> {fleet.param = "b"}, %u: tensor<4x4xf32> {fleet.param = "tied"})
    -> (tensor<2x4xf32> {fleet.output = "y"}, tensor<2x2xf32> {fleet.output = "z"}) {
  %0 = fleet.dot_general %x, %w contract = [1] x [0] : (tensor<2x4xf32>, tensor<4x12xf32>) -> tensor<2x12xf32>
  %1 = fleet.broadcast %b, dims = [1] : tensor<12xf32> -> tensor<2x12xf32>
  %2 = fleet.add %0, %1 : tensor<2x12xf32>
  %q = fleet.slice %2, offsets = [0, 0], sizes = [2, 4] : tensor<2x12xf32> -> tensor<2x4xf32>
  %k = fleet.slice %2, offsets = [0, 4], sizes = [2, 4] : tensor<2x12xf32> -> tensor<2x4xf32>
  %v = fleet.slice %2, offsets = [0, 8], sizes = [2, 4] : tensor<2x12xf32> -> tensor<2x4xf32>
  %3 = fleet.mul %q, %k : tensor<2x4xf32>
  %4 = fleet.mul %3, %v : tensor<2x4xf32>
  %5 = fleet.dot_general %4, %u contract = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %6 = fleet.dot_general %x, %u contract = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %7 = fleet.add %5, %6 : tensor<2x4xf32>
  %8 = fleet.slice %6, offsets = [0, 0], sizes = [2, 2] : tensor<2x4xf32> -> tensor<2x2xf32>
  return %7, %8 : tensor<2x4xf32>, tensor<2x2xf32>
}
