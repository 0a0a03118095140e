//===- Node.h - What a user wrote, with its place --------------*- C++ -*-===//
//
// Job files, strategies in JSON and in protobuf text, and options of the command line become one kind of tree. Each value
// remembers where it was written, so that trees can be merged before they are checked and every message still points at
// what the user wrote.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_LIB_STRATEGY_NODE_H
#define FLEET_LIB_STRATEGY_NODE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fleet {

/// Where a value was written.
struct Place {
  /// File, or option of the command line.
  std::shared_ptr<const std::string> source;
  /// Line in the file, 0 for the whole of it.
  unsigned line = 0;

  static Place of(llvm::StringRef source);
  Place at(unsigned line) const { return {source, line}; }
  /// "job.json:3".
  std::string str() const;
};

/// "place: message", on one line whatever the user's names hold.
llvm::Error userError(const Place &place, const llvm::Twine &message);

/// A user's text in quotes, cut where it is long.
std::string quote(llvm::StringRef text);

/// The shortest decimal that reads as `value`.
std::string format(double value);

/// The entry of `known` that is nearest to `name`, as "; the nearest key is 'x'". Empty when nothing is known.
std::string nearest(llvm::StringRef name, llvm::ArrayRef<std::string> known);

/// Deepest nesting of objects and lists that is read: what recursion over a tree costs is bounded by it.
inline constexpr unsigned kMaxDepth = 64;

struct Node {
  enum class Kind { Null, Boolean, Integer, Number, String, List, Object };

  Kind kind = Kind::Null;
  Place place;
  bool boolean = false;
  int64_t integer = 0;
  double number = 0;
  std::string text;
  std::vector<Node> items;
  /// Keys differ from each other; in the order of the file.
  std::vector<std::pair<std::string, Node>> members;

  static Node object(Place place);
  static Node string(Place place, llvm::StringRef text);

  bool is(Kind k) const { return kind == k; }
  /// The member of an object, null when it is not there.
  const Node *find(llvm::StringRef key) const;
  Node *find(llvm::StringRef key) {
    return const_cast<Node *>(std::as_const(*this).find(key));
  }
  /// Removes a member.
  void erase(llvm::StringRef key);
  /// For messages: "the string 'x'", "the number 1.5", "true", "a list".
  std::string describe() const;
  /// A scalar as JSON would write it, "[...]" and "{...}" for the rest.
  std::string brief() const;

  /// The value as a bool, int64_t, double, std::string or a vector of strings or integers; nullopt when it is none. An
  /// integer is a number; a number is no integer, whatever its value.
  template <typename T> std::optional<T> as() const;
};

/// Equal in value, wherever written. Order of keys does not count; 1 equals 1.0.
bool operator==(const Node &a, const Node &b);

/// What `as<T>` takes, for messages: "an integer".
template <typename T> llvm::StringRef typeName();

/// Adds the members of `extra` to the object `base`, level by level. What both give must be equal; the error gives both
/// values and places. `path` leads to `base`, empty at the top.
llvm::Error merge(Node &base, const Node &extra, const std::string &path);

/// "path.key", or "key" at the top.
std::string joinPath(llvm::StringRef path, llvm::StringRef key);

} // namespace fleet

#endif // FLEET_LIB_STRATEGY_NODE_H
