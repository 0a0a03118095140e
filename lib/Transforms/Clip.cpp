//===- Clip.cpp - Global norm of the gradients -----------------*- C++ -*-===//
//
// The norm over all parameters, and clipping by it as PyTorch's clip_grad_norm_ does.
//
//===----------------------------------------------------------------------===//

#include "StepFunction.h"
#include "fleet/Transforms/Passes.h"

using namespace mlir;

namespace fleet {
#define GEN_PASS_DEF_CLIP
#include "fleet/Transforms/Passes.h.inc"

/// Sum of the squares of all elements.
static Value sumOfSquares(OpBuilder &b, Location loc, Value x) {
  Value square = MulOp::create(b, loc, x, x);
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, typeOf(x).getRank()));
  return b.createOrFold<ReduceOp>(loc, ReductionKind::Sum, square, dims);
}

/// min(1, limit / (norm + epsilon)).
static Value clipFactor(OpBuilder &b, Location loc, Value norm, double limit,
                        double epsilon) {
  auto type = typeOf(norm);
  auto c = [&](double value) {
    return ConstantOp::create(b, loc, type, value);
  };
  Value divisor = AddOp::create(b, loc, norm, c(epsilon));
  return MinOp::create(b, loc, c(1), DivOp::create(b, loc, c(limit), divisor));
}

namespace {
struct Clip : impl::ClipBase<Clip> {
  using ClipBase::ClipBase;

  void runOnOperation() final {
    auto func = getOperation().lookupSymbol<func::FuncOp>("step");
    if (!func || globalNorm < 0) {
      getOperation().emitError("clipping needs @step and a norm of at least 0, "
                               "got ")
          << globalNorm;
      return signalPassFailure();
    }
    Location loc = func.getLoc();
    PhaseStamp stamp(Phase::Update);
    OpBuilder b(&getContext(), &stamp);
    b.setInsertionPoint(func.getBody().front().getTerminator());
    SmallVector<StepResult> results = getResults(func);
    SmallVector<Value> squares;
    for (const StepResult &result : results)
      if (!nameOf(result, attr::kGradient).empty())
        squares.push_back(sumOfSquares(b, loc, result.value));
    if (squares.empty())
      return;
    Value sum = SumOp::create(b, loc, squares[0].getType(), squares);
    Value norm = SqrtOp::create(b, loc, sum);
    if (globalNorm > 0) {
      Value factor = clipFactor(b, loc, norm, globalNorm, epsilon);
      for (StepResult &result : results)
        if (!nameOf(result, attr::kGradient).empty())
          result.value =
              MulOp::create(b, loc, result.value,
                            buildSplat(b, loc, factor, typeOf(result.value)));
    }
    results.push_back(namedResult(norm, attr::kOutput, "grad_norm"));
    setResults(func, results);
  }
};
} // namespace
} // namespace fleet
