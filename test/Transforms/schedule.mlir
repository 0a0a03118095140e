// Four stages of one task each way. What is in flight follows from the order: min(n, S - k) micro-batches on stage k with
// 1F1B, all n with F-then-B; a received value has one slot, since it is received right before it is read.
// RUN: fleet-opt %s --fleet-schedule --fleet-verify-schedule | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: fleet-opt %s --fleet-schedule=mode=F-then-B --fleet-verify-schedule | FileCheck %s --check-prefixes=CHECK,ALL

// CHECK-LABEL: rank.program @stage0 on @mesh stage = 0 micro_batches = 6 {
// CHECK-NEXT: rank.buffer @x : tensor<4xf32> kind = input per_micro_batch slots = 6 slot_bytes = 16 {fleet.input = "x"}
// ONE-NEXT: rank.buffer @saved0 : tensor<4xf32> kind = activation per_micro_batch slots = 4 slot_bytes = 64
// ALL-NEXT: rank.buffer @saved0 : tensor<4xf32> kind = activation per_micro_batch slots = 6 slot_bytes = 64
// CHECK: rank.buffer @d1 : tensor<4xf32> kind = activation per_micro_batch slots = 1 slot_bytes = 64

// CHECK-LABEL: rank.program @stage1
// CHECK: rank.buffer @h0 : tensor<4xf32> kind = activation per_micro_batch slots = 1 slot_bytes = 64
// ONE: rank.buffer @saved1 : tensor<4xf32> kind = activation per_micro_batch slots = 3
// ALL: rank.buffer @saved1 : tensor<4xf32> kind = activation per_micro_batch slots = 6

// CHECK-LABEL: rank.program @stage2
// ONE: rank.buffer @saved2 : tensor<4xf32> kind = activation per_micro_batch slots = 2
// ALL: rank.buffer @saved2 : tensor<4xf32> kind = activation per_micro_batch slots = 6
// ONE: rank.actions {
// ONE-NEXT: rank.run @clear
// ONE-NEXT: rank.recv @h1 micro_batch = 0 from_stage = 1
// ONE-NEXT: rank.run @forward micro_batch = 0
// ONE-NEXT: rank.recv @h1 micro_batch = 1 from_stage = 1
// ONE-NEXT: rank.send @h2 micro_batch = 0 to_stage = 3
// ONE-NEXT: rank.run @forward micro_batch = 1
// ONE-NEXT: rank.send @h2 micro_batch = 1 to_stage = 3
// ONE-NEXT: rank.recv @d3 micro_batch = 0 from_stage = 3
// ONE-NEXT: rank.run @backward micro_batch = 0
// ONE-NEXT: rank.recv @h1 micro_batch = 2 from_stage = 1
// ONE-NEXT: rank.send @d2 micro_batch = 0 to_stage = 1
// ONE-NEXT: rank.run @forward micro_batch = 2
// ONE-NEXT: rank.send @h2 micro_batch = 2 to_stage = 3
// ONE-NEXT: rank.recv @d3 micro_batch = 1 from_stage = 3
// ONE-NEXT: rank.run @backward micro_batch = 1
// ONE-NEXT: rank.recv @h1 micro_batch = 3 from_stage = 1
// ONE-NEXT: rank.send @d2 micro_batch = 1 to_stage = 1
// ONE-NEXT: rank.run @forward micro_batch = 3
// ONE-NEXT: rank.send @h2 micro_batch = 3 to_stage = 3
// ONE-NEXT: rank.recv @d3 micro_batch = 2 from_stage = 3
// ONE-NEXT: rank.run @backward micro_batch = 2
// ONE-NEXT: rank.recv @h1 micro_batch = 4 from_stage = 1
// ONE-NEXT: rank.send @d2 micro_batch = 2 to_stage = 1
// ONE-NEXT: rank.run @forward micro_batch = 4
// ONE-NEXT: rank.send @h2 micro_batch = 4 to_stage = 3
// ONE-NEXT: rank.recv @d3 micro_batch = 3 from_stage = 3
// ONE-NEXT: rank.run @backward micro_batch = 3
// ONE-NEXT: rank.recv @h1 micro_batch = 5 from_stage = 1
// ONE-NEXT: rank.send @d2 micro_batch = 3 to_stage = 1
// ONE-NEXT: rank.run @forward micro_batch = 5
// ONE-NEXT: rank.send @h2 micro_batch = 5 to_stage = 3
// ONE-NEXT: rank.recv @d3 micro_batch = 4 from_stage = 3
// ONE-NEXT: rank.run @backward micro_batch = 4
// ONE-NEXT: rank.send @d2 micro_batch = 4 to_stage = 1
// ONE-NEXT: rank.recv @d3 micro_batch = 5 from_stage = 3
// ONE-NEXT: rank.run @backward micro_batch = 5
// ONE-NEXT: rank.send @d2 micro_batch = 5 to_stage = 1

