//===- Passes.h - The passes of fleet --------------------------*- C++ -*-===//
//
// Pass constructors, options and registration, generated from Passes.td.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_TRANSFORMS_PASSES_H
#define FLEET_TRANSFORMS_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace fleet {

#define GEN_PASS_DECL
#include "fleet/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "fleet/Transforms/Passes.h.inc"

} // namespace fleet

#endif // FLEET_TRANSFORMS_PASSES_H
