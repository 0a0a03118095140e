//===- Indexed.cpp - Meaning of gather and scatter_add ---------*- C++ -*-===//
//
// Rows chosen by index. An index outside the table is an error of the data unless the table is one shard of a larger
// one.
//
//===----------------------------------------------------------------------===//

#include "Models.h"

using namespace mlir;
using namespace fleet;

/// Calls `visit(position, row)` for every index that selects one of `rows` rows.
static LogicalResult forEachRow(Operation *op, const Tensor &indices,
                                const Tensor *base, int64_t rows,
                                function_ref<void(int64_t, int64_t)> visit) {
  double offset = base ? base->data[0] : 0;
  for (auto [position, index] : llvm::enumerate(indices.data)) {
    double row = index - offset;
    if (row >= 0 && row < rows)
      visit(position, static_cast<int64_t>(row));
    else if (!base)
      return op->emitError("index ")
             << static_cast<int64_t>(index) << " at position " << position
             << " is outside the table of " << rows << " rows";
  }
  return success();
}

static LogicalResult gather(GatherOp op, Operands in, Results out) {
  const Tensor &table = *in[0];
  int64_t rows = table.shape[0];
  int64_t width = stridesOf(table.shape)[0];
  return forEachRow(op, *in[1], op.getBase() ? in[2] : nullptr, rows,
                    [&](int64_t position, int64_t row) {
                      std::copy_n(table.data.begin() + row * width, width,
                                  out[0].data.begin() + position * width);
                    });
}

static LogicalResult scatterAdd(ScatterAddOp op, Operands in, Results out) {
  int64_t rows = out[0].shape[0];
  int64_t width = stridesOf(out[0].shape)[0];
  return forEachRow(op, *in[1], op.getBase() ? in[2] : nullptr, rows,
                    [&](int64_t position, int64_t row) {
                      const double *from =
                          in[0]->data.data() + position * width;
                      double *to = out[0].data.data() + row * width;
                      for (int64_t j = 0; j < width; ++j)
                        to[j] += from[j];
                    });
}

void fleet::attachIndexedModels(MLIRContext *context) {
  attachChecked<GatherOp, gather>(context);
  attachChecked<ScatterAddOp, scatterAdd>(context);
}
