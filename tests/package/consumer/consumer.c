/* Built against an installed gpumem: header and library are of one version, and the library works. */
#include <gpumem.h>
#include <stdio.h>

int main(void) {
  int32_t major = -1, minor = -1, patch = -1;
  gpumem_version(&major, &minor, &patch);
  if (major != GPUMEM_VERSION_MAJOR || minor != GPUMEM_VERSION_MINOR || patch != GPUMEM_VERSION_PATCH) {
    fprintf(stderr, "the header is not of the library's version %d.%d.%d\n", (int)major, (int)minor, (int)patch);
    return 1;
  }
  const int32_t x[] = {1, -20, 300};
  int64_t sum; /* as it is: the library writes to it and does not read it */
  gpumem_ctx *ctx;
  gpumem_status status = gpumem_ctx_create(NULL, &ctx);
  if (status == GPUMEM_OK) status = gpumem_reduce_i32(ctx, GPUMEM_SUM, x, 3, 1, &sum);
  if (status == GPUMEM_OK) status = gpumem_ctx_destroy(ctx);
  printf("gpumem %d.%d.%d: %s\n", (int)major, (int)minor, (int)patch, gpumem_status_name(status));
  return status != GPUMEM_OK || sum != 281;
}
