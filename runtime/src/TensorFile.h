//===- TensorFile.h - Data and weights from files --------------*- C++ -*-===//
//
// Memory-mapped safetensors. Whatever stands in a file, it is read or reported.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_RUNTIME_SRC_TENSORFILE_H
#define FLEET_RUNTIME_SRC_TENSORFILE_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fleet_rt {

/// A file mapped for reading.
class MappedFile {
public:
  explicit MappedFile(const std::string &path);
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;

  const uint8_t *data = nullptr;
  uint64_t size = 0;
};

struct FileTensor {
  std::string dtype; ///< as the file writes it: F32, I64, …
  std::vector<int64_t> shape;
  const uint8_t *data;
  int64_t elementSize;
};

class TensorFile {
public:
  /// Maps and checks a file; throws Error.
  explicit TensorFile(const std::string &path);

  const FileTensor *find(const std::string &name) const;
  /// Names of all tensors, for messages.
  std::string names() const;
  const std::string path;

private:
  MappedFile file;
  std::map<std::string, FileTensor> tensors;
};

/// Converts `count` elements at `from` (of file type `dtype`) to fleet_rt type `to`; throws Error for a pair that does not
/// go together.
void convert(const std::string &dtype, const uint8_t *from, int32_t to,
             uint8_t *out, int64_t count, const std::string &name);

} // namespace fleet_rt

#endif // FLEET_RUNTIME_SRC_TENSORFILE_H
