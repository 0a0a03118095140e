//===- Arena.cpp - Memory that notices reuse -------------------*- C++ -*-===//
//
// One tag a byte says which byte of which element it is.
//
//===----------------------------------------------------------------------===//

#include "fleet/Interpreter/Arena.h"
#include "fleet/Support/StoredTensor.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cassert>

using namespace fleet;

static llvm::Error arenaError(const llvm::Twine &text) {
  return llvm::createStringError("arena: " + text);
}

llvm::Error Arena::checkRange(int64_t address, int64_t bytes) const {
  if (address >= 0 && bytes >= 0 && bytes <= size() - address)
    return llvm::Error::success();
  return arenaError(llvm::Twine(bytes) + " bytes at " + llvm::Twine(address) +
                    " are outside its " + llvm::Twine(size()) + " bytes");
}

unsigned Arena::elementSize(int64_t address) const {
  unsigned bytes = 1;
  while (address + bytes < size() && owners[address + bytes] == kHead + bytes)
    ++bytes;
  return bytes;
}

void Arena::destroy(int64_t begin, int64_t end, Owner left) {
  // Elements that reach in over an edge lose their bytes outside too. A tag above kHead always has its head before it.
  if (begin < end && begin < size() && owners[begin] > kHead)
    for (int64_t byte = begin - (owners[begin] - kHead); byte < begin; ++byte)
      owners[byte] = kDestroyed;
  if (begin < end)
    for (int64_t byte = end; byte < size() && owners[byte] > kHead; ++byte)
      owners[byte] = kDestroyed;
  std::fill(owners.begin() + begin, owners.begin() + end, left);
}

llvm::Error Arena::invalidate(int64_t address, int64_t bytes) {
  if (llvm::Error error = checkRange(address, bytes))
    return error;
  destroy(address, address + bytes, kDestroyed);
  return llvm::Error::success();
}

llvm::Error Arena::store(int64_t address, unsigned elementBytes,
                         const Tensor &tensor) {
  assert(elementBytes >= 1 && elementBytes <= 8 && "elements fit a double");
  int64_t bytes = tensor.size() * elementBytes;
  if (llvm::Error error = checkRange(address, bytes))
    return error;
  destroy(address, address + bytes, kEmpty);
  for (double value : tensor.data) {
    cells[address] = value;
    for (unsigned i = 0; i < elementBytes; ++i)
      owners[address + i] = kHead + i;
    address += elementBytes;
  }
  return llvm::Error::success();
}

llvm::Error Arena::checkElement(int64_t address, unsigned bytes) const {
  std::string element = "element at byte " + std::to_string(address);
  if (owners[address] == kEmpty)
    return arenaError(element + " was never written");
  if (owners[address] != kHead)
    return arenaError(element + " was written over");
  unsigned stored = elementSize(address);
  if (stored != bytes)
    return arenaError(element + " has " + llvm::Twine(stored) +
                      " bytes, read as " + llvm::Twine(bytes));
  return llvm::Error::success();
}

llvm::Expected<Tensor> Arena::load(int64_t address, unsigned elementBytes,
                                   llvm::ArrayRef<int64_t> shape) const {
  std::optional<int64_t> count = countElements(shape);
  if (!count || *count > size())
    return arenaError("a tensor is larger than its " + llvm::Twine(size()) +
                      " bytes");
  if (llvm::Error error = checkRange(address, *count * elementBytes))
    return std::move(error);
  Tensor tensor(shape);
  for (double &value : tensor.data) {
    if (llvm::Error error = checkElement(address, elementBytes))
      return std::move(error);
    value = cells[address];
    address += elementBytes;
  }
  return tensor;
}
