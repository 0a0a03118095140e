//===- Passes.td - The passes of fleet -------------------------*- tablegen -*-===//
//
// The only registry of passes. Groups follow the levels of the program: simplify, step, plan, local, rank, native.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_TRANSFORMS_PASSES_TD
#define FLEET_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Simplify
//===----------------------------------------------------------------------===//

def ConvertPrecision : Pass<"fleet-convert-precision", "::mlir::ModuleOp"> {
  let summary = "Give every float tensor one element type";
  let description = [{
    The same program in another precision: `f64` makes every float double, casts to f32 included. Constants keep their data,
    which is stored in double whatever the type of their result.

    ```mlir
    func.func @model(%x: tensor<4xf32>) -> tensor<4xf32>   // before
    func.func @model(%x: tensor<4xf64>) -> tensor<4xf64>   // after, with to=f64
    ```
  }];
  let options = [Option<"to", "to", "std::string", "\"f64\"", "Element type: f32 or f64">];
  let dependentDialects = ["::fleet::FleetDialect"];
}

def SplitParameters : Pass<"fleet-split-parameters", "::mlir::ModuleOp"> {
  let summary = "Make parameters of the parts of a fused parameter";
  let description = [{
    GPT-2 keeps q, k and v in one weight; cutting it by heads is a cut of an inner factor, which no list of axes on the
    dimension says. Slices of a value are moved up through the operations that make it, by their sharding rules, until they
    reach parameters; a parameter that is then read through slices alone becomes one parameter for each, linked to its box
    of the stored tensor.

    ```mlir
    func.func @model(%w: tensor<64x192xf32> {fleet.param = "w"}, …)                                        // before
    func.func @model(%w: tensor<64x64xf32> {fleet.param = "w", fleet.piece = #fleet.piece<offsets = [0, 0], of = [64, 192]>}, …)  // after
    ```
  }];
  let statistics = [Statistic<"numSplit", "split", "Parameters that became several">];
  let dependentDialects = ["::fleet::FleetDialect"];
}

//===----------------------------------------------------------------------===//
// Step
//===----------------------------------------------------------------------===//

def AddLoss : Pass<"fleet-add-loss", "::mlir::ModuleOp"> {
  let summary = "Give the model a loss";
  let description = [{
    `cross_entropy` and `mse` read an output of the model by name and labels, an input that is added where the model has
    none of that name. `inside` takes an output that is the loss already. Outputs other than the loss are dropped. With
    `shift` the labels move by one along dimension 1 and the last position does not count: the logits stay whole.

    ```mlir
    func.func @model(%x: …) -> (tensor<8x4xf32> {fleet.output = "logits"})                                       // before
    func.func @model(%x: …, %labels: tensor<8xi64> {fleet.input = "labels"}) -> (tensor<f32> {fleet.output = "loss"}) // after
    ```
  }];
  let options = [
    Option<"kind", "kind", "std::string", "\"cross_entropy\"", "cross_entropy, mse or inside">,
    Option<"output", "output", "std::string", "\"logits\"", "Output that the loss reads, or is (inside)">,
    Option<"labels", "labels", "std::string", "\"labels\"", "Input with the labels">,
    Option<"ignoreIndex", "ignore-index", "int64_t", "-100", "Label that does not count">,
    Option<"allCount", "all-count", "bool", "false", "Every label counts: no label is ignored">,
    Option<"shift", "shift", "bool", "false", "Position i predicts the label of position i + 1">
  ];
  let dependentDialects = ["::fleet::FleetDialect"];
}

def Autodiff : Pass<"fleet-autodiff", "::mlir::ModuleOp"> {
  let summary = "Make the step: forward, and backward by the derivative interface";
  let description = [{
    Turns `@model`, whose output is the loss, into `@step`, which returns the loss and the gradient of every parameter that
    is trained. Operations carry their phase; a backward operation that only parameter gradients need is
    `backward_weight`. `fleet.origin` numbers the forward operations, and a backward operation has the number of the one
    that it differentiates. Gradients of a value with several uses are one `fleet.sum`.

    ```mlir
    func.func @model(%x: …, %w: tensor<16x4xf32> {fleet.param = "w"}) -> (tensor<f32> {fleet.output = "loss"})  // before
    func.func @step(%x: …, %w: …) -> (tensor<f32> {fleet.output = "loss"},
                                      tensor<16x4xf32> {fleet.gradient = "w"})                                  // after
    ```
  }];
  let options = [ListOption<"frozen", "frozen", "std::string", "Parameters that are not trained: names, * matches anything">];
  let dependentDialects = ["::fleet::FleetDialect", "::mlir::func::FuncDialect"];
}

