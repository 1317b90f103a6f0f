/* One process's whole life with the library: load it, make a host context, reduce a little, destroy. Prints the CPU time
 * that the process has taken, its own start included, in microseconds.
 *
 * usage: startup_probe LIBRARY */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "gpumem.h"

static void *library;

/* A function's address from a void *: C has no cast for it, POSIX says that the bytes are the same. */
static int find(const char *name, void *function, size_t bytes) {
  void *symbol = dlsym(library, name);
  if (symbol == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 0;
  }
  memcpy(function, &symbol, bytes);
  return 1;
}

static int use_it(void) {
  static int32_t x[1000];
  gpumem_status (*init)(gpumem_ctx_options *, int64_t);
  gpumem_status (*create)(const gpumem_ctx_options *, gpumem_ctx **);
  gpumem_status (*reduce)(gpumem_ctx *, gpumem_reduce_op, const int32_t *, int64_t, int64_t, int64_t *);
  gpumem_status (*destroy)(gpumem_ctx *);
  gpumem_ctx_options options;
  gpumem_ctx *ctx = NULL;
  int64_t sum = 0;
  int i;
  if (!find("gpumem_ctx_options_init", &init, sizeof init) || !find("gpumem_ctx_create", &create, sizeof create) ||
      !find("gpumem_reduce_i32", &reduce, sizeof reduce) || !find("gpumem_ctx_destroy", &destroy, sizeof destroy)) {
    return 0;
  }
  for (i = 0; i < 1000; ++i) x[i] = i;
  if (init(&options, (int64_t)sizeof options) != GPUMEM_OK) return 0;
  options.device = GPUMEM_DEVICE_HOST;
  if (create(&options, &ctx) != GPUMEM_OK) return 0;
  if (reduce(ctx, GPUMEM_SUM, x, 1000, 1, &sum) != GPUMEM_OK || sum != 499500) return 0;
  return destroy(ctx) == GPUMEM_OK;
}

int main(int argc, char **argv) {
  struct timespec used;
  if (argc != 2) {
    fprintf(stderr, "usage: %s LIBRARY\n", argv[0]);
    return 2;
  }
  library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  if (!use_it()) {
    fprintf(stderr, "the library did not do its work\n");
    return 1;
  }
  dlclose(library);
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) != 0) return 1;
  printf("%ld\n", (long)used.tv_sec * 1000000 + used.tv_nsec / 1000);
  return 0;
}
