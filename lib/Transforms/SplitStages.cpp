//===- SplitStages.cpp - Pipeline stages -----------------------*- C++ -*-===//
//
// Stages are contiguous in the order of the forward program. Where to cut is a small dynamic program over positions: the
// time of a stage is its computation, backward included, and the transfer of what it receives.
//
//===----------------------------------------------------------------------===//

#include "fleet/Analysis/Sharding.h"
#include "fleet/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace fleet {
#define GEN_PASS_DEF_SPLITSTAGES
#include "fleet/Transforms/Passes.h.inc"

namespace {
/// Rates by which operations and bytes become comparable: one CPU core with AVX2 and a memory copy between processes.
constexpr double kFlopsPerSecond = 5e10;
constexpr double kBytesPerSecond = 1e10;
constexpr double kLinkBytesPerSecond = 5e9;

/// Values of a step by what they are made from.
struct Provenance {
  llvm::DenseSet<Value> fromParameters, fromInputs;
};

class StageSplitter {
public:
  StageSplitter(func::FuncOp func, AccumulateOp accumulate)
      : func(func), accumulate(accumulate) {}

  /// Gives stages by cost, or beginning where `starts` says. Returns the bytes that cross, nullopt after an error.
  std::optional<int64_t> run(int64_t stages, ArrayRef<std::string> starts);

private:
  void classify();
  void measure();
  SmallVector<size_t> cutByCost(int64_t stages) const;
  FailureOr<SmallVector<size_t>> cutByNames(int64_t stages,
                                            ArrayRef<std::string> starts);
  std::optional<size_t> findStart(StringRef name);
  void assign(ArrayRef<size_t> cuts);
  std::optional<int64_t> originOf(Operation *op) const;

  func::FuncOp func;
  AccumulateOp accumulate;
  Provenance provenance;
  /// Forward operations on both parameters and inputs, in program order.
  SmallVector<Operation *> chain;
  /// Seconds of chain[i], forward and backward, and bytes that cross a cut before chain[i].
  SmallVector<double> seconds;
  SmallVector<int64_t> crossing;
};
} // namespace

static bool isForward(Operation *op) {
  auto phase = op->getAttrOfType<PhaseAttr>(attr::kPhase);
  return phase && phase.getValue() == Phase::Forward;
}

std::optional<int64_t> StageSplitter::originOf(Operation *op) const {
  auto origin = op->getAttrOfType<IntegerAttr>(attr::kOrigin);
  return origin ? std::optional<int64_t>(origin.getInt()) : std::nullopt;
}

void StageSplitter::classify() {
  for (BlockArgument argument : func.getArguments())
    if (func.getArgAttr(argument.getArgNumber(), attr::kParam))
      provenance.fromParameters.insert(argument);
    else if (func.getArgAttr(argument.getArgNumber(), attr::kInput))
      provenance.fromInputs.insert(argument);
  for (BlockArgument argument : accumulate.getBody()->getArguments())
    provenance.fromInputs.insert(argument);
  for (Operation &op : *accumulate.getBody()) {
    if (!isForward(&op))
      continue;
    auto any = [&](const llvm::DenseSet<Value> &set) {
      return llvm::any_of(op.getOperands(),
                          [&](Value v) { return set.contains(v); });
    };
    bool parameters = any(provenance.fromParameters);
    bool inputs = any(provenance.fromInputs);
    for (Value result : op.getResults()) {
      if (parameters)
        provenance.fromParameters.insert(result);
      if (inputs)
        provenance.fromInputs.insert(result);
    }
    if (parameters && inputs)
      chain.push_back(&op);
  }
}

