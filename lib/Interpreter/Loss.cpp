//===- Loss.cpp - Meaning of cross entropy ---------------------*- C++ -*-===//
//
// Sums over the rows that count, divided by a count that the step takes over its global batch.
//
//===----------------------------------------------------------------------===//

#include "Models.h"

#include <cmath>

using namespace mlir;
using namespace fleet;

/// Whether a row with this label counts.
static bool counts(double label, std::optional<uint64_t> ignoreIndex) {
  return !ignoreIndex ||
         label != static_cast<double>(static_cast<int64_t>(*ignoreIndex));
}

static double countValid(const Tensor &labels,
                         std::optional<uint64_t> ignoreIndex) {
  return llvm::count_if(
      labels.data, [&](double label) { return counts(label, ignoreIndex); });
}

static void countValidLabels(CountValidOp op, Operands in, Results out) {
  out[0].data[0] = countValid(*in[0], op.getIgnoreIndex());
}

static LogicalResult badLabel(Operation *op, double label, int64_t row,
                              int64_t classes) {
  return op->emitError("label ")
         << static_cast<int64_t>(label) << " of row " << row
         << " is outside the " << classes << " classes";
}

static double logSumExp(const double *x, int64_t width) {
  double max = *std::max_element(x, x + width), sum = 0;
  for (int64_t i = 0; i < width; ++i)
    sum += std::exp(x[i] - max);
  return max + std::log(sum);
}

static LogicalResult crossEntropy(CrossEntropyOp op, Operands in, Results out) {
  const Tensor &logits = *in[0], &labels = *in[1];
  int64_t classes = logits.shape.back();
  double sum = 0;
  for (auto [row, label] : llvm::enumerate(labels.data)) {
    const double *x = logits.data.data() + row * classes;
    double lse = out[1].data[row] = logSumExp(x, classes);
    if (!counts(label, op.getIgnoreIndex()))
      continue;
    if (!(label >= 0 && label < classes))
      return badLabel(op, label, row, classes);
    sum += lse - x[static_cast<int64_t>(label)];
  }
  double count =
      op.getCount() ? in[2]->data[0] : countValid(labels, op.getIgnoreIndex());
  out[0].data[0] = sum / count;
  return success();
}

static LogicalResult crossEntropyGrad(CrossEntropyGradOp op, Operands in,
                                      Results out) {
  const Tensor &logits = *in[1], &labels = *in[2], &lse = *in[3];
  double scale = in[0]->data[0] / in[4]->data[0];
  double base = op.getBase() ? in[5]->data[0] : 0;
  int64_t classes = logits.shape.back();
  for (auto [row, label] : llvm::enumerate(labels.data)) {
    if (!counts(label, op.getIgnoreIndex()))
      continue;
    const double *x = logits.data.data() + row * classes;
    double *y = out[0].data.data() + row * classes;
    for (int64_t i = 0; i < classes; ++i)
      y[i] = scale * std::exp(x[i] - lse.data[row]);
    double local = label - base;
    if (local >= 0 && local < classes)
      y[static_cast<int64_t>(local)] -= scale;
    else if (!op.getBase())
      return badLabel(op, label, row, classes);
  }
  return success();
}

void fleet::attachLossModels(MLIRContext *context) {
  attachPure<CountValidOp, countValidLabels>(context);
  attachChecked<CrossEntropyOp, crossEntropy>(context);
  attachChecked<CrossEntropyGradOp, crossEntropyGrad>(context);
}
