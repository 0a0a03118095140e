//===- Importer.cpp - From ONNX nodes to fleet operations ------*- C++ -*-===//
//
// Walks the graph once: a node whose inputs are all known is evaluated, every other one is emitted. Parameters become
// arguments when an emitter first reads them.
//
//===----------------------------------------------------------------------===//

#include "Importer.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace llvm;
using namespace mlir;

namespace fleet {

//===----------------------------------------------------------------------===//
// EmitInput
//===----------------------------------------------------------------------===//

Value EmitInput::value(size_t index) const {
  const Imported *input = get(index);
  return input->value ? input->value : importer.materialize(*input->constant);
}

std::vector<const ConstTensor *> EmitInput::constants() const {
  std::vector<const ConstTensor *> result;
  for (size_t i = 0; i < inputs.size(); ++i)
    result.push_back(constant(i));
  return result;
}

//===----------------------------------------------------------------------===//
// Building blocks
//===----------------------------------------------------------------------===//

Importer::Importer(std::unique_ptr<OnnxFile> onnxFile,
                   const ImportOptions &options, MLIRContext *context,
                   StringRef path)
    : b(context), loc(UnknownLoc::get(context)), file(std::move(onnxFile)),
      options(options), path(path) {
  module = ModuleOp::create(loc);
  (*module)->setAttr(attr::kLevel, b.getI32IntegerAttr(1));
  b.setInsertionPointToEnd(module->getBody());
  func = func::FuncOp::create(b, loc, "model", b.getFunctionType({}, {}));
  b.setInsertionPointToStart(func.addEntryBlock());
}

Type Importer::elementType(int32_t onnxType) {
  switch (onnxType) {
  case 1:
  case 10:
  case 11:
  case 16:
    return b.getF32Type();
  case 6:
    return b.getI32Type();
  case 7:
    return b.getI64Type();
  case 9:
    return b.getI1Type();
  default:
    return {};
  }
}

Value Importer::reshape(Value value, ArrayRef<int64_t> shape) {
  auto type = typeOf(value).clone(shape);
  return b.createOrFold<ReshapeOp>(loc, type, value);
}

Value Importer::broadcast(Value value, ArrayRef<int64_t> shape) {
  auto type = typeOf(value);
  if (type.getShape() == shape)
    return value;
  SmallVector<int64_t> kept, dims;
  int64_t offset = static_cast<int64_t>(shape.size()) - type.getRank();
  for (auto [d, size] : llvm::enumerate(type.getShape())) {
    int64_t target = offset + static_cast<int64_t>(d);
    if (size == 1 && shape[target] != 1)
      continue;
    kept.push_back(size);
    dims.push_back(target);
  }
  return b.createOrFold<BroadcastOp>(loc, type.clone(shape),
                                     reshape(value, kept), dims);
}

/// All slices of the constant along `dim` are equal.
static bool isUniform(const ConstTensor &constant, int64_t dim) {
  int64_t stride = rowMajorStrides(constant.shape)[dim];
  bool uniform = true;
  forEachIndex(constant.shape, [&](ArrayRef<int64_t> index, int64_t flat) {
    uniform &=
        constant.values[flat] == constant.values[flat - index[dim] * stride];
  });
  return uniform;
}

Value Importer::materialize(const ConstTensor &constant, Type element) {
  if (!element)
    element = constant.kind == ConstKind::Float  ? Type(b.getF32Type())
              : constant.kind == ConstKind::Bool ? Type(b.getI1Type())
                                                 : Type(b.getI64Type());
  SmallVector<int64_t> kept, dims;
  for (int64_t d = 0; d < constant.rank(); ++d)
    if (constant.shape[d] != 1 && !isUniform(constant, d)) {
      kept.push_back(constant.shape[d]);
      dims.push_back(d);
    }
  ConstShape strides = rowMajorStrides(constant.shape);
  std::vector<double> values;
  if (constant.size() > 0)
    forEachIndex(kept, [&](ArrayRef<int64_t> index, int64_t) {
      int64_t at = 0;
      for (auto [position, dim] : llvm::zip(index, dims))
        at += position * strides[dim];
      values.push_back(constant.values[at]);
    });
  DenseElementsAttr data;
  if (isa<FloatType>(element)) {
    data = DenseElementsAttr::get(tensor(kept, b.getF64Type()),
                                  ArrayRef<double>(values));
  } else {
    SmallVector<int64_t> integers(values.begin(), values.end());
    data = DenseElementsAttr::get(tensor(kept, b.getI64Type()),
                                  ArrayRef<int64_t>(integers));
  }
  Value value = ConstantOp::create(b, loc, tensor(kept, element), data);
  return b.createOrFold<BroadcastOp>(loc, tensor(constant.shape, element),
                                     value, dims);
}

//===----------------------------------------------------------------------===//
// Graph inputs and initialisers
//===----------------------------------------------------------------------===//

/// Reads which initialisers are buffers from the current exporter's metadata: "… : BUFFER target='name'".
void Importer::readSignature() {
  for (const onnx::Entry &entry : file->graph.metadata_props()) {
    if (!StringRef(entry.key()).ends_with("graph_signature"))
      continue;
    SmallVector<StringRef> lines;
    StringRef(entry.value()).split(lines, '\n');
    for (StringRef line : lines) {
      StringRef target = line.split(": BUFFER target='").second;
      if (!target.empty())
        buffers.insert(target.split('\'').first);
    }
  }
}

llvm::Expected<SmallVector<int64_t>>
Importer::inputShape(const onnx::ValueInfo &input) {
  SmallVector<int64_t> shape;
  auto given = options.inputs.find(input.name());
  const onnx::Shape &declared = input.type().tensor_type().shape();
  for (int d = 0; d < declared.dim_size(); ++d) {
    int64_t size = declared.dim(d).dim_value();
    if (given != options.inputs.end() &&
        d < static_cast<int>(given->second.size()))
      size = given->second[d];
    else if (size <= 0 && d == 0)
      size = options.batch;
    if (size <= 0)
      return createStringError(
          inconvertibleErrorCode(),
          "input '" + input.name() + "' has no size for dimension " + Twine(d) +
              (d == 0 ? ": give the batch" : ": give the shape of the input"));
    shape.push_back(size);
  }
  std::optional<int64_t> count = countElements(shape);
  if (!count || *count > (int64_t(1) << 40))
    return createStringError(inconvertibleErrorCode(),
                             "input '" + input.name() + "' is too large");
  return shape;
}

Error Importer::addInputs() {
  for (const onnx::ValueInfo &input : file->graph.input()) {
    if (file->find(input.name()))
      continue;
    Type element = elementType(input.type().tensor_type().elem_type());
    if (!element)
      return createStringError(
          inconvertibleErrorCode(),
          "input '" + input.name() + "' has element type " +
              Twine(input.type().tensor_type().elem_type()) +
              ", which is not supported");
    auto shape = inputShape(input);
    if (!shape)
      return shape.takeError();
    unsigned number = func.getNumArguments();
    NamedAttribute name =
        b.getNamedAttr(attr::kInput, b.getStringAttr(input.name()));
    if (failed(func.insertArgument(number, tensor(*shape, element),
                                   b.getDictionaryAttr(name), loc)))
      return createStringError(inconvertibleErrorCode(), "too many inputs");
    values[input.name()].value = func.getArgument(number);
  }
  return Error::success();
}

/// Largest buffer that is a constant of the program rather than an argument.
static constexpr int64_t kMaxConstantElements = 1 << 16;

llvm::Expected<const Imported *>
Importer::importInitializer(const std::string &name,
                            const StoredTensor &stored) {
  Imported &imported = values[name];
  bool parameter =
      isFloat(stored.type) && !stored.shape.empty() &&
      (!buffers.contains(name) || stored.size() > kMaxConstantElements);
  if (!parameter) {
    imported.constant = ConstTensor::fromStored(stored);
    return &imported;
  }
  SmallVector<NamedAttribute> attributes = {
      b.getNamedAttr(attr::kParam, b.getStringAttr(name))};
  if (buffers.contains(name))
    attributes.push_back(b.getNamedAttr(attr::kBuffer, b.getUnitAttr()));
  unsigned number = func.getNumArguments();
  if (failed(func.insertArgument(number, tensor(stored.shape, b.getF32Type()),
                                 b.getDictionaryAttr(attributes), loc)))
    return createStringError(inconvertibleErrorCode(), "too many parameters");
  imported.value = func.getArgument(number);
  return &imported;
}

/// An initialiser that feeds several nodes in the same role was probably merged from equal ones by an optimizing exporter:
/// training would tie what was never tied. A tied embedding feeds nodes of different types.
void Importer::warnMergedInitializers() {
  llvm::StringMap<std::map<std::pair<std::string, int>, unsigned>> uses;
  for (const onnx::Node &node : file->graph.node())
    for (int i = 0; i < node.input_size(); ++i)
      if (const StoredTensor *stored = file->find(node.input(i)))
        if (isFloat(stored->type) && !stored->shape.empty() &&
            !buffers.contains(node.input(i)))
          ++uses[node.input(i)][{node.op_type(), i}];
  std::vector<std::string> merged;
  for (auto &entry : uses)
    for (auto &[role, count] : entry.second)
      if (count > 1)
        merged.push_back("'" + entry.first().str() + "' (" +
                         std::to_string(count) + " " + role.first + " nodes)");
  if (merged.empty())
    return;
  llvm::sort(merged);
  size_t shown = std::min<size_t>(merged.size(), 4);
  std::string list = llvm::join(merged.begin(), merged.begin() + shown, ", ");
  if (merged.size() > shown)
    list += " and " + std::to_string(merged.size() - shown) + " more";
  emitWarning(FileLineColLoc::get(b.getContext(), path, 0, 0))
      << "one initialiser feeds unrelated nodes: " << list
      << "; an exporter's optimizer merged equal values, and training would "
         "tie them: export without optimization";
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

static const EmitterTable &emitterTable() {
  static const EmitterTable table = [] {
    EmitterTable all;
    addElementwiseEmitters(all);
    addShapeEmitters(all);
    addNetworkEmitters(all);
    return all;
  }();
  return table;
}

/// Operators that the importer itself knows.
static bool isBuiltIn(StringRef opType) {
  return opType == "Constant" || opType == "Shape";
}

Error Importer::checkSupported() {
  if (file->opset < 11 || file->opset > 20)
    return createStringError(inconvertibleErrorCode(),
                             "opset " + Twine(file->opset) +
                                 " is not supported: 11 to 20 are");
  std::map<std::string, std::vector<std::string>> unsupported;
  for (const onnx::Node &node : file->graph.node()) {
    bool known = node.domain().empty() &&
                 (isBuiltIn(node.op_type()) || canFold(node.op_type()) ||
                  emitterTable().contains(node.op_type()));
    if (known)
      continue;
    std::string type = node.domain().empty()
                           ? node.op_type()
                           : node.domain() + "." + node.op_type();
    unsupported[type].push_back(node.name().empty() && node.output_size()
                                    ? node.output(0)
                                    : node.name());
  }
  if (unsupported.empty())
    return Error::success();
  std::vector<std::string> parts;
  for (auto &[type, names] : unsupported)
    parts.push_back(type + " (" + llvm::join(names, ", ") + ")");
  return createStringError(inconvertibleErrorCode(),
                           "operators are not supported: " +
                               llvm::join(parts, "; "));
}

llvm::Expected<const Imported *> Importer::lookup(const onnx::Node &node,
                                                  const std::string &name) {
  if (name.empty())
    return nullptr;
  auto it = values.find(name);
  if (it != values.end())
    return &it->second;
  if (const StoredTensor *stored = file->find(name))
    return importInitializer(name, *stored);
  return nodeError(node, "reads '" + name + "', which nothing makes");
}

/// Constants and shapes, which need no evaluator.
static std::optional<llvm::Expected<Imported>>
evaluateBuiltIn(const onnx::Node &node, ArrayRef<const Imported *> inputs) {
  Attributes attributes(node);
  Imported result;
  if (node.op_type() == "Shape") {
    if (inputs.empty() || !inputs[0] || inputs[0]->isSequence())
      return nodeError(node, "lacks its input");
    SmallVector<int64_t> shape(
        inputs[0]->value ? typeOf(inputs[0]->value).getShape()
                         : ArrayRef<int64_t>(inputs[0]->constant->shape));
    auto rank = static_cast<int64_t>(shape.size());
    auto clamp = [&](int64_t at) {
      return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
    };
    int64_t begin = clamp(attributes.integer("start", 0));
    int64_t end = clamp(attributes.integer("end", rank));
    result.constant = ConstTensor::ints(ArrayRef<int64_t>(shape).slice(
        begin, std::max<int64_t>(0, end - begin)));
    return result;
  }
  if (node.op_type() != "Constant")
    return std::nullopt;
  if (const onnx::Attribute *value = attributes.find("value")) {
    Expected<OnnxTensor> read = readTensor(value->t(), {});
    if (!read)
      return read.takeError();
    result.constant = ConstTensor::fromStored(read->tensor);
  } else if (const onnx::Attribute *number = attributes.find("value_float")) {
    result.constant = ConstTensor::scalar(ConstKind::Float, number->f());
  } else if (const onnx::Attribute *number = attributes.find("value_int")) {
    result.constant = ConstTensor::scalar(ConstKind::Int, number->i());
  } else if (auto numbers = attributes.integers("value_ints")) {
    result.constant = ConstTensor::ints(*numbers);
  } else {
    return nodeError(node, "holds a kind of constant that is not supported");
  }
  return result;
}

llvm::Expected<std::vector<Imported>>
Importer::evaluate(const onnx::Node &node) {
  std::vector<const Imported *> inputs;
  bool known = node.input_size() > 0 && canFold(node.op_type());
  for (const std::string &name : node.input()) {
    Expected<const Imported *> input = lookup(node, name);
    if (!input)
      return input.takeError();
    known &= !*input || (*input)->constant.has_value();
  }
  // References into the table stay good only once every input is in it.
  for (const std::string &name : node.input())
    inputs.push_back(name.empty() ? nullptr : &values.find(name)->second);
  if (auto builtIn = evaluateBuiltIn(node, inputs)) {
    if (!*builtIn)
      return builtIn->takeError();
    return std::vector<Imported>{std::move(**builtIn)};
  }
  if (known) {
    std::vector<const ConstTensor *> constants;
    for (const Imported *input : inputs)
      constants.push_back(input ? &*input->constant : nullptr);
    FoldResult folded = fold({node, Attributes(node), constants, file->opset});
    if (!folded)
      return folded.takeError();
    std::vector<Imported> results;
    for (ConstTensor &constant : *folded)
      results.emplace_back().constant = std::move(constant);
    return results;
  }
  auto emitter = emitterTable().find(node.op_type());
  if (emitter == emitterTable().end())
    return nodeError(node, "is supported on constants only");
  EmitInput input{*this, node, Attributes(node), inputs, file->opset};
  for (size_t i = 0;
       i < std::max<size_t>(emitter->second.required, inputs.size()); ++i) {
    bool sequence = input.has(i) && input.get(i)->isSequence();
    if (i < emitter->second.required && !input.has(i))
      return nodeError(node, "lacks input " + Twine(i));
    if (sequence && node.op_type() != "SequenceAt")
      return nodeError(node, "takes a sequence, which is not supported");
  }
  return emitter->second.emit(input);
}

Error Importer::define(const onnx::Node &node, std::vector<Imported> results) {
  for (int i = 0; i < node.output_size(); ++i) {
    const std::string &name = node.output(i);
    if (name.empty())
      continue;
    // Further outputs (masks, log probabilities) are reported when something reads them.
    if (i >= static_cast<int>(results.size()))
      break;
    if (Value value = results[i].value)
      if (Operation *made = value.getDefiningOp())
        if (!made->hasAttr(attr::kName))
          made->setAttr(attr::kName, b.getStringAttr(name));
    values[name] = std::move(results[i]);
  }
  return Error::success();
}

Error Importer::importNode(const onnx::Node &node) {
  std::string name = node.name();
  if (name.empty() && node.output_size() > 0)
    name = node.output(0);
  loc = NameLoc::get(b.getStringAttr(name));
  auto results = evaluate(node);
  if (!results)
    return results.takeError();
  return define(node, std::move(*results));
}

Error Importer::addOutputs() {
  SmallVector<Value> results;
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> names;
  for (const onnx::ValueInfo &output : file->graph.output()) {
    auto it = values.find(output.name());
    if (it == values.end() || it->second.isSequence())
      return createStringError(inconvertibleErrorCode(),
                               "nothing makes output '" + output.name() + "'");
    Value value = it->second.value;
    if (!value)
      value = materialize(*it->second.constant);
    results.push_back(value);
    types.push_back(value.getType());
    names.push_back(b.getDictionaryAttr(
        b.getNamedAttr(attr::kOutput, b.getStringAttr(output.name()))));
  }
  func::ReturnOp::create(b, func.getLoc(), results);
  func.setType(b.getFunctionType(func.getArgumentTypes(), types));
  func.setAllResultAttrs(names);
  return Error::success();
}

FailureOr<OwningOpRef<ModuleOp>> Importer::run() {
  readSignature();
  auto work = [&]() -> Error {
    if (Error error = checkSupported())
      return error;
    if (Error error = addInputs())
      return error;
    for (const onnx::Node &node : file->graph.node())
      if (Error error = importNode(node))
        return error;
    return addOutputs();
  };
  if (Error error = work())
    return emitError(FileLineColLoc::get(b.getContext(), path, 0, 0))
           << llvm::toString(std::move(error));
  warnMergedInitializers();
  if (failed(verify(*module)))
    return failure();
  return std::move(module);
}

} // namespace fleet
