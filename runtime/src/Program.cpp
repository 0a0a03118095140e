//===- Program.cpp - The program of a rank ---------------------*- C++ -*-===//
//
// Reading the program text, and the arithmetic of meshes.
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "fleet_rt/fleet_rt.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

using Json = nlohmann::json;

namespace fleet_rt {

int64_t elementBytes(int32_t dtype) {
  switch (dtype) {
  case FLEET_RT_F32:
  case FLEET_RT_I32:
    return 4;
  case FLEET_RT_I1:
    return 1;
  default:
    return 8;
  }
}

int64_t Buffer::elements() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

double Schedule::rate(int64_t step) const {
  double s = static_cast<double>(step - 1);
  if (s < static_cast<double>(warmup))
    return lr * (s + 1) / static_cast<double>(warmup);
  if (kind == "constant")
    return lr;
  double t =
      (s - static_cast<double>(warmup)) / static_cast<double>(steps - warmup);
  t = std::min(1.0, std::max(0.0, t));
  if (kind == "linear")
    return lr + (minLr - lr) * t;
  return minLr + 0.5 * (lr - minLr) * (1 + std::cos(M_PI * t));
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

static int32_t parseType(const std::string &name) {
  static const char *names[] = {"f32", "f64", "i32", "i64", "i1"};
  for (int32_t type = 0; type < 5; ++type)
    if (name == names[type])
      return type;
  throw Error("program: unknown element type '" + name + "'");
}

/// "mp" or "mp:0" as a reference into the mesh.
static AxisRef parseAxis(const std::string &text,
                         const std::vector<MeshAxis> &mesh) {
  size_t colon = text.find(':');
  std::string name = text.substr(0, colon);
  int64_t piece =
      colon == std::string::npos ? -1 : std::stoll(text.substr(colon + 1));
  for (size_t axis = 0; axis < mesh.size(); ++axis)
    if (mesh[axis].name == name)
      return {axis, piece};
  throw Error("program: unknown mesh axis '" + name + "'");
}

static AxisRefs parseAxes(const Json &json, const std::vector<MeshAxis> &mesh) {
  AxisRefs refs;
  for (const Json &axis : json)
    refs.push_back(parseAxis(axis.get<std::string>(), mesh));
  return refs;
}

static Buffer parseBuffer(const Json &json, const std::vector<MeshAxis> &mesh) {
  Buffer buffer;
  buffer.name = json.at("name");
  buffer.kind = json.at("kind");
  buffer.dtype = parseType(json.at("dtype"));
  buffer.shape = json.at("shape").get<std::vector<int64_t>>();
  buffer.offset = json.at("offset");
  buffer.slots = json.at("slots");
  buffer.slotBytes = json.at("slot_bytes");
  buffer.source = json.value("source", "");
  buffer.scalar = json.value("scalar", "");
  buffer.globalShape = json.value("global_shape", buffer.shape);
  if (json.contains("sharding"))
    for (const Json &axes : json.at("sharding"))
      buffer.sharding.push_back(parseAxes(axes, mesh));
  buffer.sharding.resize(buffer.shape.size());
  if (json.contains("piece")) {
    buffer.pieceOffsets =
        json.at("piece").at("offsets").get<std::vector<int64_t>>();
    buffer.pieceOf =
        json.at("piece").at("of_shape").get<std::vector<int64_t>>();
  }
  return buffer;
}

static Action parseAction(const Json &json) {
  std::string op = json.at("op");
  Action action;
  action.kind = op == "run"    ? Action::Run
                : op == "send" ? Action::Send
                : op == "recv"
                    ? Action::Recv
                    : throw Error("program: unknown action '" + op + "'");
  action.target = json.at(op == "run" ? "task" : "buffer");
  action.microBatch = json.value("micro_batch", int64_t(0));
  action.peerStage = json.value("peer_stage", int64_t(0));
  return action;
}

static void parseSchedule(const Json &json, Schedule &schedule) {
  schedule.kind = json.value("kind", "constant");
  schedule.lr = json.at("lr");
  schedule.minLr = json.value("min_lr", 0.0);
  schedule.warmup = json.value("warmup", int64_t(0));
  schedule.steps = json.value("steps", int64_t(0));
}

static Program parseProgram(const Json &json) {
  Program program;
  if (json.at("format") != "fleet.program/1")
    throw Error("program: format '" + json.at("format").get<std::string>() +
                "' is not fleet.program/1");
  program.stage = json.at("stage");
  program.stages = json.at("stages");
  program.precision = json.at("precision");
  for (const Json &axis : json.at("mesh"))
    program.mesh.push_back({axis.at("name"), axis.at("size")});
  program.arenaBytes = json.at("arena_bytes");
  program.globalBatch = json.at("global_batch");
  program.microBatches = json.at("micro_batches");
  for (const Json &buffer : json.at("buffers"))
    program.buffers.push_back(parseBuffer(buffer, program.mesh));
  for (const Json &communicator : json.at("communicators")) {
    program.communicatorNames.push_back(communicator.at("name"));
    program.communicators.push_back(
        parseAxes(communicator.at("axes"), program.mesh));
  }
  program.tasks = json.at("tasks").get<std::vector<std::string>>();
  for (const Json &action : json.at("actions"))
    program.actions.push_back(parseAction(action));
  const Json &outputs = json.at("outputs");
  if (outputs.contains("loss"))
    program.loss = outputs.at("loss").get<int64_t>();
  if (outputs.contains("grad_norm"))
    program.gradNorm = outputs.at("grad_norm").get<int64_t>();
  if (json.contains("schedule"))
    parseSchedule(json.at("schedule"), program.schedule);
  if (json.contains("tokens")) {
    const Json &tokens = json.at("tokens");
    program.tokens =
        TokenBinding{tokens.at("input"), tokens.value("labels", ""),
                     tokens.value("shift", false), tokens.at("sequence")};
  }
  return program;
}

Program Program::parse(const char *text, size_t size) {
  try {
    return parseProgram(Json::parse(text, text + size));
  } catch (const Json::exception &error) {
    throw Error(std::string("program: ") + error.what());
  }
}

//===----------------------------------------------------------------------===//
// Mesh arithmetic
//===----------------------------------------------------------------------===//

int64_t Program::numRanks() const {
  int64_t ranks = 1;
  for (const MeshAxis &axis : mesh)
    ranks *= axis.size;
  return ranks;
}

std::vector<int64_t> Program::coordinates(int64_t rank) const {
  std::vector<int64_t> result(mesh.size());
  for (size_t axis = mesh.size(); axis-- > 0;) {
    result[axis] = rank % mesh[axis].size;
    rank /= mesh[axis].size;
  }
  return result;
}

int64_t Program::rankAt(const std::vector<int64_t> &coordinates) const {
  int64_t rank = 0;
  for (size_t axis = 0; axis < mesh.size(); ++axis)
    rank = rank * mesh[axis].size + coordinates[axis];
  return rank;
}

/// Prime factors of an axis, ascending, the major piece first.
std::vector<int64_t> Program::pieces(const AxisRef &ref) const {
  std::vector<int64_t> primes;
  int64_t size = mesh[ref.axis].size;
  for (int64_t prime = 2; prime * prime <= size; ++prime)
    for (; size % prime == 0; size /= prime)
      primes.push_back(prime);
  if (size > 1)
    primes.push_back(size);
  return primes;
}

int64_t Program::pieceSize(const AxisRef &ref) const {
  return ref.piece < 0 ? mesh[ref.axis].size : pieces(ref).at(ref.piece);
}

int64_t Program::pieceIndex(const AxisRef &ref, int64_t coordinate) const {
  if (ref.piece < 0)
    return coordinate;
  std::vector<int64_t> primes = pieces(ref);
  for (size_t p = primes.size(); p-- > static_cast<size_t>(ref.piece) + 1;)
    coordinate /= primes[p];
  return coordinate % primes.at(ref.piece);
}

int64_t Program::shardIndex(const AxisRefs &axes, int64_t rank) const {
  std::vector<int64_t> own = coordinates(rank);
  int64_t index = 0;
  for (const AxisRef &ref : axes)
    index = index * pieceSize(ref) + pieceIndex(ref, own[ref.axis]);
  return index;
}

int64_t Program::shardCount(const AxisRefs &axes) const {
  int64_t count = 1;
  for (const AxisRef &ref : axes)
    count *= pieceSize(ref);
  return count;
}

std::vector<int64_t> Program::group(const AxisRefs &axes, int64_t rank) const {
  // A rank belongs to the group when every piece outside of `axes` has the same index.
  AxisRefs rest;
  for (size_t axis = 0; axis < mesh.size(); ++axis) {
    size_t count = pieces({axis, -1}).size();
    for (size_t piece = 0; piece < count; ++piece) {
      bool named = std::any_of(axes.begin(), axes.end(), [&](AxisRef ref) {
        return ref.axis == axis &&
               (ref.piece < 0 || ref.piece == static_cast<int64_t>(piece));
      });
      if (!named)
        rest.push_back({axis, static_cast<int64_t>(piece)});
    }
  }
  std::vector<int64_t> members(shardCount(axes));
  for (int64_t other = 0; other < numRanks(); ++other)
    if (shardIndex(rest, other) == shardIndex(rest, rank))
      members[shardIndex(axes, other)] = other;
  return members;
}

int64_t Program::peer(int64_t rank, int64_t stage) const {
  std::vector<int64_t> place = coordinates(rank);
  for (size_t axis = 0; axis < mesh.size(); ++axis)
    if (mesh[axis].name == "pp")
      place[axis] = stage;
  return rankAt(place);
}

} // namespace fleet_rt