void StageSplitter::measure() {
  llvm::DenseMap<int64_t, size_t> byOrigin;
  llvm::DenseMap<Operation *, size_t> position;
  for (auto [index, op] : llvm::enumerate(chain)) {
    position[op] = index;
    if (std::optional<int64_t> origin = originOf(op))
      byOrigin[*origin] = index;
  }
  seconds.assign(chain.size(), 0);
  for (Operation &op : *accumulate.getBody()) {
    auto cost = dyn_cast<CostOpInterface>(op);
    std::optional<int64_t> origin = originOf(&op);
    auto it = origin ? byOrigin.find(*origin) : byOrigin.end();
    if (cost && it != byOrigin.end())
      seconds[it->second] +=
          cost.getFlops() / kFlopsPerSecond + cost.getBytes() / kBytesPerSecond;
  }
  // A value crosses every cut between the operation that makes it and its last forward user.
  crossing.assign(chain.size() + 1, 0);
  for (auto [index, op] : llvm::enumerate(chain))
    for (Value result : op->getResults()) {
      size_t last = index;
      for (Operation *user : result.getUsers())
        if (auto it = position.find(user); it != position.end())
          last = std::max(last, it->second);
      for (size_t cut = index + 1; cut <= last; ++cut)
        crossing[cut] += byteSize(result.getType());
    }
}

/// Minimises the longest stage; of equal ones the first found, which has the earliest cuts.
SmallVector<size_t> StageSplitter::cutByCost(int64_t stages) const {
  size_t n = chain.size();
  SmallVector<double> prefix(n + 1, 0);
  for (size_t i = 0; i < n; ++i)
    prefix[i + 1] = prefix[i] + seconds[i];
  auto stageTime = [&](size_t begin, size_t end) {
    // Activations come in forward, gradients go out backward.
    double transfer =
        begin == 0 ? 0 : 2 * crossing[begin] / kLinkBytesPerSecond;
    return prefix[end] - prefix[begin] + transfer;
  };
  constexpr double kNever = std::numeric_limits<double>::infinity();
  SmallVector<SmallVector<double>> best(stages + 1,
                                        SmallVector<double>(n + 1, kNever));
  SmallVector<SmallVector<size_t>> from(stages + 1,
                                        SmallVector<size_t>(n + 1, 0));
  best[0][0] = 0;
  for (int64_t s = 1; s <= stages; ++s)
    for (size_t end = s; end <= n; ++end)
      for (size_t begin = s - 1; begin < end; ++begin) {
        double time = std::max(best[s - 1][begin], stageTime(begin, end));
        if (time < best[s][end]) {
          best[s][end] = time;
          from[s][end] = begin;
        }
      }
  SmallVector<size_t> cuts;
  for (size_t s = stages, end = n; s > 1; --s) {
    end = from[s][end];
    cuts.insert(cuts.begin(), end);
  }
  return cuts;
}

/// Position of the operation that makes the value `name` or is the first to use the parameter `name`.
std::optional<size_t> StageSplitter::findStart(StringRef name) {
  auto isNamed = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner() != &func.getBody().front())
      return false;
    auto own = func.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                 attr::kParam);
    return own && own.getValue() == name;
  };
  for (auto [index, op] : llvm::enumerate(chain)) {
    auto own = op->getAttrOfType<StringAttr>(attr::kName);
    if (own && own.getValue() == name)
      return index;
    // A parameter may come through operations on parameters alone.
    SmallVector<Value> pending(op->getOperands());
    while (!pending.empty()) {
      Value value = pending.pop_back_val();
      if (isNamed(value))
        return index;
      Operation *made = value.getDefiningOp();
      if (made && provenance.fromParameters.contains(value) &&
          !provenance.fromInputs.contains(value))
        llvm::append_range(pending, made->getOperands());
    }
  }
  return std::nullopt;
}

