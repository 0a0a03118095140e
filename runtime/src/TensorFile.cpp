//===- TensorFile.cpp - Data and weights from files ------------*- C++ -*-===//
//
// The safetensors format: 8 bytes with the length of a JSON header, the header, then the tensors.
//
//===----------------------------------------------------------------------===//

#include "TensorFile.h"
#include "Program.h"
#include "fleet_rt/fleet_rt.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using Json = nlohmann::json;

namespace fleet_rt {

MappedFile::MappedFile(const std::string &path) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info{};
  if (descriptor < 0 || ::fstat(descriptor, &info) != 0) {
    int error = errno;
    if (descriptor >= 0)
      ::close(descriptor);
    throw Error(path + ": " + std::strerror(error));
  }
  size = info.st_size;
  if (size > 0) {
    void *memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (memory != MAP_FAILED)
      data = static_cast<const uint8_t *>(memory);
  }
  ::close(descriptor);
  if (size > 0 && !data)
    throw Error(path + ": cannot be mapped");
}

MappedFile::~MappedFile() {
  if (data)
    ::munmap(const_cast<uint8_t *>(data), size);
}

static int64_t fileElementSize(const std::string &dtype) {
  static const std::map<std::string, int64_t> sizes = {
      {"F64", 8}, {"F32", 4}, {"F16", 2}, {"BF16", 2}, {"I64", 8},
      {"I32", 4}, {"I16", 2}, {"I8", 1},  {"U64", 8},  {"U32", 4},
      {"U16", 2}, {"U8", 1},  {"BOOL", 1}};
  auto it = sizes.find(dtype);
  return it == sizes.end() ? 0 : it->second;
}

/// Reads one entry of the header; throws when it does not fit into `size` bytes.
static FileTensor readEntry(const Json &entry, const uint8_t *data,
                            uint64_t size) {
  FileTensor tensor;
  tensor.dtype = entry.at("dtype");
  tensor.shape = entry.at("shape").get<std::vector<int64_t>>();
  tensor.elementSize = fileElementSize(tensor.dtype);
  auto offsets = entry.at("data_offsets").get<std::vector<uint64_t>>();
  unsigned __int128 bytes = tensor.elementSize;
  bool fits = tensor.elementSize > 0 && offsets.size() == 2 &&
              offsets[0] <= offsets[1] && offsets[1] <= size;
  for (int64_t dim : tensor.shape) {
    fits &= dim >= 0 && bytes < (static_cast<unsigned __int128>(1) << 62);
    bytes *= static_cast<uint64_t>(std::max<int64_t>(dim, 0));
  }
  if (!fits || bytes != offsets[1] - offsets[0])
    throw Error("an entry does not fit the file");
  tensor.data = data + offsets[0];
  return tensor;
}

TensorFile::TensorFile(const std::string &path) : path(path), file(path) {
  try {
    uint64_t header = 0;
    if (file.size < 8)
      throw Error("shorter than its header");
    std::memcpy(&header, file.data, 8);
    if (header > file.size - 8)
      throw Error("shorter than its header");
    const uint8_t *text = file.data + 8;
    Json json = Json::parse(text, text + header);
    if (!json.is_object())
      throw Error("the header is not an object");
    for (auto it = json.begin(); it != json.end(); ++it)
      if (it.key() != "__metadata__")
        tensors[it.key()] =
            readEntry(*it, text + header, file.size - 8 - header);
  } catch (const std::exception &error) {
    throw Error(path + ": not a safetensors file: " + error.what());
  }
}

const FileTensor *TensorFile::find(const std::string &name) const {
  auto it = tensors.find(name);
  return it == tensors.end() ? nullptr : &it->second;
}

std::string TensorFile::names() const {
  std::string all;
  for (auto &[name, tensor] : tensors) {
    all += (all.empty() ? "'" : ", '") + name + "'";
    if (all.size() > 300)
      return all + ", …";
  }
  return all.empty() ? "no tensors" : all;
}

template <typename From, typename To>
static void copyAs(const uint8_t *from, uint8_t *out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, from + i * sizeof(From), sizeof(From));
    To converted = static_cast<To>(value);
    std::memcpy(out + i * sizeof(To), &converted, sizeof(To));
  }
}

template <typename From>
static bool copyFrom(const uint8_t *from, int32_t to, uint8_t *out,
                     int64_t count) {
  switch (to) {
  case FLEET_RT_F32:
    copyAs<From, float>(from, out, count);
    return true;
  case FLEET_RT_F64:
    copyAs<From, double>(from, out, count);
    return true;
  case FLEET_RT_I32:
    copyAs<From, int32_t>(from, out, count);
    return true;
  case FLEET_RT_I64:
    copyAs<From, int64_t>(from, out, count);
    return true;
  default:
    copyAs<From, uint8_t>(from, out, count);
    return true;
  }
}

void convert(const std::string &dtype, const uint8_t *from, int32_t to,
             uint8_t *out, int64_t count, const std::string &name) {
  bool floats = dtype[0] == 'F';
  bool wantsFloat = to == FLEET_RT_F32 || to == FLEET_RT_F64;
  bool done = false;
  if (floats != wantsFloat)
    done = false;
  else if (dtype == "F32")
    done = copyFrom<float>(from, to, out, count);
  else if (dtype == "F64")
    done = copyFrom<double>(from, to, out, count);
  else if (dtype == "I64")
    done = copyFrom<int64_t>(from, to, out, count);
  else if (dtype == "I32")
    done = copyFrom<int32_t>(from, to, out, count);
  else if (dtype == "U8" || dtype == "BOOL")
    done = copyFrom<uint8_t>(from, to, out, count);
  else if (dtype == "U16")
    done = copyFrom<uint16_t>(from, to, out, count);
  if (!done)
    throw Error("tensor '" + name + "' has element type " + dtype +
                ", the program needs " + (wantsFloat ? "a float" : "integers"));
}

} // namespace fleet_rt
