// RUN: fleet-opt %s --fleet-gradient-merge=micro-batches=2 --split-input-file --verify-diagnostics

// expected-error @below {{batch 3 of input 'x' does not split into 2 micro-batches}}
func.func @step(%x: tensor<3xf32> {fleet.input = "x"}) -> (tensor<f32> {fleet.output = "loss"}) {
  %0 = fleet.reduce sum %x, dims = [0] {fleet.phase = #fleet.phase<forward>} : tensor<3xf32> -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @step(%x: tensor<4xf32> {fleet.input = "x"}) -> (tensor<f32> {fleet.output = "loss"}) {
  // A normalisation over the batch needs all of it.
  // expected-error @below {{needs more than one micro-batch at a time: the batch cannot be cut into 2 here}}
  %0 = fleet.softmax %x {fleet.phase = #fleet.phase<forward>} : tensor<4xf32>
  %1 = fleet.reduce sum %0, dims = [0] {fleet.phase = #fleet.phase<forward>} : tensor<4xf32> -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

func.func @step(%x: tensor<4xf32> {fleet.input = "x"}) -> (tensor<f32> {fleet.output = "loss"}) {
  %0 = fleet.reduce sum %x, dims = [0] {fleet.phase = #fleet.phase<forward>} : tensor<4xf32> -> tensor<f32>
  // expected-error @below {{needs a sum over the whole batch before the last micro-batch}}
  %1 = fleet.exp %0 {fleet.phase = #fleet.phase<forward>} : tensor<f32>
  return %1 : tensor<f32>
}

// -----

func.func @step(%x: tensor<4xf32> {fleet.input = "x"}) -> (tensor<4xf32> {fleet.output = "y"}) {
  // expected-error @below {{leaves the micro-batches but is not a sum over the batch}}
  %0 = fleet.exp %x {fleet.phase = #fleet.phase<forward>} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
