//===- Safetensors.h - Reader and writer of safetensors --------*- C++ -*-===//
//
// Weights, data, gradients and checkpoints travel as safetensors: 8 bytes with the length of a JSON header, the header,
// then the tensors. Files are memory-mapped; whatever stands in one, opening it gives a message and not a crash.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_SUPPORT_SAFETENSORS_H
#define FLEET_SUPPORT_SAFETENSORS_H

#include "fleet/Support/StoredTensor.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>

namespace fleet {

/// A memory-mapped safetensors file. Tensors point into the mapping and live as long as this object.
class SafetensorsFile : public WeightSource {
public:
  /// Maps `path` and checks its whole header: known element types, offsets inside the file, sizes that agree with
  /// shapes, no two tensors over the same bytes.
  static llvm::Expected<std::unique_ptr<SafetensorsFile>>
  open(llvm::StringRef path);

  std::optional<StoredTensor> find(llvm::StringRef name) const final;
  /// Names of all tensors in the order of their bytes.
  llvm::ArrayRef<std::string> names() const { return order; }
  /// Path that was opened, for messages.
  llvm::StringRef path() const { return fileName; }

private:
  llvm::Error sortAndCheckOverlap();

  std::string fileName;
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  llvm::StringMap<StoredTensor> tensors;
  std::vector<std::string> order;
};

/// A tensor to write.
struct NamedStoredTensor {
  std::string name;
  StoredTensor tensor;
};

/// Writes `tensors` in the order given. The file appears under `path` whole or not at all.
llvm::Error writeSafetensors(llvm::StringRef path,
                             llvm::ArrayRef<NamedStoredTensor> tensors);

} // namespace fleet

#endif // FLEET_SUPPORT_SAFETENSORS_H
