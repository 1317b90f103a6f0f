/* The heat equation of heat.c over MPI: each process has a slab of rows, and room for one row more on each side, which comes
 * from its neighbours before a step. The residuals are those of heat.c, bit for bit, by any number of processes.
 * With `overlap`, the rows of the neighbours travel while a process computes the rows that do not need them. The processes then
 * work on GPUs, over NCCL, if every process sees as many GPUs as its machine has processes. Otherwise they work on the host.
 * usage: mpirun -n PROCESSES heat_mpi [ROWS COLS] [overlap] */
#include <gpumem_mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 500, EVERY = 100 };

static void give_up(const char *why) {
  fprintf(stderr, "heat_mpi: %s\n", why);
  MPI_Abort(MPI_COMM_WORLD, 1); /* ends the other processes too, which may wait for this one */
}

static void check(gpumem_status status, const char *doing) {
  char sentence[512];
  if (status == GPUMEM_OK) return;
  gpumem_last_error(sentence, sizeof sentence, NULL);
  fprintf(stderr, "%s: %s: %s\n", doing, gpumem_status_name(status), sentence);
  give_up("ended");
}

/* The GPUs of a machine go to its processes in turn, or only if there is one for each. */
static gpumem_ctx *create_context(int only_own) {
  gpumem_ctx_options options;
  gpumem_ctx *ctx;
  MPI_Comm machine;
  int place, processes, enough;
  int32_t devices;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  MPI_Comm_rank(machine, &place);
  MPI_Comm_size(machine, &processes);
  MPI_Comm_free(&machine);
  check(gpumem_device_count(&devices), "counting devices");
  check(gpumem_ctx_options_init(&options, sizeof options), "options of a context");
  enough = devices >= processes; /* on every machine? */
  MPI_Allreduce(MPI_IN_PLACE, &enough, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (only_own && !enough) {
    options.device = GPUMEM_DEVICE_HOST;
  } else if (devices > 1) {
    options.device = place % devices;
  }
  check(gpumem_ctx_create(&options, &ctx), "creating a context");
  return ctx;
}

static gpumem_dist *create_dist(gpumem_ctx *ctx) {
  gpumem_dist_transport transport;
  gpumem_dist_options options;
  gpumem_dist *dist;
  check(gpumem_dist_transport_init(&transport, sizeof transport), "a transport");
  if (gpumem_mpi_transport(MPI_COMM_WORLD, &transport) != GPUMEM_OK) give_up("MPI gives no transport");
  check(gpumem_dist_options_init(&options, sizeof options), "options");
  options.contexts = &ctx;
  options.members = 1;
  options.transport = &transport;
  check(gpumem_dist_create(&options, &dist), "joining the processes");
  return dist;
}

static double *device_memory(gpumem_ctx *ctx, int64_t elements) {
  void *p;
  check(gpumem_alloc_device(ctx, elements * (int64_t)sizeof(double), &p), "allocating device memory");
  return p;
}

/* The slab of rows `first` to `last` at the start: the height of heat.c's small terrain is the temperature. */
static void set_heights(gpumem_ctx *ctx, double *slab, int64_t first, int64_t last, int64_t cols) {
  const int64_t bytes = (last - first) * cols * (int64_t)sizeof(double);
  double *heights = malloc((size_t)bytes + 1);
  if (!heights) give_up("there is no memory for the terrain");
  for (int64_t i = first; i < last; ++i)
    for (int64_t j = 0; j < cols; ++j)
      heights[(i - first) * cols + j] = (double)((i * i * 7 + j * j * 3 + i * j * 5) % 1009);
  check(gpumem_copy(ctx, slab, heights, bytes), "copying the terrain");
  free(heights);
}

/* One step for some rows of inner elements, from their first one in u and v. The stream is the context's own if NULL. */
static void step_rows(gpumem_ctx *ctx, gpumem_stream *stream, int64_t rows, int64_t cols, const double *u, double *v) {
  const int64_t inner[2] = {rows > 0 ? rows : 0, cols - 2};
  const int64_t strides[10] = {cols, 1, cols, 1, cols, 1, cols, 1, cols, 1};
  const double factors[5] = {0.125, 0.125, 0.5, 0.125, 0.125};
  /* Of each inner element: the one above, the left one, itself, the right one, the one below. */
  const double *const around[5] = {u - cols, u - 1, u, u + 1, u + cols};
  check(gpumem_lincomb_f64_async(ctx, 2, inner, 5, factors, around, strides, v, strides, stream), "a step");
}

static void print_bits(const char *what, int step, double value) {
  const union {
    double value;
    uint64_t bits;
  } of = {value};
  printf("step %d %s %016llX\n", step, what, (unsigned long long)of.bits);
}

int main(int argc, char **argv) {
  int rank, size, threads;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &threads); /* for `overlap`; the rest needs no threads */
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int overlap = argc > 1 && strcmp(argv[argc - 1], "overlap") == 0;
  const int64_t rows = argc > 2 ? strtoll(argv[1], NULL, 10) : 96, cols = argc > 2 ? strtoll(argv[2], NULL, 10) : 128;
  if (overlap && threads != MPI_THREAD_MULTIPLE) give_up("this MPI has no MPI_THREAD_MULTIPLE");
  if (rows < 3 || cols < 3 || rows > INT32_MAX || cols > INT32_MAX) give_up("a terrain has 3 rows and columns or more");
  gpumem_ctx *ctx = create_context(overlap);
  gpumem_dist *dist = create_dist(ctx);

  /* This process's rows, behind the one that is its neighbour's. */
  const int64_t first = rows * rank / size, last = rows * (rank + 1) / size, own = (last - first) * cols;
  const int64_t extents[2] = {rows, cols}, lower[2] = {first, 0}, upper[2] = {last, cols};
  gpumem_dist_layout slabs;
  check(gpumem_dist_layout_init(&slabs, sizeof slabs), "a layout");
  slabs.element_bytes = sizeof(double);
  slabs.rank = 2;
  slabs.extents = extents;
  slabs.boxes = 1;
  slabs.lower = lower;
  slabs.upper = upper;
  slabs.offsets = &cols;
  /* The snapshot, transposed as heat.c has it, is a whole in process 0. */
  const int64_t turned[2] = {cols, rows}, origin[2] = {0, 0};
  gpumem_dist_layout whole = slabs;
  whole.extents = turned;
  whole.boxes = rank == 0;
  whole.lower = origin;
  whole.upper = turned;
  whole.offsets = NULL;

  const int64_t beside[2] = {1, 0};
  const int32_t periodic[2] = {0, 0}, transposed[2] = {1, 0};
  gpumem_dist_plan *neighbours, *sums, *gather;
  check(gpumem_dist_plan_halo(dist, &slabs, beside, beside, periodic, NULL, &neighbours), "planning the halo");
  check(gpumem_dist_plan_reduce(dist, &slabs, NULL, &sums), "planning the norm");
  check(gpumem_dist_plan_redistribute(dist, &slabs, &whole, transposed, NULL, &gather), "planning the snapshot");

  double *u = device_memory(ctx, own + 2 * cols), *v = device_memory(ctx, own + 2 * cols);
  double *difference = device_memory(ctx, own + 2 * cols), norm;
  void *snapshot;
  check(gpumem_alloc_pinned(ctx, rank == 0 ? rows * cols * (int64_t)sizeof(double) : 0, &snapshot),
        "allocating pinned memory");
  set_heights(ctx, u + cols, first, last, cols);
  check(gpumem_copy(ctx, v + cols, u + cols, own * (int64_t)sizeof(double)), "copying the edges, which no step writes");

  gpumem_stream *outer;
  check(gpumem_stream_create(ctx, &outer), "creating a stream");
  const int64_t begin = first > 1 ? first : 1, end = last < rows - 1 ? last : rows - 1, count = end - begin;
  const int64_t upper_row = (begin - first + 1) * cols + 1, lower_row = (end - first) * cols + 1;
  const double minus[2] = {1, -1};
  for (int step = 1; step <= STEPS; ++step) {
    const void *const field[1] = {u};
    if (overlap) {
      check(gpumem_dist_execute_async(neighbours, field, NULL, &outer), "fetching the rows of the neighbours");
      step_rows(ctx, NULL, count - 2, cols, u + upper_row + cols, v + upper_row + cols);
      step_rows(ctx, outer, count > 0, cols, u + upper_row, v + upper_row);
      step_rows(ctx, outer, count > 1, cols, u + lower_row, v + lower_row);
      check(gpumem_stream_synchronize(ctx, outer), "waiting for the outer rows");
    } else {
      check(gpumem_dist_execute(neighbours, field, NULL), "fetching the rows of the neighbours");
      step_rows(ctx, NULL, count, cols, u + upper_row, v + upper_row);
    }
    check(gpumem_stream_synchronize(ctx, NULL), "waiting for the step");
    double *const old = u;
    u = v, v = old;
    if (step % EVERY != 0) continue;

    const double *const new_and_old[2] = {u + cols, v + cols};
    const void *const differences[1] = {difference};
    check(gpumem_lincomb_f64(ctx, 1, &own, 2, minus, new_and_old, NULL, difference + cols, NULL), "the difference");
    check(gpumem_dist_nrm2(sums, GPUMEM_F64, differences, &norm), "the norm");
    if (rank == 0) print_bits("residual", step, norm);
  }
  const void *const slab[1] = {u};
  check(gpumem_dist_execute(gather, slab, &snapshot), "gathering the snapshot");
  if (rank == 0) print_bits("centre", STEPS, ((const double *)snapshot)[cols / 2 * rows + rows / 2]);

  gpumem_dist_plan *const plans[3] = {neighbours, sums, gather};
  void *const memory[4] = {u, v, difference, snapshot};
  for (int i = 0; i < 3; ++i) check(gpumem_dist_plan_destroy(plans[i]), "destroying a plan");
  for (int i = 0; i < 4; ++i) check(gpumem_free(ctx, memory[i]), "freeing");
  check(gpumem_stream_destroy(outer), "destroying the stream");
  check(gpumem_dist_destroy(dist), "parting");
  check(gpumem_ctx_destroy(ctx), "destroying the context");
  MPI_Finalize();
  return 0;
}
