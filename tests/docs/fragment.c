/* What the fragments in the documents take as given. Pointers are void *, which C takes for any. */
#include <gpumem.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 1 << 20, LARGE = 64 << 20 };

gpumem_ctx* ctx;
gpumem_stream *stream, *other;
gpumem_event* event;
void *p, *x, *y, *z, *a, *b, *m, *src, *dst, *image, *pixels, *planes, *values, *table, *batch, *particles, *living,
    *packed;
double *grid, *halo, *u, *next, *sums, *counts, *means, *maxima, *row_norms, *host, *device, *charges, *cell_charges,
    *products, *solution, *residual, *direction, *product, sum;
unsigned char *picture, *thumbnail, *alive, *mask;
int32_t *cell, *column;
int64_t *number, *row_offsets, *places, *particles_of_cell, total, place, kept;
void *norm, *native;
const int64_t bytes = 4096, n = 1000, rows = 20, cols = 30, ld = 30, w = 5, h = 5, c = 3, nx = 10, ny = 11, nz = 12;
const int64_t nodes = 2000, nonzeros = 40, cells = 64, times = 12, lats = 18, lons = 36, pictures = 8, channels = 3;
const int64_t extents[] = {4, 5, 6};
const int32_t order[] = {2, 0, 1}, zero = 0;
const float s = 2, alpha = 2, beta = 3;
const double k = 0.1;

static void check(gpumem_status status) {
  char sentence[512];
  if (status == GPUMEM_OK) return;
  gpumem_last_error(sentence, sizeof sentence, NULL);
  fprintf(stderr, "%s: %s\n", gpumem_status_name(status), sentence);
  exit(1);
}

static void* memory(int64_t size) {
  void* block;
  check(gpumem_alloc_pinned(ctx, size, &block));
  check(gpumem_fill(ctx, block, &zero, sizeof zero, (size < BLOCK ? size : BLOCK) / 4));
  return block;
}

static void fragment(void) { /* FRAGMENT */
}

int main(void) {
  void** blocks[] = {&x,      &y,      &z,     &a,     &b,    &src,       &dst,    &image, &pixels,
                     &planes, &values, &table, &batch, &norm, &particles, &living, &packed};
  double** doubles[] = {&grid,         &halo,     &u,         &next,     &sums,      &counts,
                        &means,        &maxima,   &row_norms, &host,     &device,    &charges,
                        &cell_charges, &products, &solution,  &residual, &direction, &product};
  char sentence[512];
  check(gpumem_ctx_create(NULL, &ctx));
  check(gpumem_stream_create(ctx, &stream));
  check(gpumem_stream_create(ctx, &other));
  check(gpumem_event_create(ctx, &event));
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; ++i) *blocks[i] = memory(16 * BLOCK);
  for (size_t i = 0; i < sizeof doubles / sizeof *doubles; ++i) *doubles[i] = memory(16 * BLOCK);
  m = memory(LARGE);
  picture = memory(16 * BLOCK);
  thumbnail = memory(BLOCK);
  alive = memory(n);
  mask = memory(BLOCK);
  number = memory(n * 8);
  places = memory(n * 8);
  row_offsets = memory((rows + 1) * 8);
  cell = memory(n * 4);
  column = memory(n * 4);
  particles_of_cell = memory(cells * 8);
  for (int64_t i = 0; i < n; ++i) number[i] = n - 1 - i;
  for (int64_t i = 0; i < n; i += 2) alive[i] = 1;
  for (int64_t i = 0; i <= rows; ++i) row_offsets[i] = 2 * i;
  fragment();
  check(gpumem_ctx_synchronize(ctx));
  gpumem_last_error(sentence, sizeof sentence, NULL);
  if (sentence[0] != 0) {
    fprintf(stderr, "a call failed: %s\n", sentence);
    return 1;
  }
  return 0;
}
