// RUN: fleet-opt %S/Inputs/mlp.mlir --fleet-add-loss --fleet-autodiff --fleet-gradient-merge=micro-batches=4 --canonicalize -o %t.4
// RUN: FileCheck %s --input-file=%t.4
// RUN: fleet-opt %S/Inputs/mlp.mlir --fleet-add-loss --fleet-autodiff -o %t.1
// RUN: fleet-interp %t.1 --random --compare %t.4

// The same numbers, and shapes of one micro-batch inside. The count of the labels is that of the whole batch.
// CHECK: %[[COUNT:.*]] = fleet.count_valid %{{.*}} : tensor<8xi64> -> tensor<f32>
// CHECK: %{{.*}}:4 = fleet.accumulate micro_batches = 4 (%[[X:.*]] = %{{.*}} : tensor<8x16xf32>, %[[L:.*]] = %{{.*}} : tensor<8xi64>)
// CHECK: fleet.dot_general %[[X]], {{.*}} -> tensor<2x32xf32>
// CHECK: fleet.cross_entropy {{.*}} count = %[[COUNT]]
// CHECK: fleet.yield
