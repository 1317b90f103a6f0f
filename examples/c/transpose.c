/* Sums a matrix in pinned memory, transposes it into managed memory, and checks both. Runs on a GPU if there is one. */
#include <gpumem.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 300, COLS = 500, COUNT = ROWS * COLS };

static void check(gpumem_status status, const char *doing) {
  char sentence[512];
  if (status == GPUMEM_OK) return;
  gpumem_last_error(sentence, sizeof sentence, NULL);
  fprintf(stderr, "%s: %s: %s\n", doing, gpumem_status_name(status), sentence);
  exit(1);
}

int main(void) {
  const int64_t bytes = COUNT * (int64_t)sizeof(int32_t);
  gpumem_ctx *ctx;
  void *pinned, *managed;
  check(gpumem_ctx_create(NULL, &ctx), "creating a context");
  check(gpumem_alloc_pinned(ctx, bytes, &pinned), "allocating pinned memory");
  check(gpumem_alloc_managed(ctx, bytes, &managed), "allocating managed memory");

  int32_t *a = pinned, *b = managed;
  for (int32_t i = 0; i < COUNT; ++i) a[i] = i;
  int64_t sum = 0;
  check(gpumem_reduce_i32(ctx, GPUMEM_SUM, a, COUNT, 1, &sum), "summing");
  check(gpumem_transpose(ctx, sizeof(int32_t), ROWS, COLS, a, COLS, b, ROWS), "transposing");

  /* The result comes home before the loop below would fetch it page by page: a hint, which not every device takes. */
  gpumem_status status = gpumem_managed_prefetch(ctx, b, bytes, GPUMEM_DEVICE_HOST);
  if (status != GPUMEM_UNSUPPORTED) check(status, "prefetching");

  int wrong = sum != (int64_t)COUNT * (COUNT - 1) / 2;
  for (int i = 0; i < ROWS; ++i)
    for (int j = 0; j < COLS; ++j) wrong += b[j * ROWS + i] != a[i * COLS + j];
  printf("sum %lld, %d wrong\n", (long long)sum, wrong);

  check(gpumem_free(ctx, managed), "freeing");
  check(gpumem_free(ctx, pinned), "freeing");
  check(gpumem_ctx_destroy(ctx), "destroying the context");
  return wrong != 0;
}
