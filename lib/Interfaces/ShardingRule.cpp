//===- ShardingRule.cpp - Factors of an operation --------------*- C++ -*-===//
//
// Rules that many operations share and the local shapes that a rule implies.
//
//===----------------------------------------------------------------------===//

#include "fleet/Interfaces/ShardingRule.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

using namespace mlir;

namespace fleet {

ShardingRule
elementwiseRule(Operation *op,
                llvm::ArrayRef<llvm::SmallVector<unsigned, 2>> linear) {
  ShardingRule rule;
  auto shape = cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  TensorFactors dims(shape.size());
  for (auto [d, size] : llvm::enumerate(shape))
    if (size != 1)
      dims[d].push_back(rule.addFactor(size, FactorKind::PassThrough));
  auto factorsOf = [&](Value value) {
    bool scalar = cast<RankedTensorType>(value.getType()).getRank() == 0;
    return scalar ? TensorFactors() : dims;
  };
  for (Value operand : op->getOperands())
    rule.operands.push_back(factorsOf(operand));
  for (Value result : op->getResults())
    rule.results.push_back(factorsOf(result));
  rule.linear.assign(linear.begin(), linear.end());
  return rule;
}

llvm::SmallVector<Type> localResultTypes(Operation *op,
                                         const ShardingRule &rule,
                                         const LocalForm &form) {
  llvm::SmallVector<Type> types;
  for (auto [result, dims] : llvm::zip(op->getResults(), rule.results)) {
    auto type = cast<RankedTensorType>(result.getType());
    llvm::SmallVector<int64_t> shape(type.getShape());
    for (auto [size, factors] : llvm::zip(shape, dims))
      for (unsigned factor : factors) {
        assert(size % form.shards(factor) == 0 && "uneven shard");
        size /= form.shards(factor);
      }
    types.push_back(type.clone(shape));
  }
  return types;
}

} // namespace fleet
