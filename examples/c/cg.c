/* Conjugate gradients without a matrix: the Laplacian with seven points, on a cube with the value 0 around it.
 * An iteration is four calls. Its scalars stay in memory, where the next call reads them, so the host waits only to print
 * the bits of r.r.
 * usage: cg */
#include <gpumem.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 32, M = N + 2, AT_ONCE = 10, TIMES = 8 };

static void check(gpumem_status status, const char *doing) {
  char sentence[512];
  if (status == GPUMEM_OK) return;
  gpumem_last_error(sentence, sizeof sentence, NULL);
  fprintf(stderr, "%s: %s: %s\n", doing, gpumem_status_name(status), sentence);
  exit(1);
}

/* Grids with one layer of zeros around them: the addresses of their first inner elements. */
typedef struct {
  double *x, *r, *p, *q;
  double *rr; /* r.r before each iteration, and after the last one */
  double *pq;
} solver;

static const int64_t inner[3] = {N, N, N}, strides[3] = {M * M, M, 1};

/* Enqueues AT_ONCE iterations. They begin and end with rr[0]. NULL for the strides of sources: all have those of z. */
static void iterate(gpumem_ctx *ctx, const solver *s, gpumem_stream *stream) {
  const double laplacian[7] = {6, -1, -1, -1, -1, -1, -1}, plus[2] = {1, 1}, minus[2] = {1, -1};
  const double *around[7] = {s->p, s->p - M * M, s->p - M, s->p - 1, s->p + 1, s->p + M, s->p + M * M};
  const double *x_and_p[2] = {s->x, s->p}, *r_and_q[2] = {s->r, s->q}, *r_and_p[2] = {s->r, s->p};
  const double *p[1] = {s->p}, *itself[1] = {NULL};
  for (int k = 0; k < AT_ONCE; ++k) {
    const double *rr[2] = {NULL, s->rr + k}, *pq[2] = {NULL, s->pq}, *next[2] = {NULL, s->rr + k + 1};
    /* q = A p, and p.q */
    check(gpumem_lincomb_dot_f64_async(ctx, 3, inner, 7, laplacian, NULL, NULL, around, NULL, s->q, strides, 1, p, NULL,
                                       s->pq, stream),
          "the operator");
    /* x += (rr / pq) p */
    check(gpumem_lincomb_at_f64_async(ctx, 3, inner, 2, plus, rr, pq, x_and_p, NULL, s->x, strides, stream),
          "the solution");
    /* r -= (rr / pq) q, and r.r */
    check(gpumem_lincomb_dot_f64_async(ctx, 3, inner, 2, minus, rr, pq, r_and_q, NULL, s->r, strides, 1, itself, NULL,
                                       s->rr + k + 1, stream),
          "the residual");
    /* p = r + (new rr / rr) p */
    check(gpumem_lincomb_at_f64_async(ctx, 3, inner, 2, plus, next, rr, r_and_p, NULL, s->p, strides, stream),
          "the direction");
  }
  check(gpumem_copy_async(ctx, s->rr, s->rr + AT_ONCE, sizeof(double), stream), "keeping the residual");
}

static void *zeros(gpumem_ctx *ctx, int64_t n) {
  const double zero = 0;
  void *memory;
  check(gpumem_alloc_device(ctx, n * (int64_t)sizeof zero, &memory), "allocating device memory");
  check(gpumem_fill(ctx, memory, &zero, sizeof zero, n), "filling");
  return memory;
}

int main(void) {
  static double source[N * N * N];
  const int64_t in_source[3] = {N * N, N, 1}, first = M * M + M + 1;
  gpumem_ctx *ctx;
  gpumem_stream *stream;
  void *memory[5], *shown;
  check(gpumem_ctx_create(NULL, &ctx), "creating a context");
  check(gpumem_stream_create(ctx, &stream), "creating a stream");
  check(gpumem_alloc_pinned(ctx, sizeof(double), &shown), "allocating pinned memory");
  for (int i = 0; i < 4; ++i) memory[i] = zeros(ctx, (int64_t)M * M * M);
  memory[4] = zeros(ctx, AT_ONCE + 2);
  const solver s = {(double *)memory[0] + first,
                    (double *)memory[1] + first,
                    (double *)memory[2] + first,
                    (double *)memory[3] + first,
                    memory[4],
                    (double *)memory[4] + AT_ONCE + 1};

  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j)
      for (int k = 0; k < N; ++k) source[(i * N + j) * N + k] = (i * 7 + j * 3 + k * 5 + i * j % 13) % 11 - 5;
  const double one = 1, *b[1] = {source};
  check(gpumem_lincomb_f64(ctx, 3, inner, 1, &one, b, in_source, s.r, strides), "copying the source");
  check(gpumem_lincomb_f64(ctx, 3, inner, 1, &one, b, in_source, s.p, strides), "copying the source");
  check(gpumem_dot_view_f64_async(ctx, 3, inner, s.r, strides, s.r, strides, s.rr, stream), "the first residual");

  for (int i = 1; i <= TIMES; ++i) {
    iterate(ctx, &s, stream);
    check(gpumem_copy_async(ctx, shown, s.rr, sizeof(double), stream), "copying the residual");
    check(gpumem_stream_synchronize(ctx, stream), "waiting for the residual");
    const union {
      double value;
      uint64_t bits;
    } of = {*(const double *)shown};
    printf("iteration %d r.r %016llX\n", i * AT_ONCE, (unsigned long long)of.bits);
  }

  for (int i = 0; i < 5; ++i) check(gpumem_free(ctx, memory[i]), "freeing");
  check(gpumem_free(ctx, shown), "freeing");
  check(gpumem_stream_destroy(stream), "destroying a stream");
  check(gpumem_ctx_destroy(ctx), "destroying the context");
  return 0;
}
