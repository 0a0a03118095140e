//===- ApplyStrategy.cpp - Mesh and shardings of arguments -----*- C++ -*-===//
//
// What a strategy says becomes a mesh and a sharding on every argument of the step. Everything else follows by
// propagation, so that data, tensor and optimizer-state parallelism are one mechanism.
//
//===----------------------------------------------------------------------===//

#include "fleet/Analysis/TensorParallel.h"
#include "fleet/Transforms/Passes.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace fleet {
#define GEN_PASS_DEF_APPLYSTRATEGY
#include "fleet/Transforms/Passes.h.inc"

namespace {
struct ApplyStrategy : impl::ApplyStrategyBase<ApplyStrategy> {
  using ApplyStrategyBase::ApplyStrategyBase;
  void runOnOperation() final;

private:
  FailureOr<MeshOp> createMesh();
  LogicalResult seedInputs(func::FuncOp func, Propagation &propagation);
  LogicalResult applyPin(func::FuncOp func, StringRef pin,
                         Propagation &propagation);
  FailureOr<TensorSharding> parsePin(func::FuncOp func, StringRef name,
                                     StringRef text, RankedTensorType type,
                                     MeshPieces &mesh);
  void writeArguments(func::FuncOp func, Propagation &propagation);
};
} // namespace

FailureOr<MeshOp> ApplyStrategy::createMesh() {
  static constexpr StringLiteral kOrder[] = {"dp", "pp", "sharding", "sep",
                                             "mp"};
  llvm::StringMap<int64_t> degrees = {
      {"dp", dp}, {"pp", pp}, {"sharding", sharding}, {"sep", sep}, {"mp", mp}};
  SmallVector<StringRef> names(order.begin(), order.end());
  if (names.empty())
    names.assign(std::begin(kOrder), std::end(kOrder));
  SmallVector<int64_t> sizes;
  for (StringRef name : names) {
    auto it = degrees.find(name);
    if (it == degrees.end())
      return getOperation().emitError("order names axis '")
             << name << "', which is not one of dp, pp, sharding, sep, mp";
    if (it->second < 1)
      return getOperation().emitError(name)
             << "_degree must be at least 1, got " << it->second;
    sizes.push_back(it->second);
  }
  OpBuilder b = OpBuilder::atBlockBegin(getOperation().getBody());
  return MeshOp::create(b, getOperation().getLoc(), "mesh",
                        b.getStrArrayAttr(names),
                        b.getDenseI64ArrayAttr(sizes));
}

/// Cuts inputs along the batch over the data axes.
LogicalResult ApplyStrategy::seedInputs(func::FuncOp func,
                                        Propagation &propagation) {
  PieceList data = propagation.getMesh().piecesOf("dp");
  data.append(propagation.getMesh().piecesOf("sharding"));
  int64_t shares = MeshPieces::product(data);
  auto seed = [&](Value value) {
    TensorSharding cut(typeOf(value).getRank());
    cut.dims[0] = data;
    propagation.set(value, cut, /*closed=*/true);
  };
  for (BlockArgument argument : func.getArguments()) {
    if (!func.getArgAttr(argument.getArgNumber(), attr::kInput) ||
        typeOf(argument).getRank() == 0)
      continue;
    for (Operation *user : argument.getUsers()) {
      auto accumulate = dyn_cast<AccumulateOp>(user);
      int64_t parts = accumulate ? accumulate.getMicroBatches() : 1;
      int64_t batch = typeOf(argument).getDimSize(0);
      if (batch % (parts * shares) != 0)
        return func.emitError("batch ")
               << batch << " does not split over dp_degree " << dp.getValue()
               << " x sharding_degree " << sharding.getValue() << " x " << parts
               << " micro-batches";
    }
    seed(argument);
  }
  func.walk([&](AccumulateOp accumulate) {
    for (BlockArgument argument : accumulate.getBody()->getArguments())
      seed(argument);
  });
  return success();
}

