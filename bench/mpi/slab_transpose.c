/* Transposes a matrix of doubles in slabs of rows, one slab on each process. By turns, a plan of gpumem does it, and
 * MPI_Alltoallv between local transposes and copies. The slabs are in host memory. With "cuda", each process has
 * gpumem's slabs on a device.
 * usage: mpirun -n PROCESSES bench_mpi [ROWS COLS [REPEATS [WORKSPACE_BYTES [cuda]]]] */
#include <gpumem_mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_REPEATS = 1000 };

static int rank, size;
static gpumem_ctx *ctx, *member; /* of the host, and of the plan */

static void check(gpumem_status status) {
  char sentence[512];
  if (status == GPUMEM_OK) return;
  gpumem_last_error(sentence, sizeof sentence, NULL);
  fprintf(stderr, "%s: %s\n", gpumem_status_name(status), sentence);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static int64_t share(int64_t n, int r) { return n * r / size; }

/* Process r's rows of n. */
typedef struct {
  int64_t first, count;
} range;
static range slab(int64_t n, int r) {
  const range of = {share(n, r), share(n, r + 1) - share(n, r)};
  return of;
}

static double* room(int64_t elements) {
  double* p = malloc((size_t)(elements + 1) * sizeof *p);
  if (!p) MPI_Abort(MPI_COMM_WORLD, 1);
  memset(p, 0, (size_t)elements * sizeof *p); /* every page is there before the first measurement */
  return p;
}

typedef struct {
  int64_t rows, cols;
  double *from, *to, *packed, *arrived;
  void *src, *dst; /* the plan's slabs: from and to, or on the device */
  int *counts, *places, *arrived_counts, *arrived_places;
  gpumem_dist_plan* plan;
} problem;

static void by_gpumem(problem* p) {
  const void* const src[1] = {p->src};
  void* const dst[1] = {p->dst};
  check(gpumem_dist_execute(p->plan, src, dst));
}

/* The transposed slab is already sorted by destination. Data that arrives from r is columns of this process's rows. */
static void by_mpi(problem* p) {
  const range rows = slab(p->rows, rank), cols = slab(p->cols, rank);
  const int64_t pitch = p->rows * (int64_t)sizeof(double);
  check(gpumem_transpose(ctx, sizeof(double), rows.count, p->cols, p->from, p->cols, p->packed, rows.count));
  MPI_Alltoallv(p->packed, p->counts, p->places, MPI_DOUBLE, p->arrived, p->arrived_counts, p->arrived_places,
                MPI_DOUBLE, MPI_COMM_WORLD);
  for (int r = 0; r < size; ++r) {
    const range theirs = slab(p->rows, r);
    const int64_t bytes = theirs.count * (int64_t)sizeof(double);
    check(
        gpumem_copy_2d(ctx, p->to + theirs.first, pitch, p->arrived + p->arrived_places[r], bytes, bytes, cols.count));
  }
}

static void plan_both(problem* p, gpumem_dist* dist, int64_t workspace_bytes) {
  const range rows = slab(p->rows, rank), cols = slab(p->cols, rank);
  const int64_t extents[2] = {p->rows, p->cols}, turned[2] = {p->cols, p->rows};
  const int64_t lower[2] = {rows.first, 0}, upper[2] = {rows.first + rows.count, p->cols};
  const int64_t turned_lower[2] = {cols.first, 0}, turned_upper[2] = {cols.first + cols.count, p->rows};
  const int32_t order[2] = {1, 0};
  gpumem_dist_layout src, dst;
  gpumem_dist_plan_options options;
  check(gpumem_dist_layout_init(&src, sizeof src));
  src.element_bytes = sizeof(double), src.rank = 2, src.boxes = 1;
  src.extents = extents, src.lower = lower, src.upper = upper;
  dst = src;
  dst.extents = turned, dst.lower = turned_lower, dst.upper = turned_upper;
  check(gpumem_dist_plan_options_init(&options, sizeof options));
  if (workspace_bytes > 0) options.workspace_bytes = workspace_bytes;
  check(gpumem_dist_plan_redistribute(dist, &src, &dst, order, &options, &p->plan));
  int* const numbers = malloc((size_t)size * 4 * sizeof *numbers);
  if (!numbers) MPI_Abort(MPI_COMM_WORLD, 1);
  p->counts = numbers, p->places = numbers + size, p->arrived_counts = numbers + 2 * size,
  p->arrived_places = numbers + 3 * size;
  for (int r = 0; r < size; ++r) {
    p->counts[r] = (int)(slab(p->cols, r).count * rows.count);
    p->places[r] = (int)(slab(p->cols, r).first * rows.count);
    p->arrived_counts[r] = (int)(slab(p->rows, r).count * cols.count);
    p->arrived_places[r] = (int)(slab(p->rows, r).first * cols.count);
  }
}

/* From the barrier until the last process has ended. */
static double seconds(void (*work)(problem*), problem* p) {
  double longest = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  work(p);
  const double here = MPI_Wtime() - start;
  MPI_Allreduce(&here, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return longest;
}

static void verify(problem* p, const char* name) {
  const range cols = slab(p->cols, rank);
  for (int64_t j = 0; j < cols.count; ++j)
    for (int64_t i = 0; i < p->rows; ++i)
      if (p->to[j * p->rows + i] != (double)(i * p->cols + cols.first + j)) {
        fprintf(stderr, "%s: a wrong element\n", name);
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
  memset(p->to, 0, (size_t)(cols.count * p->rows) * sizeof *p->to);
}

/* Copies the plan's slabs to the device if it has one. */
static void place(problem* p, int64_t from_bytes, int64_t to_bytes) {
  p->src = p->from, p->dst = p->to;
  if (member == ctx) return;
  check(gpumem_alloc_device(member, from_bytes, &p->src));
  check(gpumem_alloc_device(member, to_bytes, &p->dst));
  check(gpumem_copy(member, p->src, p->from, from_bytes));
}

static int by_size(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static void print_line(const char* name, double* times, int repeats, double bytes) {
  qsort(times, (size_t)repeats, sizeof *times, by_size);
  const double median = times[repeats / 2];
  if (rank == 0)
    printf("%-16s median %9.3f ms, quartiles %9.3f and %9.3f ms, %6.2f GB/s\n", name, median * 1e3,
           times[repeats / 4] * 1e3, times[repeats - 1 - repeats / 4] * 1e3, bytes / median * 1e-9);
}

int main(int argc, char** argv) {
  static double ours[MOST_REPEATS], theirs[MOST_REPEATS];
  problem p = {.rows = argc > 2 ? atoll(argv[1]) : 4096, .cols = argc > 2 ? atoll(argv[2]) : 4096};
  const int asked = argc > 3 ? atoi(argv[3]) : 21, repeats = asked < 1              ? 1
                                                             : asked < MOST_REPEATS ? asked
                                                                                    : MOST_REPEATS;
  gpumem_ctx_options host;
  gpumem_dist_transport transport;
  gpumem_dist_options options;
  gpumem_dist* dist;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  check(gpumem_ctx_options_init(&host, sizeof host));
  host.device = GPUMEM_DEVICE_HOST;
  check(gpumem_ctx_create(&host, &ctx));
  member = ctx;
  if (argc > 5 && strcmp(argv[5], "cuda") == 0) {
    int32_t devices = 0;
    check(gpumem_device_count(&devices));
    if (devices > 0) host.device = rank % devices;
    check(gpumem_ctx_create(&host, &member));
  }
  check(gpumem_dist_transport_init(&transport, sizeof transport));
  check(gpumem_mpi_transport(MPI_COMM_WORLD, &transport));
  check(gpumem_dist_options_init(&options, sizeof options));
  options.contexts = &member, options.members = 1, options.transport = &transport;
  check(gpumem_dist_create(&options, &dist));

  const range rows = slab(p.rows, rank), cols = slab(p.cols, rank);
  p.from = room(rows.count * p.cols), p.packed = room(rows.count * p.cols);
  p.to = room(cols.count * p.rows), p.arrived = room(cols.count * p.rows);
  for (int64_t i = 0; i < rows.count * p.cols; ++i) p.from[i] = (double)(rows.first * p.cols + i);
  plan_both(&p, dist, argc > 4 ? atoll(argv[4]) : 0);
  const int64_t to_bytes = cols.count * p.rows * (int64_t)sizeof(double);
  place(&p, rows.count * p.cols * (int64_t)sizeof(double), to_bytes);
  by_gpumem(&p);
  if (member != ctx) check(gpumem_copy(member, p.to, p.dst, to_bytes));
  verify(&p, "gpumem");
  by_mpi(&p), verify(&p, "MPI_Alltoallv");
  for (int i = 0; i < repeats; ++i) {
    ours[i] = seconds(by_gpumem, &p);
    theirs[i] = seconds(by_mpi, &p);
  }
  const double bytes = (double)p.rows * (double)p.cols * sizeof(double);
  if (rank == 0)
    printf("%lld x %lld doubles, %d processes, %d repeats\n", (long long)p.rows, (long long)p.cols, size, repeats);
  print_line("gpumem", ours, repeats, bytes);
  print_line("MPI_Alltoallv", theirs, repeats, bytes);
  if (rank == 0) printf("as fast as MPI_Alltoallv: %.2f times\n", theirs[repeats / 2] / ours[repeats / 2]);

  check(gpumem_dist_plan_destroy(p.plan));
  check(gpumem_dist_destroy(dist));
  if (member != ctx) {
    check(gpumem_free(member, p.src));
    check(gpumem_free(member, p.dst));
    check(gpumem_ctx_destroy(member));
  }
  check(gpumem_ctx_destroy(ctx));
  free(p.from), free(p.packed), free(p.to), free(p.arrived), free(p.counts);
  MPI_Finalize();
  return 0;
}
