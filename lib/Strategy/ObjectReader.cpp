//===- ObjectReader.cpp - Typed reading of one object ----------*- C++ -*-===//
//
// Messages that name the key, the rule and what was found.
//
//===----------------------------------------------------------------------===//

#include "ObjectReader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace fleet {

ObjectReader::ObjectReader(const Node &object, std::string path)
    : object(object), path(std::move(path)) {
  if (!object.is(Node::Kind::Object))
    keep(userError(object.place,
                   (this->path.empty() ? "the file" : this->path) +
                       " must be an object, got " + object.describe()));
}

const Node *ObjectReader::find(StringRef key) {
  asked.push_back(key.str());
  return problem.empty() ? object.find(key) : nullptr;
}

bool ObjectReader::read(StringRef key, int64_t &value, int64_t low,
                        int64_t high) {
  if (!read(key, value))
    return false;
  if (value < low)
    fail(key, "must be at least " + Twine(low) + ", got " + Twine(value));
  else if (value > high)
    fail(key, "must be at most " + Twine(high) + ", got " + Twine(value));
  return true;
}

bool ObjectReader::read(StringRef key, double &value, double low, double high) {
  if (!read(key, value))
    return false;
  if (value < low || value > high)
    fail(key, "must lie between " + format(low) + " and " + format(high) +
                  ", got " + format(value));
  return true;
}

bool ObjectReader::read(StringRef key, std::string &value,
                        ArrayRef<std::string> supported,
                        ArrayRef<std::string> later) {
  if (!read(key, value))
    return false;
  if (is_contained(later, value))
    fail(key, quote(value) + " is not yet supported");
  else if (!is_contained(supported, value))
    fail(key, "must be one of " + llvm::join(supported, ", ") + ", got " +
                  quote(value));
  return true;
}

void ObjectReader::require(StringRef key, StringRef meaning) {
  if (!object.find(key) && missing.empty())
    missing = pathTo(key) + " is missing" + meaning.str();
}

void ObjectReader::refuse(StringRef key) {
  if (find(key))
    fail(key, "is not yet supported");
}

void ObjectReader::fail(StringRef key, const Twine &message) {
  const Node *node = object.find(key);
  keep(userError(node ? node->place : object.place,
                 pathTo(key) + " " + message));
}

/// Of a list, the element that is wrong says more than that it is a list.
void ObjectReader::failType(StringRef key, const Node &node, StringRef type) {
  std::string got = node.describe();
  if (node.is(Node::Kind::List) && type.starts_with("a list of ")) {
    auto itemKind =
        type.ends_with("strings") ? Node::Kind::String : Node::Kind::Integer;
    for (const Node &item : node.items)
      if (!item.is(itemKind)) {
        got = item.describe() + " in it";
        break;
      }
  }
  fail(key, "must be " + type + ", got " + got);
}

void ObjectReader::keep(Error error) {
  std::string message = toString(std::move(error));
  if (problem.empty())
    problem = std::move(message);
}

Error ObjectReader::finish() {
  if (problem.empty())
    for (auto &[key, value] : object.members)
      if (!is_contained(asked, key)) {
        keep(userError(value.place, "unknown key " + quote(pathTo(key)) +
                                        nearest(key, asked)));
        break;
      }
  if (!missing.empty())
    keep(userError(object.place, missing));
  if (problem.empty())
    return Error::success();
  return createStringError(inconvertibleErrorCode(), problem);
}

} // namespace fleet
