//===- Schedule.h - Learning rate of each step -----------------*- C++ -*-===//
//
// The schedule that a step module carries as `fleet.schedule`. The pass that writes it, the interpreter and whoever
// makes the executables read it from here, so that all compute the same rates.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_SUPPORT_SCHEDULE_H
#define FLEET_SUPPORT_SCHEDULE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>

namespace mlir {
class DictionaryAttr;
class MLIRContext;
} // namespace mlir

namespace fleet {

/// Name of the module attribute that holds a schedule.
inline constexpr llvm::StringLiteral kScheduleAttr = "fleet.schedule";

/// How the rate falls after the warm-up.
enum class ScheduleKind { Constant, Linear, Cosine };

/// Linear warm-up from lr / warmup to lr, then constant, a line or half a cosine down to minLr at `steps`.
struct Schedule {
  ScheduleKind kind = ScheduleKind::Constant;
  double lr = 0;
  double minLr = 0;
  int64_t warmup = 0;
  int64_t steps = 0;

  /// Rate of update `step`, counted from 1. After `steps` it stays at minLr.
  double rate(int64_t step) const;

  /// `{kind = "cosine", lr = 4.0e-3, min_lr = 4.0e-4, steps = 20, warmup = 5}`.
  mlir::DictionaryAttr toAttr(mlir::MLIRContext *context) const;
  /// Reads and checks such a dictionary. Keys other than `lr` may be missing.
  static llvm::Expected<Schedule> fromAttr(mlir::DictionaryAttr attr);
};

/// "constant", "linear" or "cosine".
llvm::StringRef nameOf(ScheduleKind kind);

} // namespace fleet

#endif // FLEET_SUPPORT_SCHEDULE_H
