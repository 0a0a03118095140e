// Two devices: device r holds values made from r. Outputs are printed with the devices side by side.
// RUN: fleet-interp %s --function reduce | FileCheck %s --check-prefix=REDUCE
// RUN: fleet-interp %s --function gather | FileCheck %s --check-prefix=GATHER
// RUN: fleet-interp %s --function exchange | FileCheck %s --check-prefix=EXCHANGE

module attributes {fleet.level = 4 : i32} {
  fleet.mesh @mesh ["dp" = 2]

  // Device r holds [r, 10 + r]; two operands are one bucket.
  // REDUCE: sum: [1, 21]
  // REDUCE: bucket: 1
  // REDUCE: max: [1, 11]
  // REDUCE: min: [0, 10]
  // REDUCE: scattered: [1, 21]
  func.func @reduce() -> (tensor<2xf32> {fleet.output = "sum"}, tensor<i64> {fleet.output = "bucket"},
      tensor<2xf32> {fleet.output = "max"}, tensor<2xf32> {fleet.output = "min"},
      tensor<1xf32> {fleet.output = "scattered", fleet.sharding = #fleet.sharding<@mesh, [{dp}]>}) {
    %r = fleet.shard_offset size = 2 axes = {dp} : tensor<i64>
    %f = fleet.cast %r : tensor<i64> -> tensor<f32>
    %b = fleet.broadcast %f, dims = [] : tensor<f32> -> tensor<2xf32>
    %tens = fleet.constant dense<[0.0, 10.0]> : tensor<2xf64> : tensor<2xf32>
    %x = fleet.add %b, %tens : tensor<2xf32>
    %sum:2 = fleet.all_reduce sum %x, %r axes = {dp} : tensor<2xf32>, tensor<i64>
    %max = fleet.all_reduce max %x axes = {dp} : tensor<2xf32>
    %min = fleet.all_reduce min %x axes = {dp} : tensor<2xf32>
    %part = fleet.reduce_scatter sum %x dim = 0 axes = {dp} : tensor<2xf32> -> tensor<1xf32>
    return %sum#0, %sum#1, %max, %min, %part : tensor<2xf32>, tensor<i64>, tensor<2xf32>, tensor<2xf32>, tensor<1xf32>
  }

  // GATHER: whole: {{\[\[}}0, 1], [0, 1]]
  // GATHER: part: [5, 6, 7, 8]
  // GATHER: offset: [0, 5]
  func.func @gather() -> (tensor<2x2xf32> {fleet.output = "whole"},
      tensor<2xf32> {fleet.output = "part", fleet.sharding = #fleet.sharding<@mesh, [{dp}]>},
      tensor<1xi64> {fleet.output = "offset", fleet.sharding = #fleet.sharding<@mesh, [{dp}]>}) {
    %r = fleet.shard_offset size = 2 axes = {dp} : tensor<i64>
    %f = fleet.cast %r : tensor<i64> -> tensor<f32>
    %x = fleet.broadcast %f, dims = [] : tensor<f32> -> tensor<2x1xf32>
    %whole = fleet.all_gather %x dim = 1 axes = {dp} : tensor<2x1xf32> -> tensor<2x2xf32>
    %c = fleet.constant dense<[5.0, 6.0, 7.0, 8.0]> : tensor<4xf64> : tensor<4xf32>
    %part = fleet.shard_slice %c dim = 0 axes = {dp} : tensor<4xf32> -> tensor<2xf32>
    // floor(s * 10 / 2).
    %o = fleet.shard_offset size = 10 axes = {dp} : tensor<i64>
    %offset = fleet.reshape %o : tensor<i64> -> tensor<1xi64>
    return %whole, %part, %offset : tensor<2x2xf32>, tensor<2xf32>, tensor<1xi64>
  }

  // The 2x2 matrix [0 1; 2 3] from one row a device to one column a device.
  // EXCHANGE: 0: {{\[\[}}0, 1], [2, 3]]
  func.func @exchange() -> (tensor<2x1xf32> {fleet.sharding = #fleet.sharding<@mesh, [{}, {dp}]>}) {
    %all = fleet.constant dense<[[0.0, 1.0], [2.0, 3.0]]> : tensor<2x2xf64> : tensor<2x2xf32>
    %row = fleet.shard_slice %all dim = 0 axes = {dp} : tensor<2x2xf32> -> tensor<1x2xf32>
    %column = fleet.all_to_all %row split = 1 concat = 0 axes = {dp} : tensor<1x2xf32> -> tensor<2x1xf32>
    return %column : tensor<2x1xf32>
  }
}
