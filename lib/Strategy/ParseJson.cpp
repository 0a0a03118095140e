//===- ParseJson.cpp - JSON to trees ---------------------------*- C++ -*-===//
//
// The JSON library's events build the tree, because its own tree knows neither lines nor repeated keys and its events need
// no exceptions. Events carry no position: the iterator that feeds the lexer counts.
//
//===----------------------------------------------------------------------===//

#include "Parse.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"

#include <nlohmann/json.hpp>

using namespace llvm;

namespace fleet {
namespace {
/// Feeds the lexer and tells how far it has read.
class CountingIterator {
public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char *;
  using reference = const char &;

  CountingIterator(const char *at, const char **furthest)
      : at(at), furthest(furthest) {}
  reference operator*() const { return *at; }
  CountingIterator &operator++() {
    *furthest = ++at;
    return *this;
  }
  bool operator==(const CountingIterator &other) const {
    return at == other.at;
  }
  bool operator!=(const CountingIterator &other) const {
    return at != other.at;
  }

private:
  const char *at;
  const char **furthest;
};

/// Makes nodes of events. An event that returns false ends parsing; `problem` then says why.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
public:
  TreeBuilder(const char *begin, Place source)
      : read(begin), counted(begin), source(std::move(source)) {}

  bool null() override { return add({}); }
  bool boolean(bool value) override {
    Node node;
    node.kind = Node::Kind::Boolean;
    node.boolean = value;
    return add(std::move(node));
  }
  bool number_integer(number_integer_t value) override {
    Node node;
    node.kind = Node::Kind::Integer;
    node.integer = value;
    return add(std::move(node), /*lookahead=*/1);
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (value <= static_cast<number_unsigned_t>(INT64_MAX))
      return number_integer(static_cast<int64_t>(value));
    return failInteger(std::to_string(value));
  }
  bool number_float(number_float_t value, const string_t &token) override {
    if (StringRef(token).ltrim('-').find_first_not_of("0123456789") ==
        StringRef::npos)
      return failInteger(token);
    Node node;
    node.kind = Node::Kind::Number;
    node.number = value;
    return add(std::move(node), /*lookahead=*/1);
  }
  bool string(string_t &value) override {
    Node node;
    node.kind = Node::Kind::String;
    node.text = std::move(value);
    return add(std::move(node));
  }
  bool binary(binary_t &) override { return false; }
  bool start_object(std::size_t) override { return open(Node::Kind::Object); }
  bool start_array(std::size_t) override { return open(Node::Kind::List); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t &value) override {
    if (!keys.back().insert(value).second)
      return fail("key " + quote(value) + " is given twice");
    pendingKeys.back() = std::move(value);
    return true;
  }
  bool parse_error(std::size_t, const std::string &,
                   const nlohmann::detail::exception &error) override;

  Expected<Node> take() {
    if (problem)
      return userError(source.at(line(/*lookahead=*/1)), *problem);
    return std::move(root);
  }

private:
  bool add(Node node, unsigned lookahead = 0);
  bool open(Node::Kind kind);
  bool close();
  bool fail(std::string message) {
    problem = std::move(message);
    return false;
  }
  bool failInteger(StringRef token) {
    return fail("the integer " + quote(token) + " does not fit in 64 bits");
  }
  /// Line of the token just read, less the characters that the lexer has read beyond it.
  unsigned line(unsigned lookahead = 0);

public:
  /// Set by the iterator.
  const char *read;

private:
  const char *counted;
  unsigned currentLine = 1;
  Place source;
  Node root;
  /// Objects and lists that are open, each complete but for its own members, with their keys.
  std::vector<Node> stack;
  std::vector<std::string> pendingKeys;
  std::vector<StringSet<>> keys;
  std::optional<std::string> problem;
};
} // namespace

unsigned TreeBuilder::line(unsigned lookahead) {
  const char *end = std::max(counted, read - lookahead);
  currentLine += std::count(counted, end, '\n');
  counted = end;
  return currentLine;
}

bool TreeBuilder::add(Node node, unsigned lookahead) {
  if (!node.place.source)
    node.place = source.at(line(lookahead));
  if (stack.empty())
    root = std::move(node);
  else if (stack.back().is(Node::Kind::List))
    stack.back().items.push_back(std::move(node));
  else
    stack.back().members.emplace_back(std::move(pendingKeys.back()),
                                      std::move(node));
  return true;
}

bool TreeBuilder::open(Node::Kind kind) {
  if (stack.size() == kMaxDepth)
    return fail("nests deeper than " + std::to_string(kMaxDepth));
  Node node;
  node.kind = kind;
  node.place = source.at(line());
  stack.push_back(std::move(node));
  pendingKeys.emplace_back();
  keys.emplace_back();
  return true;
}

bool TreeBuilder::close() {
  Node node = std::move(stack.back());
  stack.pop_back();
  pendingKeys.pop_back();
  keys.pop_back();
  return add(std::move(node));
}

/// "[json.exception.parse_error.101] parse error at line 1, column 2: REASON; last read: 'TOKEN'; expected WHAT". The line
/// stands in front of our message, and the token may be as long as the file.
bool TreeBuilder::parse_error(std::size_t, const std::string &,
                              const nlohmann::detail::exception &error) {
  StringRef message = error.what();
  message = message.split("] ").second;
  if (message.starts_with("parse error at line"))
    message = message.split(": ").second;
  auto [reason, rest] = message.split("; last read: ");
  size_t expected = rest.rfind("; expected ");
  std::string text = reason.take_front(200).str();
  if (expected != StringRef::npos)
    text += rest.substr(expected).str();
  return fail("not valid JSON: " + text);
}

Expected<Node> parseJson(StringRef text, const Place &source) {
  if (text.trim().empty())
    return userError(source, "is empty");
  TreeBuilder builder(text.begin(), source);
  nlohmann::json::sax_parse(CountingIterator(text.begin(), &builder.read),
                            CountingIterator(text.end(), &builder.read),
                            &builder);
  return builder.take();
}

static Expected<std::unique_ptr<MemoryBuffer>> readFile(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path);
  if (!buffer)
    return userError(Place::of(path), buffer.getError().message());
  return std::move(*buffer);
}

Expected<Node> parseJsonFile(StringRef path) {
  auto file = readFile(path);
  if (!file)
    return file.takeError();
  return parseJson((*file)->getBuffer(), Place::of(path));
}

Expected<Node> parseStrategyFile(StringRef path) {
  auto file = readFile(path);
  if (!file)
    return file.takeError();
  StringRef text = (*file)->getBuffer();
  StringRef start = text.ltrim();
  bool isTextFormat =
      !start.empty() &&
      (isAlpha(start.front()) || start.front() == '_' || start.front() == '#');
  return isTextFormat ? parseTextFormat(text, Place::of(path))
                      : parseJson(text, Place::of(path));
}

} // namespace fleet
