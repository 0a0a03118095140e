//===- Fold.h - Evaluating nodes with constant inputs ----------*- C++ -*-===//
//
// Shape arithmetic, masks and tables are computed while importing and never reach the IR.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_LIB_IMPORT_FOLD_H
#define FLEET_LIB_IMPORT_FOLD_H

#include "Attributes.h"
#include "ConstTensor.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

namespace fleet {

/// A node whose inputs are all known. Absent optional inputs are null.
struct FoldInput {
  const onnx::Node &node;
  Attributes attributes;
  llvm::ArrayRef<const ConstTensor *> inputs;
  int64_t opset;

  const ConstTensor *get(size_t index) const {
    return index < inputs.size() ? inputs[index] : nullptr;
  }
};

using FoldResult = llvm::Expected<std::vector<ConstTensor>>;
using Folder = FoldResult (*)(const FoldInput &);

/// An evaluator and the number of leading inputs that it cannot do without.
struct FolderEntry {
  Folder evaluate = nullptr;
  size_t required = 1;
};
using FolderTable = llvm::StringMap<FolderEntry>;

/// True when nodes of this type can be evaluated.
bool canFold(llvm::StringRef opType);
/// Evaluates a node for which canFold holds.
FoldResult fold(const FoldInput &input);

/// Evaluators by operator, by concern.
void addElementwiseFolders(FolderTable &folders);
void addShapeFolders(FolderTable &folders);

/// `axis` of a tensor of `rank`, counted from the end when negative; nullopt outside.
std::optional<int64_t> normalizeAxis(int64_t axis, int64_t rank);
/// An error about a node.
llvm::Error nodeError(const onnx::Node &node, const llvm::Twine &message);
/// Target of a Reshape: 0 copies a size, -1 is what is left. Nullopt when the sizes do not fit.
std::optional<ConstShape> reshapeTarget(llvm::ArrayRef<int64_t> from,
                                        llvm::ArrayRef<int64_t> requested);

/// The box that a Slice takes.
struct SliceBox {
  ConstShape offsets, sizes, steps;
};
llvm::Expected<SliceBox> sliceBox(const FoldInput &input,
                                  llvm::ArrayRef<int64_t> shape);
/// Axes of Squeeze, Unsqueeze and reductions: input `index`, the attribute, or none.
std::optional<std::vector<int64_t>> axesOf(const FoldInput &input,
                                           size_t index);

} // namespace fleet

#endif // FLEET_LIB_IMPORT_FOLD_H