// CHECK-LABEL: rank.program @stage3
// ONE: rank.buffer @saved3 : tensor<4xf32> kind = activation per_micro_batch slots = 1
// ALL: rank.buffer @saved3 : tensor<4xf32> kind = activation per_micro_batch slots = 6
// ONE: rank.actions {
// ONE-NEXT: rank.run @clear
// ONE-NEXT: rank.recv @h2 micro_batch = 0 from_stage = 2
// ONE-NEXT: rank.run @forward micro_batch = 0
// ONE-NEXT: rank.run @backward micro_batch = 0
// ONE-NEXT: rank.recv @h2 micro_batch = 1 from_stage = 2
// ONE-NEXT: rank.send @d3 micro_batch = 0 to_stage = 2
// ONE-NEXT: rank.run @forward micro_batch = 1
// ONE-NEXT: rank.run @backward micro_batch = 1
// ONE-NEXT: rank.recv @h2 micro_batch = 2 from_stage = 2
// ONE-NEXT: rank.send @d3 micro_batch = 1 to_stage = 2
// ONE-NEXT: rank.run @forward micro_batch = 2
// ONE-NEXT: rank.run @backward micro_batch = 2
// ONE-NEXT: rank.recv @h2 micro_batch = 3 from_stage = 2
// ONE-NEXT: rank.send @d3 micro_batch = 2 to_stage = 2
// ONE-NEXT: rank.run @forward micro_batch = 3
// ONE-NEXT: rank.run @backward micro_batch = 3
// ONE-NEXT: rank.recv @h2 micro_batch = 4 from_stage = 2
// ONE-NEXT: rank.send @d3 micro_batch = 3 to_stage = 2
// ONE-NEXT: rank.run @forward micro_batch = 4
// ONE-NEXT: rank.run @backward micro_batch = 4
// ONE-NEXT: rank.recv @h2 micro_batch = 5 from_stage = 2
// ONE-NEXT: rank.send @d3 micro_batch = 4 to_stage = 2
// ONE-NEXT: rank.run @forward micro_batch = 5
// ONE-NEXT: rank.run @backward micro_batch = 5
// ONE-NEXT: rank.send @d3 micro_batch = 5 to_stage = 2
// ALL: rank.actions {
// ALL-NEXT: rank.run @clear
// ALL-NEXT: rank.recv @h2 micro_batch = 0 from_stage = 2
// ALL-NEXT: rank.run @forward micro_batch = 0
// ALL-NEXT: rank.recv @h2 micro_batch = 1 from_stage = 2
// ALL-NEXT: rank.run @forward micro_batch = 1
// ALL-NEXT: rank.recv @h2 micro_batch = 2 from_stage = 2
// ALL-NEXT: rank.run @forward micro_batch = 2
// ALL-NEXT: rank.recv @h2 micro_batch = 3 from_stage = 2
// ALL-NEXT: rank.run @forward micro_batch = 3
// ALL-NEXT: rank.recv @h2 micro_batch = 4 from_stage = 2
// ALL-NEXT: rank.run @forward micro_batch = 4
// ALL-NEXT: rank.recv @h2 micro_batch = 5 from_stage = 2
// ALL-NEXT: rank.run @forward micro_batch = 5
// ALL-NEXT: rank.run @backward micro_batch = 0
// ALL-NEXT: rank.send @d3 micro_batch = 0 to_stage = 2
// ALL-NEXT: rank.run @backward micro_batch = 1
// ALL-NEXT: rank.send @d3 micro_batch = 1 to_stage = 2
// ALL-NEXT: rank.run @backward micro_batch = 2
// ALL-NEXT: rank.send @d3 micro_batch = 2 to_stage = 2
// ALL-NEXT: rank.run @backward micro_batch = 3
// ALL-NEXT: rank.send @d3 micro_batch = 3 to_stage = 2
// ALL-NEXT: rank.run @backward micro_batch = 4
// ALL-NEXT: rank.send @d3 micro_batch = 4 to_stage = 2
// ALL-NEXT: rank.run @backward micro_batch = 5
// ALL-NEXT: rank.send @d3 micro_batch = 5 to_stage = 2