def GradientMerge : Pass<"fleet-gradient-merge", "::mlir::ModuleOp"> {
  let summary = "Run forward and backward on micro-batches and sum what they give";
  let description = [{
    The batch, dimension 0 of every input, is a factor like any other: it is followed through the sharding rules, and every
    operation is built for one micro-batch. What is a sum over the batch is a term for each micro-batch and may only
    leave the region; anything else that would need another micro-batch is an error. Sums of gradients of one
    parameter, used in several places, move behind the region, where pipeline stages can exchange their terms.

    ```mlir
    %g = fleet.dot_general %x, %d … : (tensor<8x16xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>       // before
    %g = fleet.accumulate micro_batches = 2 (%xm = %x : tensor<8x16xf32>) -> tensor<16x4xf32> { … }  // after
    ```
  }];
  let options = [Option<"microBatches", "micro-batches", "int64_t", "1", "Number of micro-batches">];
  let dependentDialects = ["::fleet::FleetDialect"];
}

def Clip : Pass<"fleet-clip", "::mlir::ModuleOp"> {
  let summary = "Compute the global norm of the gradients and clip by it";
  let description = [{
    The norm is the square root of the sum over all parameters of the sum of squares, and an output of the step. With
    `global-norm` c above 0 every gradient is multiplied by min(1, c / (norm + epsilon)).

    ```mlir
    return %loss, %g                        // before
    return %loss, %clipped, %norm           // after; %norm is the output "grad_norm"
    ```
  }];
  let options = [
    Option<"globalNorm", "global-norm", "double", "0", "Largest norm; 0 does not clip">,
    Option<"epsilon", "epsilon", "double", "1e-6", "Added to the norm before dividing">
  ];
  let dependentDialects = ["::fleet::FleetDialect"];
}

def Optimizer : Pass<"fleet-optimizer", "::mlir::ModuleOp"> {
  let summary = "Update the parameters from their gradients";
  let description = [{
    Adds the optimizer's state and the scalars it reads (`lr`, and `t`, the number of the update counted from 1) as
    arguments, and returns new parameters and state. `fleet.updates` on a result is the number of the argument that it
    replaces.

    ```mlir
    func.func @step(%w: …) -> (…, tensor<4xf32> {fleet.gradient = "w"})                                  // before
    func.func @step(%w: …, %m: tensor<4xf32> {fleet.state = "m", fleet.of = "w"}, …, %lr: tensor<f32>)
        -> (…, tensor<4xf32> {fleet.updates = 0}, tensor<4xf32> {fleet.updates = 1}, …)                  // after
    ```
  }];
  let options = [
    Option<"name", "name", "std::string", "\"sgd\"", "sgd, momentum, adam or adamw">,
    Option<"momentum", "momentum", "double", "0.9", "Decay of the velocity">,
    Option<"nesterov", "nesterov", "bool", "false", "Nesterov's form of momentum">,
    Option<"beta1", "beta1", "double", "0.9", "Decay of the first moment">,
    Option<"beta2", "beta2", "double", "0.999", "Decay of the second moment">,
    Option<"epsilon", "eps", "double", "1e-8", "Added to the root of the second moment">,
    Option<"weightDecay", "weight-decay", "double", "0", "Weight decay">,
    Option<"keepGradients", "keep-gradients", "bool", "false", "Return the gradients too">
  ];
  let dependentDialects = ["::fleet::FleetDialect"];
}

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

def ApplyStrategy : Pass<"fleet-apply-strategy", "::mlir::ModuleOp"> {
  let summary = "Make the mesh and the shardings of inputs, parameters and optimizer state";
  let description = [{
    Takes a step (level 2) and gives every argument of it a sharding. Inputs are cut along the batch over `dp` and
    `sharding`. Parameters are cut over `mp` as Megatron does, which is found by following where a cut dimension flows; a pin
    of the user's goes before. Optimizer state is cut over `sharding` (ZeRO stage 1) along its outermost dimension that
    divides.

    ```mlir
    func.func @step(%x: tensor<8x16xf32>, %w1: tensor<16x32xf32>, …)                                      // before
    fleet.mesh @mesh ["dp" = 2, "pp" = 1, "sharding" = 1, "sep" = 1, "mp" = 2]                            // after
    func.func @step(%x: tensor<8x16xf32> {fleet.sharding = #fleet.sharding<@mesh, [{dp}, {} ]>},
                    %w1: tensor<16x32xf32> {fleet.sharding = #fleet.sharding<@mesh, [{}, {mp} ]>}, …)
    ```
  }];
  let options = [
    Option<"dp", "dp", "int64_t", "1", "Data-parallel degree">,
    Option<"pp", "pp", "int64_t", "1", "Number of pipeline stages">,
    Option<"sharding", "sharding", "int64_t", "1", "Degree of optimizer-state sharding (ZeRO stage 1)">,
    Option<"sep", "sep", "int64_t", "1", "Sequence-parallel degree">,
    Option<"mp", "mp", "int64_t", "1", "Tensor-parallel degree">,
    ListOption<"order", "order", "std::string", "Mesh axes from the outermost to the innermost">,
    ListOption<"pins", "pins", "std::string", "Shardings by name of parameter, input or value: name=[{}, {mp} ]">
  ];
  let dependentDialects = ["::fleet::FleetDialect"];
}

