//===- TensorIO.h - Tensors in and out of text and files -------*- C++ -*-===//
//
// Conversion between the interpreter's tensors and the tensors of files, and a text form.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_INTERPRETER_TENSORIO_H
#define FLEET_INTERPRETER_TENSORIO_H

#include "fleet/Interpreter/Tensor.h"
#include "fleet/Support/StoredTensor.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace fleet {

/// A tensor with its name in the user's files.
struct NamedTensor {
  std::string name;
  Tensor tensor;
};

/// Reads a stored tensor of any element type.
Tensor toTensor(const StoredTensor &stored);
/// The tensor as F64 bytes, which it keeps owning.
StoredTensor asStored(const Tensor &tensor);

/// Decimal form with at most 17 significant digits, the shortest that reads back as the same double.
std::string formatNumber(double value);
/// Decimal form with 17 significant digits: metrics are compared as text.
std::string formatExact(double value);
/// Prints nested lists: [[1, 2], [3, 4]]. Of a tensor of more than `limit` elements only the first ones, then "...".
void printTensor(llvm::raw_ostream &os, const Tensor &tensor, int64_t limit);

/// Writes tensors as F64.
llvm::Error writeTensors(llvm::StringRef path,
                         llvm::ArrayRef<NamedTensor> tensors);

} // namespace fleet

#endif // FLEET_INTERPRETER_TENSORIO_H
