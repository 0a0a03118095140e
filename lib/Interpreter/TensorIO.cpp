//===- TensorIO.cpp - Tensors in and out of text and files -----*- C++ -*-===//
//
// Decimal forms and safetensors.
//
//===----------------------------------------------------------------------===//

#include "fleet/Interpreter/TensorIO.h"
#include "fleet/Support/Safetensors.h"
#include "llvm/Support/Format.h"

#include <cstdlib>

using namespace fleet;

Tensor fleet::toTensor(const StoredTensor &stored) {
  Tensor tensor(stored.shape);
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.data[i] = stored.at(i);
  return tensor;
}

StoredTensor fleet::asStored(const Tensor &tensor) {
  return {StoredType::F64,
          tensor.shape,
          {reinterpret_cast<const char *>(tensor.data.data()),
           tensor.data.size() * sizeof(double)}};
}

static std::string formatDigits(double value, int digits) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.*g", digits, value);
  return text;
}

std::string fleet::formatExact(double value) { return formatDigits(value, 17); }

std::string fleet::formatNumber(double value) {
  for (int digits = 15; digits < 17; ++digits) {
    std::string text = formatDigits(value, digits);
    if (std::strtod(text.c_str(), nullptr) == value)
      return text;
  }
  return formatDigits(value, 17);
}

namespace {
/// Walks a tensor in row-major order and writes brackets around each dimension.
struct Printer {
  llvm::raw_ostream &os;
  const Tensor &tensor;
  int64_t limit;
  int64_t position = 0;

  void print(int64_t dim) {
    if (position >= limit) {
      os << "...";
      return;
    }
    if (dim == tensor.rank()) {
      os << formatNumber(tensor.data[position++]);
      return;
    }
    os << "[";
    for (int64_t i = 0; i < tensor.shape[dim] && (i == 0 || position < limit);
         ++i) {
      os << (i == 0 ? "" : ", ");
      print(dim + 1);
    }
    os << (position >= limit && position < tensor.size() ? ", ...]" : "]");
  }
};
} // namespace

void fleet::printTensor(llvm::raw_ostream &os, const Tensor &tensor,
                        int64_t limit) {
  Printer{os, tensor, limit}.print(0);
}

llvm::Error fleet::writeTensors(llvm::StringRef path,
                                llvm::ArrayRef<NamedTensor> tensors) {
  std::vector<NamedStoredTensor> stored;
  for (const NamedTensor &entry : tensors)
    stored.push_back({entry.name, asStored(entry.tensor)});
  return writeSafetensors(path, stored);
}
