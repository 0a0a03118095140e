//===- OnnxFile.cpp - An ONNX file in memory -------------------*- C++ -*-===//
//
// Walks the outer messages of a model by hand, so that an initialiser's bytes are found and not copied; everything small
// is parsed by protobuf.
//
//===----------------------------------------------------------------------===//

#include "OnnxFile.h"
#include "llvm/ADT/Twine.h"

#include <cstring>

using namespace llvm;

namespace fleet {
namespace {
/// A field of a protobuf message.
struct Field {
  unsigned number;
  unsigned wireType;
  uint64_t scalar;       ///< of a varint
  ArrayRef<char> bytes;  ///< of a length-delimited field
  ArrayRef<char> record; ///< tag and value as they stand in the file
};

/// Reads the fields of a message one by one.
class Fields {
public:
  explicit Fields(ArrayRef<char> bytes) : bytes(bytes) {}

  /// The next field; false at the end or where the message is broken.
  bool next(Field &field) {
    if (position == bytes.size())
      return false;
    size_t begin = position;
    uint64_t tag = 0;
    broken = !varint(tag);
    field.number = tag >> 3;
    field.wireType = tag & 7;
    if (!broken)
      broken = !value(field);
    field.record = bytes.slice(begin, position - begin);
    return !broken;
  }
  bool isBroken() const { return broken; }

private:
  bool varint(uint64_t &result) {
    result = 0;
    for (unsigned shift = 0; shift < 64 && position < bytes.size();
         shift += 7) {
      auto byte = static_cast<uint8_t>(bytes[position++]);
      result |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (!(byte & 0x80))
        return true;
    }
    return false;
  }

  bool value(Field &field) {
    switch (field.wireType) {
    case 0:
      return varint(field.scalar);
    case 1:
      return skip(8);
    case 2: {
      uint64_t size = 0;
      if (!varint(size) || size > bytes.size() - position)
        return false;
      field.bytes = bytes.slice(position, size);
      return skip(size);
    }
    case 5:
      return skip(4);
    default:
      return false;
    }
  }

  bool skip(uint64_t size) {
    if (size > bytes.size() - position)
      return false;
    position += size;
    return true;
  }

