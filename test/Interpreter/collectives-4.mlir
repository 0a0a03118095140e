// One axis of four devices is a 2 x 2 grid of its prime pieces, mp:0 major.
// RUN: fleet-interp %s --function pieces | FileCheck %s
// RUN: fleet-interp %s --function order | FileCheck %s --check-prefix=ORDER
// RUN: not fleet-interp %s --function no_piece 2>&1 | FileCheck %s --check-prefix=PIECE
// RUN: not fleet-interp %s --function no_axis 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: not fleet-interp %s --function wrong_shape 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: not fleet-interp %s --function no_dim 2>&1 | FileCheck %s --check-prefix=DIM
// RUN: not fleet-interp %s --function replicas 2>&1 | FileCheck %s --check-prefix=REPLICA

module attributes {fleet.level = 4 : i32} {
  fleet.mesh @mesh ["mp" = 4]

  // Devices 0, 2 and 1, 3 differ in mp:0 alone; devices 0, 1 and 2, 3 in mp:1 alone.
  // CHECK: major: [2, 4, 2, 4]
  // CHECK: minor: [1, 1, 5, 5]
  // CHECK: swapped: [0, 2, 1, 3]
  func.func @pieces() -> (tensor<1xf32> {fleet.output = "major", fleet.sharding = #fleet.sharding<@mesh, [{mp}]>},
      tensor<1xf32> {fleet.output = "minor", fleet.sharding = #fleet.sharding<@mesh, [{mp}]>},
      tensor<4xf32> {fleet.output = "swapped"}) {
    %r = fleet.shard_offset size = 4 axes = {mp} : tensor<i64>
    %f = fleet.cast %r : tensor<i64> -> tensor<f32>
    %x = fleet.reshape %f : tensor<f32> -> tensor<1xf32>
    %major = fleet.all_reduce sum %x axes = {mp:0} : tensor<1xf32>
    %minor = fleet.all_reduce sum %x axes = {mp:1} : tensor<1xf32>
    // Shard number with mp:1 major: device 1 comes third.
    %swapped = fleet.all_gather %x dim = 0 axes = {mp:1, mp:0} : tensor<1xf32> -> tensor<4xf32>
    return %major, %minor, %swapped : tensor<1xf32>, tensor<1xf32>, tensor<4xf32>
  }

  // Sums run in rank order: ((1e16 + 1) - 1e16) + 1 in double is 1, while 1e16 - 1e16 + 1 + 1 would be 2.
  // ORDER: 0: [1]
  func.func @order() -> tensor<1xf32> {
    %all = fleet.constant dense<[1.0e16, 1.0, -1.0e16, 1.0]> : tensor<4xf64> : tensor<4xf32>
    %x = fleet.shard_slice %all dim = 0 axes = {mp} : tensor<4xf32> -> tensor<1xf32>
    %sum = fleet.all_reduce sum %x axes = {mp:1, mp:0} : tensor<1xf32>
    return %sum : tensor<1xf32>
  }

  // PIECE: error: axis 'mp' of size 4 has 2 pieces, there is no piece 2
  func.func @no_piece() -> tensor<i64> {
    %r = fleet.shard_offset size = 4 axes = {mp:2} : tensor<i64>
    return %r : tensor<i64>
  }

  // AXIS: error: the mesh has no axis 'dp'
  func.func @no_axis() -> tensor<i64> {
    %r = fleet.shard_offset size = 4 axes = {dp} : tensor<i64>
    return %r : tensor<i64>
  }

  // SHAPE: error: gives the shape [8] on device 0, its type says [6]
  func.func @wrong_shape() -> tensor<6xf32> {
    %x = fleet.constant dense<1.0> : tensor<2xf64> : tensor<2xf32>
    %y = fleet.all_gather %x dim = 0 axes = {mp} : tensor<2xf32> -> tensor<6xf32>
    return %y : tensor<6xf32>
  }

  // DIM: error: names dimension 1 of a tensor of rank 1
  func.func @no_dim() -> tensor<2xf32> {
    %x = fleet.constant dense<1.0> : tensor<2xf64> : tensor<2xf32>
    %y = fleet.all_to_all %x split = 0 concat = 1 axes = {mp} : tensor<2xf32> -> tensor<2xf32>
    return %y : tensor<2xf32>
  }

  // REPLICA: error: result '0' differs between replicas: element 0 is 0 on device 0 and 1 on device 1
  func.func @replicas() -> tensor<i64> {
    %r = fleet.shard_offset size = 4 axes = {mp} : tensor<i64>
    return %r : tensor<i64>
  }
}
