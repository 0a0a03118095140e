// RUN: fleet-interp %s --function micro_batches | FileCheck %s --check-prefix=MICRO
// RUN: fleet-interp %s --function kernel | FileCheck %s --check-prefix=KERNEL

// Rows [1 2], [3 4] and [5 6], [7 8]; each micro-batch gives its rows' sum times an outer value, and its row count.
// MICRO: 0: [32, 40]
// MICRO: 1: 4
func.func @micro_batches() -> (tensor<2xf32>, tensor<f32>) {
  %x = fleet.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf64> : tensor<4x2xf32>
  %two = fleet.constant dense<2.0> : tensor<2xf64> : tensor<2xf32>
  %labels = fleet.constant dense<[0, 1, 2, 3]> : tensor<4xi64> : tensor<4xi64>
  %sum, %rows = fleet.accumulate micro_batches = 2 (%xm = %x : tensor<4x2xf32>, %lm = %labels : tensor<4xi64>)
      -> (tensor<2xf32>, tensor<f32>) {
    %0 = fleet.reduce sum %xm, dims = [0] : tensor<2x2xf32> -> tensor<2xf32>
    %1 = fleet.mul %0, %two : tensor<2xf32>
    %n = fleet.count_valid %lm : tensor<2xi64> -> tensor<f32>
    fleet.yield %1, %n : tensor<2xf32>, tensor<f32>
  }
  return %sum, %rows : tensor<2xf32>, tensor<f32>
}

// KERNEL: 0: [0, 3]
// KERNEL: 1: 3
func.func @kernel() -> (tensor<2xf32>, tensor<f32>) {
  %x = fleet.constant dense<[-1.0, 3.0]> : tensor<2xf64> : tensor<2xf32>
  %r, %s = fleet.kernel (%a = %x : tensor<2xf32>) -> (tensor<2xf32>, tensor<f32>) {
    %0 = fleet.relu %a : tensor<2xf32>
    %1 = fleet.reduce sum %0, dims = [0] : tensor<2xf32> -> tensor<f32>
    fleet.kernel_yield %0, %1 : tensor<2xf32>, tensor<f32>
  }
  return %r, %s : tensor<2xf32>, tensor<f32>
}
