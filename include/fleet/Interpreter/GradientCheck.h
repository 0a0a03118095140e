//===- GradientCheck.h - Derivatives against differences -------*- C++ -*-===//
//
// Compares what a program says is a gradient with central differences of the loss, element by element, in double. The
// differences are of fourth order, so that their own error stays near 1e-12 and a relative error of 1e-6 is the
// program's.
//
//===----------------------------------------------------------------------===//

#ifndef FLEET_INTERPRETER_GRADIENTCHECK_H
#define FLEET_INTERPRETER_GRADIENTCHECK_H

#include "fleet/Interpreter/Tensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace fleet {

/// An argument and the result that claims to be the gradient of the loss with respect to it.
struct GradientPair {
  unsigned argument;
  unsigned result;
};

/// What is compared with what. Both functions take the same arguments and may be the same function.
struct GradientCheck {
  mlir::func::FuncOp forward;
  /// Result of `forward` that is the loss, a scalar float.
  unsigned loss = 0;
  mlir::func::FuncOp gradient;
  llvm::SmallVector<GradientPair> pairs;

  /// `gradient` returns one gradient for each float argument, in order; the loss is the first result of `forward`.
  static llvm::FailureOr<GradientCheck> get(mlir::func::FuncOp forward,
                                            mlir::func::FuncOp gradient);
  /// A step: the loss is the result `fleet.output = "loss"`, a result `fleet.gradient = "w"` is the gradient of the
  /// argument `fleet.param = "w"` with the same piece.
  static llvm::FailureOr<GradientCheck> get(mlir::func::FuncOp step);
};

struct GradientCheckOptions {
  /// Largest relative error |a - b| / max(|a|, |b|, 1e-4).
  double tolerance = 1e-6;
  /// Distance of the points that differences are taken over.
  double distance = 1e-4;
};

struct GradientCheckResult {
  int64_t elements = 0;
  double largestError = 0;
};

/// Compares every element of every pair at the point `arguments`. Reports the first element of each argument that
/// differs.
llvm::FailureOr<GradientCheckResult>
checkGradients(const GradientCheck &check, llvm::ArrayRef<TensorRef> arguments,
               GradientCheckOptions options = {});

/// Arguments for a function, the same for the same seed, see RandomTensors.h. An argument's attribute
/// `fleet.range = [low, high]` says from which half-open range.
llvm::FailureOr<llvm::SmallVector<TensorRef>>
randomArguments(mlir::func::FuncOp function, uint64_t seed);

} // namespace fleet

#endif // FLEET_INTERPRETER_GRADIENTCHECK_H
