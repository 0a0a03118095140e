//===- JsonReader.h - Typed reading of JSON --------------------*- C++ -*-===//
//
// JSON objects as users write them: every key is asked for by name and type, and what was not asked for is an error that
// names the nearest key.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_LIB_STRATEGY_JSONREADER_H
#define FLEET_LIB_STRATEGY_JSONREADER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

namespace fleet {

using Json = nlohmann::ordered_json;

/// Parses JSON text; duplicate keys are errors. `where` begins the messages.
llvm::Expected<Json> parseJson(llvm::StringRef text, llvm::StringRef where);
/// Parses a file.
llvm::Expected<Json> parseJsonFile(llvm::StringRef path);

/// "where: message".
llvm::Error userError(llvm::StringRef where, const llvm::Twine &message);
/// The name in `known` that is nearest to `name`, as "; did you mean 'x'?", empty when none is near.
std::string suggestion(llvm::StringRef name, llvm::ArrayRef<std::string> known);
/// What a JSON value is, for messages: "a number", "an object".
llvm::StringRef kindOf(const Json &value);

/// Reads the keys of one object. The first error is kept; reads after it change nothing.
class ObjectReader {
public:
  ObjectReader(const Json &object, std::string where)
      : object(object), where(std::move(where)) {
    if (!object.is_object())
      fail("must be an object, got " + kindOf(object).str());
  }

  void read(llvm::StringRef key, std::string &value);
  void read(llvm::StringRef key, double &value);
  void read(llvm::StringRef key, int64_t &value);
  void read(llvm::StringRef key, bool &value);
  void read(llvm::StringRef key, std::vector<std::string> &value);
  void read(llvm::StringRef key, std::vector<int64_t> &value);
  /// The value of a key, null when it is not there.
  const Json *find(llvm::StringRef key);
  /// Refuses a key that this version cannot do.
  void refuse(llvm::StringRef key);
  /// Keeps an error about `key`.
  void failAt(llvm::StringRef key, const llvm::Twine &message);
  /// The first error, or one about a key that nobody asked for.
  llvm::Error finish();

private:
  template <typename T, typename Check>
  void readAs(llvm::StringRef key, T &value, Check is, llvm::StringRef type);
  void fail(const std::string &message) {
    if (problem.empty())
      problem = message;
  }

  const Json &object;
  std::string where;
  std::string problem;
  std::set<std::string> asked;
};

} // namespace fleet

#endif // FLEET_LIB_STRATEGY_JSONREADER_H
