//===- Import.cpp - Models from files --------------------------*- C++ -*-===//
//
// Chooses the reader by the file's name and hands out the weights.
//
//===----------------------------------------------------------------------===//

#include "fleet/Import/Import.h"
#include "Importer.h"
#include "fleet/Support/Safetensors.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace fleet {

namespace {
/// Initialisers of an ONNX file, which it keeps mapped.
class OnnxWeights : public WeightSource {
public:
  explicit OnnxWeights(std::unique_ptr<OnnxFile> file)
      : file(std::move(file)) {}
  std::optional<StoredTensor> find(llvm::StringRef name) const final {
    const StoredTensor *stored = file->find(name);
    return stored ? std::optional(*stored) : std::nullopt;
  }

private:
  std::unique_ptr<OnnxFile> file;
};
} // namespace

FailureOr<ImportedModel>
importOnnx(StringRef path, const ImportOptions &options, MLIRContext *context) {
  context->loadDialect<FleetDialect, func::FuncDialect>();
  auto file = OnnxFile::open(path);
  if (!file)
    return emitError(UnknownLoc::get(context))
           << llvm::toString(file.takeError());
  Importer importer(std::move(*file), options, context, path);
  auto module = importer.run();
  if (failed(module))
    return failure();
  ImportedModel model;
  model.module = std::move(*module);
  model.weights = std::make_unique<OnnxWeights>(std::move(importer.file));
  return model;
}

llvm::Expected<std::unique_ptr<WeightSource>> openWeights(StringRef path) {
  if (llvm::sys::path::extension(path) != ".onnx") {
    auto file = SafetensorsFile::open(path);
    if (!file)
      return file.takeError();
    return std::unique_ptr<WeightSource>(std::move(*file));
  }
  auto file = OnnxFile::open(path);
  if (!file)
    return file.takeError();
  return std::make_unique<OnnxWeights>(std::move(*file));
}

FailureOr<ImportedModel> importModel(StringRef path,
                                     const ImportOptions &options,
                                     MLIRContext *context) {
  StringRef extension = llvm::sys::path::extension(path);
  if (extension != ".mlir" && extension != ".mlirbc")
    return importOnnx(path, options, context);
  context->loadDialect<FleetDialect, func::FuncDialect>();
  ImportedModel model;
  model.module = parseSourceFile<ModuleOp>(path, context);
  if (!model.module)
    return failure();
  if (!model.module->lookupSymbol<func::FuncOp>("model"))
    return model.module->emitError("has no function @model");
  return model;
}

} // namespace fleet
