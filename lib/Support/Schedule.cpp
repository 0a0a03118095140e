//===- Schedule.cpp - Learning rate of each step ---------------*- C++ -*-===//
//
// Rates, and the attribute form of a schedule.
//
//===----------------------------------------------------------------------===//

#include "fleet/Support/Schedule.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"

#include <cmath>

using namespace mlir;
using namespace fleet;

static constexpr double kPi = 3.14159265358979323846;

double Schedule::rate(int64_t step) const {
  int64_t done = step - 1;
  if (done < warmup)
    return lr * step / warmup;
  if (kind == ScheduleKind::Constant)
    return lr;
  if (done >= steps)
    return minLr;
  double t = static_cast<double>(done - warmup) / (steps - warmup);
  if (kind == ScheduleKind::Linear)
    return lr + (minLr - lr) * t;
  return minLr + 0.5 * (lr - minLr) * (1 + std::cos(kPi * t));
}

StringRef fleet::nameOf(ScheduleKind kind) {
  static constexpr StringLiteral kNames[] = {"constant", "linear", "cosine"};
  return kNames[static_cast<unsigned>(kind)];
}

DictionaryAttr Schedule::toAttr(MLIRContext *context) const {
  Builder builder(context);
  return builder.getDictionaryAttr({
      builder.getNamedAttr("kind", builder.getStringAttr(nameOf(kind))),
      builder.getNamedAttr("lr", builder.getF64FloatAttr(lr)),
      builder.getNamedAttr("min_lr", builder.getF64FloatAttr(minLr)),
      builder.getNamedAttr("steps", builder.getI64IntegerAttr(steps)),
      builder.getNamedAttr("warmup", builder.getI64IntegerAttr(warmup)),
  });
}

/// Reads a number that may be missing.
static llvm::Error readFloat(DictionaryAttr attr, StringRef key,
                             double &value) {
  Attribute entry = attr.get(key);
  if (!entry)
    return llvm::Error::success();
  auto number = dyn_cast<FloatAttr>(entry);
  if (!number || !std::isfinite(number.getValueAsDouble()))
    return llvm::createStringError("fleet.schedule: '" + key +
                                   "' is not a finite number");
  value = number.getValueAsDouble();
  return llvm::Error::success();
}

static llvm::Error readCount(DictionaryAttr attr, StringRef key,
                             int64_t &value) {
  Attribute entry = attr.get(key);
  if (!entry)
    return llvm::Error::success();
  auto number = dyn_cast<IntegerAttr>(entry);
  if (!number || number.getInt() < 0)
    return llvm::createStringError("fleet.schedule: '" + key +
                                   "' is not a number of steps");
  value = number.getInt();
  return llvm::Error::success();
}

static llvm::Error readKind(DictionaryAttr attr, ScheduleKind &kind) {
  auto name = attr.getAs<StringAttr>("kind");
  if (!name)
    return llvm::Error::success();
  for (ScheduleKind candidate :
       {ScheduleKind::Constant, ScheduleKind::Linear, ScheduleKind::Cosine})
    if (nameOf(candidate) == name) {
      kind = candidate;
      return llvm::Error::success();
    }
  return llvm::createStringError("fleet.schedule: unknown kind '" +
                                 name.getValue() +
                                 "', expected constant, linear or cosine");
}

llvm::Expected<Schedule> Schedule::fromAttr(DictionaryAttr attr) {
  Schedule schedule;
  if (!attr.get("lr"))
    return llvm::createStringError("fleet.schedule: 'lr' is missing");
  if (llvm::Error error = readKind(attr, schedule.kind))
    return std::move(error);
  if (llvm::Error error = readFloat(attr, "lr", schedule.lr))
    return std::move(error);
  if (llvm::Error error = readFloat(attr, "min_lr", schedule.minLr))
    return std::move(error);
  if (llvm::Error error = readCount(attr, "warmup", schedule.warmup))
    return std::move(error);
  if (llvm::Error error = readCount(attr, "steps", schedule.steps))
    return std::move(error);
  if (schedule.kind != ScheduleKind::Constant &&
      schedule.steps <= schedule.warmup)
    return llvm::createStringError(
        "fleet.schedule: %lld warm-up steps leave none of %lld steps",
        static_cast<long long>(schedule.warmup),
        static_cast<long long>(schedule.steps));
  return schedule;
}
