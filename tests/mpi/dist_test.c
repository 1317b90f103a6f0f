/* Arrays over the processes of an MPI: random boxes to random boxes, element by element, and reductions beside those of the whole
 * array on one context.
 * usage: mpirun -n RANKS dist_test [CASES] [SEED]    a process has one member, every other one two */
#include <gpumem_mpi.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

enum { MAX_RANK = 4, MAX_BOXES = 12, GAP = 3 };
static const double POISON = -12345.5;

/* The same numbers in every process. */
static uint64_t state;
static int64_t below(int64_t n) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((state >> 33) % (uint64_t)n);
}

/* Boxes of all members, and where each lies in its member's memory. */
typedef struct {
  int32_t rank;
  int64_t extents[MAX_RANK], boxes, lower[MAX_BOXES][MAX_RANK], upper[MAX_BOXES][MAX_RANK], offset[MAX_BOXES];
  int32_t member[MAX_BOXES];
} cut_array;

static int64_t elements_of(int32_t rank, const int64_t* lower, const int64_t* upper) {
  int64_t elements = 1;
  for (int32_t d = 0; d < rank; ++d) elements *= upper[d] - (lower ? lower[d] : 0);
  return elements;
}

/* Cuts an array at random places, of the slowest axis alone or of any, and deals the boxes out. */
static cut_array cut(int32_t rank, const int64_t* extents, int32_t members, int slabs) {
  cut_array a = {.rank = rank, .boxes = 1 + below(MAX_BOXES)};
  int64_t used[64] = {0};
  memcpy(a.extents, extents, (size_t)rank * sizeof *extents);
  memcpy(a.upper[0], extents, (size_t)rank * sizeof *extents);
  for (int64_t made = 1; made < a.boxes; ++made) {
    const int64_t box = below(made), d = slabs ? 0 : below(rank), length = a.upper[box][d] - a.lower[box][d];
    memcpy(a.lower[made], a.lower[box], sizeof a.lower[box]);
    memcpy(a.upper[made], a.upper[box], sizeof a.upper[box]);
    a.lower[made][d] = a.upper[box][d] = a.lower[box][d] + below(length + 1);
  }
  for (int64_t i = 0; i < a.boxes; ++i) {
    a.member[i] = (int32_t)below(members);
    a.offset[i] = used[a.member[i]] + below(GAP);
    used[a.member[i]] = a.offset[i] + elements_of(rank, a.lower[i], a.upper[i]);
  }
  return a;
}

/* The part of process `own_first` and its members, as the library takes it. */
typedef struct {
  gpumem_dist_layout layout;
  int64_t lower[MAX_BOXES * MAX_RANK], upper[MAX_BOXES * MAX_RANK], offsets[MAX_BOXES];
  int32_t members[MAX_BOXES];
} own_part;

static void take_own(const cut_array* a, int32_t first, int32_t members, own_part* own) {
  int64_t boxes = 0;
  EXPECT(gpumem_dist_layout_init(&own->layout, sizeof own->layout) == GPUMEM_OK);
  for (int64_t i = 0; i < a->boxes; ++i) {
    if (a->member[i] < first || a->member[i] >= first + members) continue;
    memcpy(own->lower + boxes * a->rank, a->lower[i], (size_t)a->rank * sizeof(int64_t));
    memcpy(own->upper + boxes * a->rank, a->upper[i], (size_t)a->rank * sizeof(int64_t));
    own->offsets[boxes] = a->offset[i];
    own->members[boxes++] = a->member[i] - first;
  }
  own->layout.element_bytes = sizeof(double);
  own->layout.rank = a->rank;
  own->layout.extents = a->extents;
  own->layout.boxes = boxes;
  own->layout.members = own->members;
  own->layout.lower = own->lower;
  own->layout.upper = own->upper;
  own->layout.offsets = own->offsets;
}

/* Writes the elements of a member's boxes, which are values[their place in the source], or counts how many are not so. */
static int64_t visit(const cut_array* a, int32_t member, const int64_t* source_strides, const double* values,
                     double* memory, int compare) {
  int64_t wrong = 0;
  for (int64_t i = 0; i < a->boxes; ++i) {
    const int64_t count = elements_of(a->rank, a->lower[i], a->upper[i]);
    for (int64_t e = 0; a->member[i] == member && e < count; ++e) {
      int64_t rest = e, place = 0;
      for (int32_t d = a->rank - 1; d >= 0; --d) {
        const int64_t length = a->upper[i][d] - a->lower[i][d];
        place += (a->lower[i][d] + rest % length) * source_strides[d];
        rest /= length;
      }
      double* const element = memory + a->offset[i] + e;
      wrong += compare && memcmp(element, &values[place], sizeof *element) != 0;
      *element = compare ? POISON : values[place];
    }
  }
  return wrong;
}

