// RUN: fleet-interp %s --function softmax | FileCheck %s --check-prefix=SOFTMAX
// RUN: fleet-interp %s --function norms | FileCheck %s --check-prefix=NORM

// exp of [0, ln 3] is [1, 3]; a common shift changes nothing, however large.
// SOFTMAX: 0: {{\[\[}}0.25, 0.75{{[0-9]*}}], [0.5, 0.5]]
// y (grad - sum(grad y)) with y = [1/4, 3/4], grad = [1, 0]: the sum is 1/4.
// SOFTMAX: 1: [0.1875, -0.1875]
func.func @softmax() -> (tensor<2x2xf32>, tensor<2xf32>) {
  %x = fleet.constant dense<[[0.0, 1.0986122886681098], [1.0e4, 1.0e4]]> : tensor<2x2xf64> : tensor<2x2xf32>
  %0 = fleet.softmax %x : tensor<2x2xf32>
  %y = fleet.constant dense<[0.25, 0.75]> : tensor<2xf64> : tensor<2xf32>
  %g = fleet.constant dense<[1.0, 0.0]> : tensor<2xf64> : tensor<2xf32>
  %1 = fleet.softmax_grad %g, %y : tensor<2xf32>
  return %0, %1 : tensor<2x2xf32>, tensor<2xf32>
}

// Row [1, 5]: mean 3, variance 4; with epsilon 12 rstd is 1/4, h = [-1/2, 1/2]; scale [2, 4], shift [10, 20].
// NORM: 0: {{\[\[}}9, 22]]
// NORM: 1: [3]
// NORM: 2: [0.25]
// grad [1, 1]: g = [2, 4], mean(g) = 3, mean(g h) = 1/2: rstd (g - 3 - h/2) = [-3/16, 3/16].
// NORM: 3: {{\[\[}}-0.1875, 0.1875]]
// Row [1, 5]: mean square 13; with epsilon 3 rstd is 1/4.
// NORM: 4: {{\[\[}}0.5, 5]]
// NORM: 5: [0.25]
// h = [1/4, 5/4], mean(g h) = (1/2 + 5)/2 = 11/4: (g - 11/4 h) / 4.
// NORM: 6: {{\[\[}}0.328125, 0.140625]]
func.func @norms() -> (tensor<1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1xf32>,
    tensor<1x2xf32>) {
  %x = fleet.constant dense<[[1.0, 5.0]]> : tensor<1x2xf64> : tensor<1x2xf32>
  %scale = fleet.constant dense<[2.0, 4.0]> : tensor<2xf64> : tensor<2xf32>
  %shift = fleet.constant dense<[10.0, 20.0]> : tensor<2xf64> : tensor<2xf32>
  %g = fleet.constant dense<1.0> : tensor<1x2xf64> : tensor<1x2xf32>
  %0:3 = fleet.layer_norm %x, %scale, %shift, epsilon = 12.0
    : (tensor<1x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<1x2xf32>, tensor<1xf32>, tensor<1xf32>)
  %1 = fleet.layer_norm_grad %g, %x, %scale, %0#1, %0#2
    : (tensor<1x2xf32>, tensor<1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2xf32>
  %2:2 = fleet.rms_norm %x, %scale, epsilon = 3.0 : (tensor<1x2xf32>, tensor<2xf32>) -> (tensor<1x2xf32>, tensor<1xf32>)
  %3 = fleet.rms_norm_grad %g, %x, %scale, %2#1
    : (tensor<1x2xf32>, tensor<1x2xf32>, tensor<2xf32>, tensor<1xf32>) -> tensor<1x2xf32>
  return %0#0, %0#1, %0#2, %1, %2#0, %2#1, %3 : tensor<1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1x2xf32>,
    tensor<1x2xf32>, tensor<1xf32>, tensor<1x2xf32>
}
