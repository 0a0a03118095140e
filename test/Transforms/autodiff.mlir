// RUN: fleet-opt %S/Inputs/mlp.mlir --fleet-add-loss --fleet-autodiff | FileCheck %s
// RUN: fleet-opt %S/Inputs/mlp.mlir --fleet-add-loss --fleet-autodiff="frozen=net.0.*" | FileCheck %s --check-prefix=FROZEN

// Gradients of activations and of parameters are told apart; the count of labels stands before everything.
// CHECK: module attributes {fleet.level = 2 : i32
// CHECK: func.func @step(
// CHECK-SAME: -> (tensor<f32> {fleet.output = "loss"}, tensor<16x32xf32> {fleet.gradient = "net.0.weight"}, tensor<32xf32> {fleet.gradient = "net.0.bias"}, tensor<32x4xf32> {fleet.gradient = "net.2.weight"})
// CHECK: %[[COUNT:.*]] = fleet.count_valid {{.*}}fleet.phase = #fleet.phase<prologue>
// CHECK: fleet.dot_general {{.*}}fleet.origin = 0 : i64, fleet.phase = #fleet.phase<forward>
// CHECK: fleet.cross_entropy %{{.*}}, %{{.*}} count = %[[COUNT]]
// CHECK: %[[DLOGITS:.*]] = fleet.cross_entropy_grad {{.*}}phase<backward_input>
// CHECK: fleet.dot_general %[[DLOGITS]], %{{.*}} contract = [1] x [1] {fleet.origin = 4 : i64, fleet.phase = #fleet.phase<backward_input>}
// CHECK: fleet.dot_general %{{.*}}, %[[DLOGITS]] contract = [0] x [0] {fleet.origin = 4 : i64, fleet.phase = #fleet.phase<backward_weight>}
// CHECK: fleet.select {{.*}}phase<backward_input>
// CHECK: fleet.reduce sum {{.*}}phase<backward_weight>

// FROZEN: -> (tensor<f32> {fleet.output = "loss"}, tensor<32x4xf32> {fleet.gradient = "net.2.weight"})
