/* A setuid program that only creates a context. Exit status 77: the system did not let it be setuid. */
#include <gpumem.h>
#include <unistd.h>

int main(void) {
  gpumem_ctx* ctx = 0;
  if (geteuid() == getuid()) return 77;
  return gpumem_ctx_create(0, &ctx) == GPUMEM_OK && gpumem_ctx_destroy(ctx) == GPUMEM_OK ? 0 : 1;
}
