//===- Propagation.h - Shardings of all values from a few ------*- C++ -*-===//
//
// Forward and backward propagation of dimension shardings over the factors of operations, to a fixed point.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_ANALYSIS_PROPAGATION_H
#define FLEET_ANALYSIS_PROPAGATION_H

#include "fleet/Analysis/Sharding.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace fleet {

/// Shardings of the values of one function while they are being found. Only dimensions are propagated; where values are
/// unreduced follows from them afterwards (finalShardings).
class Propagation {
public:
  /// Every value starts replicated and open. `func` is a level 2 or 3 step (or a model), with accumulate regions.
  Propagation(mlir::FunctionOpInterface func, MeshOp mesh);

  /// Current sharding of a value.
  const TensorSharding &get(mlir::Value value) const;
  /// Gives a value a sharding; a closed one never changes again.
  void set(mlir::Value value, const TensorSharding &sharding, bool closed);

  /// True for a value that keeps the sharding it was given.
  bool isClosed(mlir::Value value) const;

  /// Runs to the fixed point. Element-wise and shape operations go first, then contractions and reductions, then
  /// lookups: cheap decisions before dear ones. The result does not depend on the order of operations in the file.
  void run();

  /// Pieces by which `op` is cut, from the shardings of its results and operands.
  FactorPieces factorPieces(ShardingRuleOpInterface op) const;

  /// Rule of an operation, computed once.
  const ShardingRule &ruleOf(ShardingRuleOpInterface op) const;

  MeshPieces &getMesh() { return mesh; }

private:
  bool visit(mlir::Operation *op);
  bool visitFactors(ShardingRuleOpInterface op);
  bool visitAccumulate(AccumulateOp op);
  bool extend(mlir::Value value, const TensorFactors &factors,
              const ShardingRule &rule, const FactorPieces &wanted);
  bool copy(mlir::Value from, mlir::Value to);

  struct Entry {
    TensorSharding sharding;
    bool closed = false;
  };

  MeshPieces mesh;
  /// Operations by class: the fixed point runs over growing prefixes of the classes.
  llvm::SmallVector<llvm::SmallVector<mlir::Operation *>, 3> classes;
  llvm::DenseMap<mlir::Value, Entry> entries;
  /// Held by pointer: references stay good while the map grows.
  mutable llvm::DenseMap<mlir::Operation *, std::unique_ptr<ShardingRule>>
      rules;
};

/// Sharding of each result as `op` produces it when its factors are cut as `pieces` says: factors that disappear leave
/// the result unreduced, and so do unreduced operands of a linear group (`unreducedOperands`, one list per operand).
llvm::SmallVector<TensorSharding, 2>
producedShardings(const ShardingRule &rule, const FactorPieces &pieces,
                  llvm::ArrayRef<PieceList> unreducedOperands);

/// The linear group of `rule` through which operands unreduced over `unreducedOperands` pass, or null: all operands of
/// the group are terms over the same pieces, no other operand is, and no factor is cut by those pieces.
const llvm::SmallVector<unsigned, 2> *
linearGroup(const ShardingRule &rule, const FactorPieces &pieces,
            llvm::ArrayRef<PieceList> unreducedOperands);

} // namespace fleet

#endif // FLEET_ANALYSIS_PROPAGATION_H
