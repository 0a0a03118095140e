//===- TaskPlacement.cpp - Which buffer a value is written to --*- C++ -*-===//
//
// Values are in tensors up to here; from here on they are in memory. Three
// wishes decide where a result goes, in this order: into the buffer that the
// task writes it to, so that nothing is copied at the end; over an operand that
// nobody needs any more, element by element; into a temporary of its own.
// Operations that work in place (reductions between ranks, accumulating
// products) take over the buffer of their operand.
//
// A buffer holds one value at a time, its content. It may be written when its
// content has no further use in the task, and either is the old content of a
// buffer that the task writes or that no later action reads, or was made in the
// task.
//
//===----------------------------------------------------------------------===//

#include "TaskPlacement.h"
#include "fleet/Analysis/Placement.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace fleet;
using fleet::rank::BufferOp;

//===----------------------------------------------------------------------===//
// What later actions need
//===----------------------------------------------------------------------===//

namespace {
/// Which buffers a task may destroy because nothing reads them after any of its
/// runs before writing them anew.
class LaterReads {
public:
  explicit LaterReads(rank::ProgramOp program);
  bool needs(rank::TaskOp task, BufferOp buffer) const {
    return buffer.isBound() || needed.contains({task, buffer});
  }

private:
  void visit(Operation *action);
  void visitRun(rank::RunOp run);
  /// The slots that an action for `microBatch` touches.
  MutableArrayRef<bool> slotsOf(Attribute ref,
                                std::optional<uint64_t> microBatch);

  rank::ProgramOp program;
  llvm::DenseMap<Attribute, std::pair<BufferOp, SmallVector<bool, 1>>> wanted;
  llvm::DenseSet<std::pair<Operation *, Operation *>> needed;
};
} // namespace

LaterReads::LaterReads(rank::ProgramOp program) : program(program) {
  for (auto buffer : program.getOps<BufferOp>()) {
    bool reported = buffer.getKind() == rank::BufferKind::Output ||
                    buffer->hasAttr(attr::kGradient);
    wanted[FlatSymbolRefAttr::get(buffer.getSymNameAttr())] = {
        buffer, SmallVector<bool, 1>(buffer.getSlots(), reported)};
  }
  for (Operation &action :
       llvm::reverse(program.getActions().getRegion().front()))
    visit(&action);
}

MutableArrayRef<bool> LaterReads::slotsOf(Attribute ref,
                                          std::optional<uint64_t> microBatch) {
  MutableArrayRef<bool> slots = wanted[ref].second;
  if (microBatch)
    return slots.slice(*microBatch % slots.size(), 1);
  return slots;
}

void LaterReads::visitRun(rank::RunOp run) {
  auto task = program.lookupSymbol<rank::TaskOp>(run.getTaskAttr());
  for (Attribute ref : task.getReads())
    if (!llvm::is_contained(task.getWrites(), ref) &&
        llvm::is_contained(slotsOf(ref, run.getMicroBatch()), true))
      needed.insert({task, wanted[ref].first});
  for (Attribute ref : task.getWrites())
    llvm::fill(slotsOf(ref, run.getMicroBatch()), false);
  for (Attribute ref : task.getReads())
    llvm::fill(slotsOf(ref, run.getMicroBatch()), true);
}

void LaterReads::visit(Operation *action) {
  if (auto run = dyn_cast<rank::RunOp>(action))
    visitRun(run);
  else if (auto send = dyn_cast<rank::SendOp>(action))
    llvm::fill(slotsOf(send.getBufferAttr(), send.getMicroBatch()), true);
  else if (auto recv = dyn_cast<rank::RecvOp>(action))
    llvm::fill(slotsOf(recv.getBufferAttr(), recv.getMicroBatch()), false);
}

//===----------------------------------------------------------------------===//
// Interface questions
//===----------------------------------------------------------------------===//

static std::optional<unsigned> tiedOperand(Operation *op, unsigned result) {
  auto kernel = dyn_cast<KernelOpInterface>(op);
  return kernel ? kernel.getTiedOperand(result) : std::nullopt;
}

static bool acceptsLayout(Operation *op, unsigned operand,
                          const StridedLayout &layout) {
  auto kernel = dyn_cast<KernelOpInterface>(op);
  return !kernel || kernel.acceptsLayout(operand, layout);
}

