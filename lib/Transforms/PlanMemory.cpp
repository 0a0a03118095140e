//===- PlanMemory.cpp - One static arena per stage -------------*- C++ -*-===//
//
// Nothing allocates while training: every buffer of a stage gets a constant
// offset in one arena. First it is decided where results are computed, then
// when every buffer lives, then where it stands.
//
//===----------------------------------------------------------------------===//

#include "ArenaLayout.h"
#include "Lifetimes.h"
#include "TaskPlacement.h"
#include "fleet/Transforms/Passes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace fleet {
#define GEN_PASS_DEF_PLANMEMORY
#include "fleet/Transforms/Passes.h.inc"

namespace {
/// Buffers of a program as blocks: one each, those of a bucket together.
class Blocks {
public:
  Blocks(const Lifetimes &lifetimes, ArrayRef<Bucket> buckets);

  ArrayRef<ArenaBlock> get() const { return blocks; }
  bool conflict(unsigned i, unsigned a, unsigned j, unsigned b) const;
  /// Writes the offsets of the buffers.
  void apply(ArrayRef<int64_t> offsets) const;

private:
  /// A slot of a buffer that is a piece of a block.
  struct Slot {
    unsigned buffer, slot;
  };

  void add(ArrayRef<unsigned> members);

  const Lifetimes &lifetimes;
  std::vector<ArenaBlock> blocks;
  /// By block and piece.
  std::vector<SmallVector<Slot, 1>> slots;
};
} // namespace

Blocks::Blocks(const Lifetimes &lifetimes, ArrayRef<Bucket> buckets)
    : lifetimes(lifetimes) {
  llvm::DenseMap<Operation *, unsigned> numbers;
  for (auto [number, buffer] : llvm::enumerate(lifetimes.getBuffers()))
    numbers[buffer] = number;
  llvm::DenseMap<unsigned, const Bucket *> bucketAt;
  llvm::DenseSet<unsigned> inBucket;
  for (const Bucket &bucket : buckets) {
    bucketAt[numbers.lookup(bucket.front())] = &bucket;
    for (rank::BufferOp buffer : bucket)
      inBucket.insert(numbers.lookup(buffer));
  }
  for (unsigned number = 0; number < lifetimes.getBuffers().size(); ++number) {
    if (!inBucket.contains(number))
      add({number});
    else if (const Bucket *bucket = bucketAt.lookup(number))
      add(llvm::map_to_vector(*bucket, [&](rank::BufferOp buffer) {
        return numbers.lookup(buffer);
      }));
  }
}

void Blocks::add(ArrayRef<unsigned> members) {
  ArenaBlock block;
  block.start = INT64_MAX;
  SmallVector<Slot, 1> &own = slots.emplace_back();
  for (unsigned buffer : members) {
    rank::BufferOp op = lifetimes.getBuffers()[buffer];
    block.bytes = llvm::alignTo(block.bytes, rank::kAlignment);
    block.permanent |= lifetimes.isPermanent(buffer);
    block.start = std::min(block.start, lifetimes.getStart(buffer));
    for (unsigned slot = 0; slot < op.getSlots(); ++slot) {
      block.pieces.push_back(
          {block.bytes, static_cast<int64_t>(op.getSlotBytes())});
      block.bytes += op.getSlotBytes();
      own.push_back({buffer, slot});
    }
  }
  blocks.push_back(std::move(block));
}

bool Blocks::conflict(unsigned i, unsigned a, unsigned j, unsigned b) const {
  const Slot &x = slots[i][a], &y = slots[j][b];
  return lifetimes.conflict(x.buffer, x.slot, y.buffer, y.slot);
}

void Blocks::apply(ArrayRef<int64_t> offsets) const {
  for (auto [number, block] : llvm::enumerate(blocks))
    for (auto [piece, slot] : llvm::zip_equal(block.pieces, slots[number])) {
      if (slot.slot != 0)
        continue;
      rank::BufferOp op = lifetimes.getBuffers()[slot.buffer];
      op.setAt(offsets[number] + piece.offset);
    }
}

namespace {
struct PlanMemory : impl::PlanMemoryBase<PlanMemory> {
  using PlanMemoryBase::PlanMemoryBase;

  void runOnOperation() final {
    for (auto program : getOperation().getOps<rank::ProgramOp>())
      if (failed(plan(program)))
        return signalPassFailure();
  }

  LogicalResult plan(rank::ProgramOp program) {
    if (program.getArena())
      return program.emitError("has an arena already: memory is planned once");
    std::vector<Bucket> buckets = placeTasks(program);
    FailureOr<Lifetimes> lifetimes = Lifetimes::get(program);
    if (failed(lifetimes))
      return failure();
    Blocks blocks(*lifetimes, buckets);
    int64_t peak = lifetimes->getPeak();
    ArenaLayout layout = layOutArena(
        blocks.get(),
        [&](unsigned i, unsigned a, unsigned j, unsigned b) {
          return blocks.conflict(i, a, j, b);
        },
        rank::kAlignment, peak);
    blocks.apply(layout.offsets);
    program.setArena(llvm::alignTo(layout.bytes, rank::kAlignment));
    program->setAttr(rank::kLowerBoundAttr,
                     Builder(program).getI64IntegerAttr(peak));
    program.walk([&](rank::CopyOp) { ++numCopies; });
    return success();
  }
};
} // namespace
} // namespace fleet
