// Two stages, two data-parallel ranks, two micro-batches against the same step as one function. All numbers are short
// binary fractions, so that sums in any order are exact and both agree to the last digit.
//
// h = x w (stage 0), p = h v (stage 1), loss = sum((p - y)^2) / 8 over 4 rows of 2; the gradient norm takes a term of
// each stage, so the stages exchange in the update phase.
// RUN: %python %S/Inputs/safetensors_text.py make %t.w w:F32:2=1,0.5 v:F32:2=2,-1
// RUN: %python %S/Inputs/safetensors_text.py make %t.d x:F32:2x4x2=1,2,3,4,-1,2,0.5,1,1,1,2,-2,1,0,3,1 y:F32:2x4x2=1,2,3,4,1,0,2,2,0,0,1,1,2,2,-1,1
// RUN: fleet-interp %s --function step --weights %t.w --data %t.d --steps 2 --save-grads %t.g1 --save-params %t.p1 > %t.log1
// RUN: fleet-interp %s --weights %t.w --data %t.d --steps 2 --save-grads %t.g2 --save-params %t.p2 > %t.log2
// RUN: diff %t.log1 %t.log2
// RUN: cmp %t.g1 %t.g2
// RUN: cmp %t.p1 %t.p2
// RUN: FileCheck %s --input-file %t.log2
// RUN: %python %S/Inputs/safetensors_text.py show %t.g2 | FileCheck %s --check-prefix=GRADS

// Step 1: residuals of the rows [1, -3], [3, -6], [-3, -1], [-1, -2.5]: 1 + 9 + 9 + 36 + 9 + 1 + 1 + 6.25 = 72.25.
// CHECK: {"step":1,"loss":9.03125,"lr":0.125
// Gradient of w: sum(2 r / 8 v x): column 0: (1 * 1 + 3 * 3 + 3 * 1 - 1 * 0.5) / 4 * 2, column 1: (3 * 2 + 6 * 4 + 1 * 2 + 2.5 * 1) / 4.
// GRADS: w F64 [2] [6.25, 8.625]
// Gradient of v: sum(2 r / 8 h), h = x w.
// GRADS: v F64 [2] [3.125, -4.3125]

