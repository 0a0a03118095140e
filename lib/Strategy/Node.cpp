//===- Node.cpp - What a user wrote, with its place ------------*- C++ -*-===//
//
// Typed access, comparison and merging of trees; the pieces of messages.
//
//===----------------------------------------------------------------------===//

#include "Node.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <charconv>

using namespace llvm;

namespace fleet {

/// Characters of a user's text that a message shows.
static constexpr size_t kQuotedLength = 60;

Place Place::of(StringRef source) {
  return {std::make_shared<const std::string>(source.str()), 0};
}

std::string Place::str() const {
  return line ? *source + ":" + std::to_string(line) : *source;
}

Error userError(const Place &place, const Twine &message) {
  std::string line = (place.str() + ": " + message).str();
  std::string shown;
  for (char c : line) {
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f)
      shown += c;
    else
      shown += "\\x" + toHex(StringRef(&c, 1), /*LowerCase=*/true);
  }
  return createStringError(inconvertibleErrorCode(), shown);
}

std::string quote(StringRef text) {
  if (text.size() <= kQuotedLength)
    return ("'" + text + "'").str();
  // Never cut inside a UTF-8 sequence.
  size_t end = kQuotedLength;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
    --end;
  return ("'" + text.take_front(end) + "...'").str();
}

std::string format(double value) {
  char buffer[32];
  char *end = std::to_chars(std::begin(buffer), std::end(buffer), value).ptr;
  return std::string(buffer, end);
}

std::string nearest(StringRef name, ArrayRef<std::string> known) {
  StringRef start = name.take_front(kQuotedLength);
  const std::string *best = nullptr;
  unsigned bestDistance = 0;
  for (const std::string &candidate : known) {
    unsigned distance = start.edit_distance_insensitive(candidate);
    if (best && distance >= bestDistance)
      continue;
    best = &candidate;
    bestDistance = distance;
  }
  return best ? "; the nearest key is '" + *best + "'" : "";
}

std::string joinPath(StringRef path, StringRef key) {
  return path.empty() ? key.str() : (path + "." + key).str();
}

Node Node::object(Place place) {
  Node node;
  node.kind = Kind::Object;
  node.place = std::move(place);
  return node;
}

Node Node::string(Place place, StringRef text) {
  Node node;
  node.kind = Kind::String;
  node.place = std::move(place);
  node.text = text.str();
  return node;
}

const Node *Node::find(StringRef key) const {
  auto it = llvm::find_if(members, [&](auto &m) { return m.first == key; });
  return it == members.end() ? nullptr : &it->second;
}

void Node::erase(StringRef key) {
  erase_if(members, [&](auto &m) { return m.first == key; });
}

std::string Node::brief() const {
  switch (kind) {
  case Kind::Null:
    return "null";
  case Kind::Boolean:
    return boolean ? "true" : "false";
  case Kind::Integer:
    return std::to_string(integer);
  case Kind::Number:
    return format(number);
  case Kind::String:
    return quote(text);
  case Kind::List:
    return items.empty() ? "[]" : "[...]";
  case Kind::Object:
    return members.empty() ? "{}" : "{...}";
  }
  llvm_unreachable("all kinds are listed");
}

std::string Node::describe() const {
  switch (kind) {
  case Kind::Integer:
  case Kind::Number:
    return "the number " + brief();
  case Kind::String:
    return "the string " + brief();
  case Kind::List:
    return "a list";
  case Kind::Object:
    return "an object";
  case Kind::Null:
  case Kind::Boolean:
    return brief();
  }
  llvm_unreachable("all kinds are listed");
}

template <> std::optional<bool> Node::as() const {
  return is(Kind::Boolean) ? std::optional(boolean) : std::nullopt;
}

template <> std::optional<int64_t> Node::as() const {
  return is(Kind::Integer) ? std::optional(integer) : std::nullopt;
}

template <> std::optional<double> Node::as() const {
  if (is(Kind::Integer))
    return static_cast<double>(integer);
  return is(Kind::Number) ? std::optional(number) : std::nullopt;
}

template <> std::optional<std::string> Node::as() const {
  return is(Kind::String) ? std::optional(text) : std::nullopt;
}

template <typename T>
static std::optional<std::vector<T>> asList(const Node &node) {
  if (!node.is(Node::Kind::List))
    return std::nullopt;
  std::vector<T> result;
  for (const Node &item : node.items) {
    auto value = item.as<T>();
    if (!value)
      return std::nullopt;
    result.push_back(std::move(*value));
  }
  return result;
}

template <> std::optional<std::vector<std::string>> Node::as() const {
  return asList<std::string>(*this);
}

template <> std::optional<std::vector<int64_t>> Node::as() const {
  return asList<int64_t>(*this);
}

template <> StringRef typeName<bool>() { return "a boolean"; }
template <> StringRef typeName<int64_t>() { return "an integer"; }
template <> StringRef typeName<double>() { return "a number"; }
template <> StringRef typeName<std::string>() { return "a string"; }
template <> StringRef typeName<std::vector<std::string>>() {
  return "a list of strings";
}
template <> StringRef typeName<std::vector<int64_t>>() {
  return "a list of integers";
}

bool operator==(const Node &a, const Node &b) {
  using Kind = Node::Kind;
  if (a.is(Kind::Number) || b.is(Kind::Number)) {
    auto x = a.as<double>(), y = b.as<double>();
    return x && y && *x == *y;
  }
  if (a.kind != b.kind)
    return false;
  auto inB = [&](auto &member) {
    const Node *other = b.find(member.first);
    return other && member.second == *other;
  };
  return a.boolean == b.boolean && a.integer == b.integer && a.text == b.text &&
         a.items == b.items && a.members.size() == b.members.size() &&
         llvm::all_of(a.members, inB);
}

Error merge(Node &base, const Node &extra, const std::string &path) {
  if (base.is(Node::Kind::Object) && extra.is(Node::Kind::Object)) {
    for (auto &[key, value] : extra.members) {
      Node *mine = base.find(key);
      if (!mine)
        base.members.emplace_back(key, value);
      else if (Error error = merge(*mine, value, joinPath(path, key)))
        return error;
    }
    return Error::success();
  }
  if (base == extra)
    return Error::success();
  return userError(base.place, path + " is given twice: " + base.brief() +
                                   " here and " + extra.brief() + " in " +
                                   extra.place.str());
}

} // namespace fleet
