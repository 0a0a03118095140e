// Values that are not per micro-batch are sent once, when they are complete: the term of a norm after the last update task
// that writes it, a count right after the prologue. A sum that a task adds to before anything writes it is cleared first.
// A value that is wanted much later than it is made (@early) does not hold up its sender.
// RUN: fleet-opt %s --fleet-schedule --fleet-verify-schedule | FileCheck %s

// CHECK-LABEL: rank.program @stage0
// CHECK: rank.communicator @dp_0 axes = {dp}
// CHECK-NEXT: rank.communicator @dp_mp.0 axes = {dp, mp:0}
// CHECK-NOT: fleet.to_stages
// CHECK: rank.buffer @count : tensor<f32> kind = activation slots = 1 slot_bytes = 64
// CHECK: rank.buffer @g : tensor<4xf32> kind = gradient slots = 1 slot_bytes = 64
// CHECK-NOT: @unused
// CHECK: rank.task @clear_ prologue reads() writes(@g)
// CHECK: fleet.constant dense<0.000000e+00>
// CHECK: rank.actions {
// CHECK-NEXT: rank.run @clear_
// CHECK-NEXT: rank.run @prologue
// CHECK-NEXT: rank.send @count to_stage = 1
// CHECK-NEXT: rank.run @clear micro_batch = 0
// CHECK-NEXT: rank.send @h micro_batch = 0 to_stage = 1
// CHECK-NEXT: rank.run @backward micro_batch = 0
// CHECK-NEXT: rank.run @norm
// CHECK-NEXT: rank.send @early to_stage = 1
// CHECK-NEXT: rank.send @term to_stage = 1
// CHECK-NEXT: rank.recv @back from_stage = 1
// CHECK-NEXT: rank.run @update
// CHECK-LABEL: rank.program @stage1
// CHECK: rank.actions {
// CHECK-NEXT: rank.recv @count from_stage = 0
// CHECK-NEXT: rank.recv @h micro_batch = 0 from_stage = 0
// CHECK-NEXT: rank.run @forward micro_batch = 0
// CHECK-NEXT: rank.recv @early from_stage = 0
// CHECK-NEXT: rank.recv @term from_stage = 0
// CHECK-NEXT: rank.run @norm
// CHECK-NEXT: rank.send @back to_stage = 0
fleet.mesh @mesh ["dp" = 2, "pp" = 2, "mp" = 4]
fleet.program @stage0 on @mesh stage = 0 micro_batches = 1 {
  fleet.slot input @x : tensor<4xf32> per_micro_batch {fleet.input = "x"}
  fleet.slot activation @count : tensor<f32> {fleet.to_stages = array<i64: 1>}
  fleet.slot activation @early : tensor<f32> {fleet.to_stages = array<i64: 1>}
  fleet.slot activation @h : tensor<4xf32> per_micro_batch {fleet.to_stages = array<i64: 1>}
  fleet.slot gradient @g : tensor<4xf32>
  fleet.slot activation @unused : tensor<4xf32>
  fleet.slot activation @term : tensor<f32> {fleet.to_stages = array<i64: 1>}
  fleet.slot activation @back : tensor<f32> from_stage = 1
  fleet.slot parameter @dp : tensor<f32> {fleet.param = "dp"}
  fleet.task @prologue prologue reads(%x = @x : tensor<4xf32>) writes(@count, @early) {
    %0 = fleet.reduce sum %x, dims = [0] : tensor<4xf32> -> tensor<f32>
    %1 = fleet.all_reduce sum %0 axes = {dp} : tensor<f32>
    fleet.return %1, %0 : tensor<f32>, tensor<f32>
  }
  fleet.task @clear forward reads(%x = @x : tensor<4xf32>) writes(@h) {
    %0 = fleet.neg %x : tensor<4xf32>
    fleet.return %0 : tensor<4xf32>
  }
  fleet.task @backward backward_weight reads(%x = @x : tensor<4xf32>, %g = @g : tensor<4xf32>) writes(@g) {
    %0 = fleet.add %g, %x : tensor<4xf32>
    fleet.return %0 : tensor<4xf32>
  }
  fleet.task @norm update reads(%g = @g : tensor<4xf32>) writes(@term) {
    %0 = fleet.all_reduce sum %g axes = {dp, mp:0} : tensor<4xf32>
    %1 = fleet.reduce sum %0, dims = [0] : tensor<4xf32> -> tensor<f32>
    fleet.return %1 : tensor<f32>
  }
  fleet.task @update update reads(%back = @back : tensor<f32>) writes(@dp) {
    fleet.return %back : tensor<f32>
  }
}
fleet.program @stage1 on @mesh stage = 1 micro_batches = 1 {
  fleet.slot activation @count : tensor<f32> from_stage = 0
  fleet.slot activation @h : tensor<4xf32> per_micro_batch from_stage = 0
  fleet.slot activation @early : tensor<f32> from_stage = 0
  fleet.slot activation @term : tensor<f32> from_stage = 0
  fleet.slot activation @back : tensor<f32> {fleet.to_stages = array<i64: 0>}
  fleet.task @forward forward reads(%count = @count : tensor<f32>, %h = @h : tensor<4xf32>) writes() {
  }
  fleet.task @norm update reads(%term = @term : tensor<f32>, %early = @early : tensor<f32>) writes(@back) {
    %0 = fleet.sum %term, %early : tensor<f32>
    fleet.return %0 : tensor<f32>
  }
}
