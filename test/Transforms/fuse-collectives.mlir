// RUN: fleet-opt %s --fleet-fuse-collectives | FileCheck %s
// RUN: fleet-opt %s --fleet-fuse-collectives=bucket-bytes=40 | FileCheck %s --check-prefix=SMALL
// RUN: fleet-opt %s --fleet-fuse-collectives=bucket-bytes=0 | FileCheck %s --check-prefix=NONE

// Same axes and kind, and nothing that depends on another member; a reduction of the reduced values stays apart.
// CHECK-DAG: %[[R:.*]]:3 = fleet.all_reduce sum %{{.*}}, %{{.*}}, %{{.*}} axes = {dp} : tensor<4xf32>, tensor<8xf32>, tensor<2xf32>
// CHECK-DAG: fleet.all_reduce max {{.*}} axes = {dp}
// CHECK: fleet.mul %[[R]]#0
// CHECK: fleet.all_reduce sum {{.*}} axes = {dp} : tensor<4xf32>

// SMALL: fleet.all_reduce sum %{{.*}}, %{{.*}} axes = {dp} : tensor<8xf32>, tensor<2xf32>
// NONE-COUNT-5: fleet.all_reduce
fleet.mesh @mesh ["dp" = 2]
fleet.program @stage0 on @mesh stage = 0 micro_batches = 1 {
  fleet.slot gradient @a : tensor<4xf32>
  fleet.slot gradient @b : tensor<8xf32>
  fleet.slot gradient @c : tensor<2xf32>
  fleet.task @update_0 update reads(%a = @a : tensor<4xf32>, %b = @b : tensor<8xf32>, %c = @c : tensor<2xf32>) writes(@a, @b, @c) {
    %0 = fleet.all_reduce sum %a axes = {dp} : tensor<4xf32>
    %1 = fleet.mul %0, %0 : tensor<4xf32>
    %2 = fleet.all_reduce sum %1 axes = {dp} : tensor<4xf32>
    %3 = fleet.all_reduce sum %b axes = {dp} : tensor<8xf32>
    %4 = fleet.all_reduce max %b axes = {dp} : tensor<8xf32>
    %5 = fleet.add %3, %4 : tensor<8xf32>
    %6 = fleet.all_reduce sum %c axes = {dp} : tensor<2xf32>
    fleet.return %2, %5, %6 : tensor<4xf32>, tensor<8xf32>, tensor<2xf32>
  }
}
