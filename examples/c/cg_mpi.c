/* The conjugate gradients of cg.c over MPI: each process has a box of the cube, with room for one ghost cell on each side, which
 * come from its neighbours before the operator. The dot products do not depend on the order of the elements, so the residuals
 * have the same bits for slabs, pencils and blocks, by any number of processes.
 * usage: mpirun -n PROCESSES cg_mpi [slabs | pencils | blocks] */
#include <gpumem_mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 24, ITERATIONS = 40, EVERY = 10 };

static void give_up(const char *why) {
  fprintf(stderr, "cg_mpi: %s\n", why);
  MPI_Abort(MPI_COMM_WORLD, 1); /* ends the other processes too, which may wait for this one */
}

static void check(gpumem_status status, const char *doing) {
  char sentence[512];
  if (status == GPUMEM_OK) return;
  gpumem_last_error(sentence, sizeof sentence, NULL);
  fprintf(stderr, "%s: %s: %s\n", doing, gpumem_status_name(status), sentence);
  give_up("ended");
}

/* The GPUs of a machine go to its processes in turn. */
static gpumem_ctx *create_context(void) {
  gpumem_ctx_options options;
  gpumem_ctx *ctx;
  MPI_Comm machine;
  int place;
  int32_t devices;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  MPI_Comm_rank(machine, &place);
  MPI_Comm_free(&machine);
  check(gpumem_device_count(&devices), "counting devices");
  check(gpumem_ctx_options_init(&options, sizeof options), "options of a context");
  if (devices > 1) options.device = place % devices;
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

/* A box of this process: its cells, and their place in memory that has one ghost cell more on each side. */
typedef struct {
  int64_t lower[3], upper[3], inner[3], strides[3], first, all;
} box;

static box box_of(const char *kind, int rank, int size) {
  /* Axes that are cut have 0, which MPI_Dims_create() replaces by a number of boxes. */
  int cuts[3] = {0, strcmp(kind, "slabs") == 0, strcmp(kind, "blocks") != 0};
  box b;
  MPI_Dims_create(size, 3, cuts);
  const int at[3] = {rank / (cuts[1] * cuts[2]), rank / cuts[2] % cuts[1], rank % cuts[2]};
  for (int d = 0; d < 3; ++d) {
    b.lower[d] = (int64_t)N * at[d] / cuts[d];
    b.upper[d] = (int64_t)N * (at[d] + 1) / cuts[d];
    b.inner[d] = b.upper[d] - b.lower[d];
  }
  b.strides[2] = 1;
  b.strides[1] = b.inner[2] + 2;
  b.strides[0] = b.strides[1] * (b.inner[1] + 2);
  b.first = b.strides[0] + b.strides[1] + b.strides[2];
  b.all = b.strides[0] * (b.inner[0] + 2);
  return b;
}

/* All cells are 0. Ghost cells past the cube stay 0. */
static double *zeros(gpumem_ctx *ctx, const box *b) {
  const double zero = 0;
  void *memory;
  check(gpumem_alloc_device(ctx, b->all * (int64_t)sizeof zero, &memory), "allocating device memory");
  check(gpumem_fill(ctx, memory, &zero, sizeof zero, b->all), "filling");
  return memory;
}

/* z = x + factor y in the cells of the box. */
static void add(gpumem_ctx *ctx, const box *b, const double *x, double factor, const double *y, double *z) {
  const double factors[2] = {1, factor}, *sources[2] = {x + b->first, y + b->first};
  check(gpumem_lincomb_f64(ctx, 3, b->inner, 2, factors, sources, NULL, z + b->first, b->strides), "adding");
}

static double dot(gpumem_dist_plan *plan, const double *x, const double *y) {
  const void *const of_x[1] = {x}, *const of_y[1] = {y};
  double result;
  check(gpumem_dist_dot_order_free(plan, GPUMEM_F64, of_x, of_y, &result), "a dot product");
  return result;
}

static void print_bits(int iteration, double value) {
  const union {
    double value;
    uint64_t bits;
  } of = {value};
  printf("iteration %d r.r %016llX\n", iteration, (unsigned long long)of.bits);
}

int main(int argc, char **argv) {
  const char *const kind = argc > 1 ? argv[1] : "slabs";
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  gpumem_ctx *ctx = create_context();
  gpumem_dist *dist = create_dist(ctx);

  /* The layout: the box, and where it is in memory. Both plans are for arrays with this layout. */
  const box b = box_of(kind, rank, size);
  const int64_t extents[3] = {N, N, N}, beside[3] = {1, 1, 1};
  const int32_t periodic[3] = {0, 0, 0};
  gpumem_dist_layout cells;
  gpumem_dist_plan *halo, *dots;
  check(gpumem_dist_layout_init(&cells, sizeof cells), "a layout");
  cells.element_bytes = sizeof(double);
  cells.rank = 3;
  cells.extents = extents;
  cells.boxes = 1;
  cells.lower = b.lower;
  cells.upper = b.upper;
  cells.offsets = &b.first;
  cells.strides = b.strides;
  check(gpumem_dist_plan_halo(dist, &cells, beside, beside, periodic, NULL, &halo), "planning the halo");
  check(gpumem_dist_plan_reduce(dist, &cells, NULL, &dots), "planning the dot products");

  double *x = zeros(ctx, &b), *r = zeros(ctx, &b), *p = zeros(ctx, &b), *q = zeros(ctx, &b);
  double *source = malloc((size_t)(b.inner[0] * b.inner[1] * b.inner[2]) * sizeof *source + 1);
  if (!source) give_up("there is no memory for the source");
  int64_t cell = 0;
  for (int64_t i = b.lower[0]; i < b.upper[0]; ++i)
    for (int64_t j = b.lower[1]; j < b.upper[1]; ++j)
      for (int64_t k = b.lower[2]; k < b.upper[2]; ++k)
        source[cell++] = (double)((i * 7 + j * 3 + k * 5 + i * j % 13) % 11 - 5);
  const double one = 1, *const sources[1] = {source};
  const int64_t tight[3] = {b.inner[1] * b.inner[2], b.inner[2], 1};
  check(gpumem_lincomb_f64(ctx, 3, b.inner, 1, &one, sources, tight, r + b.first, b.strides), "copying the source");
  check(gpumem_lincomb_f64(ctx, 3, b.inner, 1, &one, sources, tight, p + b.first, b.strides), "copying the source");

  const double laplacian[7] = {6, -1, -1, -1, -1, -1, -1}, *const c = p + b.first;
  const double *const around[7] = {c,     c - b.strides[0], c - b.strides[1], c - 1,
                                   c + 1, c + b.strides[1], c + b.strides[0]};
  const void *const direction[1] = {p};
  double rr = dot(dots, r, r);
  for (int i = 1; i <= ITERATIONS; ++i) {
    check(gpumem_dist_execute(halo, direction, NULL), "fetching the cells of the neighbours");
    check(gpumem_lincomb_f64(ctx, 3, b.inner, 7, laplacian, around, NULL, q + b.first, b.strides), "the operator");
    const double alpha = rr / dot(dots, p, q);
    add(ctx, &b, x, alpha, p, x);
    add(ctx, &b, r, -alpha, q, r);
    const double before = rr;
    rr = dot(dots, r, r);
    add(ctx, &b, r, rr / before, p, p);
    if (rank == 0 && i % EVERY == 0) print_bits(i, rr);
  }

  free(source);
  double *const memory[4] = {x, r, p, q};
  for (int i = 0; i < 4; ++i) check(gpumem_free(ctx, memory[i]), "freeing");
  check(gpumem_dist_plan_destroy(halo), "destroying a plan");
  check(gpumem_dist_plan_destroy(dots), "destroying a plan");
  check(gpumem_dist_destroy(dist), "parting");
  check(gpumem_ctx_destroy(ctx), "destroying the context");
  MPI_Finalize();
  return 0;
}
