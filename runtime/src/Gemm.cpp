//===- Gemm.cpp - Matrix products ------------------------------*- C++ -*-===//
//
// f32 goes to oneDNN, which was several times faster than Debian's OpenBLAS on processors that the latter does not know
// (docs/benchmarks.md); f64, which serves as reference, goes to OpenBLAS, because oneDNN has no double.
//
//===----------------------------------------------------------------------===//

#include "fleet_rt/fleet_rt.h"

#include <cblas.h>
#include <oneapi/dnnl/dnnl.h>

namespace {
/// One product of a batch.
template <typename T>
void multiply(const fleet_rt_gemm_desc &d, const T *a, const T *b, T *c) {
  T beta = d.accumulate ? 1 : 0;
  if constexpr (sizeof(T) == 4)
    dnnl_sgemm(d.trans_a ? 'T' : 'N', d.trans_b ? 'T' : 'N', d.m, d.n, d.k, 1,
               a, d.lda, b, d.ldb, beta, c, d.ldc);
  else
    cblas_dgemm(CblasRowMajor, d.trans_a ? CblasTrans : CblasNoTrans,
                d.trans_b ? CblasTrans : CblasNoTrans, d.m, d.n, d.k, 1, a,
                d.lda, b, d.ldb, beta, c, d.ldc);
}

template <typename T>
void multiplyBatch(const fleet_rt_gemm_desc &d, const T *a, const T *b, T *c,
                   int64_t dim) {
  if (dim == d.batch_rank)
    return multiply(d, a, b, c);
  for (int64_t i = 0; i < d.batch[dim]; ++i)
    multiplyBatch(d, a + i * d.stride_a[dim], b + i * d.stride_b[dim],
                  c + i * d.stride_c[dim], dim + 1);
}
} // namespace

void fleet_rt_gemm(const fleet_rt_gemm_desc *desc, const void *a, const void *b,
                   void *c) {
  if (desc->dtype == FLEET_RT_F32)
    multiplyBatch(*desc, static_cast<const float *>(a),
                  static_cast<const float *>(b), static_cast<float *>(c), 0);
  else
    multiplyBatch(*desc, static_cast<const double *>(a),
                  static_cast<const double *>(b), static_cast<double *>(c), 0);
}
