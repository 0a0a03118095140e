//===- RankOps.td - What one rank executes ---------------------*- tablegen -*-===//
//
// The rank dialect: a program per pipeline stage as data, with buffers, communicators, tasks and actions.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_DIALECT_RANK_RANKOPS_TD
#define FLEET_DIALECT_RANK_RANKOPS_TD

include "fleet/Dialect/Fleet/FleetAttrs.td"
include "fleet/Dialect/Rank/RankEnums.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Rank_Dialect : Dialect {
  let name = "rank";
  let cppNamespace = "::fleet::rank";
  let summary = "What one rank executes";
  let description = [{
    Level 5: what is where in memory and what happens in which order, as data. The same form is proven, planned,
    interpreted and executed. All ranks of a pipeline stage run one program; each has an arena of its own.

    After `fleet-plan-memory` every operation of a task that owns memory has the attribute `rank.buffers`, one symbol per
    result. A view over its operand's memory has none.
  }];
  let dependentDialects = ["::fleet::FleetDialect"];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
}

class Rank_Op<string mnemonic, list<Trait> traits = []> : Op<Rank_Dialect, mnemonic, traits>;

def Rank_BufferKindAttr : EnumAttr<Rank_Dialect, Rank_BufferKind, "buffer_kind">;

def Rank_ProgramOp : Rank_Op<"program", [Symbol, SymbolTable, IsolatedFromAbove, NoTerminator, NoRegionArguments, SingleBlock,
    HasParent<"::mlir::ModuleOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "What every rank of one pipeline stage executes";
  let description = [{
    ```mlir
    rank.program @stage0 on @mesh stage = 0 micro_batches = 2 arena = 18432 {
      rank.communicator @dp axes = {dp}
      rank.buffer @w : tensor<16x4xf32> kind = parameter at = 0 slots = 1 slot_bytes = 256 {fleet.param = "w"}
      rank.task @forward forward reads(%w = @w : tensor<16x4xf32>) writes(@h) { … }
      rank.actions { … }
    }
    ```

    - There is one `rank.actions`.
    - With `arena`, its size in bytes, every buffer has a place inside.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$mesh, I64Attr:$stage, I64Attr:$microBatches,
      OptionalAttr<I64Attr>:$arena);
  let regions = (region SizedRegion<1>:$region);
  let assemblyFormat = [{
    $sym_name `on` $mesh `stage` `=` $stage `micro_batches` `=` $microBatches (`arena` `=` $arena^)?
    attr-dict-with-keyword $region
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The actions in the order in which they are executed.
    ::fleet::rank::ActionsOp getActions();
    /// The communicator over these axes; null when the program has none.
    ::fleet::rank::CommunicatorOp findCommunicator(::fleet::AxisListAttr axes);
  }];
}

def Rank_CommunicatorOp : Rank_Op<"communicator", [Symbol, HasParent<"ProgramOp">]> {
  let summary = "The ranks that differ in some mesh axes alone";
  let description = [{ One for each distinct list of axes that a collective of the program names. }];
  let arguments = (ins SymbolNameAttr:$sym_name, Fleet_AxisListAttr:$axes);
  let assemblyFormat = "$sym_name `axes` `=` custom<Axes>($axes) attr-dict";
}

def Rank_BufferOp : Rank_Op<"buffer", [Symbol, HasParent<"ProgramOp">]> {
  let summary = "A piece of the arena";
  let description = [{
    `slots` pieces of `slot_bytes`, one after the other from byte `at` on. Micro-batch m uses slot m mod `slots`; a buffer that
    is not `per_micro_batch` has one. Elements lie in row-major order, an i1 takes a byte. Discardable attributes are those of
    the slot at level 4. `at` is absent before memory is planned.

    - `at` is a multiple of 64.
    - A slot holds the tensor.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Fleet_Tensor>:$type, Rank_BufferKindAttr:$kind,
      UnitAttr:$perMicroBatch, OptionalAttr<I64Attr>:$at, I64Attr:$slots, I64Attr:$slotBytes);
  let assemblyFormat = [{
    $sym_name `:` $type `kind` `=` custom<KindKeyword>($kind) (`per_micro_batch` $perMicroBatch^)? (`at` `=` $at^)? `slots` `=` $slots
    `slot_bytes` `=` $slotBytes attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType() { return ::llvm::cast<::mlir::RankedTensorType>(getType()); }
    /// Bytes of all slots.
    int64_t getBytes() { return static_cast<int64_t>(getSlots() * getSlotBytes()); }
    /// Filled from outside before a step starts: inputs, parameters, state, scalars, constants.
    bool isBound();
  }];
}

def Rank_TaskOp : Rank_Op<"task", [Symbol, IsolatedFromAbove, SingleBlockImplicitTerminator<"ReturnOp">, HasParent<"ProgramOp">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Straight-line code that reads and writes buffers";
  let description = [{
    Block arguments are the buffers of `reads`, operands of the terminator the buffers of `writes`. Forward and backward
    tasks see the slot of their micro-batch; prologue and update tasks see all slots of a per-micro-batch input side by
    side along dimension 0.

    ```mlir
    rank.task @forward forward reads(%x = @x : tensor<2x4xf32>) writes(@h) {
      %0 = fleet.relu %x {rank.buffers = [@h]} : tensor<2x4xf32>
      rank.return %0 : tensor<2x4xf32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Fleet_PhaseAttr:$phase, SymbolRefArrayAttr:$reads, SymbolRefArrayAttr:$writes);
  let regions = (region SizedRegion<1>:$region);
  let assemblyFormat = "$sym_name custom<PhaseKeyword>($phase) custom<TaskBody>($reads, $writes, $region) attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Runs once in a step and not once for each micro-batch.
    bool runsOnce();
  }];
}

def Rank_ReturnOp : Rank_Op<"return", [Pure, Terminator, ReturnLike, HasParent<"TaskOp">]> {
  let summary = "What a task writes";
  let arguments = (ins Variadic<Fleet_Tensor>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}

def Rank_CopyOp : Rank_Op<"copy", [Pure, SameOperandsAndResultType, Fleet_CostFlops, Fleet_BodyKernel]> {
  let summary = "The same elements in memory of their own, row-major";
  let description = [{ Inserted by the memory planner where a value cannot stay where it is. }];
  let arguments = (ins Fleet_Tensor:$operand);
  let results = (outs Fleet_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

def Rank_ActionsOp : Rank_Op<"actions", [NoTerminator, NoRegionArguments, SingleBlock, HasParent<"ProgramOp">]> {
  let summary = "What happens, in order";
  let description = [{
    ```mlir
    rank.actions {
      rank.run @forward micro_batch = 0
      rank.send @h micro_batch = 0 to_stage = 1
      rank.recv @dh micro_batch = 0 from_stage = 1
      rank.run @backward micro_batch = 0
    }
    ```
  }];
  let regions = (region SizedRegion<1>:$region);
  let assemblyFormat = "attr-dict-with-keyword $region";
  let hasRegionVerifier = 1;
}

class Rank_ActionOp<string mnemonic> : Rank_Op<mnemonic, [HasParent<"ActionsOp">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]>;

def Rank_RunOp : Rank_ActionOp<"run"> {
  let summary = "Runs a task";
  let description = [{ Forward and backward tasks run for a micro-batch, all others once. }];
  let arguments = (ins FlatSymbolRefAttr:$task, OptionalAttr<I64Attr>:$microBatch);
  let assemblyFormat = "$task (`micro_batch` `=` $microBatch^)? attr-dict";
}

def Rank_SendOp : Rank_ActionOp<"send"> {
  let summary = "Sends a buffer to the rank of another stage with the same coordinates";
  let description = [{ The program holds even if the send waits for its receive. }];
  let arguments = (ins FlatSymbolRefAttr:$buffer, OptionalAttr<I64Attr>:$microBatch, I64Attr:$toStage);
  let assemblyFormat = "$buffer (`micro_batch` `=` $microBatch^)? `to_stage` `=` $toStage attr-dict";
}

def Rank_RecvOp : Rank_ActionOp<"recv"> {
  let summary = "Receives a buffer from the rank of another stage with the same coordinates";
  let arguments = (ins FlatSymbolRefAttr:$buffer, OptionalAttr<I64Attr>:$microBatch, I64Attr:$fromStage);
  let assemblyFormat = "$buffer (`micro_batch` `=` $microBatch^)? `from_stage` `=` $fromStage attr-dict";
}

#endif // FLEET_DIALECT_RANK_RANKOPS_TD
