//===- JobSources.cpp - Everything a user said, as one tree ----*- C++ -*-===//
//
// Each source becomes a tree in the form of a job, in which only what was said is there.
//
//===----------------------------------------------------------------------===//

#include "JobSources.h"
#include "Parse.h"
#include "StrategyReader.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace fleet {

/// Paths in a job are relative to the job file.
static void resolvePaths(Node &job, StringRef jobFile) {
  for (StringRef key : {"model", "weights", "data"}) {
    Node *path = job.find(key);
    if (!path || !path->is(Node::Kind::String) || path->text.empty() ||
        sys::path::is_absolute(path->text))
      continue;
    SmallString<128> resolved = sys::path::parent_path(jobFile);
    sys::path::append(resolved, path->text);
    path->text = resolved.str().str();
  }
}

static Expected<Node> readJobFile(StringRef path) {
  auto job = parseJsonFile(path);
  if (!job)
    return job.takeError();
  if (!job->is(Node::Kind::Object))
    return userError(job->place,
                     "a job must be an object, got " + job->describe());
  resolvePaths(*job, path);
  if (Node *strategy = job->find("strategy"))
    if (Error error = unwrapStrategy(*strategy))
      return std::move(error);
  return job;
}

/// What a recipe of a reference model shares with a job. Such a file also holds losses and norms, which are not of a job.
static Expected<Node> readRecipe(StringRef argument) {
  Place place = Place::of("--recipe");
  auto [file, name] = argument.rsplit(':');
  if (name.empty())
    return userError(place, "must be FILE:RECIPE, got " + quote(argument));
  auto tree = parseJsonFile(file);
  if (!tree)
    return tree.takeError();
  const Node *recipes = tree->find("recipes");
  const Node *recipe = recipes ? recipes->find(name) : nullptr;
  if (!recipe) {
    std::vector<std::string> names;
    if (recipes)
      for (auto &member : recipes->members)
        names.push_back(member.first);
    return userError(tree->place,
                     "has no recipe " + quote(name) + nearest(name, names));
  }
  Node job = Node::object(recipe->place);
  for (StringRef key : {"batch", "loss", "frozen"})
    if (const Node *value = tree->find(key))
      job.members.emplace_back(key.str(), *value);
  for (StringRef key : {"optimizer", "clip", "schedule", "accumulate"})
    if (const Node *value = recipe->find(key))
      job.members.emplace_back(key.str(), *value);
  return job;
}

static Expected<Node> readStrategyFile(StringRef path) {
  auto strategy = parseStrategyFile(path);
  if (!strategy)
    return strategy.takeError();
  if (Error error = unwrapStrategy(*strategy))
    return std::move(error);
  Node job = Node::object(strategy->place);
  job.members.emplace_back("strategy", std::move(*strategy));
  return job;
}

/// "adamw,lr=1e-3" as the object {"name": "adamw", "lr": 1e-3}; `nameKey` is the key of the first word. A value that is no
/// JSON is a string.
static Expected<Node> parseOption(StringRef text, StringRef option,
                                  StringRef nameKey) {
  Place place = Place::of(option);
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  Node object = Node::object(place);
  object.members.emplace_back(nameKey.str(), Node::string(place, parts[0]));
  for (StringRef part : ArrayRef(parts).drop_front()) {
    auto [key, value] = part.split('=');
    if (key.empty() || value.empty())
      return userError(place, quote(part) + " must be KEY=VALUE");
    if (object.find(key))
      return userError(place, "key " + quote(key) + " is given twice");
    auto parsed = parseJson(value, place);
    if (!parsed) {
      consumeError(parsed.takeError());
      parsed = Node::string(place, value);
    }
    parsed->place = place;
    object.members.emplace_back(key.str(), std::move(*parsed));
  }
  return object;
}

static Expected<Node> readOptions(const JobArguments &arguments) {
  Node job = Node::object(Place::of("the command line"));
  auto addText = [&](StringRef key, StringRef text, StringRef option) {
    if (!text.empty())
      job.members.emplace_back(key.str(),
                               Node::string(Place::of(option), text));
  };
  addText("model", arguments.model, "the command line");
  addText("devices", arguments.devices, "--devices");
  addText("precision", arguments.precision, "--precision");
  auto addOption = [&](StringRef key, StringRef text,
                       StringRef nameKey) -> Error {
    if (text.empty())
      return Error::success();
    auto part = parseOption(text, ("--" + key).str(), nameKey);
    if (!part)
      return part.takeError();
    job.members.emplace_back(key.str(), std::move(*part));
    return Error::success();
  };
  if (Error error = addOption("optimizer", arguments.optimizer, "name"))
    return std::move(error);
  if (Error error = addOption("loss", arguments.loss, "kind"))
    return std::move(error);
  return job;
}

/// Two paths to one file are one value.
static void unifyPath(const Node &base, Node &extra) {
  const Node *mine = base.find("model");
  const Node *other = extra.find("model");
  if (mine && other && mine->is(Node::Kind::String) &&
      sys::fs::equivalent(mine->text, other->text))
    extra.erase("model");
}

Expected<Node> gatherJob(const JobArguments &arguments) {
  Node job = Node::object(Place::of("the command line"));
  auto add = [&](Expected<Node> source) -> Error {
    if (!source)
      return source.takeError();
    // The first source gives the job its place.
    if (job.members.empty()) {
      job = std::move(*source);
      return Error::success();
    }
    unifyPath(job, *source);
    return merge(job, *source, "");
  };
  if (!arguments.jobFile.empty())
    if (Error error = add(readJobFile(arguments.jobFile)))
      return std::move(error);
  if (!arguments.recipe.empty())
    if (Error error = add(readRecipe(arguments.recipe)))
      return std::move(error);
  if (!arguments.strategyFile.empty())
    if (Error error = add(readStrategyFile(arguments.strategyFile)))
      return std::move(error);
  if (Error error = add(readOptions(arguments)))
    return std::move(error);
  return job;
}

} // namespace fleet
