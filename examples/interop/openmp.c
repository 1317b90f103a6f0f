/* A program with OpenMP: its threads do the host's work of gpumem, and memory that a target region filled is passed on as it is.
 * Without a device for OpenMP, regions run on the host, and so does gpumem's work on their memory. */
#include <gpumem.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1000000 };

static void check(gpumem_status status) {
  char sentence[512];
  if (status == GPUMEM_OK) return;
  gpumem_last_error(sentence, sizeof sentence, NULL);
  fprintf(stderr, "%s: %s\n", gpumem_status_name(status), sentence);
  exit(1);
}

static void on_openmp(void *user, int64_t tasks, gpumem_task_fn task, void *state) {
  (void)user;
#pragma omp parallel for
  for (int64_t i = 0; i < tasks; ++i) task(state, i);
}

int main(void) {
  double *x = malloc(N * sizeof *x), here, there;
  char line[256];
  gpumem_ctx_options options;
  gpumem_ctx *ctx;
  if (x == NULL) return 1;
  check(gpumem_ctx_options_init(&options, sizeof options));
  options.parallel_for = on_openmp;
  check(gpumem_ctx_create(&options, &ctx));

#pragma omp target enter data map(alloc : x [0:N])
#pragma omp target teams distribute parallel for
  for (int i = 0; i < N; ++i) x[i] = 1.0 / (i + 1);
    /* The region is over when it ends, so gpumem's work comes behind it without a stream in common. */
#pragma omp target data use_device_ptr(x)
  check(gpumem_reduce_f64(ctx, GPUMEM_SUM, x, N, 1, &there));
  check(gpumem_last_problem(line, sizeof line, NULL)); /* it says where x lies there */
#pragma omp target exit data map(release : x [0:N])

  for (int i = 0; i < N; ++i) x[i] = 1.0 / (i + 1); /* the same by the host */
  check(gpumem_reduce_f64(ctx, GPUMEM_SUM, x, N, 1, &here));
  printf("%s\n%.17g\n%.17g\n", line, there, here);
  check(gpumem_ctx_destroy(ctx));
  free(x);
  return here != there;
}
