// RUN: fleet-opt %s --fleet-optimizer="name=adamw beta1=0.9 beta2=0.95 weight-decay=0.1" | FileCheck %s
// RUN: fleet-opt %s --fleet-optimizer="name=momentum nesterov" | FileCheck %s --check-prefix=MOMENTUM
// RUN: fleet-opt %s --fleet-optimizer="name=sgd keep-gradients" | FileCheck %s --check-prefix=SGD
// RUN: not fleet-opt %s --fleet-optimizer="name=lamb" 2>&1 | FileCheck %s --check-prefix=ERROR

// CHECK: func.func @step(%[[W:.*]]: tensor<4xf32> {fleet.param = "w"}, %[[G:.*]]: tensor<4xf32>,
// CHECK-SAME: %[[M:.*]]: tensor<4xf32> {fleet.of = "w", fleet.state = "m"}, %[[V:.*]]: tensor<4xf32> {fleet.of = "w", fleet.state = "v"},
// CHECK-SAME: %[[LR:.*]]: tensor<f32> {fleet.scalar = "lr"}, %[[T:.*]]: tensor<f32> {fleet.scalar = "t"})
// CHECK-SAME: -> (tensor<4xf32> {fleet.updates = 0 : i64}, tensor<4xf32> {fleet.updates = 2 : i64}, tensor<4xf32> {fleet.updates = 3 : i64})
// CHECK: fleet.adam %[[W]], %[[G]], %[[M]], %[[V]], %[[LR]], %[[T]] {{.*}}decoupled

// MOMENTUM: fleet.momentum {{.*}}nesterov
// SGD: -> (tensor<4xf32> {fleet.gradient = "w"}, tensor<4xf32> {fleet.updates = 0 : i64})
// SGD: fleet.sgd

// ERROR: error: optimizer 'lamb' is not one of sgd, momentum, adam, adamw
func.func @step(%w: tensor<4xf32> {fleet.param = "w"}, %g: tensor<4xf32>) -> (tensor<4xf32> {fleet.gradient = "w"}) {
  return %g : tensor<4xf32>
}
