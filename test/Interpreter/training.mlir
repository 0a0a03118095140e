// Linear regression by hand: y = w x with x = [1, 2], y = [3, 5], loss mean((w x - y)^2), gradient mean(2 (w x - y) x).
// Step 1: w = 1, residuals [-2, -3], loss 6.5, gradient -8; the rate warms up from 1/8: w = 2.
// Step 2: residuals [-1, -1], loss 1, gradient -3, rate 1/4: w = 2.75.
// Step 3: residuals [-1/4, 1/2], loss 0.15625, gradient 0.75: w = 2.5625.
// RUN: %python %S/Inputs/safetensors_text.py make %t.w w:F32:2x3=9,1,9,9,9,9
// RUN: %python %S/Inputs/safetensors_text.py make %t.d x:F32:3x2=1,2,1,2,1,2 y:F32:3x2=3,5,3,5,3,5
// RUN: fleet-interp %s --weights %t.w --data %t.d --steps 3 --save-grads %t.g --save-params %t.p | FileCheck %s
// RUN: %python %S/Inputs/safetensors_text.py show %t.g | FileCheck %s --check-prefix=GRADS
// RUN: %python %S/Inputs/safetensors_text.py show %t.p | FileCheck %s --check-prefix=PARAMS
// RUN: fleet-interp %s --weights %t.w --data %t.d --steps 3 --log %t.log
// RUN: FileCheck %s --input-file %t.log
// RUN: fleet-interp %s --check-gradients | FileCheck %s --check-prefix=CHECKED

// CHECK: {"step":1,"loss":6.5,"lr":0.125,"grad_norm":8}
// CHECK-NEXT: {"step":2,"loss":1,"lr":0.25,"grad_norm":3}
// CHECK-NEXT: {"step":3,"loss":0.15625,"lr":0.25,"grad_norm":0.75}

// The parameter is element [0, 1] of a stored 2x3 tensor. The rest of the stored tensor is not its business.
// GRADS: w F64 [2, 3] [0.0, -8.0, 0.0, 0.0, 0.0, 0.0]
// PARAMS: w F64 [2, 3] [0.0, 2.5625, 0.0, 0.0, 0.0, 0.0]
// CHECKED: gradients agree: 1 elements of 1 arguments

module attributes {fleet.level = 2 : i32,
    fleet.schedule = {kind = "constant", lr = 0.25, warmup = 2 : i64, steps = 0 : i64, min_lr = 0.0}} {
  func.func @step(%x: tensor<2xf32> {fleet.input = "x"}, %y: tensor<2xf32> {fleet.input = "y"},
      %w: tensor<1x1xf32> {fleet.param = "w", fleet.piece = #fleet.piece<offsets = [0, 1], of = [2, 3]>},
      %lr: tensor<f32> {fleet.scalar = "lr"})
      -> (tensor<f32> {fleet.output = "loss"}, tensor<f32> {fleet.output = "grad_norm"},
          tensor<1x1xf32> {fleet.gradient = "w", fleet.piece = #fleet.piece<offsets = [0, 1], of = [2, 3]>},
          tensor<1x1xf32> {fleet.updates = 2 : i64}) {
    %half = fleet.constant dense<0.5> : tensor<f64> : tensor<f32>
    %ws = fleet.reshape %w : tensor<1x1xf32> -> tensor<f32>
    %wb = fleet.broadcast %ws, dims = [] : tensor<f32> -> tensor<2xf32>
    %p = fleet.mul %wb, %x : tensor<2xf32>
    %r = fleet.sub %p, %y : tensor<2xf32>
    %rr = fleet.dot_general %r, %r contract = [0] x [0] : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
    %loss = fleet.mul %rr, %half : tensor<f32>
    // The two halves of 2 and of the mean cancel.
    %gs = fleet.dot_general %r, %x contract = [0] x [0] : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
    %norm = fleet.abs %gs : tensor<f32>
    %g = fleet.reshape %gs : tensor<f32> -> tensor<1x1xf32>
    %next = fleet.sgd %w, %g, %lr {weightDecay = 0.0} : (tensor<1x1xf32>, tensor<1x1xf32>, tensor<f32>) -> tensor<1x1xf32>
    return %loss, %norm, %g, %next : tensor<f32>, tensor<f32>, tensor<1x1xf32>, tensor<1x1xf32>
  }
}
