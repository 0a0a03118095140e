//===- Executor.cpp - Walking the actions ----------------------*- C++ -*-===//
//
// One loop for every schedule: what happens in which order is data.
//
//===----------------------------------------------------------------------===//

#include "Executor.h"
#include "TensorFile.h"

#include <cmath>
#include <cstring>
#include <unistd.h>

namespace fleet_rt {

Executor::Executor(const Program &program, const fleet_rt_task_fn *tasks,
                   int64_t rank, Transport &transport,
                   const RunOptions &options)
    : program(program), tasks(tasks), rank(rank), transport(transport),
      options(options) {
  inputs = openInputs(program, rank, options.data);
  context.program = &program;
  context.rank = rank;
  context.transport = &transport;
  for (size_t c = 0; c < program.communicators.size(); ++c) {
    const AxisRefs &axes = program.communicators[c];
    context.communicators.push_back(
        transport.group(static_cast<int64_t>(c), program.group(axes, rank)));
    context.groupIndex.push_back(program.shardIndex(axes, rank));
    context.groupSize.push_back(program.shardCount(axes));
  }
  loadWeights();
  // The first rank that has the loss writes the metrics.
  bool first =
      program.loss.has_value() && rank == program.peer(0, program.stage);
  if (first && !options.log.empty()) {
    log = std::fopen(options.log.c_str(), "w");
    if (!log)
      throw Error(options.log + ": " + std::strerror(errno));
  }
}

Executor::~Executor() {
  if (log)
    std::fclose(log);
}

uint8_t *Executor::address(const Buffer &buffer, int64_t microBatch) {
  return transport.arena() + buffer.offset +
         (microBatch % buffer.slots) * buffer.slotBytes;
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// Copies the box [offsets, offsets + shape) of a row-major tensor, row by row of the last dimension.
static void copyBox(const FileTensor &tensor, const std::vector<int64_t> &from,
                    const Buffer &buffer, uint8_t *out) {
  size_t rank = buffer.shape.size();
  int64_t row = rank ? buffer.shape.back() : 1;
  int64_t rows = row ? buffer.elements() / row : 0;
  std::vector<int64_t> index(rank, 0);
  for (int64_t r = 0; r < rows; ++r) {
    int64_t at = 0;
    for (size_t d = 0; d < rank; ++d)
      at = at * tensor.shape[d] + from[d] + index[d];
    convert(tensor.dtype, tensor.data + at * tensor.elementSize, buffer.dtype,
            out + r * row * elementBytes(buffer.dtype), row, buffer.source);
    for (size_t d = rank > 0 ? rank - 1 : 0; d-- > 0;) {
      if (++index[d] < buffer.shape[d])
        break;
      index[d] = 0;
    }
  }
}

void Executor::loadParameter(const Buffer &buffer, const TensorFile &file) {
  const FileTensor *tensor = file.find(buffer.source);
  if (!tensor)
    throw Error(file.path + ": has no tensor '" + buffer.source + "'; it has " +
                file.names());
  const std::vector<int64_t> &stored =
      buffer.pieceOf.empty() ? buffer.globalShape : buffer.pieceOf;
  if (tensor->shape != stored)
    throw Error(file.path + ": tensor '" + buffer.source +
                "' has another shape than the model");
  std::vector<int64_t> from = buffer.pieceOffsets;
  from.resize(buffer.shape.size(), 0);
  for (size_t d = 0; d < from.size(); ++d) {
    int64_t shards = program.shardCount(buffer.sharding[d]);
    from[d] += program.shardIndex(buffer.sharding[d], rank) *
               buffer.globalShape[d] / shards;
  }
  copyBox(*tensor, from, buffer, transport.arena() + buffer.offset);
}

void Executor::loadWeights() {
  std::unique_ptr<TensorFile> file;
  for (const Buffer &buffer : program.buffers) {
    if (buffer.kind != "parameter")
      continue;
    if (!file)
      file = std::make_unique<TensorFile>(options.weights);
    loadParameter(buffer, *file);
  }
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void Executor::writeScalars(int64_t step) {
  for (const Buffer &buffer : program.buffers) {
    if (buffer.kind != "scalar")
      continue;
    double value = buffer.scalar == "lr" ? program.schedule.rate(step)
                                         : static_cast<double>(step);
    if (buffer.dtype == FLEET_RT_F64) {
      std::memcpy(address(buffer, 0), &value, sizeof(value));
    } else {
      float narrow = static_cast<float>(value);
      std::memcpy(address(buffer, 0), &narrow, sizeof(narrow));
    }
  }
}

double Executor::readScalar(int64_t number) const {
  const Buffer &buffer = program.buffers[number];
  const uint8_t *at = transport.arena() + buffer.offset;
  if (buffer.dtype == FLEET_RT_F64) {
    double value;
    std::memcpy(&value, at, sizeof(value));
    return value;
  }
  float value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

void Executor::runAction(const Action &action) {
  if (action.kind == Action::Run) {
    if (tasks[action.target](&context, transport.arena(), action.microBatch))
      throw Error("task " + program.tasks[action.target] + ", micro-batch " +
                  std::to_string(action.microBatch) + ": " + context.error);
    return;
  }
  const Buffer &buffer = program.buffers[action.target];
  int64_t peer = program.peer(rank, action.peerStage);
  try {
    if (action.kind == Action::Send)
      transport.send(peer, address(buffer, action.microBatch),
                     buffer.slotBytes);
    else
      transport.recv(peer, address(buffer, action.microBatch),
                     buffer.slotBytes);
  } catch (const Error &error) {
    throw Error((action.kind == Action::Send ? "send of " : "receive of ") +
                buffer.name + ", micro-batch " +
                std::to_string(action.microBatch) + ": " + error.what());
  }
}

void Executor::runStep(int64_t step) {
  auto start = Clock::now();
  inputs->load(step - 1, transport.arena());
  writeScalars(step);
  for (const Action &action : program.actions)
    runAction(action);
  report(step, Seconds(Clock::now() - start).count());
}

void Executor::report(int64_t step, double seconds) {
  if (!program.loss)
    return;
  double loss = readScalar(*program.loss);
  if (!std::isfinite(loss))
    throw Error("step " + std::to_string(step) + ": the loss is " +
                (std::isnan(loss) ? "NaN" : "infinite"));
  bool first = rank == program.peer(0, program.stage);
  if (!first)
    return;
  int digits = program.precision == "f64" ? 17 : 9;
  double rate = program.schedule.rate(step);
  int64_t items = program.globalBatch;
  if (program.tokens)
    items *= program.tokens->sequence;
  double perSecond = static_cast<double>(items) / seconds;
  if (log) {
    std::fprintf(log, "{\"step\":%lld,\"loss\":%.*g,\"lr\":%.*g",
                 static_cast<long long>(step), digits, loss, digits, rate);
    if (program.gradNorm)
      std::fprintf(log, ",\"grad_norm\":%.*g", digits,
                   readScalar(*program.gradNorm));
    std::fprintf(log, ",\"tokens_per_s\":%.1f,\"ms\":%.3f}\n", perSecond,
                 seconds * 1e3);
    std::fflush(log);
  }
  auto now = Clock::now();
  bool due = Seconds(now - lastProgress).count() >= (isatty(2) ? 0.2 : 5.0);
  if (!options.progress || (!due && step != options.data.steps && step != 1))
    return;
  lastProgress = now;
  double left = Seconds(now - begin).count() / static_cast<double>(step) *
                static_cast<double>(options.data.steps - step);
  std::fprintf(
      stderr,
      "step %lld/%lld  loss %.4f  lr %.3g  %.0f tokens/s  %.0f s left\n",
      static_cast<long long>(step), static_cast<long long>(options.data.steps),
      loss, rate, perSecond, left);
}

void Executor::run() {
  begin = lastProgress = Clock::now();
  transport.barrier();
  for (int64_t step = 1; step <= options.data.steps; ++step)
    runStep(step);
  transport.barrier();
}

} // namespace fleet_rt

//===----------------------------------------------------------------------===//
// What tasks call
//===----------------------------------------------------------------------===//

/// Runs a collective; its error is kept for the loop to report.
template <typename Function>
static int32_t collective(fleet_rt_context *context, const char *what,
                          int32_t comm, Function function) {
  try {
    function(*context->communicators.at(comm));
    return 0;
  } catch (const std::exception &error) {
    context->error = std::string(what) + " over " +
                     context->program->communicatorNames.at(comm) + ": " +
                     error.what();
    return 1;
  }
}

using fleet_rt::Communicator;

int32_t fleet_rt_all_reduce(fleet_rt_context *context, int32_t comm,
                            int32_t kind, int32_t dtype, void *data,
                            int64_t count) {
  return collective(context, "all_reduce", comm, [&](Communicator &c) {
    c.allReduce(kind, dtype, data, count);
  });
}

int32_t fleet_rt_all_gather(fleet_rt_context *context, int32_t comm,
                            int32_t dtype, const void *in, void *out,
                            int64_t outer, int64_t inner) {
  return collective(context, "all_gather", comm, [&](Communicator &c) {
    c.allGather(dtype, in, out, outer, inner);
  });
}

int32_t fleet_rt_reduce_scatter(fleet_rt_context *context, int32_t comm,
                                int32_t kind, int32_t dtype, const void *in,
                                void *out, int64_t outer, int64_t inner) {
  return collective(context, "reduce_scatter", comm, [&](Communicator &c) {
    c.reduceScatter(kind, dtype, in, out, outer, inner);
  });
}

int32_t fleet_rt_all_to_all(fleet_rt_context *context, int32_t comm,
                            int32_t dtype, const void *in, void *out,
                            int64_t outer, int64_t inner) {
  return collective(context, "all_to_all", comm, [&](Communicator &c) {
    c.allToAll(dtype, in, out, outer, inner);
  });
}

int64_t fleet_rt_group_index(const fleet_rt_context *context, int32_t comm) {
  return context->groupIndex[comm];
}

int64_t fleet_rt_group_size(const fleet_rt_context *context, int32_t comm) {
  return context->groupSize[comm];
}