FailureOr<SmallVector<size_t>>
StageSplitter::cutByNames(int64_t stages, ArrayRef<std::string> starts) {
  if (static_cast<int64_t>(starts.size()) + 1 != stages)
    return func.emitError("pp_degree ")
           << stages << " needs " << stages - 1 << " stage starts, got "
           << starts.size();
  SmallVector<size_t> cuts;
  for (StringRef name : starts) {
    std::optional<size_t> position = findStart(name);
    if (!position)
      return func.emitError("stage start '")
             << name << "' is no parameter or value of the forward program";
    if (*position == 0 || (!cuts.empty() && *position <= cuts.back()))
      return func.emitError("stage start '")
             << name << "' does not come after the start of the stage before";
    cuts.push_back(*position);
  }
  return cuts;
}

void StageSplitter::assign(ArrayRef<size_t> cuts) {
  Builder b(func.getContext());
  llvm::DenseMap<int64_t, int64_t> byOrigin;
  auto give = [&](Operation *op, int64_t stage) {
    op->setAttr(attr::kStage, b.getI64IntegerAttr(stage));
    if (std::optional<int64_t> origin = originOf(op))
      byOrigin.try_emplace(*origin, stage);
  };
  int64_t stage = 0;
  for (auto [index, op] : llvm::enumerate(chain)) {
    while (stage < static_cast<int64_t>(cuts.size()) && index >= cuts[stage])
      ++stage;
    give(op, stage);
  }
  // What is made from parameters alone belongs to its first user.
  for (Operation &op : llvm::reverse(*accumulate.getBody())) {
    if (op.hasAttr(attr::kStage) || !isForward(&op) ||
        op.getNumResults() == 0 ||
        !provenance.fromParameters.contains(op.getResult(0)))
      continue;
    int64_t first = cuts.size();
    for (Operation *user : op.getUsers())
      if (auto own = user->getAttrOfType<IntegerAttr>(attr::kStage))
        first = std::min(first, own.getInt());
    give(&op, first);
  }
  for (Operation &op : *accumulate.getBody()) {
    if (op.hasAttr(attr::kStage) || isForward(&op) ||
        op.hasTrait<OpTrait::IsTerminator>())
      continue;
    std::optional<int64_t> origin = originOf(&op);
    auto it = origin ? byOrigin.find(*origin) : byOrigin.end();
    if (it != byOrigin.end())
      op.setAttr(attr::kStage, b.getI64IntegerAttr(it->second));
  }
}

std::optional<int64_t> StageSplitter::run(int64_t stages,
                                          ArrayRef<std::string> starts) {
  classify();
  if (static_cast<int64_t>(chain.size()) < stages) {
    func.emitError("pp_degree ") << stages << " is more than the "
                                 << chain.size() << " operations of the model";
    return std::nullopt;
  }
  measure();
  SmallVector<size_t> cuts;
  if (starts.empty()) {
    cuts = cutByCost(stages);
  } else {
    FailureOr<SmallVector<size_t>> named = cutByNames(stages, starts);
    if (failed(named))
      return std::nullopt;
    cuts = *named;
  }
  assign(cuts);
  int64_t bytes = 0;
  for (size_t cut : cuts)
    bytes += crossing[cut];
  return bytes;
}

namespace {
struct SplitStages : impl::SplitStagesBase<SplitStages> {
  using SplitStagesBase::SplitStagesBase;

  void runOnOperation() final {
    auto func = getOperation().lookupSymbol<func::FuncOp>("step");
    MeshOp mesh = findMesh(getOperation());
    if (!func || !mesh) {
      getOperation().emitError("stages need @step and a mesh");
      return signalPassFailure();
    }
    auto accumulates = func.getOps<AccumulateOp>();
    if (accumulates.empty()) {
      func.emitError("stages need the micro-batches of fleet.accumulate");
      return signalPassFailure();
    }
    int64_t stages = mesh.getAxisSize("pp").value_or(1);
    SmallVector<std::string> names(starts.begin(), starts.end());
    std::optional<int64_t> bytes =
        StageSplitter(func, *accumulates.begin()).run(stages, names);
    if (!bytes)
      return signalPassFailure();
    crossingBytes += *bytes;
  }
};
} // namespace
} // namespace fleet
