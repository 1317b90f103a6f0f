/* Compiled with the header of an earlier version, whose structs may be shorter, and linked with the library as it is: each struct is
 * filled up to the size that the program knows, and no further. */
#include "gpumem.h"

#include <stdio.h>
#include <string.h>

enum { BEHIND = 64, POISON = 0xC3 };

/* A struct with something behind it that is the program's own. */
#define WITH_NEIGHBOUR(type)      \
  struct {                        \
    type it;                      \
    unsigned char behind[BEHIND]; \
  }

static int faults;

static void expect(int condition, const char *what) {
  if (condition) return;
  printf("%s\n", what);
  ++faults;
}

static int untouched(const unsigned char *behind) {
  for (int i = 0; i < BEHIND; ++i) {
    if (behind[i] != POISON) return 0;
  }
  return 1;
}

int main(void) {
  static WITH_NEIGHBOUR(gpumem_ctx_options) options;
  static WITH_NEIGHBOUR(gpumem_device_info) device;
  static WITH_NEIGHBOUR(gpumem_pointer_info) pointer;
  static WITH_NEIGHBOUR(gpumem_managed_info) managed;
  static WITH_NEIGHBOUR(gpumem_memory_stats_info) stats;
  gpumem_ctx *ctx = NULL;
  void *p = NULL;
  memset(&options, POISON, sizeof options);
  memset(&device, POISON, sizeof device);
  memset(&pointer, POISON, sizeof pointer);
  memset(&managed, POISON, sizeof managed);
  memset(&stats, POISON, sizeof stats);

  expect(gpumem_ctx_options_init(&options.it, sizeof options.it) == GPUMEM_OK, "gpumem_ctx_options_init failed");
  expect(gpumem_device_info_init(&device.it, sizeof device.it) == GPUMEM_OK, "gpumem_device_info_init failed");
  expect(gpumem_pointer_info_init(&pointer.it, sizeof pointer.it) == GPUMEM_OK, "gpumem_pointer_info_init failed");
  expect(gpumem_managed_info_init(&managed.it, sizeof managed.it) == GPUMEM_OK, "gpumem_managed_info_init failed");
  expect(gpumem_memory_stats_init(&stats.it, sizeof stats.it) == GPUMEM_OK, "gpumem_memory_stats_init failed");

  options.it.device = GPUMEM_DEVICE_HOST;
  expect(gpumem_ctx_create(&options.it, &ctx) == GPUMEM_OK, "gpumem_ctx_create failed");
  expect(gpumem_alloc_managed(ctx, 4096, &p) == GPUMEM_OK, "gpumem_alloc_managed failed");
  expect(gpumem_ctx_device(ctx, &device.it) == GPUMEM_OK, "gpumem_ctx_device failed");
  expect(gpumem_pointer_query(ctx, p, &pointer.it) == GPUMEM_OK, "gpumem_pointer_query failed");
  expect(gpumem_managed_query(ctx, p, 4096, &managed.it) == GPUMEM_OK, "gpumem_managed_query failed");
  expect(gpumem_memory_stats(ctx, &stats.it) == GPUMEM_OK, "gpumem_memory_stats failed");
  expect(device.it.backend == GPUMEM_BACKEND_HOST, "the device is not the host");
  expect(pointer.it.kind == GPUMEM_MEMORY_MANAGED && pointer.it.ours == 1,
         "the memory is not the library's managed memory");
  expect(managed.it.host_bytes == 4096, "the memory is not on the host");
  expect(stats.it.managed_bytes == 4096, "4096 bytes are not live");
  expect(gpumem_free(ctx, p) == GPUMEM_OK, "gpumem_free failed");
  expect(gpumem_ctx_destroy(ctx) == GPUMEM_OK, "gpumem_ctx_destroy failed");

  expect(untouched(options.behind), "something was written behind gpumem_ctx_options");
  expect(untouched(device.behind), "something was written behind gpumem_device_info");
  expect(untouched(pointer.behind), "something was written behind gpumem_pointer_info");
  expect(untouched(managed.behind), "something was written behind gpumem_managed_info");
  expect(untouched(stats.behind), "something was written behind gpumem_memory_stats_info");
  printf("sizes %zu, %zu, %zu, %zu, %zu: %d faults\n", sizeof options.it, sizeof device.it, sizeof pointer.it,
         sizeof managed.it, sizeof stats.it, faults);
  return faults != 0;
}
