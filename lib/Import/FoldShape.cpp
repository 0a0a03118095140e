//===- FoldShape.cpp - Evaluation of shape operators -----------*- C++ -*-===//
//
// Reshaping, slicing, gathering and generating constants, and the helpers that emission shares.
//
//===----------------------------------------------------------------------===//

#include "Fold.h"

#include <cmath>

using namespace llvm;

namespace fleet {

Error nodeError(const onnx::Node &node, const Twine &message) {
  std::string name = node.name();
  if (name.empty() && node.output_size() > 0)
    name = node.output(0);
  return createStringError(inconvertibleErrorCode(), "node '" + name + "' (" +
                                                         node.op_type() + ") " +
                                                         message);
}

std::optional<int64_t> normalizeAxis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    return std::nullopt;
  return axis < 0 ? axis + rank : axis;
}

std::optional<ConstShape> reshapeTarget(ArrayRef<int64_t> from,
                                        ArrayRef<int64_t> requested) {
  ConstShape shape(requested);
  int64_t known = 1;
  std::optional<size_t> open;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0 && d < from.size())
      shape[d] = from[d];
    if (shape[d] == -1 && !open)
      open = d;
    else if (shape[d] < 0)
      return std::nullopt;
    else
      known *= shape[d];
  }
  int64_t total = product(from);
  if (open) {
    if (known == 0 || total % known != 0)
      return std::nullopt;
    shape[*open] = total / known;
    known = total;
  }
  return known == total ? std::optional(shape) : std::nullopt;
}

std::optional<std::vector<int64_t>> axesOf(const FoldInput &input,
                                           size_t index) {
  if (const ConstTensor *axes = input.get(index))
    return axes->integers();
  return input.attributes.integers("axes");
}

Expected<SliceBox> sliceBox(const FoldInput &input, ArrayRef<int64_t> shape) {
  const ConstTensor *starts = input.get(1), *ends = input.get(2);
  if (!starts || !ends || starts->size() != ends->size())
    return nodeError(input.node, "needs constant starts and ends");
  SliceBox box;
  box.offsets.assign(shape.size(), 0);
  box.sizes.assign(shape.begin(), shape.end());
  box.steps.assign(shape.size(), 1);
  for (int64_t i = 0; i < starts->size(); ++i) {
    auto axis = normalizeAxis(
        input.get(3) && i < input.get(3)->size() ? input.get(3)->integer(i) : i,
        shape.size());
    int64_t step =
        input.get(4) && i < input.get(4)->size() ? input.get(4)->integer(i) : 1;
    if (!axis || step < 1)
      return nodeError(input.node, "slices with an axis outside the rank or a "
                                   "step below 1, which is not supported");
    int64_t size = shape[*axis];
    auto clamp = [&](int64_t at) {
      if (at < 0)
        at = at < -size ? 0 : at + size;
      return std::min(at, size);
    };
    int64_t begin = clamp(starts->integer(i)), end = clamp(ends->integer(i));
    box.offsets[*axis] = begin;
    box.sizes[*axis] = std::max<int64_t>(0, (end - begin + step - 1) / step);
    box.steps[*axis] = step;
  }
  return box;
}

static FoldResult one(ConstTensor tensor) {
  std::vector<ConstTensor> results;
  results.push_back(std::move(tensor));
  return results;
}

/// The same values under another shape.
static FoldResult reshaped(const ConstTensor &x, ArrayRef<int64_t> shape) {
  ConstTensor result = x;
  result.shape.assign(shape.begin(), shape.end());
  return one(std::move(result));
}

static FoldResult foldReshape(const FoldInput &input) {
  auto shape = reshapeTarget(input.get(0)->shape, input.get(1)->integers());
  if (!shape)
    return nodeError(input.node, "reshapes to a shape that does not fit");
  return reshaped(*input.get(0), *shape);
}

static FoldResult foldFlatten(const FoldInput &input) {
  const ConstTensor &x = *input.get(0);
  int64_t axis = input.attributes.integer("axis", 1);
  if (axis < 0)
    axis += x.rank();
  if (axis < 0 || axis > x.rank())
    return nodeError(input.node, "has an axis outside the rank");
  ArrayRef<int64_t> shape = x.shape;
  return reshaped(
      x, {product(shape.take_front(axis)), product(shape.drop_front(axis))});
}

static FoldResult foldUnsqueeze(const FoldInput &input) {
  auto axes = axesOf(input, 1);
  if (!axes)
    return nodeError(input.node, "has no axes");
  int64_t rank = input.get(0)->rank() + axes->size();
  ConstShape shape(rank, -1);
  for (int64_t axis : *axes) {
    auto at = normalizeAxis(axis, rank);
    if (!at || shape[*at] == 1)
      return nodeError(input.node, "has an axis outside the rank");
    shape[*at] = 1;
  }
  size_t next = 0;
  for (int64_t &size : shape)
    if (size < 0)
      size = input.get(0)->shape[next++];
  return reshaped(*input.get(0), shape);
}

