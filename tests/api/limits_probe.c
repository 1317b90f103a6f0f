/* Run in a control group with a limit of memory, which ends a process that touches more. The exit status says whether what was asked for came out
 * as it should. usage: gpumem_limits_probe WHAT LIMIT */
#define _GNU_SOURCE
#include <gpumem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static gpumem_ctx* ctx;
static int64_t limit;

static int fail(const char* what) {
  char sentence[512] = "";
  gpumem_last_error(sentence, sizeof sentence, NULL);
  printf("%s: %s\n", what, sentence);
  return 1;
}

static int create(int32_t device, int32_t debug) {
  gpumem_ctx_options options;
  if (gpumem_ctx_options_init(&options, sizeof options) != GPUMEM_OK) return 1;
  options.device = device;
  options.debug_memory = debug;
  return gpumem_ctx_create(&options, &ctx) == GPUMEM_OK ? 0 : fail("creating a context");
}

/* OUT_OF_MEMORY, and the sentence says so of the host's memory. */
static int refused(gpumem_status status, const char* what) {
  char sentence[512] = "";
  gpumem_last_error(sentence, sizeof sentence, NULL);
  if (status == GPUMEM_OUT_OF_MEMORY && strstr(sentence, "are available") != NULL) return 0;
  printf("%s: status %d, %s\n", what, (int)status, sentence);
  return 1;
}

static int64_t resident(void) {
  long all = 0, pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld %ld", &all, &pages) != 2) return INT64_MAX;
  fclose(file);
  return (int64_t)pages * sysconf(_SC_PAGESIZE);
}

static int use(void* p, int64_t bytes) {
  if (p == NULL) return fail("allocating");
  memset(p, 1, (size_t)bytes);
  return 0;
}

/* Most of the limit by each kind of memory in turn, freed at once and in the order of a stream. */
static int kept(void) {
  const int64_t bytes = limit / 3 * 2;
  const int64_t before = resident();
  gpumem_stream* stream = NULL;
  void* p = NULL;
  if (create(GPUMEM_DEVICE_HOST, 0) != 0) return 1;
  if (gpumem_alloc_device(ctx, bytes, &p) != GPUMEM_OK || use(p, bytes) != 0 || gpumem_free(ctx, p) != GPUMEM_OK)
    return fail("device");
  if (gpumem_alloc_pinned(ctx, bytes, &p) != GPUMEM_OK || use(p, bytes) != 0 || gpumem_free(ctx, p) != GPUMEM_OK)
    return fail("pinned");
  if (gpumem_alloc_managed(ctx, bytes, &p) != GPUMEM_OK || use(p, bytes) != 0 || gpumem_free(ctx, p) != GPUMEM_OK)
    return fail("managed");
  if (gpumem_stream_create(ctx, &stream) != GPUMEM_OK) return fail("a stream");
  if (gpumem_alloc_async(ctx, bytes, 256, stream, &p) != GPUMEM_OK || use(p, bytes) != 0) return fail("in order");
  if (gpumem_free_async(ctx, p, stream) != GPUMEM_OK || gpumem_stream_destroy(stream) != GPUMEM_OK)
    return fail("in order");
  if (gpumem_alloc_pinned(ctx, bytes, &p) != GPUMEM_OK || use(p, bytes) != 0 || gpumem_free(ctx, p) != GPUMEM_OK)
    return fail("pinned");
  if (resident() - before <= limit / 3) return 0;
  printf("%lld bytes are kept\n", (long long)(resident() - before));
  return 1;
}

/* Blocks that the program has not touched are filled when they are freed. */
static int debug(void) {
  const int64_t bytes = 60 << 20;
  void* p[3] = {NULL, NULL, NULL};
  if (create(GPUMEM_DEVICE_HOST, 1) != 0) return 1;
  if (gpumem_alloc_device(ctx, bytes, &p[0]) != GPUMEM_OK || gpumem_alloc_pinned(ctx, bytes, &p[1]) != GPUMEM_OK ||
      gpumem_alloc_managed(ctx, bytes, &p[2]) != GPUMEM_OK) {
    return fail("allocating");
  }
  for (int i = 0; i < 3; ++i) {
    if (gpumem_free(ctx, p[i]) != GPUMEM_OK) return fail("freeing");
  }
  return 0;
}

static int host(void) {
  gpumem_device_info info;
  gpumem_tune_options options;
  gpumem_tune_info tuned;
  char line[128];
  if (gpumem_device_info_init(&info, sizeof info) != GPUMEM_OK ||
      gpumem_device_query(GPUMEM_DEVICE_HOST, &info) != GPUMEM_OK) {
    return fail("asking for the host");
  }
  if (info.memory_bytes != limit) {
    printf("the host has %lld bytes\n", (long long)info.memory_bytes);
    return 1;
  }
  if (create(GPUMEM_DEVICE_HOST, 0) != 0) return 1;
  if (refused(gpumem_profile_begin(ctx, 1 << 24), "a profile") != 0) return 1;
  if (gpumem_tune_options_init(&options, sizeof options) != GPUMEM_OK ||
      gpumem_tune_info_init(&tuned, sizeof tuned) != GPUMEM_OK)
    return 1;
  for (int i = 0; i < 2; ++i) {
    const char* const kind = i == 0 ? "pageable" : "device";
    snprintf(line, sizeof line, "copy bytes=%lld src=%s dst=%s", (long long)limit, kind, kind);
    if (refused(gpumem_tune(ctx, line, &options, &tuned), line) != 0) return 1;
  }
  return 0;
}

static int cuda(void) {
  void* p = NULL;
  void* own =
      mmap(NULL, (size_t)(2 * limit), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (create(GPUMEM_DEVICE_CUDA, 0) != 0) return 1;
  if (refused(gpumem_alloc_pinned(ctx, 2 * limit, &p), "pinned memory") != 0 || p != NULL) return 1;
  if (own == MAP_FAILED || refused(gpumem_host_register(ctx, own, 2 * limit), "registering") != 0) return 1;
  if (gpumem_alloc_pinned(ctx, limit / 8, &p) != GPUMEM_OK || use(p, limit / 8) != 0) return fail("pinned memory");
  return gpumem_host_register(ctx, own, limit / 8) == GPUMEM_OK ? 0 : fail("registering");
}

int main(int argc, char** argv) {
  const struct {
    const char* name;
    int (*run)(void);
  } all[] = {{"kept", kept}, {"debug", debug}, {"host", host}, {"cuda", cuda}};
  if (argc != 3) return 2;
  limit = strtoll(argv[2], NULL, 10);
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    int status;
    if (strcmp(argv[1], all[i].name) != 0) continue;
    status = all[i].run();
    if (status == 0 && gpumem_ctx_destroy(ctx) != GPUMEM_OK) return fail("the end of the context");
    return status;
  }
  return 2;
}
