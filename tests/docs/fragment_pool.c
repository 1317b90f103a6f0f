/* A function on_openmp() that is a program's pool, used as one. */
#include <gpumem.h>
#include <stdio.h>

/* FRAGMENT */

int main(void) {
  static int32_t x[1000000];
  gpumem_ctx_options options;
  gpumem_ctx* ctx;
  int64_t sum = -1;
  for (int i = 0; i < 1000000; ++i) x[i] = i;
  gpumem_ctx_options_init(&options, sizeof options);
  options.device = GPUMEM_DEVICE_HOST;
  options.parallel_for = on_openmp;
  if (gpumem_ctx_create(&options, &ctx) != GPUMEM_OK) return 1;
  if (gpumem_reduce_i32(ctx, GPUMEM_SUM, x, 1000000, 1, &sum) != GPUMEM_OK) return 1;
  if (gpumem_ctx_destroy(ctx) != GPUMEM_OK) return 1;
  return sum != 499999500000;
}
