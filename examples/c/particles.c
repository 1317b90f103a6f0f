/* Particles in a box that is periodic in x and open in y. Particles that leave it are removed. Each step sorts the rest
 * by cell. At the end, the program prints the number of particles in each cell, and their energy. */
#include <gpumem.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 20, PARTICLES = 20000, NX = 8, NY = 4, CELLS = NX * NY, PAIR = 2 * sizeof(double) };

typedef struct {
  double *at, *velocity; /* x and y of each particle; the box is 1 wide and 1 high */
} particles;

static void check(gpumem_status status, const char *doing) {
  char sentence[512];
  if (status == GPUMEM_OK) return;
  gpumem_last_error(sentence, sizeof sentence, NULL);
  fprintf(stderr, "%s: %s: %s\n", doing, gpumem_status_name(status), sentence);
  exit(1);
}

static void *device(gpumem_ctx *ctx, int64_t bytes) {
  void *memory;
  check(gpumem_alloc_device(ctx, bytes, &memory), "allocating device memory");
  return memory;
}

static void make_particles(double *at, double *velocity) {
  for (int64_t i = 0; i < PARTICLES; ++i) {
    *at++ = (double)(i * 7919 % PARTICLES) / PARTICLES;
    *at++ = (double)(i * 104729 % PARTICLES) / PARTICLES;
    *velocity++ = (double)(i * 31 % 101 - 50) / 64;
    *velocity++ = (double)(i * 17 % 103 - 51) / 64;
  }
}

/* Moves n particles p, and copies those that are still in the box to q. Returns their number. t has n numbers of room. */
static int64_t move(gpumem_ctx *ctx, int64_t n, particles p, particles q, double *t, uint8_t *mask) {
  const double zero = 0, below = nextafter(1, 0);
  const int64_t pair = 2, same = 0;
  int64_t kept;
  check(gpumem_axpby_f64(ctx, 1.0 / 64, p.velocity, 1, p.at, p.at, 2 * n), "adding velocities to positions");
  /* x - floor(x) is in the box. It is limited to the number below 1, because it is rounded to 1 if x is just below 0. */
  check(gpumem_map(ctx, GPUMEM_MAP_FLOOR, GPUMEM_F64, 1, &n, p.at, &pair, NULL, NULL, t, NULL), "rounding x");
  check(gpumem_map(ctx, GPUMEM_MAP_SUBTRACT, GPUMEM_F64, 1, &n, p.at, &pair, t, NULL, p.at, &pair), "wrapping x");
  check(gpumem_map(ctx, GPUMEM_MAP_MINIMUM, GPUMEM_F64, 1, &n, p.at, &pair, &below, &same, p.at, &pair), "limiting");
  /* y is in the box if floor(y) is 0. */
  check(gpumem_map(ctx, GPUMEM_MAP_FLOOR, GPUMEM_F64, 1, &n, p.at + 1, &pair, NULL, NULL, t, NULL), "rounding y");
  check(gpumem_compare(ctx, GPUMEM_EQUAL, GPUMEM_F64, 1, &n, t, NULL, &zero, &same, mask, NULL), "comparing");
  check(gpumem_select(ctx, PAIR, p.at, PAIR, mask, n, q.at, n, PAIR, &kept), "selecting positions");
  check(gpumem_select(ctx, PAIR, p.velocity, PAIR, mask, n, q.velocity, n, PAIR, &kept), "selecting velocities");
  return kept;
}

/* Sorts n particles q by cell into p. cell gets their cells in order. t has room for 2 n numbers. */
static void sort(gpumem_ctx *ctx, int64_t n, particles q, particles p, double *t, int32_t *cell, int32_t *order) {
  const double cells[2] = {NX, NY};
  const int64_t shape[2] = {n, 2}, planes[2] = {1, n}, each[2] = {0, 1}, n2 = 2 * n;
  check(gpumem_convert_scaled(ctx, 2, shape, GPUMEM_F64, q.at, NULL, cells, each, NULL, NULL, 0, GPUMEM_F64, t, planes),
        "scaling positions to cells");
  check(gpumem_map(ctx, GPUMEM_MAP_FLOOR, GPUMEM_F64, 1, &n2, t, NULL, NULL, NULL, t, NULL), "rounding to cells");
  check(gpumem_axpby_f64(ctx, 1, t, NX, t + n, t, n), "numbering cells");
  check(gpumem_convert(ctx, GPUMEM_F64, t, GPUMEM_I32, cell, n), "converting cells");
  check(gpumem_sort(ctx, GPUMEM_I32, cell, n, 0, cell, order, GPUMEM_I32), "sorting by cell");
  check(gpumem_gather(ctx, PAIR, q.at, n, PAIR, GPUMEM_I32, order, n, p.at, PAIR), "ordering positions");
  check(gpumem_gather(ctx, PAIR, q.velocity, n, PAIR, GPUMEM_I32, order, n, p.velocity, PAIR), "ordering velocities");
}

