// Every derivative rule against central differences. A parameter feeds one operation, whose result is squared and
// summed into the loss, so a wrong rule shows as the gradient of that parameter.
// RUN: split-file %s %t
// RUN: fleet-opt %t/unary.mlir --fleet-autodiff | fleet-interp - --check-gradients | FileCheck %s --check-prefix=UNARY
// RUN: fleet-opt %t/binary.mlir --fleet-autodiff | fleet-interp - --check-gradients | FileCheck %s --check-prefix=BINARY
// RUN: fleet-opt %t/shape.mlir --fleet-autodiff | fleet-interp - --check-gradients | FileCheck %s --check-prefix=SHAPE
// RUN: fleet-opt %t/contraction.mlir --fleet-autodiff | fleet-interp - --check-gradients | FileCheck %s --check-prefix=CONTRACTION
// RUN: fleet-opt %t/network.mlir --fleet-autodiff | fleet-interp - --check-gradients | FileCheck %s --check-prefix=NETWORK
// RUN: fleet-opt %t/loss.mlir --fleet-autodiff | fleet-interp - --check-gradients | FileCheck %s --check-prefix=LOSS

// UNARY: gradients agree: 45 elements of 15 arguments
// BINARY: gradients agree: 48 elements of 16 arguments
// SHAPE: gradients agree: 44 elements of 8 arguments
// CONTRACTION: gradients agree: 48 elements of 9 arguments
// NETWORK: gradients agree: 24 elements of 6 arguments
// LOSS: gradients agree: 9 elements of 1 arguments

