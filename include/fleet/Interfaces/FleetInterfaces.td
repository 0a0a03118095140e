//===- FleetInterfaces.td - What an operation tells a pass -----*- tablegen -*-===//
//
// Four interfaces carry all knowledge about an operation: sharding rule, derivative, cost and kernel. A pass never looks
// at the name of an operation.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_INTERFACES_FLEETINTERFACES_TD
#define FLEET_INTERFACES_FLEETINTERFACES_TD

include "mlir/IR/OpBase.td"

def ShardingRuleOpInterface : OpInterface<"ShardingRuleOpInterface"> {
  let cppNamespace = "::fleet";
  let description = [{
    Says which dimensions of operands and results are the same factor, and how the operation looks on local shapes.
  }];
  let methods = [
    InterfaceMethod<"The factors of this operation.",
      "::fleet::ShardingRule", "getShardingRule", (ins)>,
    InterfaceMethod<[{
        Builds the operation on local operands. Attributes that depend on position or global size change here (an
        embedding subtracts its range's start). The default clones the operation with local result types.
      }],
      "::llvm::SmallVector<::mlir::Value>", "buildLocal",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands, "const ::fleet::LocalForm &":$form), [{}], [{
        ::fleet::ShardingRule rule = $_op.getShardingRule();
        ::mlir::IRMapping mapping;
        mapping.map($_op->getOperands(), operands);
        ::mlir::Operation *local = builder.clone(*$_op.getOperation(), mapping);
        for (auto [result, type] : ::llvm::zip(
                 local->getResults(), ::fleet::localResultTypes($_op, rule, form)))
          result.setType(type);
        return ::llvm::SmallVector<::mlir::Value>(local->getResults());
      }]>,
  ];
}

def DerivativeOpInterface : OpInterface<"DerivativeOpInterface"> {
  let cppNamespace = "::fleet";
  let description = [{
    Reverse-mode derivative. What an operation's derivative reads is what the ops it builds use: saved-value analysis
    looks there, so that nothing is declared twice.
  }];
  let methods = [
    InterfaceMethod<[{
        Builds the vector-Jacobian product. `resultGrads` has one value per result, null where nothing depends on that
        result. Fills `operandGrads` (one entry per operand, null on entry) for every operand with `wanted` set; an
        entry stays null when the derivative is zero everywhere.
      }],
      "void", "buildVjp",
      (ins "::mlir::OpBuilder &":$builder, "::llvm::ArrayRef<::mlir::Value>":$resultGrads,
           "::llvm::ArrayRef<bool>":$wanted, "::llvm::MutableArrayRef<::mlir::Value>":$operandGrads)>,
  ];
}

def CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::fleet";
  let description = [{
    What executing the operation once costs, from its own (global or local) shapes.
  }];
  let methods = [
    InterfaceMethod<"Floating-point operations. The default counts one per element of the first result.",
      "int64_t", "getFlops", (ins), [{}], [{ return ::fleet::countElements($_op->getResult(0)); }]>,
    InterfaceMethod<"Bytes read and written, each operand and result once.",
      "int64_t", "getBytes", (ins), [{}], [{ return ::fleet::countBytes($_op); }]>,
  ];
}

def KernelOpInterface : OpInterface<"KernelOpInterface"> {
  let cppNamespace = "::fleet";
  let description = [{
    How the operation becomes code. The class says which of the other methods have a meaning.
  }];
  let methods = [
    InterfaceMethod<"What kind of code this operation is.",
      "::fleet::KernelClass", "getKernelClass", (ins)>,
    InterfaceMethod<[{
        Elementwise: one element of the result from one element of every operand, in arith and math ops that work on
        scalars and vectors alike. `type` is the (scalar or vector) type of the result.
      }],
      "::mlir::Value", "buildBody",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::ValueRange":$operands, "::mlir::Type":$type),
      [{}], [{ llvm_unreachable("operation has no element-wise body"); }]>,
    InterfaceMethod<[{
        Structured: rewrites the operation into element-wise, broadcast and reduction ops, which fusion then keeps in
        registers.
      }],
      "::llvm::SmallVector<::mlir::Value>", "decompose", (ins "::mlir::OpBuilder &":$builder),
      [{}], [{ llvm_unreachable("operation has no decomposition"); }]>,
    InterfaceMethod<[{
        View: layout of the result over the memory of operand 0, nullopt when strides cannot express it and the
        elements have to be copied.
      }],
      "::std::optional<::fleet::StridedLayout>", "getView", (ins "const ::fleet::StridedLayout &":$source),
      [{}], [{ return std::nullopt; }]>,
    InterfaceMethod<"Collective: whether anything is sent, so that all members of a communicator must do it.",
      "bool", "communicates", (ins), [{}],
      [{ return $_op.getKernelClass() == ::fleet::KernelClass::Collective; }]>,
    InterfaceMethod<[{
        The operand in whose memory result `result` is computed: a reduction between ranks and an accumulating product work
        in place. nullopt where the result has memory of its own.
      }],
      "::std::optional<unsigned>", "getTiedOperand", (ins "unsigned":$result), [{}], [{ return std::nullopt; }]>,
    InterfaceMethod<[{
        Whether result `result` may be written over operand `operand`, element by element, while the operation runs. The
        default says so where the sharding rule shows that an element of the result needs that element alone.
      }],
      "bool", "mayOverwrite", (ins "unsigned":$operand, "unsigned":$result), [{}],
      [{ return ::fleet::worksByElement($_op, operand, result); }]>,
    InterfaceMethod<"Whether the operation reads operand `operand` in this layout; where not, it is copied first.",
      "bool", "acceptsLayout", (ins "unsigned":$operand, "const ::fleet::StridedLayout &":$layout), [{}], [{
        return $_op.getKernelClass() != ::fleet::KernelClass::Collective || layout.isContiguous();
      }]>,
  ];
}

#endif // FLEET_INTERFACES_FLEETINTERFACES_TD
