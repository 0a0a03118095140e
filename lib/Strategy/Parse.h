//===- Parse.h - Text to trees ---------------------------------*- C++ -*-===//
//
// The two forms in which strategies come, and the one of jobs. A text that is malformed, repeats a key or nests too deep
// is an error that names the line.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_LIB_STRATEGY_PARSE_H
#define FLEET_LIB_STRATEGY_PARSE_H

#include "Node.h"

namespace fleet {

/// Parses JSON.
llvm::Expected<Node> parseJson(llvm::StringRef text, const Place &source);

/// Parses the protobuf text form of a DistributedStrategy, as Fleet's save_to_prototxt writes it. A key that is a list in
/// the table of keys becomes a list, however often it is given.
llvm::Expected<Node> parseTextFormat(llvm::StringRef text, const Place &source);

/// Parses a JSON file.
llvm::Expected<Node> parseJsonFile(llvm::StringRef path);

/// Parses a strategy file in either form: what begins as protobuf text does is read as such.
llvm::Expected<Node> parseStrategyFile(llvm::StringRef path);

} // namespace fleet

#endif // FLEET_LIB_STRATEGY_PARSE_H