FailureOr<TensorSharding>
ApplyStrategy::parsePin(func::FuncOp func, StringRef name, StringRef text,
                        RankedTensorType type, MeshPieces &mesh) {
  std::string attribute = ("#fleet.sharding<@mesh, " + text + ">").str();
  Attribute parsed;
  {
    ScopedDiagnosticHandler quiet(&getContext(),
                                  [](Diagnostic &) { return success(); });
    parsed = parseAttribute(attribute, &getContext());
  }
  auto sharding = dyn_cast_or_null<ShardingAttr>(parsed);
  if (!sharding)
    return func.emitError("sharding of '")
           << name << "': cannot read '" << text
           << "', expected a form like [{dp}, {mp}]";
  auto emit = [&] { return func.emitError("sharding of '") << name << "': "; };
  if (failed(verifySharding(sharding, type, mesh.getMesh(), emit)))
    return failure();
  TensorSharding result = fromAttr(sharding, mesh);
  for (const PieceList &dim : result.dims)
    for (const AxisPiece &piece : dim)
      if (cast<StringAttr>(mesh.getMesh().getAxes()[piece.axis]) == "pp")
        return emit() << "axis 'pp' selects stages and never shards a tensor";
  if (!localType(type, result))
    return emit() << text << " does not divide " << type;
  return result;
}

LogicalResult ApplyStrategy::applyPin(func::FuncOp func, StringRef pin,
                                      Propagation &propagation) {
  StringRef name = pin.split('=').first, text = pin.split('=').second;
  MeshPieces &mesh = propagation.getMesh();
  unsigned matches = 0;
  auto pinValue = [&](Value value) -> LogicalResult {
    FailureOr<TensorSharding> sharding =
        parsePin(func, name, text, typeOf(value), mesh);
    if (failed(sharding))
      return failure();
    propagation.set(value, *sharding, /*closed=*/true);
    if (Operation *op = value.getDefiningOp())
      op->setAttr(attr::kPinned, toAttr(*sharding, mesh));
    ++matches;
    return success();
  };
  for (BlockArgument argument : func.getArguments())
    for (StringRef kind : {attr::kParam, attr::kInput}) {
      auto own =
          func.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kind);
      if (own && own.getValue() == name && failed(pinValue(argument)))
        return failure();
    }
  WalkResult walk = func.walk([&](Operation *op) {
    auto own = op->getAttrOfType<StringAttr>(attr::kName);
    if (!own || own.getValue() != name || op->getNumResults() == 0)
      return WalkResult::advance();
    return failed(pinValue(op->getResult(0))) ? WalkResult::interrupt()
                                              : WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  if (matches == 0)
    return func.emitError("sharding of '")
           << name << "': no parameter, input or value has that name";
  return success();
}

/// Adds the pieces of the axis `sharding` to the outermost dimension that they divide: gathered axes are minor, so that
/// putting a parameter together again is one all_gather.
static TensorSharding shardState(RankedTensorType type, TensorSharding state,
                                 const PieceList &pieces) {
  int64_t shards = MeshPieces::product(pieces);
  for (auto [dim, size] : llvm::zip(state.dims, type.getShape()))
    if (shards > 1 && size % (MeshPieces::product(dim) * shards) == 0) {
      dim.append(pieces);
      break;
    }
  return state;
}

void ApplyStrategy::writeArguments(func::FuncOp func,
                                   Propagation &propagation) {
  MeshPieces &mesh = propagation.getMesh();
  PieceList zero = mesh.piecesOf("sharding");
  // State follows its parameter: the same name and, for a part of a stored tensor, the same piece.
  llvm::DenseMap<std::pair<Attribute, Attribute>, TensorSharding> byName;
  for (BlockArgument argument : func.getArguments())
    if (Attribute name = func.getArgAttr(argument.getArgNumber(), attr::kParam))
      byName[{name, func.getArgAttr(argument.getArgNumber(), attr::kPiece)}] =
          propagation.get(argument);
  for (BlockArgument argument : func.getArguments()) {
    unsigned number = argument.getArgNumber();
    TensorSharding sharding = propagation.get(argument);
    if (Attribute of = func.getArgAttr(number, attr::kOf))
      sharding = shardState(
          typeOf(argument),
          byName.lookup({of, func.getArgAttr(number, attr::kPiece)}), zero);
    func.setArgAttr(number, attr::kSharding, toAttr(sharding, mesh));
  }
}

void ApplyStrategy::runOnOperation() {
  auto func = getOperation().lookupSymbol<func::FuncOp>("step");
  if (!func) {
    getOperation().emitError("the module has no @step to apply a strategy to");
    return signalPassFailure();
  }
  FailureOr<MeshOp> mesh = createMesh();
  if (failed(mesh))
    return signalPassFailure();
  Propagation propagation(func, *mesh);
  if (failed(seedInputs(func, propagation)))
    return signalPassFailure();
  for (StringRef pin : pins)
    if (failed(applyPin(func, pin, propagation)))
      return signalPassFailure();
  propagation.run();
  if (mp > 1 && failed(seedTensorParallel(func, propagation, "mp")))
    return signalPassFailure();
  writeArguments(func, propagation);
}

} // namespace fleet