static FoldResult foldSqueeze(const FoldInput &input) {
  const ConstTensor &x = *input.get(0);
  auto axes = axesOf(input, 1);
  ConstShape shape;
  for (int64_t d = 0; d < x.rank(); ++d) {
    bool named = !axes && x.shape[d] == 1;
    for (int64_t axis : axes.value_or(std::vector<int64_t>()))
      named |= normalizeAxis(axis, x.rank()) == d;
    if (named && x.shape[d] != 1)
      return nodeError(input.node,
                       "squeezes a dimension of size " + Twine(x.shape[d]));
    if (!named)
      shape.push_back(x.shape[d]);
  }
  return reshaped(x, shape);
}

static FoldResult foldConcat(const FoldInput &input) {
  ConstTensor result = *input.get(0);
  auto axis = normalizeAxis(input.attributes.integer("axis", 0), result.rank());
  if (!axis)
    return nodeError(input.node, "has an axis outside the rank");
  ConstShape shape = result.shape;
  shape[*axis] = 0;
  for (const ConstTensor *x : input.inputs) {
    if (!x || x->rank() != result.rank())
      return nodeError(input.node, "has inputs of different rank");
    shape[*axis] += x->shape[*axis];
  }
  result = ConstTensor(result.kind, shape);
  ConstShape strides = rowMajorStrides(shape);
  int64_t offset = 0;
  for (const ConstTensor *x : input.inputs) {
    forEachIndex(x->shape, [&](ArrayRef<int64_t> index, int64_t flat) {
      int64_t to = offset * strides[*axis];
      for (size_t d = 0; d < index.size(); ++d)
        to += index[d] * strides[d];
      result.values[to] = x->values[flat];
    });
    offset += x->shape[*axis];
  }
  return one(std::move(result));
}

/// Elements of `x` at `place(index)` for every index of `shape`.
static ConstTensor pick(const ConstTensor &x, ArrayRef<int64_t> shape,
                        function_ref<int64_t(ArrayRef<int64_t>)> place) {
  ConstTensor result(x.kind, shape);
  forEachIndex(shape, [&](ArrayRef<int64_t> index, int64_t flat) {
    result.values[flat] = x.values[place(index)];
  });
  return result;
}

static FoldResult foldSlice(const FoldInput &input) {
  const ConstTensor &x = *input.get(0);
  Expected<SliceBox> box = sliceBox(input, x.shape);
  if (!box)
    return box.takeError();
  ConstShape strides = rowMajorStrides(x.shape);
  return one(pick(x, box->sizes, [&](ArrayRef<int64_t> index) {
    int64_t at = 0;
    for (size_t d = 0; d < index.size(); ++d)
      at += (box->offsets[d] + index[d] * box->steps[d]) * strides[d];
    return at;
  }));
}

static FoldResult foldTranspose(const FoldInput &input) {
  const ConstTensor &x = *input.get(0);
  std::vector<int64_t> permutation(x.rank());
  for (int64_t d = 0; d < x.rank(); ++d)
    permutation[d] = x.rank() - 1 - d;
  permutation = input.attributes.integers("perm").value_or(permutation);
  if (static_cast<int64_t>(permutation.size()) != x.rank())
    return nodeError(input.node, "has a permutation of another rank");
  ConstShape shape, strides = rowMajorStrides(x.shape);
  for (int64_t d : permutation) {
    if (d < 0 || d >= x.rank())
      return nodeError(input.node, "has a permutation outside the rank");
    shape.push_back(x.shape[d]);
  }
  return one(pick(x, shape, [&](ArrayRef<int64_t> index) {
    int64_t at = 0;
    for (size_t d = 0; d < index.size(); ++d)
      at += index[d] * strides[permutation[d]];
    return at;
  }));
}

static FoldResult foldGather(const FoldInput &input) {
  const ConstTensor &x = *input.get(0), &indices = *input.get(1);
  auto axis = normalizeAxis(input.attributes.integer("axis", 0), x.rank());
  if (!axis)
    return nodeError(input.node, "has an axis outside the rank");
  int64_t size = x.shape[*axis];
  for (int64_t i = 0; i < indices.size(); ++i)
    if (indices.integer(i) < -size || indices.integer(i) >= size)
      return nodeError(input.node, "has index " + Twine(indices.integer(i)) +
                                       " outside size " + Twine(size));
  ConstShape shape(x.shape.begin(), x.shape.begin() + *axis);
  shape.append(indices.shape);
  shape.append(x.shape.begin() + *axis + 1, x.shape.end());
  ConstShape strides = rowMajorStrides(x.shape),
             inner = rowMajorStrides(indices.shape);
  return one(pick(x, shape, [&](ArrayRef<int64_t> index) {
    int64_t at = 0, chosen = 0;
    for (int64_t d = 0; d < *axis; ++d)
      at += index[d] * strides[d];
    for (size_t d = 0; d < inner.size(); ++d)
      chosen += index[*axis + d] * inner[d];
    chosen = indices.integer(chosen);
    at += (chosen < 0 ? chosen + size : chosen) * strides[*axis];
    for (int64_t d = *axis + 1; d < x.rank(); ++d)
      at += index[d + inner.size() - 1] * strides[d];
    return at;
  }));
}