/// Whether all that a fused kernel makes of an input is element-wise and of the
/// input's shape, the result among it: then one loop nest reads an element
/// before it writes the same element.
static bool kernelMayOverwrite(KernelOp kernel, unsigned operand,
                               unsigned result) {
  Block &body = kernel.getRegion().front();
  Value made = body.getTerminator()->getOperand(result);
  auto type = typeOf(kernel.getInputs()[operand]);
  if (byteSize(made.getType()) != byteSize(type))
    return false;
  llvm::SetVector<Value> reached;
  reached.insert(body.getArgument(operand));
  for (unsigned i = 0; i < reached.size(); ++i)
    for (Operation *user : reached[i].getUsers()) {
      if (user == body.getTerminator())
        continue;
      auto op = dyn_cast<KernelOpInterface>(user);
      if (!op || op.getKernelClass() != KernelClass::Elementwise)
        return false;
      for (Value next : user->getResults()) {
        if (typeOf(next).getShape() != type.getShape())
          return false;
        reached.insert(next);
      }
    }
  return reached.contains(made);
}

static bool mayOverwrite(Operation *op, unsigned operand, unsigned result) {
  if (auto fused = dyn_cast<KernelOp>(op))
    return kernelMayOverwrite(fused, operand, result);
  auto kernel = dyn_cast<KernelOpInterface>(op);
  return kernel && kernel.mayOverwrite(operand, result);
}

//===----------------------------------------------------------------------===//
// One program
//===----------------------------------------------------------------------===//

namespace {
/// Buffers of a program, and the buckets found so far.
class ProgramMemory {
public:
  explicit ProgramMemory(rank::ProgramOp program);

  BufferOp find(Attribute ref) const { return buffers.lookup(ref); }
  BufferOp addTemporary(Type type, Location loc);
  /// Whether these buffers can lie side by side: they are not parts of other
  /// buckets.
  bool canBucket(ArrayRef<BufferOp> members) const;
  bool isInBucket(BufferOp buffer) const { return bucketOf.count(buffer); }
  void addBucket(ArrayRef<BufferOp> members);

  std::vector<Bucket> buckets;

private:
  OpBuilder builder;
  llvm::DenseMap<Attribute, BufferOp> buffers;
  llvm::DenseMap<Operation *, unsigned> bucketOf;
  unsigned numTemporaries = 0;
};
} // namespace

ProgramMemory::ProgramMemory(rank::ProgramOp program)
    : builder(program.getContext()) {
  Operation *last = nullptr;
  for (auto buffer : program.getOps<BufferOp>()) {
    buffers[FlatSymbolRefAttr::get(buffer.getSymNameAttr())] = buffer;
    last = buffer;
  }
  if (last)
    builder.setInsertionPointAfter(last);
  else
    builder.setInsertionPointToStart(&program.getRegion().front());
}

BufferOp ProgramMemory::addTemporary(Type type, Location loc) {
  FlatSymbolRefAttr ref;
  do
    ref = FlatSymbolRefAttr::get(builder.getContext(),
                                 "tmp." + std::to_string(numTemporaries++));
  while (buffers.contains(ref));
  auto buffer = BufferOp::create(
      builder, loc, ref.getValue(), cast<RankedTensorType>(type),
      rank::BufferKind::Temporary,
      /*perMicroBatch=*/false, IntegerAttr(), 1,
      llvm::alignTo(byteSize(type), rank::kAlignment));
  buffers[ref] = buffer;
  return buffer;
}

bool ProgramMemory::canBucket(ArrayRef<BufferOp> members) const {
  auto first = bucketOf.find(members.front());
  if (first != bucketOf.end())
    return ArrayRef<BufferOp>(buckets[first->second]) == members;
  return llvm::none_of(members, [&](BufferOp buffer) {
    return isInBucket(buffer) || BufferOp(buffer).getSlots() > 1;
  });
}

void ProgramMemory::addBucket(ArrayRef<BufferOp> members) {
  if (isInBucket(members.front()))
    return;
  for (BufferOp buffer : members)
    bucketOf[buffer] = buckets.size();
  buckets.emplace_back(members);
}

//===----------------------------------------------------------------------===//
// One task
//===----------------------------------------------------------------------===//

namespace {
class TaskPlacer {
public:
  TaskPlacer(rank::TaskOp task, ProgramMemory &memory,
             const LaterReads &laterReads)
      : task(task), memory(memory), laterReads(laterReads),
        terminator(task.getRegion().front().getTerminator()) {}

