//===- Binding.h - What an argument is in the user's files -----*- C++ -*-===//
//
// Function arguments of levels 1 to 3 and slots of level 4 carry the same attributes; here is their one reading.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_INTERPRETER_BINDING_H
#define FLEET_INTERPRETER_BINDING_H

#include "fleet/Interpreter/Distribute.h"
#include "fleet/Interpreter/TensorIO.h"
#include "fleet/Support/StoredTensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringMap.h"

namespace fleet {

/// Argument attribute [low, high]: what made-up data is taken from.
inline constexpr llvm::StringLiteral kRangeAttr = "fleet.range";

enum class BindingKind { Input, Parameter, State, Scalar };

/// An argument or slot that is filled from outside.
struct Binding {
  BindingKind kind;
  /// Name of the input, stored tensor or scalar; of a state its own name ("m").
  llvm::StringRef name;
  /// The box of a stored tensor that a parameter is; null for the whole.
  PieceAttr piece;
  /// Null where every device holds the value whole.
  ShardingAttr sharding;
  /// Type on one device, all micro-batches of it together.
  mlir::RankedTensorType type;
  /// Shape over all devices.
  Dims global;
  /// Values to make up for tests, see RandomTensors.h; null for the default.
  mlir::ArrayAttr range;
  mlir::Location loc;

  /// Reads the attributes of an argument or slot; nullopt when they do not bind it to anything. Without a mesh, shapes
  /// are global and a sharding is only a plan. Reports a sharding that does not fit.
  static llvm::FailureOr<std::optional<Binding>>
  get(mlir::DictionaryAttr attrs, mlir::RankedTensorType type,
      mlir::Location loc, const DeviceMesh *mesh);

  /// An error that starts with what is bound: "parameter 'wte'".
  mlir::InFlightDiagnostic emitError() const;
};

/// What a step is run with.
struct StepInput {
  /// Global inputs by name.
  llvm::StringMap<TensorRef> batch;
  /// Learning rate; nullopt when nothing says what it is.
  std::optional<double> lr;
  /// Number of the step, from 1.
  int64_t step = 1;
};

/// Parameters: this binding's value out of the stored tensors, on every device of the set. `weights` may be null.
llvm::FailureOr<DeviceValues> loadParameter(const Binding &binding,
                                            const WeightSource *weights,
                                            DeviceSet set);
/// States start at zero.
DeviceValues zeroState(const Binding &binding, DeviceSet set);
/// Inputs and scalars of a step.
llvm::FailureOr<DeviceValues> bindInput(const Binding &binding,
                                        const StepInput &input, DeviceSet set);

/// Puts the pieces of stored tensors together. What several stages hold must be equal.
class StoredTensorMap {
public:
  /// Adds a global value of `binding`, found in `where` ("stage 1").
  llvm::LogicalResult add(llvm::StringRef name, PieceAttr piece,
                          const TensorRef &value, llvm::StringRef where,
                          EmitError emitError);
  /// The tensors in the order in which their names came.
  std::vector<NamedTensor> take();

private:
  struct Part {
    PieceAttr piece;
    TensorRef value;
    std::string where;
  };
  struct Entry {
    std::string name;
    std::vector<Part> parts;
  };
  llvm::StringMap<unsigned> index;
  std::vector<Entry> entries;
};

} // namespace fleet

#endif // FLEET_INTERPRETER_BINDING_H
