//===- ArenaLayout.cpp - Offsets for blocks of memory ----------*- C++ -*-===//
//
// Dynamic storage allocation with known lifetimes is NP-hard; greedy placement
// (each block at the lowest offset where it fits, in some order) comes within a
// few per cent of the peak of live bytes on training programs. Several orders
// are tried, and the best one is improved by placing the block that reaches
// highest earlier: it is the one that found only bad places left.
//
//===----------------------------------------------------------------------===//

#include "ArenaLayout.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cassert>
#include <numeric>

using namespace fleet;

namespace {
/// Two blocks of which at least one pair of pieces lives at the same time.
struct Neighbour {
  unsigned block;
  /// Pairs (own piece, its piece) that conflict; empty when all do.
  std::vector<std::pair<unsigned, unsigned>> pairs;
};

/// Offsets in [begin, end) where a block cannot stand.
struct Forbidden {
  int64_t begin, end;
};

class Placer {
public:
  Placer(llvm::ArrayRef<ArenaBlock> blocks, ArenaConflict conflict,
         int64_t alignment, int64_t lowerBound);
  ArenaLayout place();

private:
  void findNeighbours(ArenaConflict conflict);
  void placePermanent();
  void tryOrder(std::vector<unsigned> order);
  int64_t bestOffset(unsigned block, llvm::ArrayRef<int64_t> offsets);
  void improve();
  bool isOptimal() const { return best.bytes <= lowerBound; }

  llvm::ArrayRef<ArenaBlock> blocks;
  int64_t alignment, lowerBound;
  /// First byte above the permanent blocks.
  int64_t bottom = 0;
  std::vector<unsigned> movable;
  std::vector<std::vector<Neighbour>> neighbours;
  std::vector<Forbidden> forbidden;
  ArenaLayout best;
  std::vector<unsigned> bestOrder;
};
} // namespace

/// Offset of a block that has none yet.
static constexpr int64_t kUnplaced = -1;

Placer::Placer(llvm::ArrayRef<ArenaBlock> blocks, ArenaConflict conflict,
               int64_t alignment, int64_t lowerBound)
    : blocks(blocks), alignment(alignment), lowerBound(lowerBound),
      neighbours(blocks.size()) {
  for (unsigned i = 0; i < blocks.size(); ++i)
    if (!blocks[i].permanent)
      movable.push_back(i);
  findNeighbours(conflict);
}

void Placer::findNeighbours(ArenaConflict conflict) {
  for (unsigned x = 0; x < movable.size(); ++x)
    for (unsigned y = x + 1; y < movable.size(); ++y) {
      unsigned i = movable[x], j = movable[y];
      std::vector<std::pair<unsigned, unsigned>> pairs;
      size_t numA = blocks[i].pieces.size(), numB = blocks[j].pieces.size();
      for (unsigned a = 0; a < numA; ++a)
        for (unsigned b = 0; b < numB; ++b)
          if (conflict(i, a, j, b))
            pairs.emplace_back(a, b);
      if (pairs.empty())
        continue;
      if (pairs.size() == numA * numB)
        pairs.clear();
      std::vector<std::pair<unsigned, unsigned>> mirrored;
      for (auto [a, b] : pairs)
        mirrored.emplace_back(b, a);
      neighbours[i].push_back({j, std::move(pairs)});
      neighbours[j].push_back({i, std::move(mirrored)});
    }
}

void Placer::placePermanent() {
  best.offsets.assign(blocks.size(), kUnplaced);
  for (unsigned i = 0; i < blocks.size(); ++i) {
    if (!blocks[i].permanent)
      continue;
    best.offsets[i] = bottom;
    bottom = llvm::alignTo(bottom + blocks[i].bytes, alignment);
  }
  best.bytes = movable.empty() ? bottom : INT64_MAX;
}

