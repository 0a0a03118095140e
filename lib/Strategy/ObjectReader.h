//===- ObjectReader.h - Typed reading of one object ------------*- C++ -*-===//
//
// Every key of an object is asked for by name and type; what was not asked for is an error that names the nearest key.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_LIB_STRATEGY_OBJECTREADER_H
#define FLEET_LIB_STRATEGY_OBJECTREADER_H

#include "Node.h"

namespace fleet {

/// Reads the keys of one object. The first error is kept; reads after it change nothing.
class ObjectReader {
public:
  /// `path` leads to the object, empty at the top.
  ObjectReader(const Node &object, std::string path);

  /// The value of a key, null when it is not there or something is wrong already.
  const Node *find(llvm::StringRef key);
  /// Reads a key of a type that Node::as knows. Returns whether it was there.
  template <typename T> bool read(llvm::StringRef key, T &value) {
    const Node *node = find(key);
    if (!node)
      return false;
    auto typed = node->as<T>();
    if (!typed) {
      failType(key, *node, typeName<T>());
      return false;
    }
    value = std::move(*typed);
    return true;
  }
  /// Reads an integer and checks its range.
  bool read(llvm::StringRef key, int64_t &value, int64_t low, int64_t high);
  /// Reads a number and checks its range.
  bool read(llvm::StringRef key, double &value, double low, double high);
  /// Reads a word that must be one of `supported`; one of `later` is refused as not yet supported.
  bool read(llvm::StringRef key, std::string &value,
            llvm::ArrayRef<std::string> supported,
            llvm::ArrayRef<std::string> later);
  /// Makes it an error that `key` is not there; `meaning` is for who does not know the key.
  void require(llvm::StringRef key, llvm::StringRef meaning = "");
  /// Refuses a key that this version cannot do.
  void refuse(llvm::StringRef key);
  /// Keeps an error: "path.key message".
  void fail(llvm::StringRef key, const llvm::Twine &message);
  /// Keeps the error of a part.
  void keep(llvm::Error error);
  std::string pathTo(llvm::StringRef key) const { return joinPath(path, key); }

  /// The first error, one about a key that nobody asked for, or one about a key that is missing: a misspelt key is the
  /// cause when both are wrong.
  llvm::Error finish();

private:
  void failType(llvm::StringRef key, const Node &node, llvm::StringRef type);

  const Node &object;
  std::string path;
  std::string problem; ///< empty while nothing is wrong
  std::string missing; ///< the first key that is
  std::vector<std::string> asked;
};

} // namespace fleet

#endif // FLEET_LIB_STRATEGY_OBJECTREADER_H
