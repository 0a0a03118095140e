//===- FleetShapeOps.td - Shapes, reductions, contractions -----*- tablegen -*-===//
//
// Operations that move, repeat, select or combine elements.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_DIALECT_FLEET_FLEETSHAPEOPS_TD
#define FLEET_DIALECT_FLEET_FLEETSHAPEOPS_TD

include "fleet/Dialect/Fleet/FleetAttrs.td"


def Fleet_ConstantOp : Fleet_TensorOp<"constant", [ConstantLike, Fleet_ShardingRule, Fleet_Cost, Fleet_Kernel]> {
  let summary = "A tensor known at compile time";
  let description = [{
    Data of a float tensor is stored as f64 whatever the type of the result, so that a program made in double from an
    f32 model loses nothing; data of integers and booleans is stored as i64.

    - The value has the shape of the result.
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Fleet_Tensor:$result);
  let builders = [
    OpBuilder<(ins "::mlir::RankedTensorType":$type, "double":$splat)>
  ];
  let assemblyFormat = "$value attr-dict `:` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDeclaration = [{
    /// The value of all elements when they are equal, as double.
    std::optional<double> getSplat();
  }];
}

def Fleet_IotaOp : Fleet_TensorOp<"iota", [Fleet_LocalShardingRule, Fleet_Cost, Fleet_Kernel]> {
  let summary = "Index along one dimension";
  let arguments = (ins I64Attr:$dim);
  let results = (outs Fleet_Tensor:$result);
  let assemblyFormat = "`dim` `=` $dim attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Fleet_ReshapeOp : Fleet_TensorOp<"reshape", [Fleet_ShardingRule, Fleet_Derivative, Fleet_CostFlops, Fleet_ViewKernel]> {
  let summary = "The same elements in row-major order under another shape";
  let arguments = (ins Fleet_Tensor:$operand);
  let results = (outs Fleet_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Fleet_TransposeOp : Fleet_TensorOp<"transpose", [InferTypeOpAdaptor, Fleet_ShardingRule, Fleet_Derivative, Fleet_CostFlops,
    Fleet_ViewKernel]> {
  let summary = "Permuted dimensions: dimension d of the result is dimension permutation[d] of the operand";
  let arguments = (ins Fleet_Tensor:$operand, DenseI64ArrayAttr:$permutation);
  let results = (outs Fleet_Tensor:$result);
  let assemblyFormat = "$operand `,` $permutation attr-dict `:` type($operand) `->` type($result)";
  let hasFolder = 1;
}

def Fleet_BroadcastOp : Fleet_TensorOp<"broadcast", [Fleet_ShardingRule, Fleet_Derivative, Fleet_CostFlops, Fleet_ViewKernel]> {
  let summary = "Repeats a tensor along new dimensions";
  let description = [{
    Dimension d of the operand is dimension dims[d] of the result; all other dimensions of the result repeat it.

    ```mlir
    %1 = fleet.broadcast %b, dims = [1] : tensor<32xf32> -> tensor<8x32xf32>
    ```

    - `dims` is strictly increasing and as long as the rank of the operand.
    - Sizes of mapped dimensions are equal: repeating a dimension of size 1 takes a reshape first.
  }];
  let arguments = (ins Fleet_Tensor:$operand, DenseI64ArrayAttr:$dims);
  let results = (outs Fleet_Tensor:$result);
  let assemblyFormat = "$operand `,` `dims` `=` $dims attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Fleet_SliceOp : Fleet_TensorOp<"slice", [InferTypeOpAdaptor, Fleet_LocalShardingRule, Fleet_Derivative, Fleet_CostFlops,
    Fleet_ViewKernel]> {
  let summary = "A box of a tensor";
  let arguments = (ins Fleet_Tensor:$operand, DenseI64ArrayAttr:$offsets, DenseI64ArrayAttr:$sizes);
  let results = (outs Fleet_Tensor:$result);
  let assemblyFormat = "$operand `,` `offsets` `=` $offsets `,` `sizes` `=` $sizes attr-dict `:` type($operand) `->` type($result)";
  let hasFolder = 1;
}

def Fleet_PadOp : Fleet_TensorOp<"pad", [InferTypeOpAdaptor, Fleet_ShardingRule, Fleet_Derivative, Fleet_CostFlops, Fleet_Kernel]> {
  let summary = "A tensor inside a larger one filled with `value`";
  let arguments = (ins Fleet_Tensor:$operand, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high, F64Attr:$value);
  let results = (outs Fleet_Tensor:$result);
  let assemblyFormat = "$operand `,` `low` `=` $low `,` `high` `=` $high `,` `value` `=` $value attr-dict `:` type($operand) `->` type($result)";
}

def Fleet_ConcatOp : Fleet_TensorOp<"concat", [InferTypeOpAdaptor, Fleet_ShardingRule, Fleet_Derivative, Fleet_CostFlops, Fleet_Kernel]> {
  let summary = "Tensors side by side along one dimension";
  let arguments = (ins Variadic<Fleet_Tensor>:$operands, I64Attr:$dim);
  let results = (outs Fleet_Tensor:$result);
  let assemblyFormat = "$operands `dim` `=` $dim attr-dict `:` type($operands) `->` type($result)";
}

def Fleet_ReduceOp : Fleet_TensorOp<"reduce", [InferTypeOpAdaptor, Fleet_ShardingRule, Fleet_Derivative, Fleet_CostFlops, Fleet_Kernel]> {
  let summary = "Sum, maximum or minimum over dimensions, which disappear";
  let description = [{ The derivative is defined for sums; a maximum is differentiated where it occurs whole, in softmax. }];
  let arguments = (ins Fleet_ReductionKindAttr:$kind, Fleet_NumberTensor:$operand, DenseI64ArrayAttr:$dims);
  let results = (outs Fleet_NumberTensor:$result);
  let assemblyFormat = "$kind $operand `,` `dims` `=` $dims attr-dict `:` type($operand) `->` type($result)";
  let hasFolder = 1;
}

def Fleet_DotGeneralOp : Fleet_TensorOp<"dot_general", [InferTypeOpAdaptor, Fleet_ShardingRule, Fleet_Derivative, Fleet_CostFlops,
    Fleet_ContractionKernel]> {
  let summary = "Contraction of two tensors";
  let description = [{
    Result dimensions: batch dimensions, free dimensions of lhs, free dimensions of rhs. With `accumulator` the result is
    accumulator + product.

    ```mlir
    %0 = fleet.dot_general %q, %k batch = [0, 1] x [0, 1] contract = [3] x [3]
       : (tensor<8x4x32x16xf32>, tensor<8x4x32x16xf32>) -> tensor<8x4x32x32xf32>
    ```
  }];
  let arguments = (ins Fleet_FloatTensor:$lhs, Fleet_FloatTensor:$rhs, Optional<Fleet_FloatTensor>:$accumulator,
      DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$lhsBatch, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$rhsBatch,
      DenseI64ArrayAttr:$lhsContract, DenseI64ArrayAttr:$rhsContract);
  let results = (outs Fleet_FloatTensor:$result);
  let builders = [
    OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs, "::llvm::ArrayRef<int64_t>":$lhsBatch,
        "::llvm::ArrayRef<int64_t>":$rhsBatch, "::llvm::ArrayRef<int64_t>":$lhsContract, "::llvm::ArrayRef<int64_t>":$rhsContract)>
  ];
  let assemblyFormat = [{
    $lhs `,` $rhs (`accumulator` `=` $accumulator^ `:` type($accumulator))? (`batch` `=` $lhsBatch^ `x` $rhsBatch)?
    `contract` `=` $lhsContract `x` $rhsContract attr-dict
    `:` `(` type($lhs) `,` type($rhs) `)` `->` type($result)
  }];
  let extraClassDeclaration = [{
    /// Dimensions of an operand that are neither batch nor contracted, ascending.
    ::llvm::SmallVector<int64_t> getLhsFree();
    ::llvm::SmallVector<int64_t> getRhsFree();
  }];
}

def Fleet_GatherOp : Fleet_TensorOp<"gather", [InferTypeOpAdaptor, Fleet_LocalShardingRule, Fleet_Derivative, Fleet_CostFlops, Fleet_Kernel]> {
  let summary = "Rows of a table chosen by indices (embedding)";
  let description = [{
    `result[i…, j…] = table[indices[i…] - base, j…]`. With `base` (the table is one shard of a larger one) an index outside
    the table gives zeros; without it, it is an error of the data that the interpreter and the executables report.
  }];
  let arguments = (ins Fleet_FloatTensor:$table, Fleet_IntTensor:$indices, Optional<Fleet_ScalarInt>:$base);
  let results = (outs Fleet_FloatTensor:$result);
  let assemblyFormat = [{
    $table `,` $indices (`base` `=` $base^ `:` type($base))? attr-dict
    `:` `(` type($table) `,` type($indices) `)` `->` type($result)
  }];
}

def Fleet_ScatterAddOp : Fleet_TensorOp<"scatter_add", [Fleet_LocalShardingRule, Fleet_Derivative, Fleet_CostFlops, Fleet_Kernel]> {
  let summary = "Adds rows into a table of zeros at indices (gradient of gather)";
  let description = [{
    `result[indices[i…] - base, j…] += updates[i…, j…]`, in row-major order of i. With `base`, indices outside the result are
    skipped.
  }];
  let arguments = (ins Fleet_FloatTensor:$updates, Fleet_IntTensor:$indices, Optional<Fleet_ScalarInt>:$base);
  let results = (outs Fleet_FloatTensor:$result);
  let assemblyFormat = [{
    $updates `,` $indices (`base` `=` $base^ `:` type($base))? attr-dict
    `:` `(` type($updates) `,` type($indices) `)` `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // FLEET_DIALECT_FLEET_FLEETSHAPEOPS_TD