  ArrayRef<char> bytes;
  size_t position = 0;
  bool broken = false;
};
} // namespace

static Error failure(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

template <typename Message>
static bool parse(Message &message, ArrayRef<char> bytes) {
  return message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

static std::optional<StoredType> storedType(int32_t type) {
  switch (type) {
  case 1:
    return StoredType::F32;
  case 2:
    return StoredType::U8;
  case 3:
    return StoredType::I8;
  case 5:
    return StoredType::I16;
  case 6:
    return StoredType::I32;
  case 7:
    return StoredType::I64;
  case 9:
    return StoredType::Bool;
  case 10:
    return StoredType::F16;
  case 11:
    return StoredType::F64;
  case 16:
    return StoredType::BF16;
  default:
    return std::nullopt;
  }
}

/// Copies typed values to the bytes that the element type asks for.
template <typename To, typename From>
static std::vector<char> pack(const From &values) {
  std::vector<char> bytes(values.size() * sizeof(To));
  for (int i = 0; i < values.size(); ++i) {
    To value = static_cast<To>(values.Get(i));
    std::memcpy(bytes.data() + i * sizeof(To), &value, sizeof(To));
  }
  return bytes;
}

/// Values from the typed fields; empty where there are none.
static std::vector<char> packTyped(const onnx::Tensor &tensor,
                                   StoredType type) {
  switch (type) {
  case StoredType::F32:
    return pack<float>(tensor.float_data());
  case StoredType::F64:
    return pack<double>(tensor.double_data());
  case StoredType::I64:
    return pack<int64_t>(tensor.int64_data());
  case StoredType::I32:
    return pack<int32_t>(tensor.int32_data());
  default:
    return sizeOf(type) == 1 ? pack<int8_t>(tensor.int32_data())
                             : pack<int16_t>(tensor.int32_data());
  }
}

Expected<OnnxTensor> readTensor(const onnx::Tensor &tensor,
                                ArrayRef<char> raw) {
  if (tensor.data_location() == 1 || tensor.external_data_size() != 0)
    return failure("tensor '" + tensor.name() +
                   "' is external data, which is not yet supported");
  std::optional<StoredType> type = storedType(tensor.data_type());
  if (!type)
    return failure("tensor '" + tensor.name() + "' has element type " +
                   Twine(tensor.data_type()) + ", which is not supported");
  OnnxTensor result;
  result.tensor.type = *type;
  result.tensor.shape.assign(tensor.dims().begin(), tensor.dims().end());
  std::optional<int64_t> count = countElements(result.tensor.shape);
  if (!count)
    return failure("tensor '" + tensor.name() + "' has an impossible shape");
  if (raw.empty() && !tensor.raw_data().empty()) {
    result.owned = std::make_unique<std::vector<char>>(
        tensor.raw_data().begin(), tensor.raw_data().end());
    raw = *result.owned;
  } else if (raw.empty()) {
    result.owned =
        std::make_unique<std::vector<char>>(packTyped(tensor, *type));
    raw = *result.owned;
  }
  result.tensor.bytes = raw;
  if (static_cast<uint64_t>(*count) * sizeOf(*type) != raw.size())
    return failure("tensor '" + tensor.name() + "' has " + Twine(raw.size()) +
                   " bytes, its shape needs " +
                   Twine(static_cast<uint64_t>(*count) * sizeOf(*type)));
  return result;
}

Error OnnxFile::addInitializer(ArrayRef<char> bytes) {
  // The tensor without its raw data, which stays in the file.
  std::string rest;
  ArrayRef<char> raw;
  Fields fields(bytes);
  Field field;
  while (fields.next(field)) {
    if (field.number == 9 && field.wireType == 2)
      raw = field.bytes;
    else
      rest.append(field.record.begin(), field.record.end());
  }
  onnx::Tensor tensor;
  if (fields.isBroken() ||
      !parse(tensor, ArrayRef<char>(rest.data(), rest.size())))
    return failure("an initialiser is broken");
  Expected<OnnxTensor> read = readTensor(tensor, raw);
  if (!read)
    return read.takeError();
  initializers[tensor.name()] = std::move(*read);
  return Error::success();
}

Error OnnxFile::parseGraph(ArrayRef<char> bytes) {
  std::string rest;
  Fields fields(bytes);
  Field field;
  while (fields.next(field)) {
    if (field.number == 5 && field.wireType == 2) {
      if (Error error = addInitializer(field.bytes))
        return error;
    } else {
      rest.append(field.record.begin(), field.record.end());
    }
  }
  if (fields.isBroken() ||
      !parse(graph, ArrayRef<char>(rest.data(), rest.size())))
    return failure("the graph is broken");
  return Error::success();
}

Error OnnxFile::parseModel(ArrayRef<char> bytes) {
  Fields fields(bytes);
  Field field;
  bool found = false;
  while (fields.next(field)) {
    if (field.number == 7 && field.wireType == 2) {
      found = true;
      if (Error error = parseGraph(field.bytes))
        return error;
    } else if (field.number == 8 && field.wireType == 2) {
      onnx::OperatorSet set;
      if (!parse(set, field.bytes))
        return failure("an operator set is broken");
      if (set.domain().empty())
        opset = set.version();
    }
  }
  if (fields.isBroken())
    return failure("the file is truncated or not an ONNX file");
  if (!found || opset == 0)
    return failure("the file is not an ONNX file: it has no graph or no "
                   "operator set");
  return Error::success();
}

const StoredTensor *OnnxFile::find(StringRef name) const {
  auto it = initializers.find(name);
  return it == initializers.end() ? nullptr : &it->second.tensor;
}

Expected<std::unique_ptr<OnnxFile>> OnnxFile::open(StringRef path) {
  auto mapped = MemoryBuffer::getFile(path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (!mapped)
    return failure(path + ": " + mapped.getError().message());
  auto file = std::make_unique<OnnxFile>();
  file->buffer = std::move(*mapped);
  ArrayRef<char> bytes(file->buffer->getBufferStart(),
                       file->buffer->getBufferSize());
  if (Error error = file->parseModel(bytes))
    return failure(path + ": " + toString(std::move(error)));
  return file;
}

} // namespace fleet