module attributes {fleet.schedule = {kind = "constant", lr = 0.125}} {
  func.func @step(%x: tensor<4x2xf32> {fleet.input = "x"}, %y: tensor<4x2xf32> {fleet.input = "y"},
      %w: tensor<2xf32> {fleet.param = "w"}, %v: tensor<2xf32> {fleet.param = "v"}, %lr: tensor<f32> {fleet.scalar = "lr"})
      -> (tensor<f32> {fleet.output = "loss"}, tensor<f32> {fleet.output = "grad_norm"},
          tensor<2xf32> {fleet.gradient = "w"}, tensor<2xf32> {fleet.gradient = "v"},
          tensor<2xf32> {fleet.updates = 2 : i64}, tensor<2xf32> {fleet.updates = 3 : i64}) {
    %eighth = fleet.constant dense<0.125> : tensor<f64> : tensor<f32>
    %quarter = fleet.constant dense<0.25> : tensor<4x2xf64> : tensor<4x2xf32>
    %wb = fleet.broadcast %w, dims = [1] : tensor<2xf32> -> tensor<4x2xf32>
    %vb = fleet.broadcast %v, dims = [1] : tensor<2xf32> -> tensor<4x2xf32>
    %h = fleet.mul %x, %wb : tensor<4x2xf32>
    %p = fleet.mul %h, %vb : tensor<4x2xf32>
    %r = fleet.sub %p, %y : tensor<4x2xf32>
    %rr = fleet.dot_general %r, %r contract = [0, 1] x [0, 1] : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<f32>
    %loss = fleet.mul %rr, %eighth : tensor<f32>
    %dp = fleet.mul %r, %quarter : tensor<4x2xf32>
    %dph = fleet.mul %dp, %h : tensor<4x2xf32>
    %gv = fleet.reduce sum %dph, dims = [0] : tensor<4x2xf32> -> tensor<2xf32>
    %dh = fleet.mul %dp, %vb : tensor<4x2xf32>
    %dhx = fleet.mul %dh, %x : tensor<4x2xf32>
    %gw = fleet.reduce sum %dhx, dims = [0] : tensor<4x2xf32> -> tensor<2xf32>
    %sw = fleet.dot_general %gw, %gw contract = [0] x [0] : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
    %sv = fleet.dot_general %gv, %gv contract = [0] x [0] : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
    %s = fleet.sum %sw, %sv : tensor<f32>
    %norm = fleet.sqrt %s : tensor<f32>
    %w1 = fleet.sgd %w, %gw, %lr {weightDecay = 0.0} : (tensor<2xf32>, tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %v1 = fleet.sgd %v, %gv, %lr {weightDecay = 0.0} : (tensor<2xf32>, tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    return %loss, %norm, %gw, %gv, %w1, %v1 : tensor<f32>, tensor<f32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
  }

  fleet.mesh @mesh ["dp" = 2, "pp" = 2]

  fleet.program @stage0 on @mesh stage = 0 micro_batches = 2 {
    fleet.slot input @x : tensor<1x2xf32> per_micro_batch {fleet.input = "x", fleet.sharding = #fleet.sharding<@mesh, [{dp}, {}]>}
    fleet.slot parameter @w : tensor<2xf32> {fleet.param = "w"}
    fleet.slot scalar @lr : tensor<f32> {fleet.scalar = "lr"}
    fleet.slot activation @h : tensor<1x2xf32> per_micro_batch
    fleet.slot activation @dh : tensor<1x2xf32> per_micro_batch from_stage = 1
    fleet.slot gradient @gw : tensor<2xf32> {fleet.gradient = "w"}
    fleet.slot activation @sw : tensor<f32>
    fleet.task @zero prologue reads() writes(@gw) {
      %0 = fleet.constant dense<0.0> : tensor<2xf64> : tensor<2xf32>
      fleet.return %0 : tensor<2xf32>
    }
    fleet.task @forward forward reads(%x = @x : tensor<1x2xf32>, %w = @w : tensor<2xf32>) writes(@h) {
      %wb = fleet.broadcast %w, dims = [1] : tensor<2xf32> -> tensor<1x2xf32>
      %h = fleet.mul %x, %wb : tensor<1x2xf32>
      fleet.return %h : tensor<1x2xf32>
    }
    fleet.task @backward backward_weight reads(%x = @x : tensor<1x2xf32>, %dh = @dh : tensor<1x2xf32>, %gw = @gw : tensor<2xf32>)
        writes(@gw) {
      %0 = fleet.mul %dh, %x : tensor<1x2xf32>
      %1 = fleet.reduce sum %0, dims = [0] : tensor<1x2xf32> -> tensor<2xf32>
      %2 = fleet.add %gw, %1 : tensor<2xf32>
      fleet.return %2 : tensor<2xf32>
    }
    fleet.task @reduce reduce reads(%gw = @gw : tensor<2xf32>) writes(@gw) {
      %0 = fleet.all_reduce sum %gw axes = {dp} : tensor<2xf32>
      fleet.return %0 : tensor<2xf32>
    }
    fleet.task @norm update reads(%gw = @gw : tensor<2xf32>) writes(@sw) {
      %0 = fleet.dot_general %gw, %gw contract = [0] x [0] : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
      fleet.return %0 : tensor<f32>
    }
    fleet.task @update update reads(%w = @w : tensor<2xf32>, %gw = @gw : tensor<2xf32>, %lr = @lr : tensor<f32>) writes(@w) {
      %0 = fleet.sgd %w, %gw, %lr {weightDecay = 0.0} : (tensor<2xf32>, tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
      fleet.return %0 : tensor<2xf32>
    }
  }

  fleet.program @stage1 on @mesh stage = 1 micro_batches = 2 {
    fleet.slot input @y : tensor<1x2xf32> per_micro_batch {fleet.input = "y", fleet.sharding = #fleet.sharding<@mesh, [{dp}, {}]>}
    fleet.slot parameter @v : tensor<2xf32> {fleet.param = "v"}
    fleet.slot scalar @lr : tensor<f32> {fleet.scalar = "lr"}
    fleet.slot activation @h : tensor<1x2xf32> per_micro_batch from_stage = 0
    fleet.slot activation @dp : tensor<1x2xf32> per_micro_batch
    fleet.slot activation @dh : tensor<1x2xf32> per_micro_batch
    fleet.slot gradient @gv : tensor<2xf32> {fleet.gradient = "v"}
    fleet.slot activation @sw : tensor<f32> from_stage = 0
    fleet.slot output @loss : tensor<f32> {fleet.output = "loss"}
    fleet.slot output @grad_norm : tensor<f32> {fleet.output = "grad_norm"}
    fleet.task @zero prologue reads() writes(@gv, @loss) {
      %0 = fleet.constant dense<0.0> : tensor<2xf64> : tensor<2xf32>
      %1 = fleet.constant dense<0.0> : tensor<f64> : tensor<f32>
      fleet.return %0, %1 : tensor<2xf32>, tensor<f32>
    }
    fleet.task @forward forward reads(%h = @h : tensor<1x2xf32>, %v = @v : tensor<2xf32>, %y = @y : tensor<1x2xf32>,
        %loss = @loss : tensor<f32>) writes(@dp, @loss) {
      %eighth = fleet.constant dense<0.125> : tensor<f64> : tensor<f32>
      %quarter = fleet.constant dense<0.25> : tensor<1x2xf64> : tensor<1x2xf32>
      %vb = fleet.broadcast %v, dims = [1] : tensor<2xf32> -> tensor<1x2xf32>
      %p = fleet.mul %h, %vb : tensor<1x2xf32>
      %r = fleet.sub %p, %y : tensor<1x2xf32>
      %rr = fleet.dot_general %r, %r contract = [0, 1] x [0, 1] : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<f32>
      %l = fleet.mul %rr, %eighth : tensor<f32>
      %sum = fleet.add %loss, %l : tensor<f32>
      %dp = fleet.mul %r, %quarter : tensor<1x2xf32>
      fleet.return %dp, %sum : tensor<1x2xf32>, tensor<f32>
    }
    fleet.task @backward backward_input reads(%dp = @dp : tensor<1x2xf32>, %v = @v : tensor<2xf32>) writes(@dh) {
      %vb = fleet.broadcast %v, dims = [1] : tensor<2xf32> -> tensor<1x2xf32>
      %dh = fleet.mul %dp, %vb : tensor<1x2xf32>
      fleet.return %dh : tensor<1x2xf32>
    }
    fleet.task @weight backward_weight reads(%dp = @dp : tensor<1x2xf32>, %h = @h : tensor<1x2xf32>, %gv = @gv : tensor<2xf32>)
        writes(@gv) {
      %0 = fleet.mul %dp, %h : tensor<1x2xf32>
      %1 = fleet.reduce sum %0, dims = [0] : tensor<1x2xf32> -> tensor<2xf32>
      %2 = fleet.add %gv, %1 : tensor<2xf32>
      fleet.return %2 : tensor<2xf32>
    }
    fleet.task @reduce reduce reads(%gv = @gv : tensor<2xf32>, %loss = @loss : tensor<f32>) writes(@gv, @loss) {
      %0 = fleet.all_reduce sum %gv axes = {dp} : tensor<2xf32>
      %1 = fleet.all_reduce sum %loss axes = {dp} : tensor<f32>
      fleet.return %0, %1 : tensor<2xf32>, tensor<f32>
    }
    fleet.task @update update reads(%v = @v : tensor<2xf32>, %gv = @gv : tensor<2xf32>, %lr = @lr : tensor<f32>,
        %sw = @sw : tensor<f32>) writes(@v, @grad_norm) {
      %sv = fleet.dot_general %gv, %gv contract = [0] x [0] : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
      %s = fleet.sum %sw, %sv : tensor<f32>
      %norm = fleet.sqrt %s : tensor<f32>
      %0 = fleet.sgd %v, %gv, %lr {weightDecay = 0.0} : (tensor<2xf32>, tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
      fleet.return %0, %norm : tensor<2xf32>, tensor<f32>
    }
  }
}
