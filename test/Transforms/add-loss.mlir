// RUN: fleet-opt %s --fleet-add-loss="output=logits shift" | FileCheck %s
// RUN: fleet-opt %s --fleet-add-loss="kind=mse output=other labels=target" | FileCheck %s --check-prefix=MSE
// RUN: fleet-opt %s --fleet-add-loss="output=logits all-count" | FileCheck %s --check-prefix=ALL
// RUN: fleet-opt %s --fleet-add-loss="kind=inside output=scalar" | FileCheck %s --check-prefix=INSIDE
// RUN: not fleet-opt %s --fleet-add-loss="output=logit" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not fleet-opt %s --fleet-add-loss="kind=inside output=logits" 2>&1 | FileCheck %s --check-prefix=SCALAR
// RUN: not fleet-opt %s --fleet-add-loss="kind=hinge output=logits" 2>&1 | FileCheck %s --check-prefix=KIND

// CHECK: func.func @model(%[[X:.*]]: tensor<2x3x4xf32> {fleet.input = "x"}, %[[L:.*]]: tensor<2x3xi64> {fleet.input = "labels"})
// CHECK-SAME: -> (tensor<f32> {fleet.output = "loss"})
// CHECK: %[[MOVED:.*]] = fleet.slice %[[L]], offsets = [0, 1], sizes = [2, 2]
// CHECK: %[[SHIFTED:.*]] = fleet.pad %[[MOVED]], low = [0, 0], high = [0, 1], value = -1.000000e+02
// CHECK: %[[LOSS:.*]], %{{.*}} = fleet.cross_entropy %[[X]], %[[SHIFTED]] ignore = -100
// CHECK: return %[[LOSS]]

// MSE: %[[D:.*]] = fleet.sub
// MSE: %[[S:.*]] = fleet.mul %[[D]], %[[D]]
// MSE: %[[SUM:.*]] = fleet.reduce sum %[[S]], dims = [0, 1]
// MSE: fleet.constant dense<8.000000e+00>
// MSE: fleet.div %[[SUM]]

// ALL: fleet.cross_entropy %{{.*}}, %{{.*}} : (tensor<2x3x4xf32>, tensor<2x3xi64>)

// INSIDE: return %{{.*}} : tensor<f32>

// NAME: error: the loss reads output 'logit', but the model has 'logits', 'other', 'scalar'
// SCALAR: error: output 'logits' cannot be the loss: it is 'tensor<2x3x4xf32>', not a float scalar
// KIND: error: loss kind 'hinge' is not one of cross_entropy, mse, inside
func.func @model(%x: tensor<2x3x4xf32> {fleet.input = "x"})
    -> (tensor<2x3x4xf32> {fleet.output = "logits"}, tensor<2x4xf32> {fleet.output = "other"}, tensor<f32> {fleet.output = "scalar"}) {
  %0 = fleet.slice %x, offsets = [0, 0, 0], sizes = [2, 1, 4] : tensor<2x3x4xf32> -> tensor<2x1x4xf32>
  %1 = fleet.reshape %0 : tensor<2x1x4xf32> -> tensor<2x4xf32>
  %2 = fleet.reduce sum %1, dims = [0, 1] : tensor<2x4xf32> -> tensor<f32>
  return %x, %1, %2 : tensor<2x3x4xf32>, tensor<2x4xf32>, tensor<f32>
}
