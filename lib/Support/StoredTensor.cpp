//===- StoredTensor.cpp - A tensor as bytes of a file ----------*- C++ -*-===//
//
// Element types of files and their conversion to double.
//
//===----------------------------------------------------------------------===//

#include "fleet/Support/StoredTensor.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace fleet;

namespace {
struct TypeInfo {
  llvm::StringLiteral name;
  unsigned size;
};
} // namespace

/// In the order of the enum.
static constexpr TypeInfo kTypes[] = {
    {"F64", 8}, {"F32", 4}, {"F16", 2}, {"BF16", 2}, {"I64", 8},
    {"I32", 4}, {"I16", 2}, {"I8", 1},  {"U64", 8},  {"U32", 4},
    {"U16", 2}, {"U8", 1},  {"BOOL", 1}};

unsigned fleet::sizeOf(StoredType type) {
  return kTypes[static_cast<unsigned>(type)].size;
}

llvm::StringRef fleet::nameOf(StoredType type) {
  return kTypes[static_cast<unsigned>(type)].name;
}

std::optional<StoredType> fleet::parseStoredType(llvm::StringRef name) {
  for (unsigned i = 0; i < std::size(kTypes); ++i)
    if (kTypes[i].name == name)
      return static_cast<StoredType>(i);
  return std::nullopt;
}

bool fleet::isFloat(StoredType type) { return type <= StoredType::BF16; }

std::optional<int64_t> fleet::countElements(llvm::ArrayRef<int64_t> shape) {
  // A size of 0 anywhere makes the tensor empty, however large the others are.
  int64_t count = 1;
  bool overflow = false, empty = false;
  for (int64_t size : shape) {
    if (size < 0)
      return std::nullopt;
    empty |= size == 0;
    overflow |= llvm::MulOverflow(count, size, count) != 0;
  }
  if (empty)
    return 0;
  if (overflow)
    return std::nullopt;
  return count;
}

template <typename T> static T read(const char *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

/// IEEE half precision: 1 sign, 5 exponent and 10 mantissa bits.
static double halfToDouble(uint16_t bits) {
  double sign = bits & 0x8000 ? -1.0 : 1.0;
  int exponent = (bits >> 10) & 0x1f;
  double mantissa = bits & 0x3ff;
  if (exponent == 0x1f)
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  if (exponent == 0)
    return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(mantissa + 1024, exponent - 25);
}

double StoredTensor::at(int64_t index) const {
  const char *element = bytes.data() + index * sizeOf(type);
  switch (type) {
  case StoredType::F64:
    return read<double>(element);
  case StoredType::F32:
    return read<float>(element);
  case StoredType::F16:
    return halfToDouble(read<uint16_t>(element));
  case StoredType::BF16:
    return llvm::bit_cast<float>(uint32_t(read<uint16_t>(element)) << 16);
  case StoredType::I64:
    return static_cast<double>(read<int64_t>(element));
  case StoredType::I32:
    return read<int32_t>(element);
  case StoredType::I16:
    return read<int16_t>(element);
  case StoredType::I8:
    return read<int8_t>(element);
  case StoredType::U64:
    return static_cast<double>(read<uint64_t>(element));
  case StoredType::U32:
    return read<uint32_t>(element);
  case StoredType::U16:
    return read<uint16_t>(element);
  case StoredType::U8:
    return read<uint8_t>(element);
  case StoredType::Bool:
    return *element != 0;
  }
  llvm_unreachable("unknown element type");
}
