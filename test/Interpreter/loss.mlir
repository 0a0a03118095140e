// RUN: fleet-interp %s --function losses | FileCheck %s
// RUN: not fleet-interp %s --function bad_label 2>&1 | FileCheck %s --check-prefix=LABEL

// exp of the rows: [1, 3] and [1, 1]; the third row is ignored. Loss: (ln 4 - ln 3 + ln 2) / 2.
// CHECK: 0: 0.49041462650586{{[0-9]*}}
// CHECK: 1: [1.38629436111989{{[0-9]*}}, 0.69314718055994{{[0-9]*}}, 0.69314718055994{{[0-9]*}}]
// The same sum over a count of 4.
// CHECK: 2: 0.24520731325293{{[0-9]*}}
// CHECK: 3: 2
// CHECK: 4: 3
// grad 4 over count 4 is 1: softmax - onehot.
// CHECK: 5: {{\[\[}}0.25, -0.2{{5|4999999999999[0-9]*}}], [-0.5, 0.5], [0, 0]]
// Classes 1 and 2 of four: label 1 is the first of them, label 0 is not among them.
// CHECK: 6: {{\[\[}}-0.75, 0.75{{[0-9]*}}], [0.5, 0.5], [0, 0]]
func.func @losses() -> (tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<3x2xf32>, tensor<3x2xf32>) {
  %x = fleet.constant dense<[[0.0, 1.0986122886681098], [0.0, 0.0], [0.0, 0.0]]> : tensor<3x2xf64> : tensor<3x2xf32>
  %labels = fleet.constant dense<[1, 0, -100]> : tensor<3xi64> : tensor<3xi64>
  %four = fleet.constant dense<4.0> : tensor<f64> : tensor<f32>
  %one = fleet.constant dense<1> : tensor<i64> : tensor<i64>
  %loss, %lse = fleet.cross_entropy %x, %labels ignore = -100 : (tensor<3x2xf32>, tensor<3xi64>) -> (tensor<f32>, tensor<3xf32>)
  %part, %same = fleet.cross_entropy %x, %labels count = %four : tensor<f32> ignore = -100
    : (tensor<3x2xf32>, tensor<3xi64>) -> (tensor<f32>, tensor<3xf32>)
  %n = fleet.count_valid %labels ignore = -100 : tensor<3xi64> -> tensor<f32>
  %all = fleet.count_valid %labels : tensor<3xi64> -> tensor<f32>
  %g = fleet.cross_entropy_grad %four, %x, %labels, %lse, %four ignore = -100
    : (tensor<f32>, tensor<3x2xf32>, tensor<3xi64>, tensor<3xf32>, tensor<f32>) -> tensor<3x2xf32>
  %shard = fleet.cross_entropy_grad %four, %x, %labels, %lse, %four base = %one : tensor<i64> ignore = -100
    : (tensor<f32>, tensor<3x2xf32>, tensor<3xi64>, tensor<3xf32>, tensor<f32>) -> tensor<3x2xf32>
  return %loss, %lse, %part, %n, %all, %g, %shard : tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<f32>, tensor<f32>,
    tensor<3x2xf32>, tensor<3x2xf32>
}

// LABEL: error: label 2 of row 1 is outside the 2 classes
func.func @bad_label() -> tensor<f32> {
  %x = fleet.constant dense<0.0> : tensor<2x2xf64> : tensor<2x2xf32>
  %labels = fleet.constant dense<[1, 2]> : tensor<2xi64> : tensor<2xi64>
  %loss, %lse = fleet.cross_entropy %x, %labels ignore = -100 : (tensor<2x2xf32>, tensor<2xi64>) -> (tensor<f32>, tensor<2xf32>)
  return %loss : tensor<f32>
}
