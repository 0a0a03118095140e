// RUN: fleet-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{'rank.program' op runs on @mesh, which is not a mesh}}
rank.program @p on @mesh stage = 0 micro_batches = 1 {
  rank.actions {
  }
}

// -----

fleet.mesh @mesh ["pp" = 1]
// expected-error @below {{'rank.program' op has 0 lists of actions, expected one}}
rank.program @p on @mesh stage = 0 micro_batches = 1 {
}

// -----

fleet.mesh @mesh ["pp" = 1]
// expected-error @below {{'rank.program' op has 0 micro-batches}}
rank.program @p on @mesh stage = 0 micro_batches = 0 {
  rank.actions {
  }
}

// -----

fleet.mesh @mesh ["pp" = 1]
rank.program @p on @mesh stage = 0 micro_batches = 1 arena = 64 {
  // expected-error @below {{'rank.buffer' op has no place in the arena of 64 bytes}}
  rank.buffer @a : tensor<2xf32> kind = activation slots = 1 slot_bytes = 64
  rank.actions {
  }
}

// -----

fleet.mesh @mesh ["pp" = 1]
rank.program @p on @mesh stage = 0 micro_batches = 2 arena = 128 {
  // expected-error @below {{'rank.buffer' op ends at byte 192 of an arena of 128}}
  rank.buffer @a : tensor<2xf32> kind = activation per_micro_batch at = 64 slots = 2 slot_bytes = 64
  rank.actions {
  }
}

// -----

fleet.mesh @mesh ["pp" = 1]
rank.program @p on @mesh stage = 0 micro_batches = 2 {
  // expected-error @below {{'rank.buffer' op has 2 slots, one that is not per_micro_batch has one}}
  rank.buffer @a : tensor<2xf32> kind = activation slots = 2 slot_bytes = 64
  rank.actions {
  }
}

// -----

fleet.mesh @mesh ["pp" = 1]
rank.program @p on @mesh stage = 0 micro_batches = 2 {
  // expected-error @below {{'rank.buffer' op has 0 slots, a buffer has at least one}}
  rank.buffer @a : tensor<2xf32> kind = activation per_micro_batch slots = 0 slot_bytes = 64
  rank.actions {
  }
}

// -----

fleet.mesh @mesh ["pp" = 1]
rank.program @p on @mesh stage = 0 micro_batches = 1 {
  // expected-error @below {{'rank.buffer' op holds 'tensor<32xf32>' of 128 bytes in slots of 64}}
  rank.buffer @a : tensor<32xf32> kind = activation slots = 1 slot_bytes = 64
  rank.actions {
  }
}

// -----

fleet.mesh @mesh ["pp" = 1]
rank.program @p on @mesh stage = 0 micro_batches = 1 {
  // expected-error @below {{'rank.buffer' op stands at byte 32, not a multiple of 64}}
  rank.buffer @a : tensor<2xf32> kind = activation at = 32 slots = 1 slot_bytes = 64
  rank.actions {
  }
}

// -----

fleet.mesh @mesh ["pp" = 1]
rank.program @p on @mesh stage = 0 micro_batches = 1 {
  // expected-error @below {{unknown phase sideways}}
  rank.task @t sideways reads() writes() {
  }
  rank.actions {
  }
}

// -----

fleet.mesh @mesh ["pp" = 1]
rank.program @p on @mesh stage = 0 micro_batches = 1 {
  rank.buffer @a : tensor<2xf32> kind = activation slots = 1 slot_bytes = 64
  // expected-error @below {{'rank.task' op writes 1 buffers but returns 0 values}}
  rank.task @t forward reads() writes(@a) {
  }
  rank.actions {
  }
}

// -----

fleet.mesh @mesh ["pp" = 1]
rank.program @p on @mesh stage = 0 micro_batches = 1 {
  rank.buffer @a : tensor<2xf32> kind = activation slots = 1 slot_bytes = 64
  // expected-error @below {{'rank.task' op writes @a twice}}
  rank.task @t forward reads(%a = @a : tensor<2xf32>) writes(@a, @a) {
    rank.return %a, %a : tensor<2xf32>, tensor<2xf32>
  }
  rank.actions {
  }
}

// -----

fleet.mesh @mesh ["pp" = 1]
rank.program @p on @mesh stage = 0 micro_batches = 1 {
  // expected-error @below {{'rank.task' op names @a, which is not a buffer}}
  rank.task @t forward reads(%a = @a : tensor<2xf32>) writes() {
  }
  rank.actions {
  }
}

// -----

fleet.mesh @mesh ["pp" = 1]
rank.program @p on @mesh stage = 0 micro_batches = 1 {
  rank.buffer @a : tensor<2xf32> kind = activation slots = 1 slot_bytes = 64
  // expected-error @below {{'rank.task' op takes buffer @a as 'tensor<3xf32>' but it is 'tensor<2xf32>'}}
  rank.task @t forward reads(%a = @a : tensor<3xf32>) writes() {
  }
  rank.actions {
  }
}

// -----

