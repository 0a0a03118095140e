/*===- fleet_rt.h - What generated code calls ------------------------------===*\
|*                                                                            *|
|* The C interface between a rank's generated tasks and the runtime. A rank   *|
|* executable is generated code (the symbols at the end of this file) linked  *|
|* with libfleet_rt, which has `main`.                                        *|
|*                                                                            *|
|* Every function that returns int32_t returns 0, or 1 when something went    *|
|* wrong; what it was is kept in the context, and a task returns the status   *|
|* at once. Pointers belong to the caller. A context is used by one thread.   *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef FLEET_RT_FLEET_RT_H
#define FLEET_RT_FLEET_RT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* State of one rank: coordinates, communicators, what went wrong. */
typedef struct fleet_rt_context fleet_rt_context;

/* Element types. An i1 takes one byte. */
enum {
  FLEET_RT_F32 = 0,
  FLEET_RT_F64 = 1,
  FLEET_RT_I32 = 2,
  FLEET_RT_I64 = 3,
  FLEET_RT_I1 = 4
};

enum { FLEET_RT_SUM = 0, FLEET_RT_MAX = 1, FLEET_RT_MIN = 2 };

/* A task of a program: runs on the rank's arena for one micro-batch (0 for tasks that run once). */
typedef int32_t (*fleet_rt_task_fn)(fleet_rt_context *context, uint8_t *arena,
                                    int64_t micro_batch);

/* Collectives over the ranks of communicator number `comm` of the program. All its ranks call them in the same order with
   the same sizes. Counts are elements. Sums are taken in the order of ranks: results are equal, bit for bit, on all ranks
   and on all transports. Data lies in the arena, where peers read it in place. */

/* data[i] = combination of data[i] of all ranks, in place. */
int32_t fleet_rt_all_reduce(fleet_rt_context *context, int32_t comm,
                            int32_t kind, int32_t dtype, void *data,
                            int64_t count);
/* out[o][r][i] = in of rank r [o][i]: out has outer * size * inner elements, in outer * inner. */
int32_t fleet_rt_all_gather(fleet_rt_context *context, int32_t comm,
                            int32_t dtype, const void *in, void *out,
                            int64_t outer, int64_t inner);
/* out[o][i] = combination over all ranks of in[o][own rank][i]: in has outer * size * inner elements. */
int32_t fleet_rt_reduce_scatter(fleet_rt_context *context, int32_t comm,
                                int32_t kind, int32_t dtype, const void *in,
                                void *out, int64_t outer, int64_t inner);
/* Every rank cuts `in`, [outer][size][inner], along the middle and sends part r to rank r; out[r] is the part that came
   from rank r, [outer][inner]: out has size * outer * inner elements. */
int32_t fleet_rt_all_to_all(fleet_rt_context *context, int32_t comm,
                            int32_t dtype, const void *in, void *out,
                            int64_t outer, int64_t inner);

/* Index of this rank in its group of communicator `comm`, row-major over the communicator's axes, and their number. */
int64_t fleet_rt_group_index(const fleet_rt_context *context, int32_t comm);
int64_t fleet_rt_group_size(const fleet_rt_context *context, int32_t comm);

/* Matrix products: C = A B, or C += A B with `accumulate`, for every index of up to four batch dimensions. A is m x k, or
   stored as k x m with trans_a; B is k x n, or stored as n x k with trans_b; C is m x n. Matrices are row-major with
   leading dimensions; all sizes and strides are in elements of `dtype` (f32 or f64). */
typedef struct {
  int32_t dtype, trans_a, trans_b, accumulate;
  int64_t m, n, k;
  int64_t lda, ldb, ldc;
  int64_t batch_rank;
  int64_t batch[4], stride_a[4], stride_b[4], stride_c[4];
} fleet_rt_gemm_desc;

void fleet_rt_gemm(const fleet_rt_gemm_desc *desc, const void *a, const void *b,
                   void *c);

/* What generated code defines. The program is JSON text, see docs/program-format.md; task k of its list is
   fleet_tasks[k]. */
extern const char fleet_program[];
extern const int64_t fleet_program_size;
extern const fleet_rt_task_fn fleet_tasks[];

#ifdef __cplusplus
}
#endif

#endif /* FLEET_RT_FLEET_RT_H */
