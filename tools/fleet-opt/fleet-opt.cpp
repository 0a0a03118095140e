//===- fleet-opt.cpp - Any pass alone, text in, text out -------*- C++ -*-===//
//
// Registers dialects and passes.
//
//===----------------------------------------------------------------------===//

#include "fleet/Dialect/Fleet/FleetDialect.h"
#include "fleet/Dialect/Rank/RankDialect.h"
#include "fleet/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<fleet::FleetDialect, fleet::rank::RankDialect,
                  mlir::func::FuncDialect>();
  mlir::registerTransformsPasses();
  fleet::registerFleetPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "fleet optimizer driver\n", registry));
}
