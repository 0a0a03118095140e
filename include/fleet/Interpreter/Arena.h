//===- Arena.h - Memory that notices reuse ---------------------*- C++ -*-===//
//
// The memory of one rank at level 5. An element stored at byte address a of the plan keeps its double in cell a; its
// other bytes belong to it. Whatever is written over any byte of an element destroys it, and reading a destroyed
// element is an error: a buffer that is reused too early is found and not a silent wrong number.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_INTERPRETER_ARENA_H
#define FLEET_INTERPRETER_ARENA_H

#include "fleet/Interpreter/Tensor.h"
#include "llvm/Support/Error.h"

#include <cstdint>

namespace fleet {

class Arena {
public:
  /// Memory of `bytes` bytes in which nothing is written.
  explicit Arena(int64_t bytes) : cells(bytes), owners(bytes, kEmpty) {}

  int64_t size() const { return cells.size(); }

  /// Stores the elements of `tensor` side by side from byte `address` on, each taking `elementBytes` (at most 8).
  llvm::Error store(int64_t address, unsigned elementBytes,
                    const Tensor &tensor);
  /// Reads a tensor that was stored with the same element size.
  llvm::Expected<Tensor> load(int64_t address, unsigned elementBytes,
                              llvm::ArrayRef<int64_t> shape) const;
  /// Forgets what bytes [address, address + bytes) hold, as at the end of a buffer's life.
  llvm::Error invalidate(int64_t address, int64_t bytes);

private:
  /// What a byte is part of.
  enum Owner : uint8_t {
    kEmpty,     ///< nothing was written here
    kDestroyed, ///< the rest of an element that was written over
    kHead,      ///< first byte of an element; kHead + i is its byte i
    kLast = kHead + 7
  };

  llvm::Error checkRange(int64_t address, int64_t bytes) const;
  /// Whether an element of so many bytes starts at `address` and is whole.
  llvm::Error checkElement(int64_t address, unsigned bytes) const;
  /// Turns whole elements that reach into [begin, end) to `left`.
  void destroy(int64_t begin, int64_t end, Owner left);
  /// Bytes of the element that starts at `address`.
  unsigned elementSize(int64_t address) const;

  std::vector<double> cells;
  std::vector<uint8_t> owners;
};

} // namespace fleet

#endif // FLEET_INTERPRETER_ARENA_H
