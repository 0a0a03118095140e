// Programs that are broken by hand, one rule at a time.
// RUN: fleet-opt %s -split-input-file -verify-diagnostics --fleet-verify-schedule

fleet.mesh @mesh ["pp" = 2]
// expected-error @below {{is stage 1, expected stage 0}}
rank.program @p on @mesh stage = 1 micro_batches = 1 {
  rank.actions {
  }
}

// -----

fleet.mesh @mesh ["pp" = 2]
rank.program @p on @mesh stage = 0 micro_batches = 1 {
  rank.buffer @a : tensor<4xf32> kind = parameter slots = 1 slot_bytes = 64
  rank.actions {
    // expected-error @below {{stage 0 has stage 1 of 1 as peer}}
    rank.send @a to_stage = 1
  }
}

// -----

// A message that nobody receives.
fleet.mesh @mesh ["pp" = 2]
rank.program @stage0 on @mesh stage = 0 micro_batches = 2 {
  rank.buffer @h : tensor<4xf32> kind = input per_micro_batch slots = 2 slot_bytes = 16
  rank.actions {
    rank.send @h micro_batch = 0 to_stage = 1
    // expected-error @below {{stage 0 sends @h for micro-batch 1 to stage 1, which never receives it}}
    rank.send @h micro_batch = 1 to_stage = 1
  }
}
rank.program @stage1 on @mesh stage = 1 micro_batches = 2 {
  rank.buffer @h : tensor<4xf32> kind = activation per_micro_batch slots = 1 slot_bytes = 64
  rank.actions {
    rank.recv @h micro_batch = 0 from_stage = 0
  }
}

// -----

// A message that nobody sends.
fleet.mesh @mesh ["pp" = 2]
rank.program @stage0 on @mesh stage = 0 micro_batches = 1 {
  rank.actions {
  }
}
rank.program @stage1 on @mesh stage = 1 micro_batches = 1 {
  rank.buffer @h : tensor<4xf32> kind = activation slots = 1 slot_bytes = 64
  rank.actions {
    // expected-error @below {{stage 1 receives @h from stage 0, which never sends it}}
    rank.recv @h from_stage = 0
  }
}

// -----

// The right messages in another order.
fleet.mesh @mesh ["pp" = 2]
rank.program @stage0 on @mesh stage = 0 micro_batches = 2 {
  rank.buffer @h : tensor<4xf32> kind = input per_micro_batch slots = 2 slot_bytes = 16
  rank.actions {
    // expected-error @below {{stage 0 sends @h for micro-batch 1 as message 0 to stage 1, which expects @h for micro-batch 0}}
    rank.send @h micro_batch = 1 to_stage = 1
    rank.send @h micro_batch = 0 to_stage = 1
  }
}
rank.program @stage1 on @mesh stage = 1 micro_batches = 2 {
  rank.buffer @h : tensor<4xf32> kind = activation per_micro_batch slots = 2 slot_bytes = 64
  rank.actions {
    // expected-note @below {{expected here}}
    rank.recv @h micro_batch = 0 from_stage = 0
    rank.recv @h micro_batch = 1 from_stage = 0
  }
}

// -----

fleet.mesh @mesh ["pp" = 2]
rank.program @stage0 on @mesh stage = 0 micro_batches = 1 {
  rank.buffer @h : tensor<4xf32> kind = parameter slots = 1 slot_bytes = 64
  rank.actions {
    // expected-error @below {{stage 0 sends @h as 'tensor<4xf32>' (16 bytes), stage 1 receives it as 'tensor<4xf64>' (32 bytes)}}
    rank.send @h to_stage = 1
  }
}
rank.program @stage1 on @mesh stage = 1 micro_batches = 1 {
  rank.buffer @h : tensor<4xf64> kind = activation slots = 1 slot_bytes = 64
  rank.actions {
    // expected-note @below {{received here}}
    rank.recv @h from_stage = 0
  }
}

// -----