/// The lowest offset at which `block` overlaps no placed piece that lives at
/// the same time.
int64_t Placer::bestOffset(unsigned block, llvm::ArrayRef<int64_t> offsets) {
  forbidden.clear();
  auto forbid = [&](const ArenaPiece &own, int64_t at,
                    const ArenaPiece &other) {
    int64_t begin = at + other.offset - own.offset - own.bytes + 1;
    int64_t end = at + other.offset + other.bytes - own.offset;
    if (end > bottom)
      forbidden.push_back({begin, end});
  };
  ArenaPiece whole{0, blocks[block].bytes};
  for (const Neighbour &neighbour : neighbours[block]) {
    int64_t at = offsets[neighbour.block];
    if (at == kUnplaced)
      continue;
    const ArenaBlock &other = blocks[neighbour.block];
    if (neighbour.pairs.empty())
      forbid(whole, at, {0, other.bytes});
    for (auto [a, b] : neighbour.pairs)
      forbid(blocks[block].pieces[a], at, other.pieces[b]);
  }
  std::sort(
      forbidden.begin(), forbidden.end(),
      [](const Forbidden &a, const Forbidden &b) { return a.begin < b.begin; });
  int64_t offset = bottom;
  for (const Forbidden &range : forbidden) {
    if (range.begin > offset)
      break;
    if (range.end > offset)
      offset = llvm::alignTo(range.end, alignment);
  }
  return offset;
}

void Placer::tryOrder(std::vector<unsigned> order) {
  if (isOptimal())
    return;
  ArenaLayout layout{best.offsets, bottom};
  for (unsigned block : movable)
    layout.offsets[block] = kUnplaced;
  for (unsigned block : order) {
    layout.offsets[block] = bestOffset(block, layout.offsets);
    layout.bytes =
        std::max(layout.bytes, layout.offsets[block] + blocks[block].bytes);
    if (layout.bytes >= best.bytes)
      return;
  }
  best = std::move(layout);
  bestOrder = std::move(order);
}

/// Places the highest block of the best layout earlier, as long as that helps.
void Placer::improve() {
  // Bounds the work to about that of a hundred orders of a thousand blocks.
  int64_t rounds =
      std::clamp<int64_t>(100000 / std::max<size_t>(movable.size(), 1), 8, 200);
  for (int64_t round = 0; round < rounds && !isOptimal(); ++round) {
    auto top =
        std::find_if(bestOrder.begin(), bestOrder.end(), [&](unsigned block) {
          return best.offsets[block] + blocks[block].bytes == best.bytes;
        });
    assert(top != bestOrder.end() && "some block ends where the arena ends");
    int64_t before = best.bytes;
    size_t position = top - bestOrder.begin();
    for (size_t target : {size_t(0), position / 2, position * 3 / 4}) {
      std::vector<unsigned> order = bestOrder;
      std::rotate(order.begin() + target, order.begin() + position,
                  order.begin() + position + 1);
      tryOrder(std::move(order));
      if (best.bytes < before)
        break;
    }
    if (best.bytes == before)
      return;
  }
}

ArenaLayout Placer::place() {
  placePermanent();
  if (movable.empty())
    return best;
  auto sorted = [&](auto key) {
    std::vector<unsigned> order = movable;
    // Ties go by number, so that a program is always laid out the same way.
    std::sort(order.begin(), order.end(), [&](unsigned a, unsigned b) {
      return std::make_pair(key(a), a) < std::make_pair(key(b), b);
    });
    return order;
  };
  tryOrder(sorted([&](unsigned i) { return -blocks[i].bytes; }));
  tryOrder(sorted(
      [&](unsigned i) { return -static_cast<int64_t>(neighbours[i].size()); }));
  tryOrder(sorted([&](unsigned i) {
    return -static_cast<double>(blocks[i].bytes) * neighbours[i].size();
  }));
  tryOrder(sorted([&](unsigned i) { return blocks[i].start; }));
  tryOrder(sorted([&](unsigned i) { return -blocks[i].start; }));
  improve();
  return best;
}

ArenaLayout fleet::layOutArena(llvm::ArrayRef<ArenaBlock> blocks,
                               ArenaConflict conflict, int64_t alignment,
                               int64_t lowerBound) {
  return Placer(blocks, conflict, alignment, lowerBound).place();
}
