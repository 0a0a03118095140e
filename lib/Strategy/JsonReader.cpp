//===- JsonReader.cpp - Typed reading of JSON ------------------*- C++ -*-===//
//
// Parsing with positions, and messages that name the key, the rule and what was found.
//
//===----------------------------------------------------------------------===//

#include "JsonReader.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace fleet {

/// Deepest nesting of objects and lists that is read.
static constexpr int kMaxDepth = 64;

Error userError(StringRef where, const Twine &message) {
  return createStringError(inconvertibleErrorCode(), where + ": " + message);
}

Expected<Json> parseJson(StringRef text, StringRef where) {
  std::vector<std::set<std::string>> keys;
  std::string problem;
  auto watch = [&](int depth, Json::parse_event_t event, Json &value) {
    if (event == Json::parse_event_t::object_start)
      keys.emplace_back();
    if (event == Json::parse_event_t::object_end && !keys.empty())
      keys.pop_back();
    if (depth > kMaxDepth && problem.empty())
      problem = "nests deeper than " + std::to_string(kMaxDepth);
    if (event == Json::parse_event_t::key && !keys.empty() &&
        !keys.back().insert(value.get<std::string>()).second &&
        problem.empty())
      problem = "key '" + value.get<std::string>() + "' is given twice";
    return true;
  };
  try {
    Json value = Json::parse(text.begin(), text.end(), watch);
    if (!problem.empty())
      return userError(where, problem);
    return value;
  } catch (const nlohmann::json::exception &error) {
    StringRef message = error.what();
    // "[json.exception.parse_error.101] parse error at line 1, column 2: …": the number is of no use to a user.
    return userError(where, "not valid JSON: " + message.split("] ").second);
  }
}

Expected<Json> parseJsonFile(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path);
  if (!buffer)
    return userError(path, buffer.getError().message());
  return parseJson((*buffer)->getBuffer(), path);
}

std::string suggestion(StringRef name, ArrayRef<std::string> known) {
  unsigned best = std::max<size_t>(2, name.size() / 3) + 1;
  std::string nearest;
  for (const std::string &candidate : known) {
    unsigned distance = name.edit_distance(candidate, true, best);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest.empty() ? "" : "; did you mean '" + nearest + "'?";
}

StringRef kindOf(const Json &value) {
  switch (value.type()) {
  case Json::value_t::null:
    return "null";
  case Json::value_t::object:
    return "an object";
  case Json::value_t::array:
    return "a list";
  case Json::value_t::string:
    return "a string";
  case Json::value_t::boolean:
    return "a boolean";
  default:
    return "a number";
  }
}

const Json *ObjectReader::find(StringRef key) {
  asked.insert(key.str());
  if (!problem.empty())
    return nullptr;
  auto it = object.find(key.str());
  return it == object.end() ? nullptr : &*it;
}

void ObjectReader::failAt(StringRef key, const Twine &message) {
  fail((key + " " + message).str());
}

template <typename T, typename Check>
void ObjectReader::readAs(StringRef key, T &value, Check is, StringRef type) {
  const Json *found = find(key);
  if (!found)
    return;
  if (is(*found))
    value = found->template get<T>();
  else
    failAt(key, "must be " + type + ", got " + kindOf(*found));
}

void ObjectReader::read(StringRef key, std::string &value) {
  readAs(key, value, [](const Json &j) { return j.is_string(); }, "a string");
}
void ObjectReader::read(StringRef key, double &value) {
  readAs(key, value, [](const Json &j) { return j.is_number(); }, "a number");
}
void ObjectReader::read(StringRef key, int64_t &value) {
  readAs(key, value, [](const Json &j) { return j.is_number_integer(); },
         "an integer");
}
void ObjectReader::read(StringRef key, bool &value) {
  readAs(key, value, [](const Json &j) { return j.is_boolean(); },
         "a boolean");
}
void ObjectReader::read(StringRef key, std::vector<std::string> &value) {
  auto is = [](const Json &j) {
    return j.is_array() &&
           std::all_of(j.begin(), j.end(),
                       [](const Json &e) { return e.is_string(); });
  };
  readAs(key, value, is, "a list of strings");
}
void ObjectReader::read(StringRef key, std::vector<int64_t> &value) {
  auto is = [](const Json &j) {
    return j.is_array() &&
           std::all_of(j.begin(), j.end(),
                       [](const Json &e) { return e.is_number_integer(); });
  };
  readAs(key, value, is, "a list of integers");
}

void ObjectReader::refuse(StringRef key) {
  if (find(key))
    failAt(key, "is not yet supported");
}

Error ObjectReader::finish() {
  if (problem.empty())
    for (auto it = object.begin(); it != object.end(); ++it)
      if (!asked.count(it.key())) {
        std::vector<std::string> known(asked.begin(), asked.end());
        fail("unknown key '" + it.key() + "'" + suggestion(it.key(), known));
      }
  return problem.empty() ? Error::success() : userError(where, problem);
}

} // namespace fleet
