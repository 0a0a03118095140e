//===- Importer.h - From ONNX nodes to fleet operations --------*- C++ -*-===//
//
// The state of one import and what the emitters of operators build with.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_LIB_IMPORT_IMPORTER_H
#define FLEET_LIB_IMPORT_IMPORTER_H

#include "Fold.h"
#include "OnnxFile.h"
#include "fleet/Dialect/Fleet/FleetOps.h"
#include "fleet/Import/Import.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"

namespace fleet {

/// What a name of the graph stands for.
struct Imported {
  std::optional<ConstTensor> constant;
  mlir::Value value;
  /// Elements of a sequence.
  std::vector<Imported> sequence;

  bool isSequence() const { return !sequence.empty(); }
};

class Importer;

/// A node whose inputs are not all known, while it is being emitted.
struct EmitInput {
  Importer &importer;
  const onnx::Node &node;
  Attributes attributes;
  llvm::ArrayRef<const Imported *> inputs;
  int64_t opset;

  /// Input `index`, null when it is absent.
  const Imported *get(size_t index) const {
    return index < inputs.size() ? inputs[index] : nullptr;
  }
  bool has(size_t index) const { return get(index) != nullptr; }
  /// The constant that input `index` is, null when it is not one.
  const ConstTensor *constant(size_t index) const {
    return has(index) && get(index)->constant ? &*get(index)->constant
                                              : nullptr;
  }
  /// Input `index` as a value.
  mlir::Value value(size_t index) const;
  /// The inputs as an evaluator sees them, for shape operands.
  std::vector<const ConstTensor *> constants() const;
};

using EmitResult = llvm::Expected<std::vector<Imported>>;
using Emitter = EmitResult (*)(EmitInput &);

struct EmitterEntry {
  Emitter emit = nullptr;
  size_t required = 1;
};
using EmitterTable = llvm::StringMap<EmitterEntry>;

void addElementwiseEmitters(EmitterTable &emitters);
void addShapeEmitters(EmitterTable &emitters);
void addNetworkEmitters(EmitterTable &emitters);

class Importer {
public:
  Importer(std::unique_ptr<OnnxFile> file, const ImportOptions &options,
           mlir::MLIRContext *context, llvm::StringRef path);

  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> run();

  mlir::OpBuilder b;
  /// Location of the node at hand.
  mlir::Location loc;

  mlir::RankedTensorType tensor(llvm::ArrayRef<int64_t> shape,
                                mlir::Type element) {
    return mlir::RankedTensorType::get(shape, element);
  }
  /// A constant as operations; dimensions along which it is uniform become a broadcast.
  mlir::Value materialize(const ConstTensor &constant, mlir::Type element = {});
  /// `value` repeated to `shape`, to which it broadcasts as numpy does.
  mlir::Value broadcast(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  /// A tensor of equal elements of the type of `like`.
  mlir::Value full(mlir::Value like, double value) {
    return buildFull(b, loc, typeOf(like), value);
  }
  /// Element type in fleet of an ONNX element type; null when there is none.
  mlir::Type elementType(int32_t onnxType);

  std::unique_ptr<OnnxFile> file;

private:
  llvm::Error addInputs();
  llvm::Expected<llvm::SmallVector<int64_t>>
  inputShape(const onnx::ValueInfo &input);
  llvm::Error checkSupported();
  void readSignature();
  void warnMergedInitializers();
  llvm::Expected<const Imported *> lookup(const onnx::Node &node,
                                          const std::string &name);
  llvm::Expected<const Imported *>
  importInitializer(const std::string &name, const StoredTensor &tensor);
  llvm::Error importNode(const onnx::Node &node);
  llvm::Expected<std::vector<Imported>> evaluate(const onnx::Node &node);
  llvm::Error define(const onnx::Node &node, std::vector<Imported> results);
  llvm::Error addOutputs();

  const ImportOptions &options;
  std::string path;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp func;
  llvm::StringMap<Imported> values;
  /// Initialisers that the exporter marks as buffers.
  llvm::StringSet<> buffers;
};

} // namespace fleet

#endif // FLEET_LIB_IMPORT_IMPORTER_H
