//===- StageSlots.h - Values that live between tasks -----------*- C++ -*-===//
//
// What a slot of a stage program is, and how slots get their names. A value has one name in the programs of all stages.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_LIB_TRANSFORMS_STAGESLOTS_H
#define FLEET_LIB_TRANSFORMS_STAGESLOTS_H

#include "StagePlan.h"
#include "llvm/ADT/StringSet.h"

namespace fleet {

/// A value that lives between tasks of a stage.
struct Slot {
  std::string name;
  mlir::RankedTensorType type;
  SlotKind kind;
  bool perMicroBatch = false;
  std::optional<int64_t> fromStage;
  llvm::SmallSetVector<int64_t, 2> toStages;
  llvm::SmallVector<mlir::NamedAttribute> attributes;
};

/// Describes the slots of values.
class SlotNamer {
public:
  explicit SlotNamer(StagePlan &plan) : plan(plan) {}

  /// The slot of a value, without where it is made and sent.
  Slot describe(mlir::Value value);
  /// `base` as a symbol that was not given out before.
  std::string uniqueName(llvm::StringRef base);

private:
  Slot describeArgument(mlir::BlockArgument argument);

  StagePlan &plan;
  llvm::DenseMap<mlir::Value, std::string> names;
  llvm::StringSet<> usedNames;
};

} // namespace fleet

#endif // FLEET_LIB_TRANSFORMS_STAGESLOTS_H