static int same(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

static void compare_sums(gpumem_ctx* ctx, gpumem_dist_plan* plan, const double* const* x, const double* values,
                         int64_t n) {
  double sum, whole_sum, dot, whole_dot, norm, whole_norm, top, whole_top;
  int64_t at, whole_at;
  const void* const* parts = (const void* const*)x;
  const gpumem_status expected = gpumem_argreduce_f64(ctx, GPUMEM_MAX, values, n, 1, &whole_top, &whole_at);
  EXPECT(gpumem_reduce_f64(ctx, GPUMEM_SUM, values, n, 1, &whole_sum) == GPUMEM_OK);
  EXPECT(gpumem_dot_f64(ctx, values, values, n, 1, 1, &whole_dot) == GPUMEM_OK);
  EXPECT(gpumem_nrm2_f64(ctx, values, n, 1, &whole_norm) == GPUMEM_OK);
  EXPECT(gpumem_dist_reduce(plan, GPUMEM_F64, GPUMEM_SUM, parts, &sum) == GPUMEM_OK && same(sum, whole_sum));
  EXPECT(gpumem_dist_dot(plan, GPUMEM_F64, parts, parts, &dot) == GPUMEM_OK && same(dot, whole_dot));
  EXPECT(gpumem_dist_nrm2(plan, GPUMEM_F64, parts, &norm) == GPUMEM_OK && same(norm, whole_norm));
  EXPECT(gpumem_dist_argreduce(plan, GPUMEM_F64, GPUMEM_MAX, parts, &top, &at) == expected);
  EXPECT(expected != GPUMEM_OK || (same(top, whole_top) && at == whole_at));
}

static double* poisoned(int64_t n) {
  double* memory = malloc((size_t)(n + 1) * sizeof *memory);
  for (int64_t i = 0; i < n; ++i) memory[i] = POISON;
  return memory;
}

static void one_case(gpumem_ctx* ctx, gpumem_dist* dist, int32_t first, int32_t members, int32_t all) {
  static const int64_t longest[] = {20000, 150, 30, 12};
  const int32_t rank = 1 + (int32_t)below(MAX_RANK);
  int64_t extents[MAX_RANK], turned[MAX_RANK], strides[MAX_RANK], turned_strides[MAX_RANK], n = 1;
  int32_t order[MAX_RANK] = {0, 1, 2, 3};
  for (int32_t d = 0; d < rank; ++d) extents[d] = 1 + below(longest[rank - 1]);
  for (int32_t d = rank - 1; d >= 0; n *= extents[d--]) strides[d] = n;
  for (int32_t d = rank - 1; d > 0; --d) {
    const int64_t other = below(d + 1);
    const int32_t kept = order[d];
    order[d] = order[other], order[other] = kept;
  }
  for (int32_t d = 0; d < rank; ++d) turned[d] = extents[order[d]], turned_strides[d] = strides[order[d]];
  const cut_array from = cut(rank, extents, all, (int)below(2)), to = cut(rank, turned, all, (int)below(2));

  const int64_t room = n + (GAP + 1) * MAX_BOXES;
  double *values = poisoned(n), *x[2], *y[2];
  for (int64_t i = 0; i < n; ++i) values[i] = (double)(below(INT32_MAX) - INT32_MAX / 2) / (double)(1 + below(1000));
  for (int32_t m = 0; m < members; ++m) {
    x[m] = poisoned(room), y[m] = poisoned(room);
    visit(&from, first + m, strides, values, x[m], 0);
  }
  own_part src, dst;
  gpumem_dist_plan *move, *sums;
  gpumem_dist_plan_options options;
  EXPECT(gpumem_dist_plan_options_init(&options, sizeof options) == GPUMEM_OK);
  options.workspace_bytes = (int64_t)4096 << below(8); /* down to the least, so that there are many messages */
  take_own(&from, first, members, &src);
  take_own(&to, first, members, &dst);
  EXPECT(gpumem_dist_plan_redistribute(dist, &src.layout, &dst.layout, order, &options, &move) == GPUMEM_OK);
  EXPECT(gpumem_dist_plan_reduce(dist, &src.layout, &options, &sums) == GPUMEM_OK);
  EXPECT(gpumem_dist_execute(move, (const void* const*)x, (void* const*)y) == GPUMEM_OK);
  compare_sums(ctx, sums, (const double* const*)x, values, n);
  for (int32_t m = 0; m < members; ++m) {
    int64_t beside = 0;
    EXPECT(visit(&to, first + m, turned_strides, values, y[m], 1) == 0);
    for (int64_t i = 0; i < room; ++i) beside += !same(y[m][i], POISON);
    EXPECT(beside == 0);
    free(x[m]);
    free(y[m]);
  }
  EXPECT(gpumem_dist_plan_destroy(move) == GPUMEM_OK && gpumem_dist_plan_destroy(sums) == GPUMEM_OK);
  free(values);
}

int main(int argc, char** argv) {
  const int cases = argc > 1 ? atoi(argv[1]) : 50;
  gpumem_ctx* ctx;
  gpumem_dist* dist;
  gpumem_dist_transport transport;
  gpumem_dist_options options;
  gpumem_dist_info info;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &this_rank);
  state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  EXPECT(gpumem_ctx_create(NULL, &ctx) == GPUMEM_OK);
  EXPECT(gpumem_dist_transport_init(&transport, sizeof transport) == GPUMEM_OK);
  EXPECT(gpumem_mpi_transport(MPI_COMM_WORLD, &transport) == GPUMEM_OK);
  EXPECT(gpumem_dist_options_init(&options, sizeof options) == GPUMEM_OK);
  EXPECT(gpumem_dist_info_init(&info, sizeof info) == GPUMEM_OK);
  gpumem_ctx* const contexts[2] = {ctx, ctx};
  options.contexts = contexts;
  options.members = 1 + this_rank % 2;
  options.transport = &transport;
  EXPECT(gpumem_dist_create(&options, &dist) == GPUMEM_OK && gpumem_dist_query(dist, &info) == GPUMEM_OK);
  for (int i = 0; i < cases && failures == 0; ++i)
    one_case(ctx, dist, info.first_member, info.members, info.all_members);
  if (failures) MPI_Abort(MPI_COMM_WORLD, 1);
  EXPECT(gpumem_dist_destroy(dist) == GPUMEM_OK && gpumem_ctx_destroy(ctx) == GPUMEM_OK);
  MPI_Finalize();
  if (this_rank == 0) printf("%d cases by %d processes\n", cases, info.size);
  return failures != 0;
}