static FoldResult foldGatherND(const FoldInput &input) {
  const ConstTensor &x = *input.get(0), &indices = *input.get(1);
  if (indices.rank() == 0 || input.attributes.integer("batch_dims", 0) != 0 ||
      indices.shape.back() > x.rank())
    return nodeError(input.node, "has indices or batch_dims that are not "
                                 "supported");
  int64_t parts = indices.shape.back();
  for (int64_t i = 0; i < indices.size(); ++i) {
    int64_t size = x.shape[i % parts];
    if (indices.integer(i) < -size || indices.integer(i) >= size)
      return nodeError(input.node, "has index " + Twine(indices.integer(i)) +
                                       " outside size " + Twine(size));
  }
  ConstShape shape(indices.shape.begin(), std::prev(indices.shape.end()));
  size_t leading = shape.size();
  shape.append(x.shape.begin() + parts, x.shape.end());
  ConstShape strides = rowMajorStrides(x.shape),
             outer = rowMajorStrides(indices.shape);
  return one(pick(x, shape, [&](ArrayRef<int64_t> index) {
    int64_t row = 0, at = 0;
    for (size_t d = 0; d < leading; ++d)
      row += index[d] * outer[d];
    for (int64_t p = 0; p < parts; ++p) {
      int64_t chosen = indices.integer(row + p);
      at += (chosen < 0 ? chosen + x.shape[p] : chosen) * strides[p];
    }
    for (int64_t d = parts; d < x.rank(); ++d)
      at += index[leading + d - parts] * strides[d];
    return at;
  }));
}

static FoldResult foldExpand(const FoldInput &input) {
  auto target = input.get(1)->integers();
  auto shape = broadcastShape(input.get(0)->shape, target);
  if (!shape)
    return nodeError(input.node, "expands to a shape that does not broadcast");
  return one(broadcastTo(*input.get(0), *shape));
}

/// Largest constant that a file may ask for by a shape alone.
static constexpr int64_t kMaxGenerated = int64_t(1) << 28;

static FoldResult foldConstantOfShape(const FoldInput &input) {
  std::vector<int64_t> shape = input.get(0)->integers();
  auto count = countElements(shape);
  if (!count || *count > kMaxGenerated)
    return nodeError(input.node, "makes a constant that is too large");
  ConstTensor result(ConstKind::Float, shape);
  if (const onnx::Attribute *value = input.attributes.find("value")) {
    const onnx::Tensor &tensor = value->t();
    result.kind = tensor.data_type() == 9 ? ConstKind::Bool
                  : tensor.data_type() == 1 || tensor.data_type() == 11
                      ? ConstKind::Float
                      : ConstKind::Int;
    double fill = 0;
    if (const std::string &raw = tensor.raw_data(); !raw.empty()) {
      StoredTensor stored;
      stored.type = tensor.data_type() == 1    ? StoredType::F32
                    : tensor.data_type() == 11 ? StoredType::F64
                    : tensor.data_type() == 7  ? StoredType::I64
                    : tensor.data_type() == 6  ? StoredType::I32
                                               : StoredType::Bool;
      stored.bytes = ArrayRef<char>(raw.data(), raw.size());
      if (raw.size() >= sizeOf(stored.type))
        fill = stored.at(0);
    } else if (tensor.float_data_size() > 0) {
      fill = tensor.float_data(0);
    } else if (tensor.int64_data_size() > 0) {
      fill = static_cast<double>(tensor.int64_data(0));
    } else if (tensor.int32_data_size() > 0) {
      fill = tensor.int32_data(0);
    }
    llvm::fill(result.values, fill);
  }
  return one(std::move(result));
}

static FoldResult foldRange(const FoldInput &input) {
  const ConstTensor *start = input.get(0), *limit = input.get(1),
                    *delta = input.get(2);
  if (!start || !limit || !delta || start->size() != 1 || limit->size() != 1 ||
      delta->size() != 1 || delta->values[0] == 0)
    return nodeError(input.node, "needs scalars and a step that is not 0");
  double count =
      std::ceil((limit->values[0] - start->values[0]) / delta->values[0]);
  if (count > static_cast<double>(kMaxGenerated))
    return nodeError(input.node, "makes a constant that is too large");
  ConstTensor result(start->kind, {std::max<int64_t>(0, count)});
  for (int64_t i = 0; i < result.size(); ++i)
    result.values[i] = start->values[0] + i * delta->values[0];
  return one(std::move(result));
}