// Both send first. With room for a message on its way this would go through.
fleet.mesh @mesh ["pp" = 2]
rank.program @stage0 on @mesh stage = 0 micro_batches = 2 {
  rank.buffer @h : tensor<4xf32> kind = input per_micro_batch slots = 2 slot_bytes = 16
  rank.buffer @dh : tensor<4xf32> kind = activation per_micro_batch slots = 1 slot_bytes = 64
  rank.actions {
    rank.send @h micro_batch = 0 to_stage = 1
    // expected-error @below {{deadlock: stage 0 sends @h for micro-batch 1 and waits for stage 1 (1 messages on their way between two stages would be enough)}}
    rank.send @h micro_batch = 1 to_stage = 1
    rank.recv @dh micro_batch = 0 from_stage = 1
  }
}
rank.program @stage1 on @mesh stage = 1 micro_batches = 2 {
  rank.buffer @h : tensor<4xf32> kind = activation per_micro_batch slots = 2 slot_bytes = 64
  rank.buffer @dh : tensor<4xf32> kind = parameter per_micro_batch slots = 2 slot_bytes = 64
  rank.actions {
    rank.recv @h micro_batch = 0 from_stage = 0
    // expected-note @below {{stage 1 sends @dh for micro-batch 0 and waits for stage 0}}
    rank.send @dh micro_batch = 0 to_stage = 0
    rank.recv @h micro_batch = 1 from_stage = 0
  }
}

// -----

// Three stages in a ring, each receiving first: no room on the way helps.
fleet.mesh @mesh ["pp" = 3]
rank.program @stage0 on @mesh stage = 0 micro_batches = 1 {
  rank.buffer @a : tensor<4xf32> kind = parameter slots = 1 slot_bytes = 64
  rank.buffer @c : tensor<4xf32> kind = activation slots = 1 slot_bytes = 64
  rank.actions {
    // expected-error @below {{deadlock: stage 0 receives @c and waits for stage 2}}
    rank.recv @c from_stage = 2
    rank.send @a to_stage = 1
  }
}
rank.program @stage1 on @mesh stage = 1 micro_batches = 1 {
  rank.buffer @a : tensor<4xf32> kind = activation slots = 1 slot_bytes = 64
  rank.buffer @b : tensor<4xf32> kind = parameter slots = 1 slot_bytes = 64
  rank.actions {
    // expected-note @below {{stage 1 receives @a and waits for stage 0}}
    rank.recv @a from_stage = 0
    rank.send @b to_stage = 2
  }
}
rank.program @stage2 on @mesh stage = 2 micro_batches = 1 {
  rank.buffer @b : tensor<4xf32> kind = activation slots = 1 slot_bytes = 64
  rank.buffer @c : tensor<4xf32> kind = parameter slots = 1 slot_bytes = 64
  rank.actions {
    // expected-note @below {{stage 2 receives @b and waits for stage 1}}
    rank.recv @b from_stage = 1
    rank.send @c to_stage = 0
  }
}

// -----

// A collective over the stages against a send.
fleet.mesh @mesh ["pp" = 2]
rank.program @stage0 on @mesh stage = 0 micro_batches = 1 {
  rank.buffer @a : tensor<4xf32> kind = parameter slots = 1 slot_bytes = 64
  rank.task @reduce reduce reads(%a = @a : tensor<4xf32>) writes(@a) {
    %0 = fleet.all_reduce sum %a axes = {pp} : tensor<4xf32>
    rank.return %0 : tensor<4xf32>
  }
  rank.actions {
    // expected-error @below {{deadlock: stage 0 is in a collective of @reduce and waits for stage 1}}
    rank.run @reduce
    rank.send @a to_stage = 1
  }
}
rank.program @stage1 on @mesh stage = 1 micro_batches = 1 {
  rank.buffer @a : tensor<4xf32> kind = activation slots = 1 slot_bytes = 64
  rank.task @reduce reduce reads(%a = @a : tensor<4xf32>) writes(@a) {
    %0 = fleet.all_reduce sum %a axes = {pp} : tensor<4xf32>
    rank.return %0 : tensor<4xf32>
  }
  rank.actions {
    // expected-note @below {{stage 1 receives @a and waits for stage 0}}
    rank.recv @a from_stage = 0
    rank.run @reduce
  }
}

// -----

// Stages that issue different collectives.
fleet.mesh @mesh ["pp" = 2]
rank.program @stage0 on @mesh stage = 0 micro_batches = 1 {
  rank.buffer @a : tensor<4xf32> kind = parameter slots = 1 slot_bytes = 64
  rank.buffer @b : tensor<8xf32> kind = parameter slots = 1 slot_bytes = 64
  rank.task @reduce reduce reads(%a = @a : tensor<4xf32>, %b = @b : tensor<8xf32>) writes(@a, @b) {
    // expected-error @below {{stage 0 issues fleet.all_reduce of tensor<4xf32> as collective 0 over #fleet.axes<{pp}>, stage 1 issues fleet.all_reduce of tensor<8xf32>}}
    %0 = fleet.all_reduce sum %a axes = {pp} : tensor<4xf32>
    %1 = fleet.all_reduce sum %b axes = {pp} : tensor<8xf32>
    rank.return %0, %1 : tensor<4xf32>, tensor<8xf32>
  }
  rank.actions {
    rank.run @reduce
  }
}
rank.program @stage1 on @mesh stage = 1 micro_batches = 1 {
  rank.buffer @b : tensor<8xf32> kind = parameter slots = 1 slot_bytes = 64
  rank.task @reduce reduce reads(%b = @b : tensor<8xf32>) writes(@b) {
    // expected-note @below {{issued here}}
    %0 = fleet.all_reduce sum %b axes = {pp} : tensor<8xf32>
    rank.return %0 : tensor<8xf32>
  }
  rank.actions {
    rank.run @reduce
  }
}