  void place();

private:
  // Before anything is placed.
  void readArguments();
  void findViews();
  void visitOperands(Operation *op);
  void ownReturned();
  void findTargets();

  // Placing, operation by operation.
  void placeOp(Operation *op);
  void placeResult(Operation *op, unsigned result);
  void takeOver(Operation *op, unsigned result, unsigned operand);
  bool canTakeOver(Operation *op, unsigned operand);
  void placeBucket(Operation *op);
  BufferOp overwritable(Operation *op, unsigned result);
  void writeBack();
  void annotate();

  // Questions about contents.
  Operation *lastUse(Value root) const;
  bool mustKeep(BufferOp buffer, Value held);
  bool isFree(BufferOp buffer, Operation *op);
  bool canWriteInPlace(BufferOp buffer, Operation *op, unsigned result);
  bool coversRoot(Value value) const;
  bool isWritten(BufferOp buffer) {
    return llvm::is_contained(task.getWrites(),
                              FlatSymbolRefAttr::get(buffer.getSymNameAttr()));
  }

  Value copyBefore(Operation *op, Value value);
  void own(Value value);
  void assign(Value value, BufferOp buffer);

  rank::TaskOp task;
  ProgramMemory &memory;
  const LaterReads &laterReads;
  Operation *terminator;
  /// The value whose memory a value looks at: itself, or the source of a view.
  llvm::DenseMap<Value, Value> rootOf;
  llvm::DenseMap<Value, StridedLayout> layouts;
  llvm::DenseSet<Operation *> views;
  /// Contiguous copies made for operations that need them.
  llvm::DenseMap<Value, Value> contiguous;
  /// Where a value is wanted.
  llvm::DenseMap<Value, BufferOp> target;
  /// Where a root is.
  llvm::DenseMap<Value, BufferOp> home;
  llvm::DenseMap<Operation *, Value> content;
};
} // namespace

void TaskPlacer::own(Value value) {
  rootOf[value] = value;
  layouts[value] = StridedLayout::contiguous(typeOf(value).getShape());
}

void TaskPlacer::assign(Value value, BufferOp buffer) {
  home[value] = buffer;
  content[buffer] = value;
}

Value TaskPlacer::copyBefore(Operation *op, Value value) {
  OpBuilder builder(op);
  Value copy = rank::CopyOp::create(builder, value.getLoc(), value);
  own(copy);
  return copy;
}

void TaskPlacer::readArguments() {
  for (auto [ref, argument] :
       llvm::zip_equal(task.getReads(), task.getRegion().getArguments())) {
    own(argument);
    assign(argument, memory.find(ref));
  }
}

/// Copies operands that an operation cannot read where they lie.
void TaskPlacer::visitOperands(Operation *op) {
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    if (acceptsLayout(op, operand.getOperandNumber(), layouts[value]))
      continue;
    Value &copy = contiguous[value];
    if (!copy)
      copy = copyBefore(op, value);
    operand.set(copy);
  }
}

/// Views own no memory. A view that strides cannot express over its operand
/// becomes one over a copy.
void TaskPlacer::findViews() {
  for (Operation &op : llvm::make_early_inc_range(
           task.getRegion().front().without_terminator())) {
    if (op.getNumOperands() > 0) {
      Value source = op.getOperand(0);
      std::optional<StridedLayout> view = getViewLayout(&op, layouts[source]);
      auto contiguousLayout =
          StridedLayout::contiguous(typeOf(source).getShape());
      if (!view && getViewLayout(&op, contiguousLayout)) {
        Value &copy = contiguous[source];
        if (!copy)
          copy = copyBefore(&op, source);
        op.setOperand(0, copy);
        source = copy;
        view = getViewLayout(&op, contiguousLayout);
      }
      if (view) {
        views.insert(&op);
        rootOf[op.getResult(0)] = rootOf[source];
        layouts[op.getResult(0)] = std::move(*view);
        continue;
      }
    }
    visitOperands(&op);
    for (Value result : op.getResults())
      own(result);
  }
}

