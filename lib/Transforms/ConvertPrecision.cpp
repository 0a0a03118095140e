//===- ConvertPrecision.cpp - One float type everywhere --------*- C++ -*-===//
//
// Every float tensor of a module gets the same element type, so that one model serves an f64 reference and an f32
// program.
//
//===----------------------------------------------------------------------===//

#include "fleet/Dialect/Fleet/FleetDialect.h"
#include "fleet/Transforms/Passes.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace fleet {
#define GEN_PASS_DEF_CONVERTPRECISION
#include "fleet/Transforms/Passes.h.inc"

namespace {
struct ConvertPrecision : impl::ConvertPrecisionBase<ConvertPrecision> {
  using ConvertPrecisionBase::ConvertPrecisionBase;

  void runOnOperation() final {
    if (to != "f32" && to != "f64") {
      getOperation().emitError("precision '") << to << "' is not f32 or f64";
      return signalPassFailure();
    }
    Type element = to == "f64" ? Type(Float64Type::get(&getContext()))
                               : Type(Float32Type::get(&getContext()));
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](RankedTensorType type) -> std::optional<Type> {
      if (!isa<FloatType>(type.getElementType()))
        return std::nullopt;
      return type.clone(element);
    });
    // Data of constants stays as it is: the walk does not enter element attributes.
    replacer.addReplacement([](ElementsAttr value) {
      return std::pair(Attribute(value), WalkResult::skip());
    });
    replacer.recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/true,
                                          /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
  }
};
} // namespace
} // namespace fleet
