//===- ParseTextFormat.cpp - Protobuf text to trees ------------*- C++ -*-===//
//
// A reader of the text form of protobuf messages: `name: value`, `name { … }`, repeated names for lists. There is no message
// definition behind it; the table of keys says which names are lists, and checks the rest afterwards.
//
//===----------------------------------------------------------------------===//

#include "Parse.h"
#include "fleet/Strategy/StrategyKeys.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace llvm;

namespace fleet {
namespace {
class TextFormatParser {
public:
  TextFormatParser(StringRef text, const Place &source)
      : rest(text), source(source) {}

  Expected<Node> parse() {
    Node root = Node::object(source.at(1));
    if (!message(root, "", /*close=*/0, /*depth=*/1))
      return userError(source.at(line), problem);
    return root;
  }

private:
  bool message(Node &object, const std::string &path, char close,
               unsigned depth);
  bool field(Node &object, const std::string &path, unsigned depth);
  bool value(Node &node, const std::string &path, unsigned depth);
  bool list(Node &node, const std::string &path, unsigned depth);
  bool scalar(Node &node);
  bool quoted(std::string &text);
  bool escape(std::string &text);
  bool number(StringRef token, Node &node);
  bool insert(Node &object, StringRef key, const std::string &path, Node node);

  /// Skips blanks and comments. Returns the next character, 0 at the end.
  char peek();
  bool consume(char c);
  StringRef word();
  bool fail(const Twine &message) {
    problem = message.str();
    return false;
  }

