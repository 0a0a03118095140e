//===- ShardingRule.h - Factors of an operation ----------------*- C++ -*-===//
//
// A sharding rule says which dimension of which operand is the same thing as which dimension of which result. It is
// all that propagation, the partitioner and micro-batching know about an operation.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_INTERFACES_SHARDINGRULE_H
#define FLEET_INTERFACES_SHARDINGRULE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

namespace fleet {

/// What happens when a factor is cut into shards.
enum class FactorKind {
  /// The operation on local shapes is the same operation.
  PassThrough,
  /// The factor is not in the result, which becomes unreduced (a sum) over the axes that cut the factor.
  Reduction,
  /// A device needs all of the factor: it is gathered before the operation.
  Whole,
  /// Indices select along the factor: each shard serves its own range, the rest contributes zero, and the result is
  /// unreduced (a sum) over the axes that cut the factor.
  Lookup,
  /// The local form holds the collectives over the axes that cut the factor (softmax statistics of a sharded
  /// dimension); results that lack the factor come out reduced.
  Collective,
};

/// One independent index of an operation.
struct Factor {
  int64_t size;
  FactorKind kind;
};

/// Factors that one dimension is made of, major to minor. Empty for a dimension of size 1.
using DimFactors = llvm::SmallVector<unsigned, 2>;
/// The dimensions of one tensor.
using TensorFactors = llvm::SmallVector<DimFactors, 4>;

struct ShardingRule {
  llvm::SmallVector<Factor, 4> factors;
  llvm::SmallVector<TensorFactors, 4> operands;
  llvm::SmallVector<TensorFactors, 2> results;
  /// Groups of operands in which the operation is linear: a value that is a term of a sum over an axis passes through
  /// when all operands of one group are such terms and no other operand is. add has {{0, 1}}, mul {{0}, {1}}.
  llvm::SmallVector<llvm::SmallVector<unsigned, 2>, 2> linear;

  /// Adds a factor and returns its number.
  unsigned addFactor(int64_t size, FactorKind kind) {
    factors.push_back({size, kind});
    return factors.size() - 1;
  }
  /// Adds an operand or result of `rank` dimensions that have no factors yet.
  TensorFactors &addOperand(int64_t rank) {
    return operands.emplace_back(TensorFactors(rank));
  }
  TensorFactors &addResult(int64_t rank) {
    return results.emplace_back(TensorFactors(rank));
  }
};

/// What a local form may ask about the shards it is built for. A shard set is opaque to the operation: only the
/// partitioner (mesh axes) and micro-batching (a sequential axis) know what it is made of.
class LocalForm {
public:
  virtual ~LocalForm() = default;
  /// Number of shards of a factor; 1 when it is not cut.
  virtual int64_t shards(unsigned factor) const = 0;
  /// First element of this shard of a cut factor: tensor<i64>, floor(s * size / shards).
  virtual mlir::Value offset(mlir::OpBuilder &builder, mlir::Location loc,
                             unsigned factor) const = 0;
  /// All-reduces `value` over the axes that cut `factor`; `max` instead of sum where asked.
  virtual mlir::Value combine(mlir::OpBuilder &builder, mlir::Location loc,
                              unsigned factor, mlir::Value value,
                              bool max) const = 0;
};

/// The rule of an operation whose operands and results all have one shape: one factor per dimension. Scalars among the
/// operands (rank 0 beside a ranked result) have no factors. `linear` is taken as it is.
ShardingRule
elementwiseRule(mlir::Operation *op,
                llvm::ArrayRef<llvm::SmallVector<unsigned, 2>> linear = {});

/// Result types of `op` for the shards of `form`: each dimension is the product of its factors' local sizes. Every
/// size must divide.
llvm::SmallVector<mlir::Type> localResultTypes(mlir::Operation *op,
                                               const ShardingRule &rule,
                                               const LocalForm &form);

} // namespace fleet

#endif // FLEET_INTERFACES_SHARDINGRULE_H
