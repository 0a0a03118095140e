// RUN: fleet-opt %s | fleet-opt | FileCheck %s
// RUN: fleet-opt %s --mlir-print-op-generic | fleet-opt | FileCheck %s

fleet.mesh @mesh ["dp" = 2, "pp" = 2]

// CHECK-LABEL: rank.program @stage0 on @mesh stage = 0 micro_batches = 2 arena = 448 attributes {rank.lower_bound = 384 : i64} {
rank.program @stage0 on @mesh stage = 0 micro_batches = 2 arena = 448 attributes {rank.lower_bound = 384 : i64} {
  // CHECK-NEXT: rank.communicator @dp axes = {dp}
  rank.communicator @dp axes = {dp}
  // CHECK-NEXT: rank.buffer @x : tensor<1x2xf32> kind = input per_micro_batch at = 0 slots = 2 slot_bytes = 8 {fleet.input = "x"}
  rank.buffer @x : tensor<1x2xf32> kind = input per_micro_batch at = 0 slots = 2 slot_bytes = 8 {fleet.input = "x"}
  // CHECK-NEXT: rank.buffer @w : tensor<2xf32> kind = parameter at = 64 slots = 1 slot_bytes = 64 {fleet.param = "w"}
  rank.buffer @w : tensor<2xf32> kind = parameter at = 64 slots = 1 slot_bytes = 64 {fleet.param = "w"}
  rank.buffer @h : tensor<1x2xf32> kind = activation per_micro_batch at = 128 slots = 2 slot_bytes = 64
  rank.buffer @dh : tensor<1x2xf32> kind = activation per_micro_batch at = 256 slots = 1 slot_bytes = 64
  rank.buffer @gw : tensor<2xf32> kind = gradient at = 320 slots = 1 slot_bytes = 64
  // CHECK: rank.buffer @t : tensor<2xf32> kind = temporary at = 384 slots = 1 slot_bytes = 64
  rank.buffer @t : tensor<2xf32> kind = temporary at = 384 slots = 1 slot_bytes = 64
  // CHECK-NEXT: rank.task @count prologue reads(%{{.*}} = @x : tensor<2x2xf32>) writes() {
  // CHECK-NEXT: rank.return
  // CHECK-NEXT: }
  rank.task @count prologue reads(%x = @x : tensor<2x2xf32>) writes() {
  }
  // CHECK-NEXT: rank.task @forward forward reads(%[[X:.*]] = @x : tensor<1x2xf32>, %[[W:.*]] = @w : tensor<2xf32>) writes(@h) {
  rank.task @forward forward reads(%x = @x : tensor<1x2xf32>, %w = @w : tensor<2xf32>) writes(@h) {
    // CHECK-NEXT: fleet.broadcast
    %wb = fleet.broadcast %w, dims = [1] : tensor<2xf32> -> tensor<1x2xf32>
    // CHECK-NEXT: fleet.mul %{{.*}}, %{{.*}} {rank.buffers = [@h]} : tensor<1x2xf32>
    %h = fleet.mul %x, %wb {rank.buffers = [@h]} : tensor<1x2xf32>
    // CHECK-NEXT: rank.return %{{.*}} : tensor<1x2xf32>
    rank.return %h : tensor<1x2xf32>
  }
  rank.task @backward backward_weight reads(%dh = @dh : tensor<1x2xf32>, %gw = @gw : tensor<2xf32>) writes(@gw) {
    %0 = fleet.reshape %dh : tensor<1x2xf32> -> tensor<2xf32>
    // CHECK: rank.copy %{{.*}} {rank.buffers = [@t]} : tensor<2xf32>
    %1 = rank.copy %0 {rank.buffers = [@t]} : tensor<2xf32>
    %2 = fleet.add %gw, %1 {rank.buffers = [@gw]} : tensor<2xf32>
    rank.return %2 : tensor<2xf32>
  }
  // CHECK: rank.actions {
  rank.actions {
    // CHECK-NEXT: rank.run @count
    rank.run @count
    // CHECK-NEXT: rank.run @forward micro_batch = 0
    rank.run @forward micro_batch = 0
    // CHECK-NEXT: rank.send @h micro_batch = 0 to_stage = 1
    rank.send @h micro_batch = 0 to_stage = 1
    // CHECK-NEXT: rank.recv @dh micro_batch = 0 from_stage = 1
    rank.recv @dh micro_batch = 0 from_stage = 1
    // CHECK-NEXT: rank.send @gw to_stage = 1
    rank.send @gw to_stage = 1
  }
}
