//===- Network.cpp - Meaning of softmax and norms --------------*- C++ -*-===//
//
// Operations on the rows of a tensor: its last dimension.
//
//===----------------------------------------------------------------------===//

#include "Models.h"

#include <cmath>

using namespace mlir;
using namespace fleet;

/// Number of rows and their width.
static std::pair<int64_t, int64_t> rowsOf(const Tensor &tensor) {
  int64_t width = tensor.shape.back();
  return {width == 0 ? 0 : tensor.size() / width, width};
}

static void softmax(SoftmaxOp, Operands in, Results out) {
  auto [rows, width] = rowsOf(*in[0]);
  for (int64_t r = 0; r < rows; ++r) {
    const double *x = in[0]->data.data() + r * width;
    double *y = out[0].data.data() + r * width;
    double max = *std::max_element(x, x + width), sum = 0;
    for (int64_t i = 0; i < width; ++i)
      sum += y[i] = std::exp(x[i] - max);
    for (int64_t i = 0; i < width; ++i)
      y[i] /= sum;
  }
}

static void softmaxGrad(SoftmaxGradOp, Operands in, Results out) {
  auto [rows, width] = rowsOf(*in[0]);
  for (int64_t r = 0; r < rows; ++r) {
    const double *grad = in[0]->data.data() + r * width;
    const double *y = in[1]->data.data() + r * width;
    double dot = 0;
    for (int64_t i = 0; i < width; ++i)
      dot += grad[i] * y[i];
    for (int64_t i = 0; i < width; ++i)
      out[0].data[r * width + i] = y[i] * (grad[i] - dot);
  }
}

static void layerNorm(LayerNormOp op, Operands in, Results out) {
  const std::vector<double> &scale = in[1]->data, &shift = in[2]->data;
  double epsilon = op.getEpsilon().convertToDouble();
  auto [rows, width] = rowsOf(*in[0]);
  for (int64_t r = 0; r < rows; ++r) {
    const double *x = in[0]->data.data() + r * width;
    double mean = 0, variance = 0;
    for (int64_t i = 0; i < width; ++i)
      mean += x[i] / width;
    for (int64_t i = 0; i < width; ++i)
      variance += (x[i] - mean) * (x[i] - mean) / width;
    double rstd = 1 / std::sqrt(variance + epsilon);
    for (int64_t i = 0; i < width; ++i)
      out[0].data[r * width + i] = (x[i] - mean) * rstd * scale[i] + shift[i];
    out[1].data[r] = mean;
    out[2].data[r] = rstd;
  }
}

static void rmsNorm(RmsNormOp op, Operands in, Results out) {
  const std::vector<double> &scale = in[1]->data;
  double epsilon = op.getEpsilon().convertToDouble();
  auto [rows, width] = rowsOf(*in[0]);
  for (int64_t r = 0; r < rows; ++r) {
    const double *x = in[0]->data.data() + r * width;
    double square = 0;
    for (int64_t i = 0; i < width; ++i)
      square += x[i] * x[i] / width;
    double rstd = 1 / std::sqrt(square + epsilon);
    for (int64_t i = 0; i < width; ++i)
      out[0].data[r * width + i] = x[i] * rstd * scale[i];
    out[1].data[r] = rstd;
  }
}

namespace {
/// Statistics of one row that a norm's gradient reads.
struct RowStatistics {
  double mean, rstd;
};
} // namespace

/// rstd * (g - centre * mean(g) - h * mean(g * h)) with g = grad * scale, h = (x - mean) * rstd. Layer norm centres,
/// RMS norm does not.
static void normGradRow(const double *grad, const double *x,
                        const double *scale, RowStatistics row, bool centre,
                        double *out, int64_t width) {
  double meanG = 0, meanGH = 0;
  for (int64_t i = 0; i < width; ++i) {
    double g = grad[i] * scale[i], h = (x[i] - row.mean) * row.rstd;
    meanG += g / width;
    meanGH += g * h / width;
  }
  if (!centre)
    meanG = 0;
  for (int64_t i = 0; i < width; ++i) {
    double g = grad[i] * scale[i], h = (x[i] - row.mean) * row.rstd;
    out[i] = row.rstd * (g - meanG - h * meanGH);
  }
}

static void layerNormGrad(LayerNormGradOp, Operands in, Results out) {
  auto [rows, width] = rowsOf(*in[0]);
  for (int64_t r = 0; r < rows; ++r)
    normGradRow(&in[0]->data[r * width], &in[1]->data[r * width],
                in[2]->data.data(), {in[3]->data[r], in[4]->data[r]},
                /*centre=*/true, &out[0].data[r * width], width);
}

static void rmsNormGrad(RmsNormGradOp, Operands in, Results out) {
  auto [rows, width] = rowsOf(*in[0]);
  for (int64_t r = 0; r < rows; ++r)
    normGradRow(&in[0]->data[r * width], &in[1]->data[r * width],
                in[2]->data.data(), {0, in[3]->data[r]}, /*centre=*/false,
                &out[0].data[r * width], width);
}

void fleet::attachNetworkModels(MLIRContext *context) {
  attachPure<SoftmaxOp, softmax>(context);
  attachPure<SoftmaxGradOp, softmaxGrad>(context);
  attachPure<LayerNormOp, layerNorm>(context);
  attachPure<LayerNormGradOp, layerNormGrad>(context);
  attachPure<RmsNormOp, rmsNorm>(context);
  attachPure<RmsNormGradOp, rmsNormGrad>(context);
}
