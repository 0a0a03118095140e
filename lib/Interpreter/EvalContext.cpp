//===- EvalContext.cpp - State of one evaluation ---------------*- C++ -*-===//
//
// The loop over operations and devices.
//
//===----------------------------------------------------------------------===//

#include "fleet/Interpreter/EvalContext.h"
#include "fleet/Support/StoredTensor.h"

using namespace mlir;
using namespace fleet;

#include "fleet/Interpreter/ReferenceOpInterface.cpp.inc"

/// Elements that a tensor of the interpreter may have; more is a mistake in the program and not a job for an oracle.
static constexpr int64_t kMaxElements = int64_t(1) << 31;

bool fleet::isInterpretable(RankedTensorType type) {
  std::optional<int64_t> count = countElements(type.getShape());
  return count && *count <= kMaxElements;
}

std::optional<unsigned> EvalContext::positionOf(int64_t device) const {
  auto it = llvm::lower_bound(deviceNumbers, device);
  if (it == deviceNumbers.end() || *it != device)
    return std::nullopt;
  return it - deviceNumbers.begin();
}

void EvalContext::define(Value value, DeviceValues tensors) {
  assert(tensors.size() == deviceNumbers.size() && "one tensor per device");
  values[value] = std::move(tensors);
}

const DeviceValues &EvalContext::lookup(Value value) const {
  auto it = values.find(value);
  assert(it != values.end() && "operation runs before its operands");
  return it->second;
}

SmallVector<DeviceValues> EvalContext::lookup(ValueRange range) const {
  return llvm::map_to_vector(range, [&](Value v) { return lookup(v); });
}

/// For each operation of `block` the values of the block that nothing after it uses.
static DenseMap<Operation *, SmallVector<Value>> lastUses(Block &block) {
  DenseMap<Operation *, SmallVector<Value>> result;
  DenseSet<Value> seen;
  for (Operation &op : llvm::reverse(block))
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (operand.getParentBlock() == &block && seen.insert(operand).second)
          result[&op].push_back(operand);
    });
  return result;
}

LogicalResult EvalContext::run(Block &block) {
  auto dead = lastUses(block);
  for (Operation &op : block.without_terminator()) {
    auto reference = dyn_cast<ReferenceOpInterface>(op);
    if (!reference)
      return op.emitError("has no meaning in the reference interpreter");
    if (failed(reference.evaluateAll(*this)))
      return failure();
    for (Value value : dead.lookup(&op))
      values.erase(value);
  }
  return success();
}

/// Zero-filled tensors of the operation's result types.
static FailureOr<SmallVector<Tensor, 4>> allocateResults(Operation *op) {
  SmallVector<Tensor, 4> results;
  for (Type type : op->getResultTypes()) {
    auto tensor = cast<RankedTensorType>(type);
    if (!isInterpretable(tensor))
      return op->emitError("result ") << tensor << " is too large to interpret";
    results.emplace_back(tensor.getShape());
  }
  return results;
}

LogicalResult EvalContext::evaluateOnEachDevice(Operation *op) {
  SmallVector<DeviceValues> operands = lookup(op->getOperands());
  SmallVector<DeviceValues> defined(op->getNumResults());
  for (current = 0; current < deviceNumbers.size(); ++current) {
    auto inputs =
        llvm::map_to_vector(operands, [&](DeviceValues &v) -> const Tensor * {
          return v[current].get();
        });
    FailureOr<SmallVector<Tensor, 4>> results = allocateResults(op);
    if (failed(results) || failed(cast<ReferenceOpInterface>(op).evaluate(
                               inputs, *results, *this)))
      return failure();
    for (auto [values, tensor] : llvm::zip_equal(defined, *results))
      values.push_back(std::make_shared<const Tensor>(std::move(tensor)));
  }
  for (auto [result, tensors] : llvm::zip_equal(op->getResults(), defined))
    define(result, std::move(tensors));
  return success();
}