//--- unary.mlir
func.func @model(%x0: tensor<3xf32> {fleet.param = "neg"},
    %x1: tensor<3xf32> {fleet.param = "exp"},
    %x2: tensor<3xf32> {fleet.param = "log", fleet.range = [0.5, 1.5]},
    %x3: tensor<3xf32> {fleet.param = "sqrt", fleet.range = [0.5, 1.5]},
    %x4: tensor<3xf32> {fleet.param = "rsqrt", fleet.range = [0.5, 1.5]},
    %x5: tensor<3xf32> {fleet.param = "reciprocal", fleet.range = [0.5, 1.5]},
    %x6: tensor<3xf32> {fleet.param = "tanh"},
    %x7: tensor<3xf32> {fleet.param = "erf"},
    %x8: tensor<3xf32> {fleet.param = "sigmoid"},
    %x9: tensor<3xf32> {fleet.param = "relu"},
    %x10: tensor<3xf32> {fleet.param = "sin"},
    %x11: tensor<3xf32> {fleet.param = "cos"},
    %x12: tensor<3xf32> {fleet.param = "abs"},
    %x13: tensor<3xf32> {fleet.param = "gelu"},
    %x14: tensor<3xf32> {fleet.param = "gelutanh"}) -> (tensor<f32> {fleet.output = "loss"}) {
  %y0 = fleet.neg %x0 : tensor<3xf32>
  %s0 = fleet.dot_general %y0, %y0 contract = [0] x [0] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %y1 = fleet.exp %x1 : tensor<3xf32>
  %s1 = fleet.dot_general %y1, %y1 contract = [0] x [0] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %y2 = fleet.log %x2 : tensor<3xf32>
  %s2 = fleet.dot_general %y2, %y2 contract = [0] x [0] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %y3 = fleet.sqrt %x3 : tensor<3xf32>
  %s3 = fleet.dot_general %y3, %y3 contract = [0] x [0] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %y4 = fleet.rsqrt %x4 : tensor<3xf32>
  %s4 = fleet.dot_general %y4, %y4 contract = [0] x [0] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %y5 = fleet.reciprocal %x5 : tensor<3xf32>
  %s5 = fleet.dot_general %y5, %y5 contract = [0] x [0] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %y6 = fleet.tanh %x6 : tensor<3xf32>
  %s6 = fleet.dot_general %y6, %y6 contract = [0] x [0] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %y7 = fleet.erf %x7 : tensor<3xf32>
  %s7 = fleet.dot_general %y7, %y7 contract = [0] x [0] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %y8 = fleet.sigmoid %x8 : tensor<3xf32>
  %s8 = fleet.dot_general %y8, %y8 contract = [0] x [0] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %y9 = fleet.relu %x9 : tensor<3xf32>
  %s9 = fleet.dot_general %y9, %y9 contract = [0] x [0] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %y10 = fleet.sin %x10 : tensor<3xf32>
  %s10 = fleet.dot_general %y10, %y10 contract = [0] x [0] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %y11 = fleet.cos %x11 : tensor<3xf32>
  %s11 = fleet.dot_general %y11, %y11 contract = [0] x [0] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %y12 = fleet.abs %x12 : tensor<3xf32>
  %s12 = fleet.dot_general %y12, %y12 contract = [0] x [0] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %y13 = fleet.gelu %x13 : tensor<3xf32>
  %s13 = fleet.dot_general %y13, %y13 contract = [0] x [0] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %y14 = fleet.gelu %x14 {tanh} : tensor<3xf32>
  %s14 = fleet.dot_general %y14, %y14 contract = [0] x [0] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %loss = fleet.sum %s0, %s1, %s2, %s3, %s4, %s5, %s6, %s7, %s8, %s9, %s10, %s11, %s12, %s13, %s14 : tensor<f32>
  return %loss : tensor<f32>
}
//--- binary.mlir
// The exponent of pow has no derivative: it is a constant. Values of max and min lie on either side of the other's.
func.func @model(%a0: tensor<3xf32> {fleet.param = "add.lhs"}, %b0: tensor<3xf32> {fleet.param = "add.rhs"},
    %a1: tensor<3xf32> {fleet.param = "sub.lhs"}, %b1: tensor<3xf32> {fleet.param = "sub.rhs"},
    %a2: tensor<3xf32> {fleet.param = "mul.lhs"}, %b2: tensor<3xf32> {fleet.param = "mul.rhs"},
    %a3: tensor<3xf32> {fleet.param = "div.lhs"}, %b3: tensor<3xf32> {fleet.param = "div.rhs", fleet.range = [0.5, 1.5]},
    %a4: tensor<3xf32> {fleet.param = "pow.lhs", fleet.range = [0.5, 1.5]},
    %a5: tensor<3xf32> {fleet.param = "max.lhs"}, %b5: tensor<3xf32> {fleet.param = "max.rhs"},
    %a6: tensor<3xf32> {fleet.param = "min.lhs"}, %b6: tensor<3xf32> {fleet.param = "min.rhs"},
    %a7: tensor<3xf32> {fleet.param = "select.true"}, %b7: tensor<3xf32> {fleet.param = "select.false"},
    %a8: tensor<3xf32> {fleet.param = "cast and sum"}) -> (tensor<f32> {fleet.output = "loss"}) {
  %y0 = fleet.add %a0, %b0 : tensor<3xf32>
  %y1 = fleet.sub %a1, %b1 : tensor<3xf32>
  %y2 = fleet.mul %a2, %b2 : tensor<3xf32>
  %y3 = fleet.div %a3, %b3 : tensor<3xf32>
  %e = fleet.constant dense<[2.0, -1.5, 0.5]> : tensor<3xf64> : tensor<3xf32>
  %y4 = fleet.pow %a4, %e : tensor<3xf32>
  %y5 = fleet.max %a5, %b5 : tensor<3xf32>
  %y6 = fleet.min %a6, %b6 : tensor<3xf32>
  %c = fleet.constant dense<[1, 0, 1]> : tensor<3xi64> : tensor<3xi1>
  %y7 = fleet.select %c, %a7, %b7 : tensor<3xi1>, tensor<3xf32>
  %d = fleet.cast %a8 : tensor<3xf32> -> tensor<3xf64>
  %f = fleet.cast %d : tensor<3xf64> -> tensor<3xf32>
  %y8 = fleet.sum %f, %a8, %f : tensor<3xf32>
  %s0 = fleet.dot_general %y0, %y0 contract = [0] x [0] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %s1 = fleet.dot_general %y1, %y1 contract = [0] x [0] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %s2 = fleet.dot_general %y2, %y2 contract = [0] x [0] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %s3 = fleet.dot_general %y3, %y3 contract = [0] x [0] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %s4 = fleet.dot_general %y4, %y4 contract = [0] x [0] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %s5 = fleet.dot_general %y5, %y5 contract = [0] x [0] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %s6 = fleet.dot_general %y6, %y6 contract = [0] x [0] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %s7 = fleet.dot_general %y7, %y7 contract = [0] x [0] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %s8 = fleet.dot_general %y8, %y8 contract = [0] x [0] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %loss = fleet.sum %s0, %s1, %s2, %s3, %s4, %s5, %s6, %s7, %s8 : tensor<f32>
  return %loss : tensor<f32>
}

