//===- Optimizers.cpp - Meaning of optimizer updates -----------*- C++ -*-===//
//
// Element-wise updates of a parameter and its state.
//
//===----------------------------------------------------------------------===//

#include "Models.h"

#include <cmath>

using namespace mlir;
using namespace fleet;

static void sgd(SgdOp op, Operands in, Results out) {
  double lr = in[2]->data[0];
  double decay = op.getWeightDecay().convertToDouble();
  for (auto [next, p, g] :
       llvm::zip_equal(out[0].data, in[0]->data, in[1]->data))
    next = p - lr * (g + decay * p);
}

static void momentum(MomentumOp op, Operands in, Results out) {
  double lr = in[3]->data[0];
  double mu = op.getMomentum().convertToDouble();
  double decay = op.getWeightDecay().convertToDouble();
  for (auto [next, nextV, p, grad, v] : llvm::zip_equal(
           out[0].data, out[1].data, in[0]->data, in[1]->data, in[2]->data)) {
    double g = grad + decay * p;
    nextV = mu * v + g;
    next = p - lr * (op.getNesterov() ? g + mu * nextV : nextV);
  }
}

static void adam(AdamOp op, Operands in, Results out) {
  double lr = in[4]->data[0], t = in[5]->data[0];
  double beta1 = op.getBeta1().convertToDouble();
  double beta2 = op.getBeta2().convertToDouble();
  double epsilon = op.getEpsilon().convertToDouble();
  double decay = op.getWeightDecay().convertToDouble();
  double correction1 = 1 - std::pow(beta1, t);
  double correction2 = 1 - std::pow(beta2, t);
  for (size_t i = 0; i < in[0]->data.size(); ++i) {
    double p = in[0]->data[i], g = in[1]->data[i];
    if (op.getDecoupled())
      p -= lr * decay * p;
    else
      g += decay * p;
    double m = beta1 * in[2]->data[i] + (1 - beta1) * g;
    double v = beta2 * in[3]->data[i] + (1 - beta2) * g * g;
    out[0].data[i] =
        p - lr * (m / correction1) / (std::sqrt(v / correction2) + epsilon);
    out[1].data[i] = m;
    out[2].data[i] = v;
  }
}

void fleet::attachOptimizerModels(MLIRContext *context) {
  attachPure<SgdOp, sgd>(context);
  attachPure<MomentumOp, momentum>(context);
  attachPure<AdamOp, adam>(context);
}