/* first gets the first particle of each cell, and n at the end. number and lists are scratch memory. */
static void find_cells(gpumem_ctx *ctx, int64_t n, const int32_t *cell, uint8_t *mask, int32_t *number, int64_t *lists,
                       int64_t *first) {
  int64_t *begin = lists, *size = begin + CELLS + 1, *sizes = size + CELLS + 1, occupied, zero = 0, changes = n - 1;
  /* A cell begins where the sorted numbers change. */
  check(gpumem_fill(ctx, mask, "\1", 1, 1), "marking the first particle");
  check(gpumem_compare(ctx, GPUMEM_NOT_EQUAL, GPUMEM_I32, 1, &changes, cell + 1, NULL, cell, NULL, mask + 1, NULL),
        "comparing neighbours");
  check(gpumem_select_places(ctx, mask, n, GPUMEM_I64, begin, CELLS, &occupied), "finding cells");
  check(gpumem_copy(ctx, begin + occupied, &n, sizeof n), "ending the last cell");
  check(gpumem_map(ctx, GPUMEM_MAP_SUBTRACT, GPUMEM_I64, 1, &occupied, begin + 1, NULL, begin, NULL, size, NULL),
        "subtracting places");
  /* The empty cells are only in `sizes`. */
  check(gpumem_gather(ctx, 4, cell, n, 4, GPUMEM_I64, begin, occupied, number, 4), "reading cells");
  check(gpumem_fill(ctx, sizes, &zero, sizeof zero, CELLS + 1), "clearing sizes");
  check(gpumem_scatter(ctx, 8, size, 8, GPUMEM_I32, number, occupied, sizes, CELLS, 8), "writing sizes");
  check(gpumem_scan(ctx, GPUMEM_I64, GPUMEM_SUM, 1, sizes, CELLS + 1, first, GPUMEM_I64), "adding sizes");
}

int main(void) {
  static double at[PARTICLES * 2], velocity[PARTICLES * 2], energies[CELLS];
  int64_t places[CELLS + 1], n_places = CELLS + 1, n = PARTICLES;
  gpumem_ctx *ctx;
  make_particles(at, velocity);
  check(gpumem_ctx_create(NULL, &ctx), "creating a context");
  particles p = {device(ctx, sizeof at), device(ctx, sizeof at)}, q = {device(ctx, sizeof at), device(ctx, sizeof at)};
  double *t = device(ctx, sizeof at), *sums = device(ctx, sizeof energies);
  int32_t *cell = device(ctx, PARTICLES * 4), *order = device(ctx, PARTICLES * 4);
  int64_t *lists = device(ctx, 3 * sizeof places), *first = device(ctx, sizeof places);
  uint8_t *mask = device(ctx, PARTICLES);
  check(gpumem_copy(ctx, p.at, at, sizeof at), "copying positions");
  check(gpumem_copy(ctx, p.velocity, velocity, sizeof velocity), "copying velocities");
  for (int step = 1; step <= STEPS; ++step) {
    n = move(ctx, n, p, q, t, mask);
    sort(ctx, n, q, p, t, cell, order);
    printf("step %d: %lld particles\n", step, (long long)n);
  }

  find_cells(ctx, n, cell, mask, order, lists, first);
  check(gpumem_copy(ctx, places, first, sizeof places), "copying places");
  /* A particle has two velocities, so the cells begin at twice these places. */
  check(gpumem_map(ctx, GPUMEM_MAP_ADD, GPUMEM_I64, 1, &n_places, first, NULL, first, NULL, first, NULL), "doubling");
  check(gpumem_reduce_segments(ctx, GPUMEM_F64, GPUMEM_SUM_SQUARES, p.velocity, 2 * n, first, CELLS, sums), "adding");
  check(gpumem_copy(ctx, energies, sums, sizeof energies), "copying energies");
  for (int c = 0; c < CELLS; ++c)
    printf("cell %d: %lld particles, energy %.6f\n", c, (long long)(places[c + 1] - places[c]), energies[c] / 2);
  void *const owned[] = {p.at, p.velocity, q.at, q.velocity, t, sums, cell, order, lists, first, mask};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; ++i) check(gpumem_free(ctx, owned[i]), "freeing");
  check(gpumem_ctx_destroy(ctx), "destroying the context");
  return 0;
}