/// Every returned value owns its memory and is returned once, or stays where it
/// is.
void TaskPlacer::ownReturned() {
  llvm::DenseSet<Value> seen;
  for (auto [ref, operand] :
       llvm::zip_equal(task.getWrites(), terminator->getOpOperands())) {
    Value value = operand.get();
    bool stays = isa<BlockArgument>(value) && home[value] == memory.find(ref);
    bool owned = rootOf[value] == value && !isa<BlockArgument>(value);
    if (!(stays || owned) || !seen.insert(value).second)
      operand.set(copyBefore(terminator, value));
  }
}

/// A returned value is wanted in the buffer it is returned to, and so is what
/// an operation turns into it in place.
void TaskPlacer::findTargets() {
  for (auto [ref, value] :
       llvm::zip_equal(task.getWrites(), terminator->getOperands()))
    target[value] = memory.find(ref);
  for (Operation &op : llvm::reverse(task.getRegion().front()))
    for (auto [number, result] : llvm::enumerate(op.getResults()))
      if (std::optional<unsigned> tied = tiedOperand(&op, number))
        if (BufferOp wanted = target.lookup(result))
          target.try_emplace(op.getOperand(*tied), wanted);
}

//===----------------------------------------------------------------------===//
// Contents
//===----------------------------------------------------------------------===//

/// The last operation that reads a root, directly or through views; null when
/// none does.
Operation *TaskPlacer::lastUse(Value root) const {
  Operation *last = nullptr;
  SmallVector<Value, 4> pending = {root};
  while (!pending.empty())
    for (Operation *user : pending.pop_back_val().getUsers()) {
      if (views.contains(user))
        pending.push_back(user->getResult(0));
      else if (!last || last->isBeforeInBlock(user))
        last = user;
    }
  return last;
}

/// Whether the content is the old one of a buffer that later actions read.
bool TaskPlacer::mustKeep(BufferOp buffer, Value held) {
  return isa<BlockArgument>(held) && !isWritten(buffer) &&
         laterReads.needs(task, buffer);
}

/// Whether `op` may write the buffer because its content is no longer used when
/// `op` runs.
bool TaskPlacer::isFree(BufferOp buffer, Operation *op) {
  Value held = content.lookup(buffer);
  if (!held)
    return true;
  if (mustKeep(buffer, held) || held.getDefiningOp() == op)
    return false;
  Operation *last = lastUse(held);
  return !last || last->isBeforeInBlock(op);
}

/// Whether a value is all of its root, in the root's order.
bool TaskPlacer::coversRoot(Value value) const {
  const StridedLayout &layout = layouts.find(value)->second;
  return layout.isContiguous() && layout.offset == 0 &&
         countElements(value) == countElements(rootOf.lookup(value));
}

/// Whether `op` may write the buffer while it reads its content for the last
/// time.
bool TaskPlacer::canWriteInPlace(BufferOp buffer, Operation *op,
                                 unsigned result) {
  Value held = content.lookup(buffer);
  if (!held || mustKeep(buffer, held) || lastUse(held) != op)
    return false;
  for (OpOperand &operand : op->getOpOperands())
    if (rootOf.lookup(operand.get()) == held &&
        !(coversRoot(operand.get()) &&
          mayOverwrite(op, operand.getOperandNumber(), result)))
      return false;
  return true;
}

