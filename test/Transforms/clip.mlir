// RUN: fleet-opt %s --fleet-clip="global-norm=0.5" | FileCheck %s
// RUN: fleet-opt %s --fleet-clip | FileCheck %s --check-prefix=NORM
// RUN: not fleet-opt %s --fleet-clip="global-norm=-1" 2>&1 | FileCheck %s --check-prefix=ERROR

// CHECK: -> (tensor<4xf32> {fleet.gradient = "a"}, tensor<f32> {fleet.gradient = "b"}, tensor<f32> {fleet.output = "grad_norm"})
// CHECK: %[[SUM:.*]] = fleet.sum %{{.*}}, %{{.*}} {fleet.phase = #fleet.phase<update>} : tensor<f32>
// CHECK: %[[ROOT:.*]] = fleet.sqrt %[[SUM]]
// CHECK: fleet.min
// CHECK: return %{{.*}}, %{{.*}}, %[[ROOT]]

// NORM: fleet.sqrt
// NORM-NOT: fleet.min
// NORM: return %arg0, %arg1, %{{.*}}

// ERROR: error: clipping needs @step and a norm of at least 0, got -1
func.func @step(%a: tensor<4xf32>, %b: tensor<f32>) -> (tensor<4xf32> {fleet.gradient = "a"}, tensor<f32> {fleet.gradient = "b"}) {
  return %a, %b : tensor<4xf32>, tensor<f32>
}
