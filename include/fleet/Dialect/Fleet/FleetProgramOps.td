//===- FleetProgramOps.td - Meshes, collectives, structure -----*- tablegen -*-===//
//
// What turns a tensor program into a distributed one: meshes, collectives, micro-batches, tasks.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_DIALECT_FLEET_FLEETPROGRAMOPS_TD
#define FLEET_DIALECT_FLEET_FLEETPROGRAMOPS_TD

include "fleet/Dialect/Fleet/FleetShapeOps.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Fleet_MeshOp : Fleet_Op<"mesh", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "Devices as a grid of named axes";
  let description = [{
    A device's number is the row-major index of its coordinates. `pp` selects pipeline stages and never shards a tensor.

    ```mlir
    fleet.mesh @mesh ["dp" = 2, "pp" = 1, "sharding" = 1, "sep" = 1, "mp" = 2]
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$axes, DenseI64ArrayAttr:$sizes);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Size of an axis; nullopt for an unknown name.
    std::optional<int64_t> getAxisSize(::llvm::StringRef axis);
    /// Size of an axis reference: the whole axis or one of its prime pieces.
    std::optional<int64_t> getRefSize(::fleet::AxisRefAttr ref);
    /// Number of devices.
    int64_t getNumDevices();
    /// Coordinates of a device along the axes in order.
    ::llvm::SmallVector<int64_t> getCoordinates(int64_t device);
  }];
}

class Fleet_CollectiveOp<string mnemonic, list<Trait> traits = [], Trait kernel = Fleet_Kernel>
    : Fleet_TensorOp<mnemonic, !listconcat(traits, [Fleet_CostFlops, kernel])>;

def Fleet_AllReduceOp : Fleet_CollectiveOp<"all_reduce", [InferTypeOpAdaptor], Fleet_InPlaceKernel> {
  let summary = "Combines the values of all devices along axes; every device gets the result";
  let description = [{ Several operands are one collective: a bucket, laid side by side by the memory planner. Sums run in rank order. }];
  let arguments = (ins Variadic<Fleet_NumberTensor>:$operands, Fleet_AxisListAttr:$axes, Fleet_ReductionKindAttr:$kind);
  let results = (outs Variadic<Fleet_NumberTensor>:$results);
  let assemblyFormat = "$kind $operands `axes` `=` custom<Axes>($axes) attr-dict `:` type($operands)";
}

def Fleet_AllGatherOp : Fleet_CollectiveOp<"all_gather"> {
  let summary = "Puts the shards of a dimension together";
  let arguments = (ins Fleet_Tensor:$operand, I64Attr:$dim, Fleet_AxisListAttr:$axes);
  let results = (outs Fleet_Tensor:$result);
  let assemblyFormat = "$operand `dim` `=` $dim `axes` `=` custom<Axes>($axes) attr-dict `:` type($operand) `->` type($result)";
}

def Fleet_ReduceScatterOp : Fleet_CollectiveOp<"reduce_scatter"> {
  let summary = "Combines the values of all devices along axes; every device gets its shard of one dimension";
  let arguments = (ins Fleet_NumberTensor:$operand, I64Attr:$dim, Fleet_AxisListAttr:$axes, Fleet_ReductionKindAttr:$kind);
  let results = (outs Fleet_NumberTensor:$result);
  let assemblyFormat = "$kind $operand `dim` `=` $dim `axes` `=` custom<Axes>($axes) attr-dict `:` type($operand) `->` type($result)";
}

def Fleet_AllToAllOp : Fleet_CollectiveOp<"all_to_all"> {
  let summary = "Moves axes from one sharded dimension to another";
  let description = [{ `concatDim` was sharded over the axes and becomes whole; `splitDim` becomes sharded. }];
  let arguments = (ins Fleet_Tensor:$operand, I64Attr:$splitDim, I64Attr:$concatDim, Fleet_AxisListAttr:$axes);
  let results = (outs Fleet_Tensor:$result);
  let assemblyFormat = [{
    $operand `split` `=` $splitDim `concat` `=` $concatDim `axes` `=` custom<Axes>($axes) attr-dict
    `:` type($operand) `->` type($result)
  }];
}

def Fleet_ShardSliceOp : Fleet_CollectiveOp<"shard_slice", [], Fleet_SilentKernel> {
  let summary = "This device's shard of a dimension that it holds whole; nothing is sent";
  let arguments = (ins Fleet_Tensor:$operand, I64Attr:$dim, Fleet_AxisListAttr:$axes);
  let results = (outs Fleet_Tensor:$result);
  let assemblyFormat = "$operand `dim` `=` $dim `axes` `=` custom<Axes>($axes) attr-dict `:` type($operand) `->` type($result)";
}

def Fleet_ShardOffsetOp : Fleet_CollectiveOp<"shard_offset", [], Fleet_SilentKernel> {
  let summary = "First element of this device's shard of a dimension: floor(s * size / shards)";
  let arguments = (ins I64Attr:$size, Fleet_AxisListAttr:$axes);
  let results = (outs Fleet_ScalarInt:$result);
  let assemblyFormat = "`size` `=` $size `axes` `=` custom<Axes>($axes) attr-dict `:` type($result)";
}

def Fleet_AccumulateOp : Fleet_Op<"accumulate", [SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<CostOpInterface, ["getFlops"]>]> {
  let summary = "Runs its region on each micro-batch and sums what it yields";
  let description = [{
    Operands are cut along dimension 0 into `microBatches` equal parts; the block arguments are one part. Values from outside
    are visible inside. Results are sums over the micro-batches, in their order.
  }];
  let arguments = (ins Variadic<Fleet_Tensor>:$inputs, I64Attr:$microBatches);
  let results = (outs Variadic<Fleet_NumberTensor>:$results);
  let regions = (region SizedRegion<1>:$region);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Fleet_YieldOp : Fleet_Op<"yield", [Pure, Terminator, ReturnLike, HasParent<"AccumulateOp">]> {
  let summary = "What one micro-batch contributes";
  let arguments = (ins Variadic<Fleet_NumberTensor>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}

def Fleet_ProgramOp : Fleet_Op<"program", [Symbol, SymbolTable, IsolatedFromAbove, NoTerminator, NoRegionArguments,
    SingleBlock, HasParent<"::mlir::ModuleOp">]> {
  let summary = "What the ranks of one pipeline stage execute";
  let description = [{
    Slots are the values that live between tasks; tasks are straight-line code on local shapes. The order of tasks in a
    step is the prologue, all micro-batches of forward and backward tasks, reduce, update; a schedule makes a list of it.
    A slot of the same name in another stage's program is the same value: `from_stage` says who makes it.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$mesh, I64Attr:$stage, I64Attr:$microBatches);
  let regions = (region SizedRegion<1>:$region);
  let assemblyFormat = [{
    $sym_name `on` $mesh `stage` `=` $stage `micro_batches` `=` $microBatches attr-dict-with-keyword $region
  }];
}

def Fleet_SlotOp : Fleet_Op<"slot", [Symbol, HasParent<"ProgramOp">]> {
  let summary = "A named value that lives between the tasks of a stage";
  let description = [{
    - `per_micro_batch`: each micro-batch has its own (inputs, activations).
    - `from_stage`: another stage makes the value and sends it; each micro-batch where per_micro_batch.
    - Discardable attributes say what an input, parameter or state is in the user's files (`fleet.input`, `fleet.param`,
      `fleet.state`, `fleet.of`, `fleet.piece`, `fleet.sharding`, `fleet.scalar`, `fleet.output`).
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Fleet_Tensor>:$type, Fleet_SlotKindAttr:$kind,
      UnitAttr:$perMicroBatch, OptionalAttr<I64Attr>:$fromStage);
  let assemblyFormat = [{
    $kind $sym_name `:` $type (`per_micro_batch` $perMicroBatch^)? (`from_stage` `=` $fromStage^)? attr-dict
  }];
}

def Fleet_TaskOp : Fleet_Op<"task", [Symbol, IsolatedFromAbove, SingleBlockImplicitTerminator<"ReturnOp">, HasParent<"ProgramOp">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Straight-line code that reads and writes slots";
  let description = [{
    Block arguments are the slots of `reads`, the operands of the terminator the slots of `writes`. Forward and backward tasks
    run once for each micro-batch. A per-micro-batch slot means the micro-batch at hand, except in prologue and update tasks,
    where an input slot stands for all micro-batches of this rank, side by side along dimension 0.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Fleet_PhaseAttr:$phase, SymbolRefArrayAttr:$reads, SymbolRefArrayAttr:$writes);
  let regions = (region SizedRegion<1>:$region);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Fleet_ReturnOp : Fleet_Op<"return", [Pure, Terminator, ReturnLike, HasParent<"TaskOp">]> {
  let summary = "What a task writes";
  let arguments = (ins Variadic<Fleet_Tensor>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}

def Fleet_KernelOp : Fleet_Op<"kernel", [IsolatedFromAbove, SingleBlockImplicitTerminator<"KernelYieldOp">,
    DeclareOpInterfaceMethods<CostOpInterface, ["getFlops"]>, Pure]> {
  let summary = "Operations that become one loop nest";
  let description = [{
    The body holds element-wise, broadcast, generator, view and reduction ops; what it does not yield never reaches
    memory.
  }];
  let arguments = (ins Variadic<Fleet_Tensor>:$inputs);
  let results = (outs Variadic<Fleet_Tensor>:$results);
  let regions = (region SizedRegion<1>:$region);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Fleet_KernelYieldOp : Fleet_Op<"kernel_yield", [Pure, Terminator, ReturnLike, HasParent<"KernelOp">]> {
  let summary = "What a kernel writes to memory";
  let arguments = (ins Variadic<Fleet_Tensor>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}

#endif // FLEET_DIALECT_FLEET_FLEETPROGRAMOPS_TD
