//===- Lifetimes.h - When buffers hold something that is needed -*- C++ -*-===//
//
// Liveness of every slot of every buffer over the actions of a program.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_LIB_TRANSFORMS_LIFETIMES_H
#define FLEET_LIB_TRANSFORMS_LIFETIMES_H

#include "fleet/Dialect/Rank/RankOps.h"

namespace fleet {

/// Moments [begin, end).
struct Interval {
  int64_t begin, end;
};

/// A moment is one operation of one run of a task, or one transfer. A slot
/// lives from the moment that writes it to the last one that reads what was
/// written. Temporaries live in the runs of their task alone, the same way in
/// each.
class Lifetimes {
public:
  /// Reads the program, whose tasks say where every result is written.
  static llvm::FailureOr<Lifetimes> get(rank::ProgramOp program);

  /// Buffers in the order of the program. Numbers below are positions in it.
  llvm::ArrayRef<rank::BufferOp> getBuffers() const { return buffers; }
  /// Whether a buffer lives all the time: it is filled from outside or its
  /// value outlives the step.
  bool isPermanent(unsigned buffer) const;
  /// Whether two slots live at one moment.
  bool conflict(unsigned bufferA, unsigned slotA, unsigned bufferB,
                unsigned slotB) const;
  /// The first moment of a buffer's life.
  int64_t getStart(unsigned buffer) const;
  /// Largest number of bytes that live at one moment.
  int64_t getPeak() const;

private:
  /// An operation of a task that reads or writes a buffer.
  struct Access {
    unsigned buffer;
    int64_t position;
    bool isWrite;
  };
  struct Task {
    int64_t length = 0;
    std::vector<Access> accesses;
    /// First moment of each run, and its number, ascending.
    std::vector<int64_t> runs;
  };
  /// The life of one slot.
  struct Piece {
    std::vector<Interval> moments;
    /// By task: positions at which the piece lives in some run of it.
    llvm::SmallVector<std::pair<unsigned, std::vector<Interval>>, 2> inTasks;
    /// While moments are collected: the value held since, and last needed at.
    int64_t since = -1, needed = -1;

    void read(int64_t moment);
    void write(int64_t moment);
    void close();
  };

  llvm::LogicalResult readTasks(rank::ProgramOp program);
  void addAccesses(unsigned task, int64_t base,
                   std::optional<uint64_t> microBatch);
  void playActions(rank::ProgramOp program);
  void playTransfer(mlir::Attribute ref, std::optional<uint64_t> microBatch,
                    bool isWrite);
  void finishTemporaries();
  void finishSlots();

  bool isTemporary(unsigned buffer) const;
  /// Pieces that an access for `microBatch` touches.
  llvm::MutableArrayRef<Piece> piecesOf(unsigned buffer,
                                        std::optional<uint64_t> microBatch);
  unsigned numberOf(mlir::Attribute ref) const { return numbers.lookup(ref); }

  std::vector<rank::BufferOp> buffers;
  llvm::DenseMap<mlir::Attribute, unsigned> numbers;
  std::vector<std::vector<Piece>> pieces;
  std::vector<Task> tasks;
  llvm::DenseMap<mlir::Attribute, unsigned> taskNumbers;
  int64_t numMoments = 0;
};

} // namespace fleet

#endif // FLEET_LIB_TRANSFORMS_LIFETIMES_H