static FoldResult foldCumSum(const FoldInput &input) {
  ConstTensor result = *input.get(0);
  std::optional<int64_t> axis;
  if (input.get(1)->size() == 1)
    axis = normalizeAxis(input.get(1)->integer(0), result.rank());
  if (!axis || input.attributes.integer("exclusive", 0) != 0 ||
      input.attributes.integer("reverse", 0) != 0)
    return nodeError(input.node, "has an axis or form that is not supported");
  int64_t stride = rowMajorStrides(result.shape)[*axis];
  forEachIndex(result.shape, [&](ArrayRef<int64_t> index, int64_t flat) {
    if (index[*axis] > 0)
      result.values[flat] += result.values[flat - stride];
  });
  return one(std::move(result));
}

static FoldResult foldMatMul(const FoldInput &input) {
  const ConstTensor &a = *input.get(0), &b = *input.get(1);
  if (a.rank() < 2 || b.rank() < 2)
    return nodeError(input.node, "multiplies constants of rank below 2");
  ConstShape aBatch(a.shape.begin(), a.shape.end() - 2),
      bBatch(b.shape.begin(), b.shape.end() - 2);
  auto batch = broadcastShape(aBatch, bBatch);
  int64_t rows = a.shape[a.rank() - 2], inner = a.shape.back(),
          columns = b.shape.back();
  if (!batch || b.shape[b.rank() - 2] != inner)
    return nodeError(input.node, "has inputs whose shapes do not fit");
  ConstShape aShape = *batch, bShape = *batch, shape = *batch;
  aShape.append({rows, inner});
  bShape.append({inner, columns});
  shape.append({rows, columns});
  ConstTensor x = broadcastTo(a, aShape), y = broadcastTo(b, bShape);
  ConstTensor result(a.kind, shape);
  for (int64_t m = 0; m < product(*batch); ++m)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t k = 0; k < inner; ++k)
        for (int64_t j = 0; j < columns; ++j)
          result.values[(m * rows + i) * columns + j] +=
              x.values[(m * rows + i) * inner + k] *
              y.values[(m * inner + k) * columns + j];
  return one(std::move(result));
}

static FoldResult foldTrilu(const FoldInput &input) {
  ConstTensor result = *input.get(0);
  if (result.rank() < 2)
    return nodeError(input.node, "needs rank 2");
  int64_t k =
      input.get(1) && input.get(1)->size() == 1 ? input.get(1)->integer(0) : 0;
  bool upper = input.attributes.integer("upper", 1) != 0;
  forEachIndex(result.shape, [&](ArrayRef<int64_t> index, int64_t flat) {
    int64_t distance = index.back() - index[index.size() - 2];
    if (upper ? distance < k : distance > k)
      result.values[flat] = 0;
  });
  return one(std::move(result));
}

void addShapeFolders(FolderTable &folders) {
#define FLEET_FOLDER(Name, required) folders[#Name] = {fold##Name, required};
  FLEET_FOLDER(Reshape, 2)
  FLEET_FOLDER(Flatten, 1)
  FLEET_FOLDER(Unsqueeze, 1)
  FLEET_FOLDER(Squeeze, 1)
  FLEET_FOLDER(Concat, 1)
  FLEET_FOLDER(Slice, 3)
  FLEET_FOLDER(Transpose, 1)
  FLEET_FOLDER(Gather, 2)
  FLEET_FOLDER(GatherND, 2)
  FLEET_FOLDER(Expand, 2)
  FLEET_FOLDER(ConstantOfShape, 1)
  FLEET_FOLDER(Range, 3)
  FLEET_FOLDER(CumSum, 2)
  FLEET_FOLDER(MatMul, 2)
  FLEET_FOLDER(Trilu, 1)
#undef FLEET_FOLDER
}

static const FolderTable &folderTable() {
  static const FolderTable folders = [] {
    FolderTable all;
    addElementwiseFolders(all);
    addShapeFolders(all);
    return all;
  }();
  return folders;
}

bool canFold(StringRef opType) { return folderTable().contains(opType); }

FoldResult fold(const FoldInput &input) {
  FolderEntry entry = folderTable().lookup(input.node.op_type());
  for (size_t i = 0; i < entry.required; ++i)
    if (!input.get(i))
      return nodeError(input.node, "lacks input " + Twine(i));
  return entry.evaluate(input);
}

} // namespace fleet
