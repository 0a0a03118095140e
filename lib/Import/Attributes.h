//===- Attributes.h - Attributes of an ONNX node ---------------*- C++ -*-===//
//
// Reading a node's attributes by name with defaults.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_LIB_IMPORT_ATTRIBUTES_H
#define FLEET_LIB_IMPORT_ATTRIBUTES_H

#include "onnx.pb.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <vector>

namespace fleet {

class Attributes {
public:
  explicit Attributes(const onnx::Node &node) : node(node) {}

  const onnx::Attribute *find(llvm::StringRef name) const {
    for (const onnx::Attribute &attribute : node.attribute())
      if (name == attribute.name())
        return &attribute;
    return nullptr;
  }
  int64_t integer(llvm::StringRef name, int64_t otherwise) const {
    const onnx::Attribute *found = find(name);
    return found ? found->i() : otherwise;
  }
  double number(llvm::StringRef name, double otherwise) const {
    const onnx::Attribute *found = find(name);
    return found ? static_cast<double>(found->f()) : otherwise;
  }
  std::string text(llvm::StringRef name, llvm::StringRef otherwise) const {
    const onnx::Attribute *found = find(name);
    return found ? found->s() : otherwise.str();
  }
  std::optional<std::vector<int64_t>> integers(llvm::StringRef name) const {
    const onnx::Attribute *found = find(name);
    if (!found)
      return std::nullopt;
    return std::vector<int64_t>(found->ints().begin(), found->ints().end());
  }

private:
  const onnx::Node &node;
};

} // namespace fleet

#endif // FLEET_LIB_IMPORT_ATTRIBUTES_H
