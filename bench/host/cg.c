/* Conjugate gradients with the Laplacian of seven points on n x n x n cells, f64, on the host: the time of an iteration by
 * our calls, and by three parallel loops of OpenMP that fuse all passes. Both use all processors. Prints JSON.
 * usage: bench_host_cg [FILE.json] */
#include <gpumem.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS = 50, SAMPLES = 9 };

static void check(gpumem_status status) {
  char text[512];
  if (status == GPUMEM_OK) return;
  gpumem_last_error(text, sizeof text, NULL);
  fprintf(stderr, "%s: %s\n", gpumem_status_name(status), text);
  exit(1);
}

typedef struct {
  int64_t n, m, cells;
  double *x, *r, *p, *q, *source, *rr, *pq;
} solver;

static double* grid(int64_t cells) {
  double* const memory = aligned_alloc(64, (size_t)(cells * 8 + 63) / 64 * 64);
  if (memory == NULL) exit(1);
#pragma omp parallel for
  for (int64_t i = 0; i < cells; ++i) memory[i] = 0; /* the pages belong to the threads that use them */
  return memory;
}

static void reset(const solver* s) {
  const size_t bytes = (size_t)s->cells * 8;
  memset(s->x, 0, bytes);
  memset(s->q, 0, bytes);
  memcpy(s->r, s->source, bytes);
  memcpy(s->p, s->source, bytes);
  double sum = 0;
  for (int64_t i = 0; i < s->cells; ++i) sum += s->source[i] * s->source[i];
  s->rr[0] = sum;
}

static void by_calls(gpumem_ctx* ctx, const solver* s) {
  const int64_t inner[3] = {s->n, s->n, s->n}, m = s->m, strides[3] = {m * m, m, 1}, first = m * m + m + 1;
  const double laplacian[7] = {6, -1, -1, -1, -1, -1, -1}, plus[2] = {1, 1}, minus[2] = {1, -1};
  double *const x = s->x + first, *const r = s->r + first, *const p = s->p + first, *const q = s->q + first;
  const double* around[7] = {p, p - m * m, p - m, p - 1, p + 1, p + m, p + m * m};
  const double *xp[2] = {x, p}, *rq[2] = {r, q}, *rp[2] = {r, p}, *w[1] = {p}, *itself[1] = {NULL};
  for (int k = 0; k < ITERATIONS; ++k) {
    const double *rr[2] = {NULL, s->rr + k}, *pq[2] = {NULL, s->pq}, *next[2] = {NULL, s->rr + k + 1};
    check(gpumem_lincomb_dot_f64(ctx, 3, inner, 7, laplacian, NULL, NULL, around, NULL, q, strides, 1, w, NULL, s->pq));
    check(gpumem_lincomb_at_f64(ctx, 3, inner, 2, plus, rr, pq, xp, NULL, x, strides));
    check(
        gpumem_lincomb_dot_f64(ctx, 3, inner, 2, minus, rr, pq, rq, NULL, r, strides, 1, itself, NULL, s->rr + k + 1));
    check(gpumem_lincomb_at_f64(ctx, 3, inner, 2, plus, next, rr, rp, NULL, p, strides));
  }
}

static void by_loops(const solver* s) {
  const int64_t n = s->n, m = s->m;
  double *const x = s->x, *const r = s->r, *const p = s->p, *const q = s->q;
  for (int k = 0; k < ITERATIONS; ++k) {
    double pq = 0, next = 0;
#pragma omp parallel for collapse(2) reduction(+ : pq)
    for (int64_t a = 1; a <= n; ++a)
      for (int64_t b = 1; b <= n; ++b) {
        const int64_t row = (a * m + b) * m;
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t c = row + 1; c <= row + n; ++c) {
          q[c] = 6 * p[c] - p[c - m * m] - p[c - m] - p[c - 1] - p[c + 1] - p[c + m] - p[c + m * m];
          sum += q[c] * p[c];
        }
        pq += sum;
      }
    const double alpha = s->rr[k] / pq;
#pragma omp parallel for simd reduction(+ : next)
    for (int64_t i = 0; i < s->cells; ++i) {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
      next += r[i] * r[i];
    }
    const double beta = next / s->rr[k];
#pragma omp parallel for simd
    for (int64_t i = 0; i < s->cells; ++i) p[i] = r[i] + beta * p[i];
    s->rr[k + 1] = next;
  }
}

static int ascending(const void* a, const void* b) {
  return (*(const double*)a > *(const double*)b) - (*(const double*)a < *(const double*)b);
}

int main(int argc, char** argv) {
  static const int64_t sizes[] = {32, 64, 128};
  FILE* const json = argc > 1 ? fopen(argv[1], "w") : NULL;
  gpumem_ctx_options options;
  gpumem_ctx* ctx;
  check(gpumem_ctx_options_init(&options, sizeof options));
  options.device = GPUMEM_DEVICE_HOST;
  check(gpumem_ctx_create(&options, &ctx));
  if (json) fprintf(json, "{\"threads\": %d, \"rows\": [", omp_get_max_threads());
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    solver s = {.n = sizes[i], .m = sizes[i] + 2};
    s.cells = s.m * s.m * s.m;
    s.x = grid(s.cells), s.r = grid(s.cells), s.p = grid(s.cells), s.q = grid(s.cells), s.source = grid(s.cells);
    s.rr = grid(ITERATIONS + 1), s.pq = grid(1);
    for (int64_t a = 1; a <= s.n; ++a)
      for (int64_t b = 1; b <= s.n; ++b)
        for (int64_t c = 1; c <= s.n; ++c)
          s.source[(a * s.m + b) * s.m + c] = sin(0.1 * (double)c) * (double)b + 0.01 * (double)a;
    double times[2][SAMPLES], last[2];
    for (int sample = -1; sample < SAMPLES; ++sample)
      for (int way = 0; way < 2; ++way) {
        reset(&s);
        const double begin = omp_get_wtime();
        if (way == 0)
          by_calls(ctx, &s);
        else
          by_loops(&s);
        if (sample >= 0) times[way][sample] = (omp_get_wtime() - begin) / ITERATIONS * 1e6;
        last[way] = s.rr[ITERATIONS];
      }
    for (int way = 0; way < 2; ++way) qsort(times[way], SAMPLES, sizeof(double), ascending);
    const double ours = times[0][SAMPLES / 2], loops = times[1][SAMPLES / 2];
    printf("%3lld^3 calls %8.1f loops %8.1f us, ratio %.2f   r.r %.6e %.6e\n", (long long)s.n, ours, loops,
           loops / ours, last[0], last[1]);
    fflush(stdout);
    if (json)
      fprintf(json, "%s\n  {\"n\": %lld, \"calls_us\": %.1f, \"loops_us\": %.1f}", i ? "," : "", (long long)s.n, ours,
              loops);
    double* const all[] = {s.x, s.r, s.p, s.q, s.source, s.rr, s.pq};
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k) free(all[k]);
  }
  if (json) {
    fprintf(json, "\n]}\n");
    fclose(json);
  }
  check(gpumem_ctx_destroy(ctx));
  return 0;
}