// -----

// Once for each micro-batch on one stage, once on the other.
fleet.mesh @mesh ["pp" = 2]
// expected-error @below {{stage 0 issues 2 collectives over #fleet.axes<{pp}>, stage 1 issues 0}}
rank.program @stage0 on @mesh stage = 0 micro_batches = 2 {
  rank.buffer @a : tensor<4xf32> kind = parameter slots = 1 slot_bytes = 64
  rank.task @t forward reads(%a = @a : tensor<4xf32>) writes(@a) {
    %0 = fleet.all_reduce sum %a axes = {pp} : tensor<4xf32>
    rank.return %0 : tensor<4xf32>
  }
  rank.actions {
    rank.run @t micro_batch = 0
    rank.run @t micro_batch = 1
  }
}
rank.program @stage1 on @mesh stage = 1 micro_batches = 2 {
  rank.actions {
  }
}

// -----

fleet.mesh @mesh ["pp" = 1]
rank.program @p on @mesh stage = 0 micro_batches = 1 {
  rank.buffer @a : tensor<4xf32> kind = activation per_micro_batch slots = 1 slot_bytes = 64
  rank.task @t forward reads(%a = @a : tensor<4xf32>) writes() {
  }
  rank.actions {
    // expected-error @below {{stage 0 reads @a for micro-batch 0, which nothing has written}}
    rank.run @t micro_batch = 0
  }
}

// -----

// One slot where two micro-batches are in flight.
fleet.mesh @mesh ["pp" = 1]
rank.program @p on @mesh stage = 0 micro_batches = 2 {
  rank.buffer @x : tensor<4xf32> kind = input per_micro_batch slots = 2 slot_bytes = 16
  rank.buffer @a : tensor<4xf32> kind = activation per_micro_batch slots = 1 slot_bytes = 64
  rank.task @f forward reads(%x = @x : tensor<4xf32>) writes(@a) {
    rank.return %x : tensor<4xf32>
  }
  rank.task @b backward_input reads(%a = @a : tensor<4xf32>) writes() {
  }
  rank.actions {
    rank.run @f micro_batch = 0
    rank.run @f micro_batch = 1
    // expected-error @below {{stage 0 reads @a for micro-batch 0, but slot 0 of 1 holds micro-batch 1}}
    rank.run @b micro_batch = 0
    rank.run @b micro_batch = 1
  }
}

// -----

fleet.mesh @mesh ["pp" = 1]
rank.program @p on @mesh stage = 0 micro_batches = 1 {
  // expected-error @below {{stage 0 never writes output @loss}}
  rank.buffer @loss : tensor<f32> kind = output slots = 1 slot_bytes = 64
  rank.actions {
  }
}

// -----

fleet.mesh @mesh ["pp" = 1]
rank.program @p on @mesh stage = 0 micro_batches = 2 {
  rank.task @b backward_weight reads() writes() {
  }
  rank.task @u update reads() writes() {
  }
  rank.actions {
    rank.run @b micro_batch = 0
    // expected-note @below {{runs here}}
    rank.run @u
    // expected-error @below {{stage 0 runs @b for micro-batch 1 after @u, which belongs behind it}}
    rank.run @b micro_batch = 1
  }
}

// -----

fleet.mesh @mesh ["pp" = 1]
rank.program @p on @mesh stage = 0 micro_batches = 2 {
  rank.task @b backward_weight reads() writes() {
  }
  rank.actions {
    rank.run @b micro_batch = 0
    // expected-error @below {{stage 0 runs @b for micro-batch 0 twice}}
    rank.run @b micro_batch = 0
  }
}

// -----

fleet.mesh @mesh ["pp" = 1]
rank.program @p on @mesh stage = 0 micro_batches = 2 {
  // expected-error @below {{stage 0 never runs @b for micro-batch 1}}
  rank.task @b backward_weight reads() writes() {
  }
  rank.actions {
    rank.run @b micro_batch = 0
  }
}
