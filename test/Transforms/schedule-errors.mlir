// RUN: fleet-opt %s -split-input-file -verify-diagnostics --fleet-schedule

// expected-error @below {{has no stage program to schedule}}
module {
}

// -----

fleet.mesh @mesh ["pp" = 2]
// expected-error @below {{is stage 1, expected stage 0}}
fleet.program @stage1 on @mesh stage = 1 micro_batches = 2 {
}

// -----

fleet.mesh @mesh ["pp" = 2]
fleet.program @stage0 on @mesh stage = 0 micro_batches = 2 {
}
// expected-error @below {{runs 4 micro-batches, stage 0 runs 2}}
fleet.program @stage1 on @mesh stage = 1 micro_batches = 4 {
}

// -----

fleet.mesh @mesh ["pp" = 2]
fleet.program @stage0 on @mesh stage = 0 micro_batches = 2 {
  // expected-error @below {{comes from stage 7 of 1}}
  fleet.slot activation @a : tensor<4xf32> per_micro_batch from_stage = 7
}

// -----

fleet.mesh @mesh ["pp" = 2]
fleet.program @stage0 on @mesh stage = 0 micro_batches = 2 {
}
fleet.program @stage1 on @mesh stage = 1 micro_batches = 2 {
  // expected-error @below {{comes from stage 0, where no task writes it before @forward of stage 1 reads it}}
  fleet.slot activation @a : tensor<4xf32> per_micro_batch from_stage = 0
  fleet.task @forward forward reads(%a = @a : tensor<4xf32>) writes() {
  }
}

// -----

// Each stage needs the other's value before it makes its own.
fleet.mesh @mesh ["pp" = 2]
fleet.program @stage0 on @mesh stage = 0 micro_batches = 1 {
  fleet.slot activation @a : tensor<4xf32> per_micro_batch
  fleet.slot activation @b : tensor<4xf32> per_micro_batch from_stage = 1
  // expected-error @below {{needs @b of stage 1, which waits for stage 0 in turn}}
  fleet.task @forward forward reads(%b = @b : tensor<4xf32>) writes(@a) {
    fleet.return %b : tensor<4xf32>
  }
}
fleet.program @stage1 on @mesh stage = 1 micro_batches = 1 {
  fleet.slot activation @a : tensor<4xf32> per_micro_batch from_stage = 0
  fleet.slot activation @b : tensor<4xf32> per_micro_batch
  fleet.task @forward forward reads(%a = @a : tensor<4xf32>) writes(@b) {
    fleet.return %a : tensor<4xf32>
  }
}

// -----

fleet.mesh @mesh ["pp" = 2]
fleet.program @stage0 on @mesh stage = 0 micro_batches = 2 {
  fleet.slot activation @a : tensor<4xf32> per_micro_batch
  fleet.slot input @x : tensor<4xf32> per_micro_batch
  fleet.task @forward forward reads(%x = @x : tensor<4xf32>) writes(@a) {
    fleet.return %x : tensor<4xf32>
  }
}
fleet.program @stage1 on @mesh stage = 1 micro_batches = 2 {
  fleet.slot activation @a : tensor<4xf32> per_micro_batch from_stage = 0
  // expected-error @below {{reads @a of stage 0, which is sent one micro-batch at a time}}
  fleet.task @update update reads(%a = @a : tensor<8xf32>) writes() {
  }
}