def PropagateSharding : Pass<"fleet-propagate-sharding", "::mlir::ModuleOp"> {
  let summary = "Give every value a sharding";
  let description = [{
    Propagates the shardings of arguments and pinned values over the factors of operations to a fixed point, then decides
    where terms of a sum stay unreduced: a value with one use passes through what is linear in it; everything else is
    reduced where it is made, once.

    ```mlir
    %4 = fleet.dot_general %3, %w2 …                                                     // before
    %4 = fleet.dot_general %3, %w2 … {fleet.shardings = [#fleet.sharding<@mesh, [{dp}, {} ]>]}  // after
    ```
  }];
  let dependentDialects = ["::fleet::FleetDialect"];
}

def SplitStages : Pass<"fleet-split-stages", "::mlir::ModuleOp"> {
  let summary = "Give every forward and backward operation a pipeline stage";
  let description = [{
    Cuts the forward operations, in program order, into as many contiguous stages as the mesh has along `pp`, so that the
    longest stage (computation of forward and backward, and what it receives) is as short as possible; or begins each
    stage where `starts` says (a name of a parameter or value; the operation that uses or makes it first begins the
    stage). A backward operation belongs to the stage of the operation that it differentiates. Operations on inputs and
    constants alone have no stage: every stage that needs them computes them.

    ```mlir
    %1 = fleet.relu %0 {fleet.origin = 7 : i64}                            // before
    %1 = fleet.relu %0 {fleet.origin = 7 : i64, fleet.stage = 1 : i64}     // after
    ```
  }];
  let options = [ListOption<"starts", "starts", "std::string", "Where each stage but the first begins">];
  let statistics = [Statistic<"crossingBytes", "crossing-bytes", "Bytes that one micro-batch sends between stages, forward">];
  let dependentDialects = ["::fleet::FleetDialect"];
}

//===----------------------------------------------------------------------===//
// Local
//===----------------------------------------------------------------------===//

def Partition : Pass<"fleet-partition", "::mlir::ModuleOp"> {
  let summary = "Rewrite the step to local shapes with explicit collectives";
  let description = [{
    For each operation: operands are brought to the shardings that its factors ask for, the operation is built on local
    shapes, and its result goes from the sharding in which it is made to the one it is planned to have. A value that is
    gathered larger than its users need gives a remark.

    ```mlir
    %4 = fleet.dot_general %3, %w2 contract = [1] x [0] : (tensor<8x32xf32>, tensor<32x4xf32>) -> tensor<8x4xf32>  // before
    %a = fleet.dot_general %3, %w2 contract = [1] x [0] : (tensor<4x16xf32>, tensor<16x4xf32>) -> tensor<4x4xf32>  // after
    %4 = fleet.all_reduce sum %a axes = {mp} : tensor<4x4xf32>
    ```
  }];
  let statistics = [Statistic<"numCollectives", "collectives", "Collectives that resharding made">];
  let dependentDialects = ["::fleet::FleetDialect"];
}

def OutlineTasks : Pass<"fleet-outline-tasks", "::mlir::ModuleOp"> {
  let summary = "Turn the local step into one program of tasks per stage";
  let description = [{
    Each stage gets what it must produce: the update of the parameters that it uses, its outputs, and what other stages
    ask of it. Values that live between tasks become slots. Sums whose terms belong to several stages (gradients of a
    tied parameter, the global norm) are exchanged as partial sums and added in the order of stages, everywhere alike.

    ```mlir
    func.func @step(…) { … fleet.accumulate … }                              // before
    fleet.program @stage0 on @mesh stage = 0 micro_batches = 2 {             // after
      fleet.slot input @x : tensor<2x16xf32> per_micro_batch {fleet.input = "x"}
      fleet.task @forward forward reads(%x = @x : tensor<2x16xf32>) writes(@a3) { … }
      …
    }
    ```
  }];
  let dependentDialects = ["::fleet::FleetDialect"];
}

