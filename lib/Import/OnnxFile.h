//===- OnnxFile.h - An ONNX file in memory ---------------------*- C++ -*-===//
//
// Nodes and names are parsed; the bytes of initialisers stay where they lie in the mapped file.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_LIB_IMPORT_ONNXFILE_H
#define FLEET_LIB_IMPORT_ONNXFILE_H

#include "fleet/Support/StoredTensor.h"
#include "onnx.pb.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace fleet {

/// A stored tensor, or one whose values the file holds in typed fields, which are copied to `owned`.
struct OnnxTensor {
  StoredTensor tensor;
  std::unique_ptr<std::vector<char>> owned;
};

class OnnxFile {
public:
  /// Maps and parses `path`. Whatever stands in the file, it is read or reported.
  static llvm::Expected<std::unique_ptr<OnnxFile>> open(llvm::StringRef path);

  onnx::Graph graph;
  /// Version of the default operator set.
  int64_t opset = 0;
  llvm::StringMap<OnnxTensor> initializers;

  /// The initialiser, or null.
  const StoredTensor *find(llvm::StringRef name) const;

private:
  llvm::Error parseModel(llvm::ArrayRef<char> bytes);
  llvm::Error parseGraph(llvm::ArrayRef<char> bytes);
  llvm::Error addInitializer(llvm::ArrayRef<char> bytes);

  std::unique_ptr<llvm::MemoryBuffer> buffer;
};

/// Values of a tensor message, as an attribute holds it; `raw` are its bytes where they are mapped.
llvm::Expected<OnnxTensor> readTensor(const onnx::Tensor &tensor,
                                      llvm::ArrayRef<char> raw);

} // namespace fleet

#endif // FLEET_LIB_IMPORT_ONNXFILE_H
