//===- RankEnums.td - Enums of the rank dialect ----------------*- tablegen -*-===//
//
// On their own, because tablegen emits every enum of a file and those of the fleet dialect have their header.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_DIALECT_RANK_RANKENUMS_TD
#define FLEET_DIALECT_RANK_RANKENUMS_TD

include "mlir/IR/EnumAttr.td"

/// The kinds of slots at level 4 with their numbers, and temporaries.
def Rank_BufferKind : I32EnumAttr<"BufferKind", "what a buffer holds", [
  I32EnumAttrCase<"Input", 0, "input">, I32EnumAttrCase<"Parameter", 1, "parameter">,
  I32EnumAttrCase<"State", 2, "state">, I32EnumAttrCase<"Scalar", 3, "scalar">,
  I32EnumAttrCase<"Constant", 4, "constant">, I32EnumAttrCase<"Activation", 5, "activation">,
  I32EnumAttrCase<"Gradient", 6, "gradient">, I32EnumAttrCase<"Output", 7, "output">,
  I32EnumAttrCase<"Temporary", 8, "temporary">]> {
  let cppNamespace = "::fleet::rank";
  let genSpecializedAttr = 0;
}

#endif // FLEET_DIALECT_RANK_RANKENUMS_TD