  StringRef rest;
  const Place &source;
  unsigned line = 1;
  std::string problem;
};
} // namespace

char TextFormatParser::peek() {
  while (!rest.empty()) {
    if (rest.front() == '#')
      rest = rest.drop_until([](char c) { return c == '\n'; });
    else if (!isSpace(rest.front()))
      return rest.front();
    if (rest.consume_front("\n"))
      ++line;
    else
      rest = rest.drop_front(rest.empty() ? 0 : 1);
  }
  return 0;
}

bool TextFormatParser::consume(char c) {
  if (peek() != c)
    return false;
  rest = rest.drop_front();
  return true;
}

StringRef TextFormatParser::word() {
  peek();
  StringRef token = rest.take_while([](char c) {
    return isAlnum(c) || c == '_' || c == '.' || c == '-' || c == '+';
  });
  rest = rest.drop_front(token.size());
  return token;
}

bool TextFormatParser::message(Node &object, const std::string &path,
                               char close, unsigned depth) {
  if (depth > kMaxDepth)
    return fail("nests deeper than " + Twine(kMaxDepth));
  while (char c = peek()) {
    if (c == close) {
      rest = rest.drop_front();
      return true;
    }
    if (!field(object, path, depth))
      return false;
  }
  return !close || fail("ends inside of " + path);
}

bool TextFormatParser::field(Node &object, const std::string &path,
                             unsigned depth) {
  StringRef key = word();
  if (key.empty())
    return fail("a key is expected, got " + quote(rest.take_front(1)));
  std::string inner = joinPath(path, key);
  bool colon = consume(':');
  char next = peek();
  if (!colon && next != '{' && next != '<')
    return fail("':' is expected after " + quote(key));
  Node node;
  node.place = source.at(line);
  if (!value(node, inner, depth) ||
      !insert(object, key, inner, std::move(node)))
    return false;
  if (!consume(','))
    consume(';');
  return true;
}

bool TextFormatParser::value(Node &node, const std::string &path,
                             unsigned depth) {
  node.place = source.at(line);
  if (consume('[')) {
    node.kind = Node::Kind::List;
    return list(node, path, depth);
  }
  for (auto [open, close] : {std::pair('{', '}'), std::pair('<', '>')})
    if (consume(open)) {
      node.kind = Node::Kind::Object;
      return message(node, path, close, depth + 1);
    }
  return scalar(node);
}

bool TextFormatParser::list(Node &node, const std::string &path,
                            unsigned depth) {
  if (depth == kMaxDepth)
    return fail("nests deeper than " + Twine(kMaxDepth));
  if (consume(']'))
    return true;
  do {
    Node item;
    if (!value(item, path, depth + 1))
      return false;
    node.items.push_back(std::move(item));
  } while (consume(','));
  return consume(']') || fail("']' is expected in " + path);
}

bool TextFormatParser::scalar(Node &node) {
  char c = peek();
  if (c == '"' || c == '\'') {
    node.kind = Node::Kind::String;
    // Strings beside each other are one.
    while (peek() == '"' || peek() == '\'')
      if (!quoted(node.text))
        return false;
    return true;
  }
  StringRef token = word();
  if (token.empty())
    return fail(c ? "a value is expected, got " + quote(rest.take_front(1))
                  : std::string("ends where a value is expected"));
  if (token == "true" || token == "false") {
    node.kind = Node::Kind::Boolean;
    node.boolean = token == "true";
    return true;
  }
  if (!isAlpha(token.front()) && token.front() != '_')
    return number(token, node);
  if (token == "inf" || token == "nan")
    return fail(quote(token) + " is no finite number");
  // The name of an enumerator.
  node.kind = Node::Kind::String;
  node.text = token.str();
  return true;
}

bool TextFormatParser::number(StringRef token, Node &node) {
  if (!token.getAsInteger(0, node.integer)) {
    node.kind = Node::Kind::Integer;
    return true;
  }
  if (token.ltrim("+-").find_first_not_of("0123456789") == StringRef::npos)
    return fail("the integer " + quote(token) + " does not fit in 64 bits");
  StringRef digits = token;
  if (digits.ends_with_insensitive("f"))
    digits = digits.drop_back();
  node.kind = Node::Kind::Number;
  if (digits.getAsDouble(node.number) || !std::isfinite(node.number))
    return fail(quote(token) + " is no number");
  return true;
}

bool TextFormatParser::quoted(std::string &text) {
  char quoteMark = rest.front();
  rest = rest.drop_front();
  while (!rest.empty() && rest.front() != '\n') {
    char c = rest.front();
    rest = rest.drop_front();
    if (c == quoteMark)
      return true;
    if (c != '\\')
      text += c;
    else if (!escape(text))
      return false;
  }
  return fail("a string does not end on its line");
}

bool TextFormatParser::escape(std::string &text) {
  static constexpr StringLiteral names = "abfnrtv\\'\"?";
  static constexpr StringLiteral values = "\a\b\f\n\r\t\v\\'\"?";
  size_t known = rest.empty() ? StringRef::npos : names.find(rest.front());
  if (known != StringRef::npos) {
    text += values[known];
    rest = rest.drop_front();
    return true;
  }
  bool hex = rest.consume_front_insensitive("x");
  StringRef digits = rest.take_front(hex ? 2 : 3).take_while([&](char c) {
    return hex ? isHexDigit(c) : c >= '0' && c <= '7';
  });
  unsigned code = 0;
  if (digits.getAsInteger(hex ? 16 : 8, code) || code > 255)
    return fail("a string has an escape that does not exist");
  text += static_cast<char>(code);
  rest = rest.drop_front(digits.size());
  return true;
}

/// What the table does not know is kept as it stands: the check of keys has the better message.
bool TextFormatParser::insert(Node &object, StringRef key,
                              const std::string &path, Node node) {
  const StrategyKey *known = findStrategyKey(path);
  if (!known && !isStrategyGroup(path)) {
    object.members.emplace_back(key.str(), std::move(node));
    return true;
  }
  bool isList = known && known->type == KeyType::List;
  Node *there = object.find(key);
  if (there && !isList)
    return fail("key " + quote(path) + " is given twice");
  if (!isList || (!there && node.is(Node::Kind::List))) {
    object.members.emplace_back(key.str(), std::move(node));
    return true;
  }
  if (!there) {
    Node list;
    list.kind = Node::Kind::List;
    list.place = node.place;
    object.members.emplace_back(key.str(), std::move(list));
    there = &object.members.back().second;
  }
  if (node.is(Node::Kind::List))
    llvm::append_range(there->items, node.items);
  else
    there->items.push_back(std::move(node));
  return true;
}

Expected<Node> parseTextFormat(StringRef text, const Place &source) {
  return TextFormatParser(text, source).parse();
}

} // namespace fleet