/// The buffer of an operand that `op` may overwrite; null when there is none.
/// What the user sees (parameters, state) is only overwritten with its new
/// value.
BufferOp TaskPlacer::overwritable(Operation *op, unsigned result) {
  for (Value operand : op->getOperands()) {
    BufferOp buffer = home.lookup(rootOf[operand]);
    if (buffer && !buffer.isBound() && canWriteInPlace(buffer, op, result))
      return buffer;
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Placing
//===----------------------------------------------------------------------===//

void TaskPlacer::placeResult(Operation *op, unsigned result) {
  Value value = op->getResult(result);
  BufferOp wanted = target.lookup(value);
  if (wanted && (isFree(wanted, op) || canWriteInPlace(wanted, op, result)))
    return assign(value, wanted);
  if (BufferOp buffer = overwritable(op, result))
    return assign(value, buffer);
  assign(value, memory.addTemporary(value.getType(), value.getLoc()));
}

bool TaskPlacer::canTakeOver(Operation *op, unsigned operand) {
  Value value = op->getOperand(operand);
  BufferOp buffer = home.lookup(value);
  if (rootOf[value] != value || content.lookup(buffer) != value ||
      mustKeep(buffer, value) || lastUse(value) != op)
    return false;
  return llvm::all_of(op->getOpOperands(), [&](OpOperand &other) {
    return other.getOperandNumber() == operand || rootOf[other.get()] != value;
  });
}

/// `op` computes a result in the memory of an operand, or of a copy where that
/// is still needed.
void TaskPlacer::takeOver(Operation *op, unsigned result, unsigned operand) {
  Value made = op->getResult(result);
  if (!canTakeOver(op, operand)) {
    Value copy = copyBefore(op, op->getOperand(operand));
    op->setOperand(operand, copy);
    if (BufferOp wanted = target.lookup(made))
      target[copy] = wanted;
    placeResult(copy.getDefiningOp(), 0);
  }
  assign(made, home[op->getOperand(operand)]);
}

/// Operands of one collective lie side by side. Where their buffers cannot,
/// copies of them do.
void TaskPlacer::placeBucket(Operation *op) {
  auto membersOf = [&] {
    return llvm::map_to_vector(op->getOperands(),
                               [&](Value value) { return home[value]; });
  };
  llvm::SmallDenseSet<Operation *> distinct;
  SmallVector<BufferOp> members = membersOf();
  for (BufferOp buffer : members)
    distinct.insert(buffer);
  if (distinct.size() != members.size() || !memory.canBucket(members)) {
    for (OpOperand &operand : op->getOpOperands()) {
      content[home[operand.get()]] = operand.get();
      Value copy = copyBefore(op, operand.get());
      operand.set(copy);
      assign(copy, memory.addTemporary(copy.getType(), copy.getLoc()));
    }
    members = membersOf();
  }
  memory.addBucket(members);
  for (auto [operand, result] :
       llvm::zip_equal(op->getOperands(), op->getResults()))
    assign(result, home[operand]);
}

void TaskPlacer::placeOp(Operation *op) {
  unsigned numTied = 0;
  for (unsigned result = 0; result < op->getNumResults(); ++result) {
    std::optional<unsigned> tied = tiedOperand(op, result);
    numTied += tied.has_value();
    if (tied)
      takeOver(op, result, *tied);
    else
      placeResult(op, result);
  }
  if (numTied > 1)
    placeBucket(op);
}

/// Copies what is not where the task writes it. A buffer that holds something
/// else to be copied waits; where all wait for each other, one goes through a
/// temporary.
void TaskPlacer::writeBack() {
  SmallVector<std::pair<unsigned, BufferOp>> pending;
  for (auto [number, ref] : llvm::enumerate(task.getWrites()))
    if (home[terminator->getOperand(number)] != memory.find(ref))
      pending.push_back({number, memory.find(ref)});
  auto copyTo = [&](unsigned number, BufferOp buffer) {
    Value copy = copyBefore(terminator, terminator->getOperand(number));
    terminator->setOperand(number, copy);
    assign(copy, buffer);
  };
  while (!pending.empty()) {
    size_t before = pending.size();
    llvm::erase_if(pending, [&](auto entry) {
      if (!isFree(entry.second, terminator))
        return false;
      copyTo(entry.first, entry.second);
      return true;
    });
    if (pending.size() < before)
      continue;
    Value value = terminator->getOperand(pending.front().first);
    copyTo(pending.front().first,
           memory.addTemporary(value.getType(), value.getLoc()));
    std::rotate(pending.begin(), pending.begin() + 1, pending.end());
  }
}

void TaskPlacer::annotate() {
  for (Operation &op : task.getRegion().front().without_terminator()) {
    if (views.contains(&op))
      continue;
    SmallVector<Attribute> buffers;
    for (Value result : op.getResults())
      buffers.push_back(FlatSymbolRefAttr::get(home[result].getSymNameAttr()));
    op.setAttr(rank::kBuffersAttr, ArrayAttr::get(op.getContext(), buffers));
  }
}

void TaskPlacer::place() {
  readArguments();
  findViews();
  ownReturned();
  findTargets();
  for (Operation &op : llvm::make_early_inc_range(
           task.getRegion().front().without_terminator()))
    if (!views.contains(&op))
      placeOp(&op);
  writeBack();
  annotate();
}

std::vector<Bucket> fleet::placeTasks(rank::ProgramOp program) {
  LaterReads laterReads(program);
  ProgramMemory memory(program);
  for (auto task : program.getOps<rank::TaskOp>())
    TaskPlacer(task, memory, laterReads).place();
  return std::move(memory.buckets);
}
