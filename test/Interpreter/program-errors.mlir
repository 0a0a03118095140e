// RUN: split-file %s %t
// RUN: not fleet-interp %t/order.mlir 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not fleet-interp %t/unwritten.mlir 2>&1 | FileCheck %s --check-prefix=UNWRITTEN
// RUN: not fleet-interp %t/no_zero.mlir 2>&1 | FileCheck %s --check-prefix=NO-ZERO
// RUN: not fleet-interp %t/cycle.mlir 2>&1 | FileCheck %s --check-prefix=CYCLE
// RUN: not fleet-interp %t/count.mlir 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not fleet-interp %t/axis.mlir 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: not fleet-interp %t/mesh.mlir 2>&1 | FileCheck %s --check-prefix=MESH
// RUN: not fleet-interp %t/devices.mlir 2>&1 | FileCheck %s --check-prefix=DEVICES
// RUN: not fleet-interp %t/once.mlir 2>&1 | FileCheck %s --check-prefix=ONCE
// RUN: not fleet-interp %t/body.mlir 2>&1 | FileCheck %s --check-prefix=BODY
// RUN: not fleet-interp %t/no_source.mlir 2>&1 | FileCheck %s --check-prefix=SOURCE
// RUN: not fleet-interp %t/foreign.mlir 2>&1 | FileCheck %s --check-prefix=FOREIGN
// RUN: %python %S/Inputs/safetensors_text.py make %t.w w:F32:=1
// RUN: not fleet-interp %t/tied.mlir --weights %t.w 2>&1 | FileCheck %s --check-prefix=TIED

//--- order.mlir
// ORDER: error: is stage 1, expected stage 0: programs stand in the order of their stages, from 0
fleet.mesh @mesh ["pp" = 2]
fleet.program @stage1 on @mesh stage = 1 micro_batches = 1 {
}

//--- unwritten.mlir
// UNWRITTEN: error: reads slot @a before stage 0 has written it
fleet.mesh @mesh ["dp" = 1]
fleet.program @stage0 on @mesh stage = 0 micro_batches = 1 {
  fleet.slot activation @a : tensor<f32>
  fleet.task @read forward reads(%a = @a : tensor<f32>) writes() {
  }
  fleet.task @write forward reads() writes(@a) {
    %0 = fleet.constant dense<1.0> : tensor<f64> : tensor<f32>
    fleet.return %0 : tensor<f32>
  }
}

//--- no_zero.mlir
// A sum that nobody set to zero; the value of the step before does not count.
// NO-ZERO: error: reads slot @g before stage 0 has written it
fleet.mesh @mesh ["dp" = 1]
fleet.program @stage0 on @mesh stage = 0 micro_batches = 2 {
  fleet.slot gradient @g : tensor<f32>
  fleet.task @backward backward_weight reads(%g = @g : tensor<f32>) writes(@g) {
    %0 = fleet.add %g, %g : tensor<f32>
    fleet.return %0 : tensor<f32>
  }
}

//--- cycle.mlir
// CYCLE: error: waits for a slot of another stage, which waits for this one
fleet.mesh @mesh ["pp" = 2]
fleet.program @stage0 on @mesh stage = 0 micro_batches = 1 {
  fleet.slot activation @a : tensor<f32>
  fleet.slot activation @b : tensor<f32> from_stage = 1
  fleet.task @u update reads(%b = @b : tensor<f32>) writes(@a) {
    fleet.return %b : tensor<f32>
  }
}
fleet.program @stage1 on @mesh stage = 1 micro_batches = 1 {
  fleet.slot activation @a : tensor<f32> from_stage = 0
  fleet.slot activation @b : tensor<f32>
  fleet.task @u update reads(%a = @a : tensor<f32>) writes(@b) {
    fleet.return %a : tensor<f32>
  }
}

//--- count.mlir
// COUNT: error: runs 0 micro-batches, not 1 to 65536
fleet.mesh @mesh ["dp" = 1]
fleet.program @stage0 on @mesh stage = 0 micro_batches = 0 {
}

//--- axis.mlir
// AXIS: error: input 'x' the mesh has no axis 'mp'
fleet.mesh @mesh ["dp" = 1]
fleet.program @stage0 on @mesh stage = 0 micro_batches = 1 {
  fleet.slot input @x : tensor<2xf32> {fleet.input = "x", fleet.sharding = #fleet.sharding<@mesh, [{mp}]>}
}

//--- mesh.mlir
// MESH: error: runs on @other, which is no mesh
fleet.mesh @mesh ["dp" = 1]
fleet.program @stage0 on @other stage = 0 micro_batches = 1 {
}

//--- devices.mlir
// DEVICES: error: has too many devices to simulate, at most 4096
fleet.mesh @mesh ["dp" = 1000000000000, "mp" = 1000000000000]
fleet.program @stage0 on @mesh stage = 0 micro_batches = 1 {
}

//--- once.mlir
// ONCE: error: runs once and cannot see all micro-batches of @a
fleet.mesh @mesh ["dp" = 1]
fleet.program @stage0 on @mesh stage = 0 micro_batches = 2 {
  fleet.slot activation @a : tensor<2xf32> per_micro_batch
  fleet.task @r reduce reads(%a = @a : tensor<2xf32>) writes() {
  }
}

//--- body.mlir
// BODY: error: has no body
func.func private @step(%x: tensor<2xf32> {fleet.input = "x"})

//--- no_source.mlir
// SOURCE: error: comes from stage 1, which has no slot of this name
fleet.mesh @mesh ["pp" = 2]
fleet.program @stage0 on @mesh stage = 0 micro_batches = 1 {
  fleet.slot activation @b : tensor<f32> from_stage = 1
}

//--- foreign.mlir
// FOREIGN: error: writes @b, which comes from stage 1
fleet.mesh @mesh ["pp" = 2]
fleet.program @stage0 on @mesh stage = 0 micro_batches = 1 {
  fleet.slot activation @b : tensor<f32> from_stage = 1
  fleet.task @u update reads() writes(@b) {
    %0 = fleet.constant dense<1.0> : tensor<f64> : tensor<f32>
    fleet.return %0 : tensor<f32>
  }
}

//--- tied.mlir
// Both stages keep a copy of w and only one of them updates it.
// TIED: error: parameter 'w' differs between replicas: element 0 is 1 on stage 0 and 2 on stage 1
fleet.mesh @mesh ["pp" = 2]
fleet.program @stage0 on @mesh stage = 0 micro_batches = 1 {
  fleet.slot parameter @w : tensor<f32> {fleet.param = "w"}
}
fleet.program @stage1 on @mesh stage = 1 micro_batches = 1 {
  fleet.slot parameter @w : tensor<f32> {fleet.param = "w"}
  fleet.task @u update reads(%w = @w : tensor<f32>) writes(@w) {
    %0 = fleet.add %w, %w : tensor<f32>
    fleet.return %0 : tensor<f32>
  }
}