def FuseCollectives : Pass<"fleet-fuse-collectives", "::mlir::ModuleOp"> {
  let summary = "Fuse all_reduces into buckets";
  let description = [{
    Independent all_reduces over the same axes become one, up to `bucket-bytes` each, in the order in which their operands
    become ready. A bucket is one operation with many operands, which the memory planner lays side by side.

    ```mlir
    %a = fleet.all_reduce sum %x axes = {dp} : tensor<4xf32>                           // before
    %b = fleet.all_reduce sum %y axes = {dp} : tensor<8xf32>
    %a, %b = fleet.all_reduce sum %x, %y axes = {dp} : tensor<4xf32>, tensor<8xf32>    // after
    ```
  }];
  let options = [Option<"bucketBytes", "bucket-bytes", "int64_t", "33554432", "Largest bucket in bytes; 0 fuses nothing">];
  let statistics = [Statistic<"numFused", "fused", "all_reduces that went into a bucket of several">];
  let dependentDialects = ["::fleet::FleetDialect"];
}

//===----------------------------------------------------------------------===//
// Rank
//===----------------------------------------------------------------------===//

def Schedule : Pass<"fleet-schedule", "::mlir::ModuleOp"> {
  let summary = "Decide what every stage does in which order";
  let description = [{
    Makes a `rank.program` of every stage program. `1F1B` runs min(n, S - 1 - k) forwards on stage k of S, then forwards and
    backwards in turn; `F-then-B` (GPipe) runs all forwards first. A value is sent right after the task that makes it
    and received right before the first task that reads it; the order is one that cannot deadlock when every send waits
    for its receive. A buffer has a slot for each micro-batch that is in flight at once.

    ```mlir
    fleet.program @stage0 on @mesh stage = 0 micro_batches = 2 {                                       // before
      fleet.slot activation @h : tensor<2x4xf32> per_micro_batch
      fleet.task @forward forward …
    rank.program @stage0 on @mesh stage = 0 micro_batches = 2 {                                        // after
      rank.buffer @h : tensor<2x4xf32> kind = activation per_micro_batch slots = 2 slot_bytes = 64
      rank.task @forward forward …
      rank.actions {
        rank.run @forward micro_batch = 0
        rank.send @h micro_batch = 0 to_stage = 1
        …
    ```
  }];
  let options = [Option<"mode", "mode", "std::string", "\"1F1B\"", "1F1B or F-then-B">];
  let dependentDialects = ["::fleet::FleetDialect", "::fleet::rank::RankDialect"];
}

def VerifySchedule : Pass<"fleet-verify-schedule", "::mlir::ModuleOp"> {
  let summary = "Prove that the rank programs fit together";
  let description = [{
    Takes the programs of all stages and proves, or reports the first thing that is wrong:

    - Every send has its receive: for each pair of stages the same buffers, of the same type, in the same order.
    - Nothing deadlocks when every send waits for its receive. A cycle is reported with the action, the micro-batch and
      the stage that each member waits for, and how many messages on their way would avoid it.
    - Members of a communicator issue the same collectives in one order.
    - Whatever is read was written before for the same micro-batch, and no other micro-batch has taken the slot.
    - Every task runs once (for each micro-batch), updates after all backwards.

    ```
    error: deadlock: stage 0 sends @h for micro-batch 1 and waits for stage 1
    note: stage 1 sends @dh for micro-batch 0 and waits for stage 0
    ```
  }];
}

def PlanMemory : Pass<"fleet-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Give every value a place in one static arena";
  let description = [{
    Decides where results are computed: in the buffer that the task writes them to, over an operand that nobody needs any
    more, or in a temporary. Reductions between ranks and accumulating products work in place, and the operands of one
    reduction lie side by side. Views own no memory. Where a value cannot stay where it is, `rank.copy` copies it; numbers
    never change. Then buffers whose lives do not meet share bytes, slot by slot over the whole list of actions. The peak
    of live bytes, below which no arena can be, is recorded as `rank.lower_bound`.

    ```mlir
    rank.buffer @h : tensor<2x4xf32> kind = activation per_micro_batch slots = 2 slot_bytes = 64           // before
    %0 = fleet.relu %x : tensor<2x4xf32>
    rank.buffer @h : tensor<2x4xf32> kind = activation per_micro_batch at = 128 slots = 2 slot_bytes = 64  // after
    %0 = fleet.relu %x {rank.buffers = [@h]} : tensor<2x4xf32>
    ```
  }];
  let statistics = [Statistic<"numCopies", "copies", "Copies that were needed">];
  let dependentDialects = ["::fleet::rank::RankDialect"];
}

#endif // FLEET_TRANSFORMS_PASSES_TD
