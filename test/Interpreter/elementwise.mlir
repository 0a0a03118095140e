// Numbers by hand; transcendental functions from tables, to 14 digits.
// RUN: fleet-interp %s --function unary | FileCheck %s --check-prefix=UNARY
// RUN: fleet-interp %s --function gelu | FileCheck %s --check-prefix=GELU
// RUN: fleet-interp %s --function binary | FileCheck %s --check-prefix=BINARY
// RUN: fleet-interp %s --function integers | FileCheck %s --check-prefix=INT
// RUN: fleet-interp %s --function logic | FileCheck %s --check-prefix=LOGIC
// RUN: fleet-interp %s --function casts | FileCheck %s --check-prefix=CAST

// UNARY: 0: [-1, 2]
// UNARY: 1: [2.71828182845904{{[0-9]*}}, 0.13533528323661{{[0-9]*}}]
// UNARY: 2: [0, 0.69314718055994{{[0-9]*}}]
// UNARY: 3: [1, 1.41421356237309{{[0-9]*}}]
// UNARY: 4: [1, 0.70710678118654{{[0-9]*}}]
// UNARY: 5: [1, 0.5]
// UNARY: 6: [0.76159415595576{{[0-9]*}}, -0.96402758007581{{[0-9]*}}]
// UNARY: 7: [0.84270079294971{{[0-9]*}}, -0.99532226501895{{[0-9]*}}]
// UNARY: 8: [0.73105857863000{{[0-9]*}}, 0.11920292202211{{[0-9]*}}]
// UNARY: 9: [1, 0]
// UNARY: 10: [0.84147098480789{{[0-9]*}}, -0.90929742682568{{[0-9]*}}]
// UNARY: 11: [0.54030230586813{{[0-9]*}}, -0.41614683654714{{[0-9]*}}]
// UNARY: 12: [1, 2]
func.func @unary() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>,
    tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %x = fleet.constant dense<[1.0, -2.0]> : tensor<2xf64> : tensor<2xf32>
  %p = fleet.constant dense<[1.0, 2.0]> : tensor<2xf64> : tensor<2xf32>
  %0 = fleet.neg %x : tensor<2xf32>
  %1 = fleet.exp %x : tensor<2xf32>
  %2 = fleet.log %p : tensor<2xf32>
  %3 = fleet.sqrt %p : tensor<2xf32>
  %4 = fleet.rsqrt %p : tensor<2xf32>
  %5 = fleet.reciprocal %p : tensor<2xf32>
  %6 = fleet.tanh %x : tensor<2xf32>
  %7 = fleet.erf %x : tensor<2xf32>
  %8 = fleet.sigmoid %x : tensor<2xf32>
  %9 = fleet.relu %x : tensor<2xf32>
  %10 = fleet.sin %x : tensor<2xf32>
  %11 = fleet.cos %x : tensor<2xf32>
  %12 = fleet.abs %x : tensor<2xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>,
    tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>,
    tensor<2xf32>
}

// Phi(1) = 0.841344746068543, phi(1) = 0.241970724519143: the slope at 1 is their sum, at 0 it is 1/2.
// GELU: 0: [0.84134474606854{{[0-9]*}}, 0]
// GELU: 1: [1.08331547058768{{[0-9]*}}, 0.5]
// GELU: 2: [0.84119199060827{{[0-9]*}}, 0]
// GELU: 3: [1.08296408384578{{[0-9]*}}, 0.5]
func.func @gelu() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %x = fleet.constant dense<[1.0, 0.0]> : tensor<2xf64> : tensor<2xf32>
  %g = fleet.constant dense<1.0> : tensor<2xf64> : tensor<2xf32>
  %0 = fleet.gelu %x : tensor<2xf32>
  %1 = fleet.gelu_grad %g, %x : tensor<2xf32>
  %2 = fleet.gelu %x {tanh} : tensor<2xf32>
  %3 = fleet.gelu_grad %g, %x {tanh} : tensor<2xf32>
  return %0, %1, %2, %3 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// BINARY: 0: [4, 1.5]