fleet.mesh @mesh ["pp" = 4]
fleet.program @stage0 on @mesh stage = 0 micro_batches = 6 {
  fleet.slot input @x : tensor<4xf32> per_micro_batch {fleet.input = "x"}
  fleet.slot activation @saved0 : tensor<4xf32> per_micro_batch
  fleet.slot activation @h0 : tensor<4xf32> per_micro_batch {fleet.to_stages = array<i64: 1>}
  fleet.slot activation @d1 : tensor<4xf32> per_micro_batch from_stage = 1
  fleet.slot gradient @g0 : tensor<4xf32>
  fleet.task @forward forward reads(%x = @x : tensor<4xf32>) writes(@h0, @saved0) {
    %0 = fleet.exp %x : tensor<4xf32>
    %1 = fleet.neg %0 : tensor<4xf32>
    fleet.return %1, %0 : tensor<4xf32>, tensor<4xf32>
  }
  fleet.task @backward backward_input reads(%saved = @saved0 : tensor<4xf32>, %d = @d1 : tensor<4xf32>, %g = @g0 : tensor<4xf32>) writes(@g0) {
    %0 = fleet.mul %d, %saved : tensor<4xf32>
    %1 = fleet.add %g, %0 : tensor<4xf32>
    fleet.return %1 : tensor<4xf32>
  }
}
fleet.program @stage1 on @mesh stage = 1 micro_batches = 6 {
  fleet.slot activation @h0 : tensor<4xf32> per_micro_batch from_stage = 0
  fleet.slot activation @saved1 : tensor<4xf32> per_micro_batch
  fleet.slot activation @h1 : tensor<4xf32> per_micro_batch {fleet.to_stages = array<i64: 2>}
  fleet.slot activation @d2 : tensor<4xf32> per_micro_batch from_stage = 2
  fleet.slot activation @d1 : tensor<4xf32> per_micro_batch {fleet.to_stages = array<i64: 0>}
  fleet.slot gradient @g1 : tensor<4xf32>
  fleet.task @forward forward reads(%x = @h0 : tensor<4xf32>) writes(@h1, @saved1) {
    %0 = fleet.exp %x : tensor<4xf32>
    %1 = fleet.neg %0 : tensor<4xf32>
    fleet.return %1, %0 : tensor<4xf32>, tensor<4xf32>
  }
  fleet.task @backward backward_input reads(%saved = @saved1 : tensor<4xf32>, %d = @d2 : tensor<4xf32>, %g = @g1 : tensor<4xf32>) writes(@g1, @d1) {
    %0 = fleet.mul %d, %saved : tensor<4xf32>
    %1 = fleet.add %g, %0 : tensor<4xf32>
    fleet.return %1, %0 : tensor<4xf32>, tensor<4xf32>
  }
}
fleet.program @stage2 on @mesh stage = 2 micro_batches = 6 {
  fleet.slot activation @h1 : tensor<4xf32> per_micro_batch from_stage = 1
  fleet.slot activation @saved2 : tensor<4xf32> per_micro_batch
  fleet.slot activation @h2 : tensor<4xf32> per_micro_batch {fleet.to_stages = array<i64: 3>}
  fleet.slot activation @d3 : tensor<4xf32> per_micro_batch from_stage = 3
  fleet.slot activation @d2 : tensor<4xf32> per_micro_batch {fleet.to_stages = array<i64: 1>}
  fleet.slot gradient @g2 : tensor<4xf32>
  fleet.task @forward forward reads(%x = @h1 : tensor<4xf32>) writes(@h2, @saved2) {
    %0 = fleet.exp %x : tensor<4xf32>
    %1 = fleet.neg %0 : tensor<4xf32>
    fleet.return %1, %0 : tensor<4xf32>, tensor<4xf32>
  }
  fleet.task @backward backward_input reads(%saved = @saved2 : tensor<4xf32>, %d = @d3 : tensor<4xf32>, %g = @g2 : tensor<4xf32>) writes(@g2, @d2) {
    %0 = fleet.mul %d, %saved : tensor<4xf32>
    %1 = fleet.add %g, %0 : tensor<4xf32>
    fleet.return %1, %0 : tensor<4xf32>, tensor<4xf32>
  }
}
fleet.program @stage3 on @mesh stage = 3 micro_batches = 6 {
  fleet.slot activation @h2 : tensor<4xf32> per_micro_batch from_stage = 2
  fleet.slot activation @saved3 : tensor<4xf32> per_micro_batch
  fleet.slot activation @d3 : tensor<4xf32> per_micro_batch {fleet.to_stages = array<i64: 2>}
  fleet.slot gradient @g3 : tensor<4xf32>
  fleet.task @forward forward reads(%x = @h2 : tensor<4xf32>) writes(@saved3) {
    %0 = fleet.exp %x : tensor<4xf32>
    fleet.return %0 : tensor<4xf32>
  }
  fleet.task @backward backward_input reads(%saved = @saved3 : tensor<4xf32>, %g = @g3 : tensor<4xf32>) writes(@g3, @d3) {
    %0 = fleet.mul %saved, %saved : tensor<4xf32>
    %1 = fleet.add %g, %0 : tensor<4xf32>
    fleet.return %1, %0 : tensor<4xf32>, tensor<4xf32>
  }
}
