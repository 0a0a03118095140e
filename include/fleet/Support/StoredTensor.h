//===- StoredTensor.h - A tensor as bytes of a file ------------*- C++ -*-===//
//
// What importer, compiler and interpreter agree on when they speak of a weight or of data: an element type, a shape
// and bytes that belong to somebody else (a memory-mapped file, an ONNX initialiser).
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_SUPPORT_STOREDTENSOR_H
#define FLEET_SUPPORT_STOREDTENSOR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace fleet {

/// Element types that files hold.
enum class StoredType {
  F64,
  F32,
  F16,
  BF16,
  I64,
  I32,
  I16,
  I8,
  U64,
  U32,
  U16,
  U8,
  Bool
};

/// Bytes of one element.
unsigned sizeOf(StoredType type);
/// Name in a safetensors header: "F32", "BOOL".
llvm::StringRef nameOf(StoredType type);
/// The type with this name, nullopt for an unknown one.
std::optional<StoredType> parseStoredType(llvm::StringRef name);
/// True for F64, F32, F16 and BF16.
bool isFloat(StoredType type);

/// Number of elements of a shape; nullopt when a size is negative or the product does not fit in 63 bits.
std::optional<int64_t> countElements(llvm::ArrayRef<int64_t> shape);

/// A tensor whose bytes (little endian, row-major) somebody else owns.
struct StoredTensor {
  StoredType type = StoredType::F32;
  llvm::SmallVector<int64_t, 4> shape;
  llvm::ArrayRef<char> bytes;

  /// Number of elements; `bytes` holds as many.
  int64_t size() const { return bytes.size() / sizeOf(type); }
  /// Element `index` as double. Integers beyond 2^53 round.
  double at(int64_t index) const;
};

/// Where weights come from: a safetensors file, or the initialisers of a model.
class WeightSource {
public:
  virtual ~WeightSource() = default;
  /// The tensor with this name, nullopt when there is none. Its bytes live as long as the source.
  virtual std::optional<StoredTensor> find(llvm::StringRef name) const = 0;
};

} // namespace fleet

#endif // FLEET_SUPPORT_STOREDTENSOR_H
