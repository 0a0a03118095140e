//===- FleetBase.td - Dialect, types, op classes ---------------*- tablegen -*-===//
//
// The dialect itself and what every operation definition builds on.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_DIALECT_FLEET_FLEETBASE_TD
#define FLEET_DIALECT_FLEET_FLEETBASE_TD

include "fleet/Interfaces/FleetInterfaces.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Fleet_Dialect : Dialect {
  let name = "fleet";
  let cppNamespace = "::fleet";
  let summary = "Tensor programs of distributed training";
  let description = [{
    Tensor operations with one meaning each, from the imported model (level 1) to the local program of a rank with explicit
    collectives (level 4). Element-wise operations take equal shapes; broadcasting is an operation. Everything a pass
    needs to know about an operation is in its four interfaces.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

def Fleet_Float : AnyTypeOf<[F32, F64]>;
def Fleet_Int : AnyTypeOf<[I32, I64]>;
def Fleet_Tensor : StaticShapeTensorOf<[F32, F64, I64, I32, I1]>;
def Fleet_FloatTensor : StaticShapeTensorOf<[F32, F64]>;
def Fleet_IntTensor : StaticShapeTensorOf<[I64, I32]>;
def Fleet_BoolTensor : StaticShapeTensorOf<[I1]>;
def Fleet_NumberTensor : StaticShapeTensorOf<[F32, F64, I64, I32]>;
def Fleet_ScalarFloat : Type<And<[Fleet_FloatTensor.predicate,
    CPred<"::llvm::cast<::mlir::RankedTensorType>($_self).getRank() == 0">]>, "scalar float tensor", "::mlir::RankedTensorType">;
def Fleet_ScalarInt : Type<And<[Fleet_IntTensor.predicate,
    CPred<"::llvm::cast<::mlir::RankedTensorType>($_self).getRank() == 0">]>, "scalar integer tensor", "::mlir::RankedTensorType">;

class Fleet_Op<string mnemonic, list<Trait> traits = []> : Op<Fleet_Dialect, mnemonic, traits>;

def Fleet_ShardingRule : DeclareOpInterfaceMethods<ShardingRuleOpInterface>;
def Fleet_LocalShardingRule : DeclareOpInterfaceMethods<ShardingRuleOpInterface, ["buildLocal"]>;
def Fleet_Derivative : DeclareOpInterfaceMethods<DerivativeOpInterface>;
def Fleet_Cost : DeclareOpInterfaceMethods<CostOpInterface>;
def Fleet_CostFlops : DeclareOpInterfaceMethods<CostOpInterface, ["getFlops"]>;
def Fleet_Kernel : DeclareOpInterfaceMethods<KernelOpInterface>;
def Fleet_BodyKernel : DeclareOpInterfaceMethods<KernelOpInterface, ["buildBody"]>;
def Fleet_ViewKernel : DeclareOpInterfaceMethods<KernelOpInterface, ["getView"]>;
def Fleet_InPlaceKernel : DeclareOpInterfaceMethods<KernelOpInterface, ["getTiedOperand"]>;
def Fleet_SilentKernel : DeclareOpInterfaceMethods<KernelOpInterface, ["communicates", "acceptsLayout"]>;
def Fleet_ContractionKernel : DeclareOpInterfaceMethods<KernelOpInterface, ["getTiedOperand", "acceptsLayout"]>;
def Fleet_StructuredKernel : DeclareOpInterfaceMethods<KernelOpInterface, ["decompose"]>;

/// A pure tensor operation: rule and cost always, the rest as listed.
class Fleet_TensorOp<string mnemonic, list<Trait> traits = []>
    : Fleet_Op<mnemonic, !listconcat([Pure], traits)>;

#endif // FLEET_DIALECT_FLEET_FLEETBASE_TD
