// RUN: fleet-opt %s --fleet-convert-precision=to=f64 | FileCheck %s
// RUN: not fleet-opt %s --fleet-convert-precision=to=bf16 2>&1 | FileCheck %s --check-prefix=ERROR

// A constant keeps the digits that it was stored with.
// CHECK: func.func @model(%{{.*}}: tensor<2xf64>, %{{.*}}: tensor<2xi64>) -> tensor<2xf64>
// CHECK: fleet.constant dense<1.000000e-01> : tensor<f64> : tensor<f64>
// ERROR: error: precision 'bf16' is not f32 or f64
func.func @model(%x: tensor<2xf32>, %i: tensor<2xi64>) -> tensor<2xf32> {
  %0 = fleet.constant dense<0.1> : tensor<f64> : tensor<f32>
  %1 = fleet.broadcast %0, dims = [] : tensor<f32> -> tensor<2xf32>
  %2 = fleet.cast %i : tensor<2xi64> -> tensor<2xf32>
  %3 = fleet.add %1, %2 : tensor<2xf32>
  %4 = fleet.mul %3, %x : tensor<2xf32>
  return %4 : tensor<2xf32>
}