//--- shape.mlir
func.func @model(%x0: tensor<2x3xf32> {fleet.param = "reshape"}, %x1: tensor<1x2x3xf32> {fleet.param = "transpose"},
    %x2: tensor<2xf32> {fleet.param = "broadcast"}, %x3: tensor<3x4xf32> {fleet.param = "slice"},
    %x4: tensor<2x2xf32> {fleet.param = "pad"}, %x5: tensor<2x1xf32> {fleet.param = "concat.0"},
    %x6: tensor<2x3xf32> {fleet.param = "concat.1"}, %x7: tensor<2x3xf32> {fleet.param = "reduce"})
    -> (tensor<f32> {fleet.output = "loss"}) {
  // Squares of permuted elements do not see the permutation: a tensor that tells positions apart is multiplied in.
  %y0 = fleet.reshape %x0 : tensor<2x3xf32> -> tensor<3x2xf32>
  %p0 = fleet.iota dim = 0 : tensor<3x2xf32>
  %z0 = fleet.mul %y0, %p0 : tensor<3x2xf32>
  %y1 = fleet.transpose %x1, [2, 0, 1] : tensor<1x2x3xf32> -> tensor<3x1x2xf32>
  %p1 = fleet.iota dim = 2 : tensor<3x1x2xf32>
  %z1 = fleet.mul %y1, %p1 : tensor<3x1x2xf32>
  %y2 = fleet.broadcast %x2, dims = [1] : tensor<2xf32> -> tensor<3x2x2xf32>
  %p2 = fleet.iota dim = 0 : tensor<3x2x2xf32>
  %z2 = fleet.mul %y2, %p2 : tensor<3x2x2xf32>
  %y3 = fleet.slice %x3, offsets = [1, 2], sizes = [2, 1] : tensor<3x4xf32> -> tensor<2x1xf32>
  %y4 = fleet.pad %x4, low = [1, 0], high = [0, 2], value = 3.0 : tensor<2x2xf32> -> tensor<3x4xf32>
  %p4 = fleet.iota dim = 1 : tensor<3x4xf32>
  %z4 = fleet.add %y4, %p4 : tensor<3x4xf32>
  %y5 = fleet.concat %x5, %x6 dim = 1 : tensor<2x1xf32>, tensor<2x3xf32> -> tensor<2x4xf32>
  %p5 = fleet.iota dim = 1 : tensor<2x4xf32>
  %z5 = fleet.mul %y5, %p5 : tensor<2x4xf32>
  %q5 = fleet.add %z5, %y5 : tensor<2x4xf32>
  %y7 = fleet.reduce sum %x7, dims = [0] : tensor<2x3xf32> -> tensor<3xf32>
  %s0 = fleet.dot_general %z0, %z0 contract = [0, 1] x [0, 1] : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<f32>
  %s1 = fleet.dot_general %z1, %z1 contract = [0, 1, 2] x [0, 1, 2] : (tensor<3x1x2xf32>, tensor<3x1x2xf32>) -> tensor<f32>
  %s2 = fleet.dot_general %z2, %z2 contract = [0, 1, 2] x [0, 1, 2] : (tensor<3x2x2xf32>, tensor<3x2x2xf32>) -> tensor<f32>
  %s3 = fleet.dot_general %y3, %y3 contract = [0, 1] x [0, 1] : (tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<f32>
  %s4 = fleet.dot_general %z4, %z4 contract = [0, 1] x [0, 1] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<f32>
  %s5 = fleet.dot_general %q5, %q5 contract = [0, 1] x [0, 1] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<f32>
  %s7 = fleet.dot_general %y7, %y7 contract = [0] x [0] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %loss = fleet.sum %s0, %s1, %s2, %s3, %s4, %s5, %s7 : tensor<f32>
  return %loss : tensor<f32>
}

//--- contraction.mlir
// Operand layouts that need different transposes in the two gradients, a batch in the middle, an accumulator, and rows
// that several indices share.
func.func @model(%i: tensor<2x2xi64> {fleet.input = "i", fleet.range = [0, 3]},
    %a0: tensor<2x3xf32> {fleet.param = "plain.lhs"}, %b0: tensor<3x2xf32> {fleet.param = "plain.rhs"},
    %a1: tensor<3x2xf32> {fleet.param = "transposed.lhs"}, %b1: tensor<2x3xf32> {fleet.param = "transposed.rhs"},
    %c1: tensor<2x2xf32> {fleet.param = "transposed.accumulator"},
    %a2: tensor<2x2x1xf32> {fleet.param = "batched.lhs"}, %b2: tensor<1x2x3xf32> {fleet.param = "batched.rhs"},
    %t: tensor<3x2xf32> {fleet.param = "gather"}, %u: tensor<2x2xf32> {fleet.param = "scatter_add"})
    -> (tensor<f32> {fleet.output = "loss"}) {
  %y0 = fleet.dot_general %a0, %b0 contract = [1] x [0] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %y1 = fleet.dot_general %a1, %b1 accumulator = %c1 : tensor<2x2xf32> contract = [0] x [1]
     : (tensor<3x2xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
  %y2 = fleet.dot_general %a2, %b2 batch = [1] x [1] contract = [2] x [0]
     : (tensor<2x2x1xf32>, tensor<1x2x3xf32>) -> tensor<2x2x3xf32>
  %y3 = fleet.gather %t, %i : (tensor<3x2xf32>, tensor<2x2xi64>) -> tensor<2x2x2xf32>
  %y4 = fleet.scatter_add %u, %i : (tensor<2x2xf32>, tensor<2x2xi64>) -> tensor<3xf32>
  %s0 = fleet.dot_general %y0, %y0 contract = [0, 1] x [0, 1] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<f32>
  %s1 = fleet.dot_general %y1, %y1 contract = [0, 1] x [0, 1] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<f32>
  %s2 = fleet.dot_general %y2, %y2 contract = [0, 1, 2] x [0, 1, 2] : (tensor<2x2x3xf32>, tensor<2x2x3xf32>) -> tensor<f32>
  %s3 = fleet.dot_general %y3, %y3 contract = [0, 1, 2] x [0, 1, 2] : (tensor<2x2x2xf32>, tensor<2x2x2xf32>) -> tensor<f32>
  %s4 = fleet.dot_general %y4, %y4 contract = [0] x [0] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %loss = fleet.sum %s0, %s1, %s2, %s3, %s4 : tensor<f32>
  return %loss : tensor<f32>
}

//--- network.mlir
func.func @model(%x0: tensor<2x3xf32> {fleet.param = "softmax"}, %x1: tensor<2x3xf32> {fleet.param = "layer_norm"},
    %w1: tensor<3xf32> {fleet.param = "layer_norm.scale"}, %b1: tensor<3xf32> {fleet.param = "layer_norm.shift"},
    %x2: tensor<1x3xf32> {fleet.param = "rms_norm"}, %w2: tensor<3xf32> {fleet.param = "rms_norm.scale"})
    -> (tensor<f32> {fleet.output = "loss"}) {
  %y0 = fleet.softmax %x0 : tensor<2x3xf32>
  %y1:3 = fleet.layer_norm %x1, %w1, %b1, epsilon = 1.0e-2
    : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2xf32>, tensor<2xf32>)
  %y2:2 = fleet.rms_norm %x2, %w2, epsilon = 1.0e-2 : (tensor<1x3xf32>, tensor<3xf32>) -> (tensor<1x3xf32>, tensor<1xf32>)
  %s0 = fleet.dot_general %y0, %y0 contract = [0, 1] x [0, 1] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<f32>
  %s1 = fleet.dot_general %y1#0, %y1#0 contract = [0, 1] x [0, 1] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<f32>
  %s2 = fleet.dot_general %y2#0, %y2#0 contract = [0, 1] x [0, 1] : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<f32>
  %loss = fleet.sum %s0, %s1, %s2 : tensor<f32>
  return %loss : tensor<f32>
}

//--- loss.mlir
func.func @model(%x: tensor<3x3xf32> {fleet.param = "logits"}) -> (tensor<f32> {fleet.output = "loss"}) {
  %labels = fleet.constant dense<[2, -100, 0]> : tensor<3xi64> : tensor<3xi64>
  %loss, %lse = fleet.cross_entropy %x, %labels ignore = -100 : (tensor<3x3xf32>, tensor<3xi64>) -> (tensor<f32>, tensor<3xf32>)
  return %loss : tensor<f32>
}
