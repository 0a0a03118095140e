// RUN: fleet-opt %s --fleet-autodiff --split-input-file --verify-diagnostics

func.func @model(%x: tensor<2xf32> {fleet.input = "x"}, %w: tensor<2xf32> {fleet.param = "w"})
    -> (tensor<f32> {fleet.output = "loss"}) {
  %0 = fleet.mul %x, %w : tensor<2xf32>
  // expected-error @below {{has no derivative, but trained parameters reach the loss through it}}
  %1 = fleet.gelu_grad %0, %x : tensor<2xf32>
  %2 = fleet.reduce sum %1, dims = [0] : tensor<2xf32> -> tensor<f32>
  return %2 : tensor<f32>
}

// -----

// expected-error @below {{differentiation needs the one output 'loss', got 1 outputs}}
func.func @model(%x: tensor<2xf32> {fleet.input = "x"}) -> (tensor<2xf32> {fleet.output = "logits"}) {
  return %x : tensor<2xf32>
}

// -----

// expected-warning @below {{parameter 'unused' does not reach the loss: it is not trained}}
// expected-error @below {{no trained parameter reaches the loss}}
func.func @model(%x: tensor<f32> {fleet.input = "x"}, %w: tensor<f32> {fleet.param = "unused"})
    -> (tensor<f32> {fleet.output = "loss"}) {
  return %x : tensor<f32>
}