// BINARY: 1: [2, -2.5]
// BINARY: 2: [3, -1]
// BINARY: 3: [3, -0.25]
// BINARY: 4: [3, 0.25]
// BINARY: 5: [3, 2]
// BINARY: 6: [1, -0.5]
// BINARY: 7: [7, 1]
func.func @binary() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>,
    tensor<2xf32>, tensor<2xf32>) {
  %a = fleet.constant dense<[3.0, -0.5]> : tensor<2xf64> : tensor<2xf32>
  %b = fleet.constant dense<[1.0, 2.0]> : tensor<2xf64> : tensor<2xf32>
  %0 = fleet.add %a, %b : tensor<2xf32>
  %1 = fleet.sub %a, %b : tensor<2xf32>
  %2 = fleet.mul %a, %b : tensor<2xf32>
  %3 = fleet.div %a, %b : tensor<2xf32>
  %4 = fleet.pow %a, %b : tensor<2xf32>
  %5 = fleet.max %a, %b : tensor<2xf32>
  %6 = fleet.min %a, %b : tensor<2xf32>
  %7 = fleet.sum %a, %a, %b, %b {name = "left to right"} : tensor<2xf32>
  %8 = fleet.sub %7, %b : tensor<2xf32>
  return %0, %1, %2, %3, %4, %5, %6, %8 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>,
    tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// Integers divide towards zero.
// INT: 0: [3, -3, -3, 0]
// INT: 1: [9, -5, -9, 1]
func.func @integers() -> (tensor<4xi64>, tensor<4xi64>) {
  %a = fleet.constant dense<[7, -7, 7, 1]> : tensor<4xi64> : tensor<4xi64>
  %b = fleet.constant dense<[2, 2, -2, 2]> : tensor<4xi64> : tensor<4xi64>
  %c = fleet.constant dense<[2, 2, -16, 0]> : tensor<4xi64> : tensor<4xi64>
  %0 = fleet.div %a, %b : tensor<4xi64>
  %1 = fleet.add %a, %c : tensor<4xi64>
  return %0, %1 : tensor<4xi64>, tensor<4xi64>
}

// LOGIC: 0: [0, 1, 0]
// LOGIC: 1: [1, 0, 1]
// LOGIC: 2: [1, 0, 0]
// LOGIC: 3: [1, 1, 0]
// LOGIC: 4: [0, 0, 1]
// LOGIC: 5: [0, 1, 1]
// LOGIC: 6: [0, 0, 0]
// LOGIC: 7: [1, 1, 1]
// LOGIC: 8: [0, 1, 0]
// LOGIC: 9: [1, 2, 3]
func.func @logic() -> (tensor<3xi1>, tensor<3xi1>, tensor<3xi1>, tensor<3xi1>, tensor<3xi1>, tensor<3xi1>, tensor<3xi1>,
    tensor<3xi1>, tensor<3xi1>, tensor<3xf32>) {
  %a = fleet.constant dense<[1.0, 2.0, 5.0]> : tensor<3xf64> : tensor<3xf32>
  %b = fleet.constant dense<[2.0, 2.0, 3.0]> : tensor<3xf64> : tensor<3xf32>
  %0 = fleet.compare eq %a, %b : tensor<3xf32>
  %1 = fleet.compare ne %a, %b : tensor<3xf32>
  %2 = fleet.compare lt %a, %b : tensor<3xf32>
  %3 = fleet.compare le %a, %b : tensor<3xf32>
  %4 = fleet.compare gt %a, %b : tensor<3xf32>
  %5 = fleet.compare ge %a, %b : tensor<3xf32>
  %6 = fleet.and %0, %1 : tensor<3xi1>
  %7 = fleet.or %0, %1 : tensor<3xi1>
  %8 = fleet.not %1 : tensor<3xi1>
  %9 = fleet.select %3, %a, %b : tensor<3xi1>, tensor<3xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : tensor<3xi1>, tensor<3xi1>, tensor<3xi1>, tensor<3xi1>, tensor<3xi1>,
    tensor<3xi1>, tensor<3xi1>, tensor<3xi1>, tensor<3xi1>, tensor<3xf32>
}

// A cast to f32 keeps the double; to an integer it truncates; to i1 it asks whether the number is 0.
// CAST: 0: [0.1, -1.9, 0]
// CAST: 1: [0, -1, 0]
// CAST: 2: [1, 1, 0]
// CAST: 3: [1, 1, 0]
func.func @casts() -> (tensor<3xf32>, tensor<3xi64>, tensor<3xi1>, tensor<3xf64>) {
  %a = fleet.constant dense<[0.1, -1.9, 0.0]> : tensor<3xf64> : tensor<3xf64>
  %0 = fleet.cast %a : tensor<3xf64> -> tensor<3xf32>
  %1 = fleet.cast %a : tensor<3xf64> -> tensor<3xi64>
  %2 = fleet.cast %a : tensor<3xf64> -> tensor<3xi1>
  %3 = fleet.cast %2 : tensor<3xi1> -> tensor<3xf64>
  return %0, %1, %2, %3 : tensor<3xf32>, tensor<3xi64>, tensor<3xi1>, tensor<3xf64>
}
