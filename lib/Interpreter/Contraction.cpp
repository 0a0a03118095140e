//===- Contraction.cpp - Meaning of dot_general ----------------*- C++ -*-===//
//
// Operands are brought to [batch, row, inner] and [batch, inner, column]; then one blocked triple loop. Plain loops and
// no matrix library: the oracle shares nothing with the code under test.
//
//===----------------------------------------------------------------------===//

#include "Models.h"

#include <algorithm>

using namespace mlir;
using namespace fleet;

/// Inner indices of one block: 64 rows of the right operand stay in the second-level cache.
static constexpr int64_t kBlock = 64;

/// c[rows, columns] += a[rows, inner] * b[inner, columns], all row-major.
static void multiply(const double *a, const double *b, double *c, int64_t rows,
                     int64_t inner, int64_t columns) {
  for (int64_t begin = 0; begin < inner; begin += kBlock) {
    int64_t end = std::min(begin + kBlock, inner);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t k = begin; k < end; ++k) {
        double factor = a[i * inner + k];
        const double *from = b + k * columns;
        double *to = c + i * columns;
        for (int64_t j = 0; j < columns; ++j)
          to[j] += factor * from[j];
      }
  }
}

/// Product of the sizes of some dimensions.
static int64_t extent(const Tensor &tensor, ArrayRef<int64_t> dims) {
  int64_t count = 1;
  for (int64_t d : dims)
    count *= tensor.shape[d];
  return count;
}

/// The tensor with its dimensions in the order a, b, c.
static Tensor arrange(const Tensor &tensor, ArrayRef<int64_t> a,
                      ArrayRef<int64_t> b, ArrayRef<int64_t> c) {
  Dims order(a);
  llvm::append_range(order, b);
  llvm::append_range(order, c);
  return transposeOf(tensor, order);
}

static void dotGeneral(DotGeneralOp op, Operands in, Results out) {
  SmallVector<int64_t> lhsFree = op.getLhsFree(), rhsFree = op.getRhsFree();
  int64_t batch = extent(*in[0], op.getLhsBatch());
  int64_t rows = extent(*in[0], lhsFree);
  int64_t inner = extent(*in[0], op.getLhsContract());
  int64_t columns = extent(*in[1], rhsFree);
  Tensor lhs = arrange(*in[0], op.getLhsBatch(), lhsFree, op.getLhsContract());
  Tensor rhs = arrange(*in[1], op.getRhsBatch(), op.getRhsContract(), rhsFree);
  if (op.getAccumulator())
    out[0].data = in[2]->data;
  for (int64_t b = 0; b < batch; ++b)
    multiply(lhs.data.data() + b * rows * inner,
             rhs.data.data() + b * inner * columns,
             out[0].data.data() + b * rows * columns, rows, inner, columns);
}

void fleet::attachContractionModels(MLIRContext *context) {
  attachPure<DotGeneralOp, dotGeneral>(context);
}
