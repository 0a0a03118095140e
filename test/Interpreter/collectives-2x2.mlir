// Device (dp, mp) is number 2 dp + mp.
// RUN: fleet-interp %s | FileCheck %s

module attributes {fleet.level = 4 : i32} {
  fleet.mesh @mesh ["dp" = 2, "mp" = 2]

  // CHECK: dp: [2, 4, 2, 4]
  // CHECK: mp: [1, 1, 5, 5]
  // CHECK: both: 6
  // CHECK: gathered: [0, 2, 1, 3]
  // CHECK: two_steps: [0, 1, 2, 3]
  // CHECK: total: 6
  func.func @f() -> (tensor<1xf32> {fleet.output = "dp", fleet.sharding = #fleet.sharding<@mesh, [{dp, mp}]>},
      tensor<1xf32> {fleet.output = "mp", fleet.sharding = #fleet.sharding<@mesh, [{dp, mp}]>},
      tensor<f32> {fleet.output = "both"},
      tensor<4xf32> {fleet.output = "gathered"},
      tensor<4xf32> {fleet.output = "two_steps"},
      tensor<f32> {fleet.output = "total", fleet.sharding = #fleet.sharding<@mesh, [], unreduced sum {dp, mp}>}) {
    %r = fleet.shard_offset size = 4 axes = {dp, mp} : tensor<i64>
    %f = fleet.cast %r : tensor<i64> -> tensor<f32>
    %x = fleet.reshape %f : tensor<f32> -> tensor<1xf32>
    %dp = fleet.all_reduce sum %x axes = {dp} : tensor<1xf32>
    %mp = fleet.all_reduce sum %x axes = {mp} : tensor<1xf32>
    %both = fleet.all_reduce sum %f axes = {dp, mp} : tensor<f32>
    %gathered = fleet.all_gather %x dim = 0 axes = {mp, dp} : tensor<1xf32> -> tensor<4xf32>
    // Minor axis first, then major: the order of the whole list.
    %half = fleet.all_gather %x dim = 0 axes = {mp} : tensor<1xf32> -> tensor<2xf32>
    %all = fleet.all_gather %half dim = 0 axes = {dp} : tensor<2xf32> -> tensor<4xf32>
    return %dp, %mp, %both, %gathered, %all, %f : tensor<1xf32>, tensor<1xf32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>,
      tensor<f32>
  }
}
