//===- FleetInterfaces.cpp - Operation interfaces --------------*- C++ -*-===//
//
// Definitions of the interfaces and of the small types that they speak.
//
//===----------------------------------------------------------------------===//

#include "fleet/Interfaces/FleetInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace fleet {

StridedLayout StridedLayout::contiguous(ArrayRef<int64_t> shape) {
  StridedLayout layout;
  layout.shape.assign(shape.begin(), shape.end());
  layout.strides.resize(shape.size());
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    layout.strides[d] = stride;
    stride *= shape[d];
  }
  return layout;
}

bool StridedLayout::isContiguous() const {
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    if (shape[d] != 1 && strides[d] != stride)
      return false;
    stride *= shape[d];
  }
  return true;
}

int64_t countElements(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements();
}

int64_t byteSize(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  unsigned bits = tensor.getElementTypeBitWidth();
  return tensor.getNumElements() * std::max(1u, bits / 8);
}

int64_t countBytes(Operation *op) {
  int64_t bytes = 0;
  for (Type type : op->getOperandTypes())
    bytes += byteSize(type);
  for (Type type : op->getResultTypes())
    bytes += byteSize(type);
  return bytes;
}

bool worksByElement(Operation *op, unsigned operand, unsigned result) {
  auto kernel = dyn_cast<KernelOpInterface>(op);
  auto sharding = dyn_cast<ShardingRuleOpInterface>(op);
  if (!kernel || !sharding)
    return false;
  KernelClass kind = kernel.getKernelClass();
  if (kind != KernelClass::Elementwise && kind != KernelClass::Structured)
    return false;
  auto from = cast<RankedTensorType>(op->getOperand(operand).getType());
  auto to = cast<RankedTensorType>(op->getResult(result).getType());
  if (from.getShape() != to.getShape() || byteSize(from) != byteSize(to))
    return false;
  // A pass-through factor can be cut down to single elements and the operation stays the same.
  ShardingRule rule = sharding.getShardingRule();
  const TensorFactors &dims = rule.results[result];
  return rule.operands[operand] == dims &&
         llvm::all_of(dims, [&](const DimFactors &factors) {
           return llvm::all_of(factors, [&](unsigned factor) {
             return rule.factors[factor].kind == FactorKind::PassThrough;
           });
         });
}

} // namespace fleet

#include "fleet/Interfaces/FleetInterfaces.cpp.inc"
