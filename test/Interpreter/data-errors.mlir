// What a user can get wrong with weights and data: one line that names the tensor.
// RUN: %python %S/Inputs/safetensors_text.py make %t.w w:F32:2=1,2 v:F32:3=1,2,3
// RUN: %python %S/Inputs/safetensors_text.py make %t.d x:F32:2x2=1,2,1,2 z:F32:2x2=1,2,1,2
// RUN: fleet-interp %s --function good --weights %t.w --data %t.d --steps 2 | FileCheck %s --check-prefix=GOOD
// RUN: not fleet-interp %s --function good --data %t.d 2>&1 | FileCheck %s --check-prefix=NO-WEIGHTS
// RUN: not fleet-interp %s --function good --weights %t.w 2>&1 | FileCheck %s --check-prefix=NO-DATA
// RUN: not fleet-interp %s --function good --weights %t.w --data %t.d --steps 3 2>&1 | FileCheck %s --check-prefix=STEPS
// RUN: not fleet-interp %s --function good --weights %t.none --data %t.d 2>&1 | FileCheck %s --check-prefix=NO-FILE
// RUN: not fleet-interp %s --function bad_input_shape --weights %t.w --data %t.d 2>&1 | FileCheck %s --check-prefix=INPUT
// RUN: not fleet-interp %s --function bad_input_type --weights %t.w --data %t.d 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not fleet-interp %s --function bad_parameter --weights %t.w 2>&1 | FileCheck %s --check-prefix=PARAMETER
// RUN: not fleet-interp %s --function no_parameter --weights %t.w 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not fleet-interp %s --function bad_piece --weights %t.w 2>&1 | FileCheck %s --check-prefix=PIECE
// RUN: not fleet-interp %s --function other_piece --weights %t.w 2>&1 | FileCheck %s --check-prefix=STORED
// RUN: not fleet-interp %s --function scalar 2>&1 | FileCheck %s --check-prefix=SCALAR
// RUN: not fleet-interp %s --function no_schedule 2>&1 | FileCheck %s --check-prefix=SCHEDULE
// RUN: not fleet-interp %s --function unbound 2>&1 | FileCheck %s --check-prefix=UNBOUND
// RUN: not fleet-interp %s --function no_such 2>&1 | FileCheck %s --check-prefix=FUNCTION
// RUN: not fleet-interp %s --function not_finite 2>&1 | FileCheck %s --check-prefix=FINITE
// RUN: not fleet-interp %s --function huge 2>&1 | FileCheck %s --check-prefix=HUGE
// RUN: not fleet-interp %s --function zero 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not fleet-interp %s --function cast 2>&1 | FileCheck %s --check-prefix=CAST
// RUN: not fleet-interp %s --function updates 2>&1 | FileCheck %s --check-prefix=UPDATES

// GOOD: 0: [2, 4]
// GOOD-NEXT: 0: [2, 4]
// NO-WEIGHTS: error: parameter 'w' needs weights, none are given
// NO-DATA: error: input 'x' is not in the data
// STEPS: error: input 'x' has data for 2 steps, step 3 needs more
// NO-FILE: error: {{.*}}.none: No such file or directory
func.func @good(%x: tensor<2xf32> {fleet.input = "x"}, %w: tensor<2xf32> {fleet.param = "w"}) -> tensor<2xf32> {
  %0 = fleet.add %x, %w : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// INPUT: error: input 'x' has shape [2], the program expects [4]
func.func @bad_input_shape(%x: tensor<4xf32> {fleet.input = "x"}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// TYPE: error: input 'z' holds F32 in the data, the program expects 'i64'
func.func @bad_input_type(%z: tensor<2xi64> {fleet.input = "z"}) -> tensor<2xi64> {
  return %z : tensor<2xi64>
}

// PARAMETER: error: parameter 'v' has shape [3], the program expects [3, 1]
func.func @bad_parameter(%v: tensor<3x1xf32> {fleet.param = "v"}) -> tensor<3x1xf32> {
  return %v : tensor<3x1xf32>
}

// NAME: error: parameter 'u' is not among the weights
func.func @no_parameter(%u: tensor<3xf32> {fleet.buffer = "u"}) -> tensor<3xf32> {
  return %u : tensor<3xf32>
}

// PIECE: error: parameter 'v' is a piece [2] at [2] outside the stored [3]
func.func @bad_piece(%v: tensor<2xf32> {fleet.param = "v", fleet.piece = #fleet.piece<offsets = [2], of = [3]>}) -> tensor<2xf32> {
  return %v : tensor<2xf32>
}

// STORED: error: parameter 'v' is stored with shape [3], its piece is one of [4]
func.func @other_piece(%v: tensor<2xf32> {fleet.param = "v", fleet.piece = #fleet.piece<offsets = [2], of = [4]>}) -> tensor<2xf32> {
  return %v : tensor<2xf32>
}

// SCALAR: error: scalar 'gamma' is neither 'lr' nor 't'
func.func @scalar(%s: tensor<f32> {fleet.scalar = "gamma"}) -> tensor<f32> {
  return %s : tensor<f32>
}

// SCHEDULE: error: scalar 'lr' has no value: the module has no schedule
func.func @no_schedule(%s: tensor<f32> {fleet.scalar = "lr"}) -> tensor<f32> {
  return %s : tensor<f32>
}

// UNBOUND: error: argument 0 is no input, parameter, state or scalar
func.func @unbound(%s: tensor<f32>) -> tensor<f32> {
  return %s : tensor<f32>
}

// FUNCTION: error: has no function @no_such

// FINITE: error: step 1: the loss is {{-?}}nan
func.func @not_finite() -> (tensor<f32> {fleet.output = "loss"}) {
  %x = fleet.constant dense<-1.0> : tensor<f64> : tensor<f32>
  %0 = fleet.log %x : tensor<f32>
  return %0 : tensor<f32>
}

// HUGE: error: result 'tensor<1000000x1000000x1000000x1000000xf32>' is too large to interpret
func.func @huge() -> tensor<f32> {
  %0 = fleet.iota dim = 0 : tensor<1000000x1000000x1000000x1000000xf32>
  %1 = fleet.reduce sum %0, dims = [0, 1, 2, 3] : tensor<1000000x1000000x1000000x1000000xf32> -> tensor<f32>
  return %1 : tensor<f32>
}

// ZERO: error: division of the integer 7 by 0
func.func @zero() -> tensor<i64> {
  %a = fleet.constant dense<7> : tensor<i64> : tensor<i64>
  %b = fleet.constant dense<0> : tensor<i64> : tensor<i64>
  %0 = fleet.div %a, %b : tensor<i64>
  return %0 : tensor<i64>
}

// CAST: error: value 1e+20 does not fit in 'i64'
func.func @cast() -> tensor<i64> {
  %a = fleet.constant dense<1.0e20> : tensor<f64> : tensor<f32>
  %0 = fleet.cast %a : tensor<f32> -> tensor<i64>
  return %0 : tensor<i64>
}

// UPDATES: error: result 0 updates no argument of its type
func.func @updates() -> (tensor<f32> {fleet.updates = 0 : i64}) {
  %a = fleet.constant dense<1.0e20> : tensor<f64> : tensor<f32>
  return %a : tensor<f32>
}
