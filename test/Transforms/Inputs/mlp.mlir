// A perceptron of two layers, the model of docs/levels.md.
module attributes {fleet.level = 1 : i32, fleet.schedule = {kind = "constant", lr = 5.0e-2 : f64}} {
func.func @model(%x: tensor<8x16xf32> {fleet.input = "x"}, 
   %w1: tensor<16x32xf32> {fleet.param = "net.0.weight"}, %b1: tensor<32xf32> {fleet.param = "net.0.bias"},
   %w2: tensor<32x4xf32> {fleet.param = "net.2.weight"}) -> (tensor<8x4xf32> {fleet.output = "logits"}) {
  %0 = fleet.dot_general %x, %w1 contract = [1] x [0] : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %1 = fleet.broadcast %b1, dims = [1] : tensor<32xf32> -> tensor<8x32xf32>
  %2 = fleet.add %0, %1 : tensor<8x32xf32>
  %3 = fleet.relu %2 : tensor<8x32xf32>
  %4 = fleet.dot_general %3, %w2 contract = [1] x [0] : (tensor<8x32xf32>, tensor<32x4xf32>) -> tensor<8x4xf32>
  return %4 : tensor<8x4xf32>
}
}
