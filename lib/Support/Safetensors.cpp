//===- Safetensors.cpp - Reader and writer of safetensors ------*- C++ -*-===//
//
// The header is parsed with an iterative JSON parser, so that deep nesting in a hostile file cannot exhaust the stack.
//
//===----------------------------------------------------------------------===//

#include "fleet/Support/Safetensors.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <nlohmann/json.hpp>

using namespace fleet;
using llvm::StringRef;
using Json = nlohmann::ordered_json;

/// The format's own limit for a header.
static constexpr uint64_t kMaxHeader = 100'000'000;

/// An error about `path`.
template <typename... Args>
static llvm::Error fileError(StringRef path, const char *format,
                             Args &&...args) {
  std::string text = llvm::formatv(format, std::forward<Args>(args)...).str();
  return llvm::createStringError(llvm::Twine(path) + ": " + text);
}

namespace {
/// Bytes [begin, end) of the data section.
struct Extent {
  uint64_t begin = 0, end = 0;
};
} // namespace

/// Reads `[begin, end]` of an entry.
static std::optional<Extent> parseOffsets(const Json &entry) {
  auto it = entry.find("data_offsets");
  if (it == entry.end() || !it->is_array() || it->size() != 2 ||
      !(*it)[0].is_number_unsigned() || !(*it)[1].is_number_unsigned())
    return std::nullopt;
  return Extent{(*it)[0].get<uint64_t>(), (*it)[1].get<uint64_t>()};
}

static std::optional<llvm::SmallVector<int64_t, 4>>
parseShape(const Json &entry) {
  auto it = entry.find("shape");
  if (it == entry.end() || !it->is_array())
    return std::nullopt;
  llvm::SmallVector<int64_t, 4> shape;
  for (const Json &size : *it) {
    if (!size.is_number_unsigned() || size.get<uint64_t>() > INT64_MAX)
      return std::nullopt;
    shape.push_back(size.get<int64_t>());
  }
  return shape;
}

/// Reads one entry of the header; `data` is the section that the offsets count from.
static llvm::Expected<StoredTensor>
parseEntry(StringRef path, StringRef name, const Json &entry, StringRef data) {
  if (!entry.is_object())
    return fileError(path, "entry of tensor '{0}' is not an object", name);
  auto dtype = entry.find("dtype");
  if (dtype == entry.end() || !dtype->is_string())
    return fileError(path, "tensor '{0}' has no dtype", name);
  const auto &typeName = dtype->get_ref<const std::string &>();
  std::optional<StoredType> type = parseStoredType(typeName);
  if (!type)
    return fileError(
        path, "tensor '{0}' has element type '{1}', which is not supported",
        name, typeName);
  auto shape = parseShape(entry);
  std::optional<int64_t> count = shape ? countElements(*shape) : std::nullopt;
  if (!count)
    return fileError(path, "tensor '{0}' has no valid shape", name);
  std::optional<Extent> extent = parseOffsets(entry);
  if (!extent || extent->begin > extent->end || extent->end > data.size())
    return fileError(path, "tensor '{0}' lies outside the {1} bytes of data",
                     name, data.size());
  uint64_t bytes = extent->end - extent->begin;
  // A division, because count * size may overflow.
  if (bytes % sizeOf(*type) != 0 ||
      bytes / sizeOf(*type) != static_cast<uint64_t>(*count))
    return fileError(path,
                     "tensor '{0}' has {1} elements of type {2} in {3} bytes",
                     name, *count, typeName, bytes);
  StringRef slice = data.substr(extent->begin, bytes);
  return StoredTensor{*type, *shape, {slice.data(), slice.size()}};
}

/// Splits the file into header and data.
static llvm::Error splitHeader(StringRef path, StringRef file,
                               StringRef &header, StringRef &data) {
  if (file.size() < 8)
    return fileError(path, "has {0} bytes and is no safetensors file",
                     file.size());
  uint64_t length = llvm::support::endian::read64le(file.data());
  if (length > kMaxHeader || length > file.size() - 8)
    return fileError(path,
                     "is truncated or no safetensors file: the header takes "
                     "{0} bytes of {1}",
                     length, file.size() - 8);
  header = file.substr(8, length);
  data = file.substr(8 + length);
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<SafetensorsFile>>
SafetensorsFile::open(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return fileError(path, "{0}", buffer.getError().message());
  auto file = std::make_unique<SafetensorsFile>();
  file->fileName = path.str();
  file->buffer = std::move(*buffer);
  StringRef header, data;
  if (llvm::Error error =
          splitHeader(path, file->buffer->getBuffer(), header, data))
    return std::move(error);
  Json json = Json::parse(header.begin(), header.end(), nullptr,
                          /*allow_exceptions=*/false);
  if (!json.is_object())
    return fileError(path, "header is not a JSON object");
  for (const auto &[name, entry] : json.items()) {
    if (name == "__metadata__")
      continue;
    auto tensor = parseEntry(path, name, entry, data);
    if (!tensor)
      return tensor.takeError();
    file->tensors[name] = *tensor;
    file->order.push_back(name);
  }
  if (llvm::Error error = file->sortAndCheckOverlap())
    return std::move(error);
  return file;
}

llvm::Error SafetensorsFile::sortAndCheckOverlap() {
  auto begin = [&](const std::string &name) {
    return tensors[name].bytes.data();
  };
  llvm::sort(order, [&](const std::string &a, const std::string &b) {
    return std::pair(begin(a), a) < std::pair(begin(b), b);
  });
  const std::string *last = nullptr; // Of the tensors that have bytes.
  for (const std::string &name : order) {
    if (tensors[name].bytes.empty())
      continue;
    if (last && tensors[*last].bytes.end() > begin(name))
      return fileError(fileName, "tensors '{0}' and '{1}' lie over each other",
                       *last, name);
    last = &name;
  }
  return llvm::Error::success();
}

std::optional<StoredTensor> SafetensorsFile::find(StringRef name) const {
  auto it = tensors.find(name);
  if (it == tensors.end())
    return std::nullopt;
  return it->second;
}

llvm::Error fleet::writeSafetensors(StringRef path,
                                    llvm::ArrayRef<NamedStoredTensor> tensors) {
  Json header = Json::object();
  uint64_t offset = 0;
  for (const auto &[name, tensor] : tensors) {
    uint64_t end = offset + tensor.bytes.size();
    header[name] = {{"dtype", nameOf(tensor.type).str()},
                    {"shape", std::vector<int64_t>(tensor.shape.begin(),
                                                   tensor.shape.end())},
                    {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text =
      header.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.append((8 - text.size() % 8) % 8,
              ' '); // Tensors start at a multiple of 8.
  return llvm::writeToOutput(path, [&](llvm::raw_ostream &os) {
    char length[8];
    llvm::support::endian::write64le(length, text.size());
    os.write(length, sizeof(length)) << text;
    for (const NamedStoredTensor &entry : tensors)
      os.write(entry.tensor.bytes.data(), entry.tensor.bytes.size());
    return llvm::Error::success();
  });
}
