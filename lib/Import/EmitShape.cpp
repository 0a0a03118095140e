//===- EmitShape.cpp - Operators that move elements ------------*- C++ -*-===//
//
// Reshapes, slices, gathers, splits and reductions of values; their shapes and axes are constants by now.
//
//===----------------------------------------------------------------------===//

#include "Importer.h"

using namespace llvm;
using namespace mlir;

namespace fleet {

static EmitResult one(Value value) {
  std::vector<Imported> results(1);
  results[0].value = value;
  return results;
}

static EmitResult emitReshape(EmitInput &in) {
  if (!in.constant(1))
    return nodeError(in.node, "needs a constant shape");
  auto shape =
      reshapeTarget(typeOf(in.value(0)).getShape(), in.constant(1)->integers());
  if (!shape)
    return nodeError(in.node, "reshapes to a shape that does not fit");
  return one(in.importer.reshape(in.value(0), *shape));
}

static EmitResult emitFlatten(EmitInput &in) {
  ArrayRef<int64_t> shape = typeOf(in.value(0)).getShape();
  int64_t rank = shape.size();
  int64_t axis = in.attributes.integer("axis", 1);
  if (axis < 0)
    axis += rank;
  if (axis < 0 || axis > rank)
    return nodeError(in.node, "has an axis outside the rank");
  return one(
      in.importer.reshape(in.value(0), {product(shape.take_front(axis)),
                                        product(shape.drop_front(axis))}));
}

/// Runs the evaluator of a shape operator on a constant of the value's shape and reshapes to what it gives.
static EmitResult emitByShape(EmitInput &in) {
  std::vector<const ConstTensor *> constants = in.constants();
  ConstTensor probe(ConstKind::Bool, typeOf(in.value(0)).getShape());
  constants[0] = &probe;
  FoldResult folded = fold({in.node, in.attributes, constants, in.opset});
  if (!folded)
    return folded.takeError();
  return one(in.importer.reshape(in.value(0), folded->front().shape));
}

static EmitResult emitExpand(EmitInput &in) {
  if (!in.constant(1))
    return nodeError(in.node, "needs a constant shape");
  auto shape = broadcastShape(typeOf(in.value(0)).getShape(),
                              in.constant(1)->integers());
  if (!shape)
    return nodeError(in.node, "expands to a shape that does not broadcast");
  return one(in.importer.broadcast(in.value(0), *shape));
}

static EmitResult emitTranspose(EmitInput &in) {
  int64_t rank = typeOf(in.value(0)).getRank();
  std::vector<int64_t> permutation(rank);
  for (int64_t d = 0; d < rank; ++d)
    permutation[d] = rank - 1 - d;
  permutation = in.attributes.integers("perm").value_or(permutation);
  std::vector<int64_t> sorted = permutation;
  llvm::sort(sorted);
  for (int64_t d = 0; d < rank; ++d)
    if (static_cast<int64_t>(sorted.size()) != rank || sorted[d] != d)
      return nodeError(in.node, "has a permutation that is none of the rank");
  return one(in.importer.b.createOrFold<TransposeOp>(in.importer.loc,
                                                     in.value(0), permutation));
}

static EmitResult emitSlice(EmitInput &in) {
  std::vector<const ConstTensor *> constants = in.constants();
  Expected<SliceBox> box =
      sliceBox({in.node, in.attributes, constants, in.opset},
               typeOf(in.value(0)).getShape());
  if (!box)
    return box.takeError();
  if (llvm::any_of(box->steps, [](int64_t step) { return step != 1; }))
    return nodeError(in.node, "slices with a step, which is not yet supported");
  return one(in.importer.b.createOrFold<SliceOp>(in.importer.loc, in.value(0),
                                                 box->offsets, box->sizes));
}

static EmitResult emitConcat(EmitInput &in) {
  SmallVector<Value> values;
  for (size_t i = 0; i < in.inputs.size(); ++i)
    values.push_back(in.value(i));
  auto type = typeOf(values[0]);
  auto axis = normalizeAxis(in.attributes.integer("axis", 0), type.getRank());
  for (Value value : values) {
    bool fits = axis && typeOf(value).getRank() == type.getRank() &&
                typeOf(value).getElementType() == type.getElementType();
    for (int64_t d = 0; fits && d < type.getRank(); ++d)
      fits = d == *axis || typeOf(value).getDimSize(d) == type.getDimSize(d);
    if (!fits)
      return nodeError(in.node, "has inputs whose shapes do not fit");
  }
  return one(ConcatOp::create(in.importer.b, in.importer.loc, values, *axis));
}

/// A part of a value along `axis`.
static Value part(EmitInput &in, Value value, int64_t axis, int64_t offset,
                  int64_t size) {
  SmallVector<int64_t> offsets(typeOf(value).getRank(), 0),
      sizes(typeOf(value).getShape());
  offsets[axis] = offset;
  sizes[axis] = size;
  return in.importer.b.createOrFold<SliceOp>(in.importer.loc, value, offsets,
                                             sizes);
}

/// Sizes into which Split and SplitToSequence cut a dimension.
static Expected<std::vector<int64_t>> splitSizes(EmitInput &in, int64_t size,
                                                 int64_t outputs) {
  std::vector<int64_t> sizes;
  if (const ConstTensor *given = in.constant(1)) {
    sizes = given->integers();
    // A scalar is the size of every part.
    if (given->rank() == 0 && sizes[0] > 0)
      sizes.assign((size + sizes[0] - 1) / sizes[0], sizes[0]);
  } else if (auto attribute = in.attributes.integers("split")) {
    sizes = *attribute;
  } else if (outputs > 0) {
    sizes.assign(outputs, (size + outputs - 1) / outputs);
  }
  int64_t total = 0;
  for (int64_t part : sizes)
    total += part < 0 ? size + 1 : part;
  if (!sizes.empty() && total > size && total - sizes.back() < size)
    sizes.back() -= total - size, total = size;
  if (total != size)
    return nodeError(in.node, "splits " + Twine(size) +
                                  " into parts that "
                                  "make " +
                                  Twine(total));
  return sizes;
}

static Expected<std::vector<Imported>> splitParts(EmitInput &in,
                                                  int64_t outputs) {
  Value x = in.value(0);
  auto axis =
      normalizeAxis(in.attributes.integer("axis", 0), typeOf(x).getRank());
  if (!axis)
    return nodeError(in.node, "has an axis outside the rank");
  auto sizes = splitSizes(in, typeOf(x).getDimSize(*axis), outputs);
  if (!sizes)
    return sizes.takeError();
  std::vector<Imported> parts;
  int64_t offset = 0;
  for (int64_t size : *sizes) {
    parts.emplace_back().value = part(in, x, *axis, offset, size);
    offset += size;
  }
  return parts;
}

static EmitResult emitSplit(EmitInput &in) {
  return splitParts(in, in.node.output_size());
}

static EmitResult emitSplitToSequence(EmitInput &in) {
  auto parts = splitParts(in, 0);
  if (!parts)
    return parts.takeError();
  std::vector<Imported> results(1);
  results[0].sequence = std::move(*parts);
  return results;
}

static EmitResult emitSequenceAt(EmitInput &in) {
  const ConstTensor *index = in.constant(1);
  if (!in.get(0)->isSequence() || !index || index->size() != 1)
    return nodeError(in.node, "needs a sequence and a constant index");
  auto at = normalizeAxis(index->integer(0), in.get(0)->sequence.size());
  if (!at)
    return nodeError(in.node, "has an index outside the sequence");
  return std::vector<Imported>{in.get(0)->sequence[*at]};
}

/// Gather by one constant index, or by consecutive ones: a slice.
static std::optional<Value> gatherSlice(EmitInput &in, Value x, int64_t axis,
                                        const ConstTensor &indices) {
  std::vector<int64_t> chosen = indices.integers();
  int64_t size = typeOf(x).getDimSize(axis);
  for (int64_t &index : chosen)
    index += index < 0 ? size : 0;
  if (chosen.empty() || indices.rank() > 1)
    return std::nullopt;
  for (size_t i = 0; i < chosen.size(); ++i)
    if (chosen[i] != chosen[0] + static_cast<int64_t>(i) || chosen[i] < 0 ||
        chosen[i] >= size)
      return std::nullopt;
  Value taken = part(in, x, axis, chosen[0], chosen.size());
  if (indices.rank() == 1)
    return taken;
  SmallVector<int64_t> shape(typeOf(taken).getShape());
  shape.erase(shape.begin() + axis);
  return in.importer.reshape(taken, shape);
}

/// Steps of the indices along each of their dimensions, when they are an affine function that starts at 0.
static std::optional<ConstShape> affineSteps(const ConstTensor &indices) {
  if (indices.size() == 0 || indices.integer(0) != 0)
    return std::nullopt;
  ConstShape strides = rowMajorStrides(indices.shape), steps(indices.rank(), 0);
  for (int64_t d = 0; d < indices.rank(); ++d)
    if (indices.shape[d] > 1)
      steps[d] = indices.integer(strides[d]);
  bool affine = true;
  forEachIndex(indices.shape, [&](ArrayRef<int64_t> index, int64_t flat) {
    int64_t expected = 0;
    for (size_t d = 0; d < index.size(); ++d)
      expected += index[d] * steps[d];
    affine &= indices.integer(flat) == expected;
  });
  return affine ? std::optional(steps) : std::nullopt;
}

/// Indices into a flattened value that only rearrange it (attention masks of the older exporter): the value takes back
/// the dimensions that the steps of the indices tell, and is repeated along the rest.
static std::optional<Value> gatherRearranged(EmitInput &in, Value x,
                                             const ConstTensor &indices) {
  auto steps = affineSteps(indices);
  // The flattened value may have dimensions of size 1 behind the first: so has the result.
  auto from = typeOf(x);
  if (!steps || from.getRank() == 0 ||
      from.getDimSize(0) != from.getNumElements())
    return std::nullopt;
  SmallVector<int64_t> sizes, targets;
  for (int64_t d = 0; d < indices.rank(); ++d)
    if ((*steps)[d] != 0) {
      sizes.push_back(indices.shape[d]);
      targets.push_back(d);
    }
  // Row-major: each step is the number of elements behind it.
  int64_t behind = 1;
  for (size_t i = targets.size(); i-- > 0; behind *= sizes[i])
    if ((*steps)[targets[i]] != behind)
      return std::nullopt;
  if (behind != typeOf(x).getNumElements())
    return std::nullopt;
  Value moved = in.importer.b.createOrFold<BroadcastOp>(
      in.importer.loc, from.clone(indices.shape), in.importer.reshape(x, sizes),
      targets);
  SmallVector<int64_t> shape(indices.shape.begin(), indices.shape.end());
  shape.append(from.getRank() - 1, 1);
  return in.importer.reshape(moved, shape);
}

static EmitResult emitGather(EmitInput &in) {
  Value x = in.value(0);
  auto axis =
      normalizeAxis(in.attributes.integer("axis", 0), typeOf(x).getRank());
  if (!axis)
    return nodeError(in.node, "has an axis outside the rank");
  if (const ConstTensor *indices = in.constant(1)) {
    if (auto slice = gatherSlice(in, x, *axis, *indices))
      return one(*slice);
    if (auto moved = gatherRearranged(in, x, *indices))
      return one(*moved);
  }
  if (*axis != 0 || !isa<FloatType>(typeOf(x).getElementType()))
    return nodeError(in.node, "gathers along axis " + Twine(*axis) + " of " +
                                  "a value, which is not yet supported");
  Value indices = in.value(1);
  if (!isa<IntegerType>(typeOf(indices).getElementType()) ||
      typeOf(indices).getElementType().isInteger(1))
    return nodeError(in.node, "has indices that are not integers");
  return one(
      GatherOp::create(in.importer.b, in.importer.loc, x, indices, Value()));
}

namespace {
/// How one component of GatherND's constant indices depends on the index dimensions.
struct IndexPattern {
  /// The dimension along which the component counts 0, 1, 2, …; -1 when it is the same everywhere.
  int64_t dim = -1;
  int64_t constant = 0;
};
} // namespace

/// Recognises a component that counts along one dimension or is constant.
static std::optional<IndexPattern> patternOf(const ConstTensor &indices,
                                             int64_t component) {
  int64_t parts = indices.shape.back();
  ConstShape shape(indices.shape.begin(), std::prev(indices.shape.end()));
  auto holds = [&](auto expected) {
    bool all = true;
    forEachIndex(shape, [&](ArrayRef<int64_t> index, int64_t flat) {
      all &= indices.integer(flat * parts + component) == expected(index);
    });
    return all;
  };
  int64_t first = indices.size() ? indices.integer(component) : 0;
  if (holds([&](ArrayRef<int64_t>) { return first; }))
    return IndexPattern{-1, first};
  for (size_t d = 0; d < shape.size(); ++d)
    if (holds([&](ArrayRef<int64_t> index) { return index[d]; }))
      return IndexPattern{static_cast<int64_t>(d), 0};
  return std::nullopt;
}

/// GatherND whose indices only rearrange (attention masks): slices, a transpose and a broadcast.
static EmitResult emitGatherND(EmitInput &in) {
  const ConstTensor *indices = in.constant(1);
  Value x = in.value(0);
  int64_t rank = typeOf(x).getRank();
  if (!indices || indices->rank() == 0 || indices->shape.back() > rank ||
      in.attributes.integer("batch_dims", 0) != 0)
    return nodeError(in.node, "has indices that are not constant, which is "
                              "not yet supported");
  int64_t parts = indices->shape.back();
  ConstShape shape(indices->shape.begin(), std::prev(indices->shape.end()));
  int64_t leading = shape.size();
  shape.append(typeOf(x).getShape().begin() + parts,
               typeOf(x).getShape().end());
  // Each kept dimension of x with the dimension of the result that it becomes.
  SmallVector<std::pair<int64_t, int64_t>> kept;
  for (int64_t d = 0; d < rank; ++d) {
    if (d >= parts) {
      kept.push_back({leading + d - parts, d});
      continue;
    }
    auto pattern = patternOf(*indices, d);
    int64_t size = typeOf(x).getDimSize(d);
    if (!pattern || (pattern->dim >= 0 && shape[pattern->dim] != size) ||
        pattern->constant < 0 || pattern->constant >= size)
      return nodeError(in.node, "has indices that do more than rearrange, "
                                "which is not yet supported");
    if (pattern->dim < 0)
      x = part(in, x, d, pattern->constant, 1);
    else
      kept.push_back({pattern->dim, d});
  }
  llvm::sort(kept);
  SmallVector<int64_t> sizes, targets, order;
  for (auto [target, source] : kept) {
    if (!targets.empty() && targets.back() == target)
      return nodeError(in.node, "takes a diagonal, which is not yet supported");
    targets.push_back(target);
    order.push_back(source);
    sizes.push_back(typeOf(x).getDimSize(source));
  }
  // Dimensions of size 1 that were cut away go last and disappear in the reshape.
  for (int64_t d = 0; d < rank; ++d)
    if (!llvm::is_contained(order, d))
      order.push_back(d);
  Value moved =
      in.importer.b.createOrFold<TransposeOp>(in.importer.loc, x, order);
  moved = in.importer.reshape(moved, sizes);
  auto type = in.importer.tensor(shape, typeOf(x).getElementType());
  return one(in.importer.b.createOrFold<BroadcastOp>(in.importer.loc, type,
                                                     moved, targets));
}

/// Sum (or maximum) over axes, divided by their product for a mean.
static EmitResult emitReduction(EmitInput &in, ReductionKind kind, bool mean) {
  Value x = in.value(0);
  auto type = typeOf(x);
  std::vector<const ConstTensor *> constants = in.constants();
  if (in.has(1) && !in.constant(1))
    return nodeError(in.node, "needs constant axes");
  auto axes = axesOf({in.node, in.attributes, constants, in.opset}, 1);
  SmallVector<int64_t> dims;
  for (int64_t axis : axes.value_or(std::vector<int64_t>())) {
    auto at = normalizeAxis(axis, type.getRank());
    if (!at || llvm::is_contained(dims, *at))
      return nodeError(in.node, "has an axis outside the rank");
    dims.push_back(*at);
  }
  if (dims.empty() && in.attributes.integer("noop_with_empty_axes", 0) == 0)
    dims = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  SmallVector<int64_t> kept(type.getShape());
  int64_t count = 1;
  for (int64_t d : dims) {
    count *= kept[d];
    kept[d] = 1;
  }
  Value result =
      in.importer.b.createOrFold<ReduceOp>(in.importer.loc, kind, x, dims);
  if (mean)
    result = DivOp::create(in.importer.b, in.importer.loc, result,
                           in.importer.full(result, count));
  if (in.attributes.integer("keepdims", 1) != 0)
    result = in.importer.reshape(result, kept);
  return one(result);
}

static EmitResult emitReduceSum(EmitInput &in) {
  return emitReduction(in, ReductionKind::Sum, false);
}
static EmitResult emitReduceMean(EmitInput &in) {
  return emitReduction(in, ReductionKind::Sum, true);
}
static EmitResult emitReduceMax(EmitInput &in) {
  return emitReduction(in, ReductionKind::Max, false);
}

void addShapeEmitters(EmitterTable &table) {
  table["Reshape"] = {emitReshape, 2};
  table["Flatten"] = {emitFlatten, 1};
  table["Squeeze"] = {emitByShape, 1};
  table["Unsqueeze"] = {emitByShape, 1};
  table["Expand"] = {emitExpand, 2};
  table["Transpose"] = {emitTranspose, 1};
  table["Slice"] = {emitSlice, 3};
  table["Concat"] = {emitConcat, 1};
  table["Split"] = {emitSplit, 1};
  table["SplitToSequence"] = {emitSplitToSequence, 1};
  table["SequenceAt"] = {emitSequenceAt, 2};
  table["Gather"] = {emitGather, 2};
  table["GatherND"] = {emitGatherND, 2};
  table["ReduceSum"] = {emitReduceSum, 1};
  table["ReduceMean"] = {emitReduceMean, 1};
  table["ReduceMax"] = {emitReduceMax, 1};
}

} // namespace fleet
