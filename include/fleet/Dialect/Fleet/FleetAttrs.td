//===- FleetAttrs.td - Attributes of the fleet dialect ---------*- tablegen -*-===//
//
// Enums, shardings and links to stored parameters.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_DIALECT_FLEET_FLEETATTRS_TD
#define FLEET_DIALECT_FLEET_FLEETATTRS_TD

include "fleet/Dialect/Fleet/FleetBase.td"

class Fleet_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::fleet";
  let genSpecializedAttr = 0;
}

def Fleet_Phase : Fleet_Enum<"Phase", "part of the training step", [
  I32EnumAttrCase<"Prologue", 0, "prologue">,
  I32EnumAttrCase<"Forward", 1, "forward">,
  I32EnumAttrCase<"BackwardInput", 2, "backward_input">,
  I32EnumAttrCase<"BackwardWeight", 3, "backward_weight">,
  I32EnumAttrCase<"Reduce", 4, "reduce">,
  I32EnumAttrCase<"Update", 5, "update">]>;
def Fleet_PhaseAttr : EnumAttr<Fleet_Dialect, Fleet_Phase, "phase"> {
  let assemblyFormat = "`<` $value `>`";
}

def Fleet_ReductionKind : Fleet_Enum<"ReductionKind", "how values are combined", [
  I32EnumAttrCase<"Sum", 0, "sum">,
  I32EnumAttrCase<"Max", 1, "max">,
  I32EnumAttrCase<"Min", 2, "min">]>;
def Fleet_ReductionKindAttr : EnumAttr<Fleet_Dialect, Fleet_ReductionKind, "reduction">;

def Fleet_Predicate : Fleet_Enum<"Predicate", "comparison", [
  I32EnumAttrCase<"EQ", 0, "eq">, I32EnumAttrCase<"NE", 1, "ne">,
  I32EnumAttrCase<"LT", 2, "lt">, I32EnumAttrCase<"LE", 3, "le">,
  I32EnumAttrCase<"GT", 4, "gt">, I32EnumAttrCase<"GE", 5, "ge">]>;
def Fleet_PredicateAttr : EnumAttr<Fleet_Dialect, Fleet_Predicate, "predicate">;

def Fleet_SlotKind : Fleet_Enum<"SlotKind", "what a slot of a stage program holds", [
  I32EnumAttrCase<"Input", 0, "input">, I32EnumAttrCase<"Parameter", 1, "parameter">,
  I32EnumAttrCase<"State", 2, "state">, I32EnumAttrCase<"Scalar", 3, "scalar">,
  I32EnumAttrCase<"Constant", 4, "constant">, I32EnumAttrCase<"Activation", 5, "activation">,
  I32EnumAttrCase<"Gradient", 6, "gradient">, I32EnumAttrCase<"Output", 7, "output">]>;
def Fleet_SlotKindAttr : EnumAttr<Fleet_Dialect, Fleet_SlotKind, "slot_kind">;

class Fleet_Attr<string name, string attrMnemonic> : AttrDef<Fleet_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Fleet_AxisRefAttr : Fleet_Attr<"AxisRef", "axis"> {
  let summary = "A mesh axis, or one prime-sized piece of it";
  let description = [{
    A mesh axis is held as a list of prime-sized pieces; a piece is atomic. `mp` stands for all pieces of the axis in
    order, `mp:0` for its first (major) piece alone.

    - `piece` is -1 for the whole axis, else the number of a piece.
  }];
  let parameters = (ins StringRefParameter<"name of the mesh axis">:$name, DefaultValuedParameter<"int64_t", "-1">:$piece);
  let assemblyFormat = "`<` $name (`:` $piece^)? `>`";
}

def Fleet_AxisListAttr : Fleet_Attr<"AxisList", "axes"> {
  let summary = "Axes of one dimension, major to minor";
  let parameters = (ins OptionalArrayRefParameter<"::fleet::AxisRefAttr">:$axes);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    bool empty() const { return getAxes().empty(); }
    static AxisListAttr get(::mlir::MLIRContext *context) {
      return get(context, ::llvm::ArrayRef<::fleet::AxisRefAttr>());
    }
  }];
}

def Fleet_ShardingAttr : Fleet_Attr<"Sharding", "sharding"> {
  let summary = "How a tensor lies on a mesh";
  let description = [{
    For each dimension an ordered list of axes, major to minor, and the axes over which the value is still a term of a
    reduction. Everything else is replicated.

    ```mlir
    #fleet.sharding<@mesh, [{dp}, {mp:0, mp:1} ], unreduced sum {sharding}>
    ```

    - The mesh exists and has the axes named.
    - The number of dimension lists is the rank of the tensor.
    - An axis (piece) occurs at most once.
    - The form is canonical: all pieces of an axis in order are written as the axis.
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$mesh,
      OptionalArrayRefParameter<"::fleet::AxisListAttr", "axes of each dimension, major to minor">:$dims,
      "::fleet::AxisListAttr":$unreduced, "::fleet::ReductionKind":$kind);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// No axis shards the tensor and nothing is unreduced.
    bool isReplicated() const;
    /// The sharding of a tensor of `rank` that every device holds whole.
    static ShardingAttr replicated(::mlir::FlatSymbolRefAttr mesh, int64_t rank);
  }];
}

def Fleet_PieceAttr : Fleet_Attr<"Piece", "piece"> {
  let summary = "The box of a stored tensor that a parameter is";
  let description = [{
    A parameter made from a part of a stored tensor (q, k and v of one fused weight) keeps the link: loading, checkpoints
    and names speak of the original.

    ```mlir
    #fleet.piece<offsets = [0, 64], of = [64, 192]>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$offsets, ArrayRefParameter<"int64_t">:$shape);
  let assemblyFormat = "`<` `offsets` `=` `[` $offsets `]` `,` `of` `=` `[` $shape `]` `>`";
}

#endif // FLEET_DIALECT_FLEET_FLEETATTRS_TD