fleet.mesh @mesh ["pp" = 1]
rank.program @p on @mesh stage = 0 micro_batches = 2 {
  rank.buffer @a : tensor<2xf32> kind = input per_micro_batch slots = 2 slot_bytes = 8
  // expected-error @below {{'rank.task' op takes buffer @a as 'tensor<2xf32>' but it is 'tensor<4xf32>'}}
  rank.task @t prologue reads(%a = @a : tensor<2xf32>) writes() {
  }
  rank.actions {
  }
}

// -----

fleet.mesh @mesh ["pp" = 1]
rank.program @p on @mesh stage = 0 micro_batches = 2 {
  rank.buffer @a : tensor<2xf32> kind = activation per_micro_batch slots = 1 slot_bytes = 64
  // expected-error @below {{'rank.task' op runs once and takes buffer @a, whose 1 slots do not hold the 2 micro-batches side by side}}
  rank.task @t update reads(%a = @a : tensor<4xf32>) writes() {
  }
  rank.actions {
  }
}

// -----

fleet.mesh @mesh ["pp" = 1]
rank.program @p on @mesh stage = 0 micro_batches = 1 {
  rank.buffer @a : tensor<2xf32> kind = activation slots = 1 slot_bytes = 64
  rank.task @t forward reads(%a = @a : tensor<2xf32>) writes() {
    // expected-error @below {{'fleet.relu' op carries rank.buffers, which names one buffer for each of the 1 results of an operation in a task}}
    %0 = fleet.relu %a {rank.buffers = []} : tensor<2xf32>
  }
  rank.actions {
  }
}

// -----

fleet.mesh @mesh ["pp" = 1]
rank.program @p on @mesh stage = 0 micro_batches = 1 {
  rank.buffer @a : tensor<2xf32> kind = activation slots = 1 slot_bytes = 64
  rank.task @t forward reads(%a = @a : tensor<2xf32>) writes() {
    // expected-error @below {{'fleet.relu' op writes to @b, which is not a buffer}}
    %0 = fleet.relu %a {rank.buffers = [@b]} : tensor<2xf32>
  }
  rank.actions {
  }
}

// -----

fleet.mesh @mesh ["pp" = 1]
rank.program @p on @mesh stage = 0 micro_batches = 1 {
  rank.buffer @a : tensor<32xf32> kind = activation slots = 1 slot_bytes = 128
  rank.buffer @b : tensor<2xf32> kind = temporary slots = 1 slot_bytes = 64
  rank.task @t forward reads(%a = @a : tensor<32xf32>) writes() {
    // expected-error @below {{'fleet.relu' op writes 128 bytes to @b, whose slots have 64}}
    %0 = fleet.relu %a {rank.buffers = [@b]} : tensor<32xf32>
  }
  rank.actions {
  }
}

// -----

fleet.mesh @mesh ["pp" = 1]
rank.program @p on @mesh stage = 0 micro_batches = 1 {
  rank.actions {
    // expected-error @below {{'fleet.constant' op is not an action}}
    %0 = fleet.constant dense<0.0> : tensor<f64> : tensor<f32>
  }
}

// -----

fleet.mesh @mesh ["pp" = 1]
rank.program @p on @mesh stage = 0 micro_batches = 1 {
  rank.actions {
    // expected-error @below {{'rank.run' op names @t, which is not a task}}
    rank.run @t
  }
}

// -----

fleet.mesh @mesh ["pp" = 1]
rank.program @p on @mesh stage = 0 micro_batches = 2 {
  rank.task @t forward reads() writes() {
  }
  rank.actions {
    // expected-error @below {{'rank.run' op of @t needs a micro-batch}}
    rank.run @t
  }
}

// -----

fleet.mesh @mesh ["pp" = 1]
rank.program @p on @mesh stage = 0 micro_batches = 2 {
  rank.task @t update reads() writes() {
  }
  rank.actions {
    // expected-error @below {{'rank.run' op of @t takes no micro-batch}}
    rank.run @t micro_batch = 0
  }
}

// -----

fleet.mesh @mesh ["pp" = 1]
rank.program @p on @mesh stage = 0 micro_batches = 2 {
  rank.task @t forward reads() writes() {
  }
  rank.actions {
    // expected-error @below {{'rank.run' op of @t is for micro-batch 2 of 2}}
    rank.run @t micro_batch = 2
  }
}

// -----

fleet.mesh @mesh ["pp" = 2]
rank.program @p on @mesh stage = 0 micro_batches = 1 {
  rank.actions {
    // expected-error @below {{'rank.send' op names @a, which is not a buffer}}
    rank.send @a to_stage = 1
  }
}

// -----

fleet.mesh @mesh ["pp" = 2]
rank.program @p on @mesh stage = 1 micro_batches = 1 {
  rank.buffer @a : tensor<2xf32> kind = activation slots = 1 slot_bytes = 64
  rank.actions {
    // expected-error @below {{'rank.recv' op of @a has its own stage as peer}}
    rank.recv @a from_stage = 1
  }
}

// -----

fleet.mesh @mesh ["pp" = 1]
rank.program @p on @mesh stage = 0 micro_batches = 1 {
  // expected-error @below {{unknown buffer kind heap}}
  rank.buffer @a : tensor<2xf32> kind = heap slots = 1 slot_bytes = 64
  rank.actions {
  }
}
