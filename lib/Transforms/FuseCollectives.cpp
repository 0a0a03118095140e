//===- FuseCollectives.cpp - Bucket all_reduces ----------------*- C++ -*-===//
//
// One collective per parameter wastes latency; one for all of them needs everything at once. Buckets are filled in the
// order in which their members are made, as PyTorch DDP does (Li et al., 2020, section 3.2.3), so that a bucket is
// complete as early as it can be.
//
//===----------------------------------------------------------------------===//

#include "fleet/Dialect/Fleet/FleetOps.h"
#include "fleet/Transforms/Passes.h"
#include "mlir/Analysis/TopologicalSortUtils.h"

using namespace mlir;

namespace fleet {
#define GEN_PASS_DEF_FUSECOLLECTIVES
#include "fleet/Transforms/Passes.h.inc"

namespace {
/// Reductions that are under way to become one operation.
struct Bucket {
  SmallVector<AllReduceOp> members;
  int64_t bytes = 0;
};

class Fuser {
public:
  Fuser(Block &block, int64_t limit) : block(block), limit(limit) {}

  /// Returns the number of reductions that went into a bucket of several.
  unsigned run();

private:
  bool fits(const Bucket &bucket, AllReduceOp op, int64_t bytes);
  unsigned numberDependencies();
  unsigned fuse(Bucket &bucket);

  Block &block;
  int64_t limit;
  /// Longest chain of reductions with equal key above each operation: members of one bucket have the same depth, hence
  /// do not depend on one another.
  llvm::DenseMap<Operation *, unsigned> depth;
};
} // namespace

static int64_t bytesOf(AllReduceOp op) {
  int64_t bytes = 0;
  for (Type type : op.getOperandTypes())
    bytes += byteSize(type);
  return bytes;
}

/// Assigns each operation of the block the number of collectives on the longest path to it.
unsigned Fuser::numberDependencies() {
  unsigned deepest = 0;
  for (Operation &op : block) {
    unsigned own = 0;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *made = operand.getDefiningOp())
          if (auto it = depth.find(made); it != depth.end())
            own = std::max(own, it->second + isa<AllReduceOp>(made));
    });
    depth[&op] = own;
    deepest = std::max(deepest, own);
  }
  return deepest;
}

bool Fuser::fits(const Bucket &bucket, AllReduceOp op, int64_t bytes) {
  AllReduceOp first = bucket.members.front();
  return bucket.bytes + bytes <= limit && first.getAxes() == op.getAxes() &&
         first.getKind() == op.getKind() && depth[first] == depth[op] &&
         typeOf(first.getOperand(0)).getElementType() ==
             typeOf(op.getOperand(0)).getElementType() &&
         first->getAttr(attr::kPhase) == op->getAttr(attr::kPhase) &&
         first->getAttr(attr::kStage) == op->getAttr(attr::kStage);
}

unsigned Fuser::fuse(Bucket &bucket) {
  if (bucket.members.size() < 2)
    return 0;
  AllReduceOp last = bucket.members.back();
  SmallVector<Value> operands;
  SmallVector<Location> locations;
  for (AllReduceOp member : bucket.members) {
    llvm::append_range(operands, member.getOperands());
    locations.push_back(member.getLoc());
  }
  OpBuilder b(last);
  auto fused = AllReduceOp::create(b, FusedLoc::get(b.getContext(), locations),
                                   operands, last.getAxes(), last.getKind());
  fused->setDiscardableAttrs(last->getDiscardableAttrDictionary());
  ValueRange results = fused.getResults();
  for (AllReduceOp member : bucket.members) {
    size_t count = member.getNumResults();
    member->replaceAllUsesWith(results.take_front(count));
    results = results.drop_front(count);
    member.erase();
  }
  return bucket.members.size();
}

unsigned Fuser::run() {
  numberDependencies();
  SmallVector<Bucket> buckets;
  for (auto op : block.getOps<AllReduceOp>()) {
    int64_t bytes = bytesOf(op);
    Bucket *open = nullptr;
    for (Bucket &bucket : buckets)
      if (fits(bucket, op, bytes))
        open = &bucket;
    if (!open)
      open = &buckets.emplace_back();
    open->members.push_back(op);
    open->bytes += bytes;
  }
  unsigned fused = 0;
  for (Bucket &bucket : buckets)
    fused += fuse(bucket);
  // A member's users may stand above the bucket now.
  if (fused)
    sortTopologically(&block);
  return fused;
}

namespace {
struct FuseCollectives : impl::FuseCollectivesBase<FuseCollectives> {
  using FuseCollectivesBase::FuseCollectivesBase;

  void runOnOperation() final {
    getOperation()->walk([&](TaskOp task) {
      numFused += Fuser(*task.getBody(), bucketBytes).run();
    });
  }
};
} // namespace
} // namespace fleet
