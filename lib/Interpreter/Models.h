//===- Models.h - Attaching semantics to operations ------------*- C++ -*-===//
//
// An operation's meaning is a plain function; these templates wrap it as an external model of ReferenceOpInterface, so
// that each operation takes one line. Functions are template arguments because a model has no state.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_LIB_INTERPRETER_MODELS_H
#define FLEET_LIB_INTERPRETER_MODELS_H

#include "fleet/Dialect/Fleet/FleetOps.h"
#include "fleet/Interpreter/EvalContext.h"

namespace fleet {

using Operands = llvm::ArrayRef<const Tensor *>;
using Results = llvm::MutableArrayRef<Tensor>;

namespace detail {
template <typename OpT, double (*fn)(double)>
struct UnaryModel
    : ReferenceOpInterface::ExternalModel<UnaryModel<OpT, fn>, OpT> {
  llvm::LogicalResult evaluate(mlir::Operation *, Operands operands,
                               Results results, EvalContext &) const {
    for (auto [out, x] : llvm::zip_equal(results[0].data, operands[0]->data))
      out = fn(x);
    return llvm::success();
  }
};

template <typename OpT, double (*fn)(double, double)>
struct BinaryModel
    : ReferenceOpInterface::ExternalModel<BinaryModel<OpT, fn>, OpT> {
  llvm::LogicalResult evaluate(mlir::Operation *, Operands operands,
                               Results results, EvalContext &) const {
    for (auto [out, a, b] :
         llvm::zip_equal(results[0].data, operands[0]->data, operands[1]->data))
      out = fn(a, b);
    return llvm::success();
  }
};

template <typename OpT, void (*fn)(OpT, Operands, Results)>
struct PureModel
    : ReferenceOpInterface::ExternalModel<PureModel<OpT, fn>, OpT> {
  llvm::LogicalResult evaluate(mlir::Operation *op, Operands operands,
                               Results results, EvalContext &) const {
    fn(llvm::cast<OpT>(op), operands, results);
    return llvm::success();
  }
};

template <typename OpT, llvm::LogicalResult (*fn)(OpT, Operands, Results)>
struct CheckedModel
    : ReferenceOpInterface::ExternalModel<CheckedModel<OpT, fn>, OpT> {
  llvm::LogicalResult evaluate(mlir::Operation *op, Operands operands,
                               Results results, EvalContext &) const {
    return fn(llvm::cast<OpT>(op), operands, results);
  }
};

template <typename OpT, llvm::LogicalResult (*fn)(OpT, EvalContext &)>
struct LockStepModel
    : ReferenceOpInterface::ExternalModel<LockStepModel<OpT, fn>, OpT> {
  llvm::LogicalResult evaluateAll(mlir::Operation *op,
                                  EvalContext &context) const {
    return fn(llvm::cast<OpT>(op), context);
  }
};
} // namespace detail

/// One element from one element.
template <typename OpT, double (*fn)(double)>
void attachUnary(mlir::MLIRContext *context) {
  OpT::template attachInterface<detail::UnaryModel<OpT, fn>>(*context);
}

/// One element from two.
template <typename OpT, double (*fn)(double, double)>
void attachBinary(mlir::MLIRContext *context) {
  OpT::template attachInterface<detail::BinaryModel<OpT, fn>>(*context);
}

/// Results from operands; nothing can go wrong.
template <typename OpT, void (*fn)(OpT, Operands, Results)>
void attachPure(mlir::MLIRContext *context) {
  OpT::template attachInterface<detail::PureModel<OpT, fn>>(*context);
}

/// Results from operands whose data may be wrong.
template <typename OpT, llvm::LogicalResult (*fn)(OpT, Operands, Results)>
void attachChecked(mlir::MLIRContext *context) {
  OpT::template attachInterface<detail::CheckedModel<OpT, fn>>(*context);
}

/// All devices at once: collectives, and operations with regions.
template <typename OpT, llvm::LogicalResult (*fn)(OpT, EvalContext &)>
void attachLockStep(mlir::MLIRContext *context) {
  OpT::template attachInterface<detail::LockStepModel<OpT, fn>>(*context);
}

/// One step of a reduction.
double combine(ReductionKind kind, double a, double b);

// One function per concern, each in the file of that name.
void attachElementwiseModels(mlir::MLIRContext *context);
void attachShapeModels(mlir::MLIRContext *context);
void attachContractionModels(mlir::MLIRContext *context);
void attachIndexedModels(mlir::MLIRContext *context);
void attachNetworkModels(mlir::MLIRContext *context);
void attachLossModels(mlir::MLIRContext *context);
void attachOptimizerModels(mlir::MLIRContext *context);
void attachCollectiveModels(mlir::MLIRContext *context);
void attachRegionModels(mlir::MLIRContext *context);

} // namespace fleet

#endif // FLEET_LIB_INTERPRETER_MODELS_H
