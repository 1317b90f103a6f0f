/* The heat equation on a terrain, whose height is the temperature at the start: explicit steps, fixed
 * edges. A step is one call.
 * usage: heat [TERRAIN.npy]    of int16 or int32; without it a small terrain by a formula */
#include <gpumem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 500, EVERY = 100 };

static void check(gpumem_status status, const char *doing) {
  char sentence[512];
  if (status == GPUMEM_OK) return;
  gpumem_last_error(sentence, sizeof sentence, NULL);
  fprintf(stderr, "%s: %s: %s\n", doing, gpumem_status_name(status), sentence);
  exit(1);
}

static void give_up(const char *why) {
  fprintf(stderr, "heat: %s\n", why);
  exit(1);
}

typedef struct {
  int64_t rows, cols;
  gpumem_dtype dtype;
  int64_t bytes;
  void *heights;
} terrain;

static void *room_for(const terrain *t) {
  void *room = malloc((size_t)t->bytes);
  if (!room) give_up("there is no memory for the terrain");
  return room;
}

/* A file of NumPy: 10 bytes, of which the last two are the size of the header, a text; then the elements. */
static terrain read_terrain(const char *path) {
  unsigned char start[10];
  char header[65536];
  FILE *file = fopen(path, "rb");
  if (!file) give_up("the file can't be opened");
  if (fread(start, 1, 10, file) != 10 || memcmp(start, "\x93NUMPY\1", 7) != 0) give_up("the file is not one of NumPy");
  const size_t size = start[8] + 256u * start[9];
  if (fread(header, 1, size, file) != size) give_up("the file is too short");
  header[size] = 0;
  const char *shape = strstr(header, "'shape': (");
  const int wide = strstr(header, "'<i4'") != NULL;
  if (!shape || (!wide && !strstr(header, "'<i2'")) || !strstr(header, "'fortran_order': False"))
    give_up("the file is not of int16 or int32 in rows");
  char *comma, *end = header;
  const int64_t rows = strtoll(shape + 10, &comma, 10), cols = *comma == ',' ? strtoll(comma + 1, &end, 10) : 0;
  if (*end != ')' || rows < 3 || cols < 3 || rows > INT32_MAX / cols)
    give_up("the file does not have three rows and columns or more");
  terrain t = {rows, cols, wide ? GPUMEM_I32 : GPUMEM_I16, rows * cols * (wide ? 4 : 2), NULL};
  t.heights = room_for(&t);
  if (fread(t.heights, 1, (size_t)t.bytes, file) != (size_t)t.bytes) give_up("the file is too short");
  fclose(file);
  return t;
}

static terrain make_terrain(void) {
  terrain t = {96, 128, GPUMEM_I32, INT64_C(96) * 128 * 4, NULL};
  t.heights = room_for(&t);
  for (int i = 0; i < 96; ++i)
    for (int j = 0; j < 128; ++j) ((int32_t *)t.heights)[i * 128 + j] = (i * i * 7 + j * j * 3 + i * j * 5) % 1009;
  return t;
}

static void print_bits(const char *what, int step, double value) {
  const union {
    double value;
    uint64_t bits;
  } of = {value};
  printf("step %d %s %016llX\n", step, what, (unsigned long long)of.bits);
}

int main(int argc, char **argv) {
  const terrain ground = argc > 1 ? read_terrain(argv[1]) : make_terrain();
  const int64_t rows = ground.rows, cols = ground.cols, n = rows * cols, bytes = n * (int64_t)sizeof(double);
  gpumem_ctx *ctx;
  gpumem_stream *steps, *copies;
  gpumem_event *turned, *copied;
  void *memory[5], *pinned[2];
  check(gpumem_ctx_create(NULL, &ctx), "creating a context");
  check(gpumem_stream_create(ctx, &steps), "creating a stream");
  check(gpumem_stream_create(ctx, &copies), "creating a stream");
  check(gpumem_event_create(ctx, &turned), "creating an event");
  check(gpumem_event_create(ctx, &copied), "creating an event");
  for (int i = 0; i < 5; ++i) check(gpumem_alloc_device(ctx, bytes, &memory[i]), "allocating device memory");
  check(gpumem_alloc_pinned(ctx, bytes, &pinned[0]), "allocating pinned memory");
  check(gpumem_alloc_pinned(ctx, sizeof(double), &pinned[1]), "allocating pinned memory");
  double *u = memory[0], *v = memory[1], *difference = memory[2], *transposed = memory[3];
  double *snapshot = pinned[0], *norm = pinned[1];

  /* Heights become temperatures. Both arrays have the edges, which no step writes. */
  check(gpumem_copy(ctx, memory[4], ground.heights, ground.bytes), "copying the terrain");
  check(gpumem_convert(ctx, ground.dtype, memory[4], GPUMEM_F64, u, n), "converting");
  check(gpumem_copy(ctx, v, u, bytes), "copying the edges");

  const int64_t inner[2] = {rows - 2, cols - 2}, strides[10] = {cols, 1, cols, 1, cols, 1, cols, 1, cols, 1};
  const double factors[5] = {0.125, 0.125, 0.5, 0.125, 0.125}, minus[2] = {1, -1};
  for (int step = 1; step <= STEPS; ++step) {
    /* Of each inner element: the one above, the left one, itself, the right one, the one below. */
    const double *around[5] = {u + 1, u + cols, u + cols + 1, u + cols + 2, u + 2 * cols + 1};
    check(gpumem_lincomb_f64_async(ctx, 2, inner, 5, factors, around, strides, v + cols + 1, strides, steps), "a step");
    double *const old = u;
    u = v, v = old;
    if (step % EVERY != 0) continue;

    const double *new_and_old[2] = {u, v};
    check(gpumem_lincomb_f64_async(ctx, 1, &n, 2, minus, new_and_old, NULL, difference, NULL, steps), "the difference");
    check(gpumem_nrm2_f64_async(ctx, difference, n, 1, norm, steps), "the norm");
    /* The snapshot before has left `transposed` when this one is turned; its copy goes on beside the next steps. */
    check(gpumem_stream_wait_event(ctx, steps, copied), "waiting for the last snapshot");
    check(gpumem_transpose_async(ctx, sizeof(double), rows, cols, u, cols, transposed, rows, steps), "transposing");
    check(gpumem_event_record(ctx, turned, steps), "marking the snapshot");
    check(gpumem_stream_wait_event(ctx, copies, turned), "waiting for the snapshot");
    check(gpumem_copy_async(ctx, snapshot, transposed, bytes, copies), "copying the snapshot");
    check(gpumem_event_record(ctx, copied, copies), "marking the copy");
    check(gpumem_event_synchronize(turned), "waiting for the norm");
    print_bits("residual", step, *norm);
  }
  check(gpumem_event_synchronize(copied), "waiting for the last snapshot");
  print_bits("centre", STEPS, snapshot[cols / 2 * rows + rows / 2]);

  for (int i = 0; i < 5; ++i) check(gpumem_free(ctx, memory[i]), "freeing");
  for (int i = 0; i < 2; ++i) check(gpumem_free(ctx, pinned[i]), "freeing");
  check(gpumem_event_destroy(turned), "destroying an event");
  check(gpumem_event_destroy(copied), "destroying an event");
  check(gpumem_stream_destroy(steps), "destroying a stream");
  check(gpumem_stream_destroy(copies), "destroying a stream");
  check(gpumem_ctx_destroy(ctx), "destroying the context");
  free(ground.heights);
  return 0;
}
