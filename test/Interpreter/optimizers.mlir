// RUN: fleet-interp %s | FileCheck %s

// p = 2, g = 1, lr = 1/2.
// sgd with decay 1/2: 2 - (1 + 1) / 2.
// CHECK: 0: 1
// momentum with mu = 1/2, v = 4: v = 3, p = 2 - 3/2; nesterov: 2 - (1 + 3/2) / 2.
// CHECK: 1: 0.5
// CHECK: 2: 3
// CHECK: 3: 0.75
// adam with b1 = b2 = 1/2, t = 1, m = v = 0: m = 1/2, v = 1/2, both corrected to 1: 2 - 1/2 * 1 / (1 + 1).
// CHECK: 4: 1.75
// CHECK: 5: 0.5
// CHECK: 6: 0.5
// Decoupled decay 1/2: p = 2 - 1/2 first; the moments do not see it.
// CHECK: 7: 1.25
// Decay added to g: g = 2, m = 1, v = 2, corrected to 2 and 4: 2 - 1/2 * 2 / (2 + 1).
// CHECK: 8: 1.66666666666666{{[0-9]*}}
// Step 2 divides by 1 - 1/4: m = v = (1/2 + 1)/2 = 3/4, corrected to 1.
// CHECK: 9: 1.75
func.func @updates() -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>,
    tensor<f32>, tensor<f32>) {
  %p = fleet.constant dense<2.0> : tensor<f64> : tensor<f32>
  %g = fleet.constant dense<1.0> : tensor<f64> : tensor<f32>
  %v = fleet.constant dense<4.0> : tensor<f64> : tensor<f32>
  %zero = fleet.constant dense<0.0> : tensor<f64> : tensor<f32>
  %half = fleet.constant dense<0.5> : tensor<f64> : tensor<f32>
  %sgd = fleet.sgd %p, %g, %half {weightDecay = 0.5} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %m:2 = fleet.momentum %p, %g, %v, %half {momentum = 0.5, weightDecay = 0.0}
    : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  %n:2 = fleet.momentum %p, %g, %v, %half {momentum = 0.5, weightDecay = 0.0, nesterov}
    : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  %a:3 = fleet.adam %p, %g, %zero, %zero, %half, %g {beta1 = 0.5, beta2 = 0.5, epsilon = 1.0, weightDecay = 0.0}
    : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>)
  %w:3 = fleet.adam %p, %g, %zero, %zero, %half, %g {beta1 = 0.5, beta2 = 0.5, epsilon = 1.0, weightDecay = 0.5, decoupled}
    : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>)
  %l:3 = fleet.adam %p, %g, %zero, %zero, %half, %g {beta1 = 0.5, beta2 = 0.5, epsilon = 1.0, weightDecay = 0.5}
    : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>)
  %second:3 = fleet.adam %p, %g, %half, %half, %half, %p {beta1 = 0.5, beta2 = 0.5, epsilon = 1.0, weightDecay = 0.0}
    : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>)
  return %sgd, %m#0, %m#1, %n#0, %a#0, %a#1, %a#2, %w#0, %l#0, %second#0 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>,
    tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}
