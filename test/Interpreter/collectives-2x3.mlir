// Device (dp, mp) is number 3 dp + mp.
// RUN: fleet-interp %s | FileCheck %s

module attributes {fleet.level = 4 : i32} {
  fleet.mesh @mesh ["dp" = 2, "mp" = 3]

  // Column j of device d holds d + j: device d keeps column shard mp of the sum over mp, which is 3 (3 dp + 1 + j).
  // CHECK: scattered: {{\[\[}}3, 6, 9], [12, 15, 18]]
  // CHECK: maximum: {{\[\[}}3, 4, 5], [3, 4, 5], [3, 4, 5]]
  // Rows over mp become rows over nothing, columns over mp.
  // CHECK: exchanged: {{\[\[}}0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5], [4, 5, 6], [5, 6, 7]]
  // 5 elements over 3 shards: [0, 1), [1, 3), [3, 5).
  // CHECK: offsets: [0, 1, 3]
  func.func @f() -> (tensor<1x1xf32> {fleet.output = "scattered", fleet.sharding = #fleet.sharding<@mesh, [{dp}, {mp}]>},
      tensor<1x3xf32> {fleet.output = "maximum", fleet.sharding = #fleet.sharding<@mesh, [{mp}, {}]>},
      tensor<3x1xf32> {fleet.output = "exchanged", fleet.sharding = #fleet.sharding<@mesh, [{dp}, {mp}]>},
      tensor<1xi64> {fleet.output = "offsets", fleet.sharding = #fleet.sharding<@mesh, [{mp}]>}) {
    %r = fleet.shard_offset size = 6 axes = {dp, mp} : tensor<i64>
    %f = fleet.cast %r : tensor<i64> -> tensor<f32>
    %b = fleet.broadcast %f, dims = [] : tensor<f32> -> tensor<1x3xf32>
    %j = fleet.iota dim = 1 : tensor<1x3xf32>
    %x = fleet.add %b, %j : tensor<1x3xf32>
    %scattered = fleet.reduce_scatter sum %x dim = 1 axes = {mp} : tensor<1x3xf32> -> tensor<1x1xf32>
    %m = fleet.all_reduce max %x axes = {dp} : tensor<1x3xf32>
    %zero = fleet.shard_offset size = 3 axes = {mp} : tensor<i64>
    %z = fleet.cast %zero : tensor<i64> -> tensor<f32>
    %zb = fleet.broadcast %z, dims = [] : tensor<f32> -> tensor<1x3xf32>
    %maximum = fleet.sub %m, %zb : tensor<1x3xf32>
    %exchanged = fleet.all_to_all %x split = 1 concat = 0 axes = {mp} : tensor<1x3xf32> -> tensor<3x1xf32>
    %o = fleet.shard_offset size = 5 axes = {mp} : tensor<i64>
    %offset = fleet.reshape %o : tensor<i64> -> tensor<1xi64>
    return %scattered, %maximum, %exchanged, %offset : tensor<1x1xf32>, tensor<1x3xf32>, tensor<3x1xf32>, tensor<1xi64>
  }
}
