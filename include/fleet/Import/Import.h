//===- Import.h - Models from files ----------------------------*- C++ -*-===//
//
// Reads a model into a level 1 module and keeps its weights where they lie.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_IMPORT_IMPORT_H
#define FLEET_IMPORT_IMPORT_H

#include "fleet/Support/StoredTensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <memory>

namespace fleet {

struct ImportOptions {
  /// Value of symbolic dimensions that stand first in an input's shape. 0: not given.
  int64_t batch = 0;
  /// Shapes of inputs whose other dimensions are symbolic, by name.
  llvm::StringMap<llvm::SmallVector<int64_t>> inputs;
};

/// A level 1 module, and the weights that came with it (null for text).
struct ImportedModel {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<WeightSource> weights;
};

/// Reads an ONNX file (opsets 11 to 20) as f32. Reports what is wrong as one diagnostic; operators that are not supported
/// are all named in one. Parameters become arguments when something other than shape arithmetic reads them.
mlir::FailureOr<ImportedModel> importOnnx(llvm::StringRef path,
                                          const ImportOptions &options,
                                          mlir::MLIRContext *context);

/// Reads an ONNX file, or level 1 text or bytecode (.mlir, .mlirbc).
mlir::FailureOr<ImportedModel> importModel(llvm::StringRef path,
                                           const ImportOptions &options,
                                           mlir::MLIRContext *context);

/// Weights from a safetensors file or the initialisers of an ONNX file, by the file's extension.
llvm::Expected<std::unique_ptr<WeightSource>> openWeights(llvm::StringRef path);

} // namespace fleet

#endif // FLEET_IMPORT_IMPORT_H
