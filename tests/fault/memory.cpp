// What is done with memory beside the operations.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>

#include "fault/tour.hpp"

namespace gpumem_test {
namespace {

constexpr int64_t kBytes = 3 << 20;
alignas(4096) char g_registered[8192];

void run_pool(Tour& tour, gpumem_ctx* ctx) noexcept {
  gpumem_stream* stream = nullptr;
  tour.good("gpumem_stream_create", gpumem_stream_create(ctx, &stream));
  for (const int64_t bytes : {int64_t{100}, kBytes}) {
    void* p = ctx;
    if (!tour.good("gpumem_alloc_async", gpumem_alloc_async(ctx, bytes, 512, stream, &p))) {
      if (p != nullptr) tour.wrong("gpumem_alloc_async: *p after a failure");
      continue;
    }
    tour.good("gpumem_memory_label", gpumem_memory_label(ctx, p, "a block"));
    tour.good("gpumem_memory_used_on", gpumem_memory_used_on(ctx, p, nullptr));
    if (!tour.good("gpumem_free_async", gpumem_free_async(ctx, p, stream))) tour.free(ctx, p);
  }
  tour.good("gpumem_memory_trim", gpumem_memory_trim(ctx, 0));
  if (tour.setting().debug_memory == 1) tour.good("gpumem_memory_check", gpumem_memory_check(ctx));
  gpumem_memory_stats_info stats;
  tour.sound("gpumem_memory_stats_init", gpumem_memory_stats_init(&stats, sizeof stats));
  tour.sound("gpumem_memory_stats", gpumem_memory_stats(ctx, &stats));
  tour.good("gpumem_stream_destroy", gpumem_stream_destroy(stream));
}

void run_host_and_managed(Tour& tour, gpumem_ctx* ctx) noexcept {
  if (tour.good("gpumem_host_register", gpumem_host_register(ctx, g_registered, sizeof g_registered))) {
    if (!tour.good("gpumem_host_unregister", gpumem_host_unregister(ctx, g_registered))) {
      tour.good("gpumem_host_unregister", gpumem_host_unregister(ctx, g_registered));
    }
  }
  void* p = ctx;
  if (!tour.good("gpumem_alloc_managed", gpumem_alloc_managed(ctx, kBytes, &p))) return;
  tour.good("gpumem_managed_advise", gpumem_managed_advise(ctx, p, kBytes, GPUMEM_ADVISE_READ_MOSTLY, 0));
  tour.good("gpumem_managed_prefetch_async",
            gpumem_managed_prefetch_async(ctx, p, kBytes, GPUMEM_DEVICE_HOST, nullptr));
  gpumem_managed_info info;
  tour.sound("gpumem_managed_info_init", gpumem_managed_info_init(&info, sizeof info));
  tour.good("gpumem_managed_query", gpumem_managed_query(ctx, p, kBytes, &info));
  tour.free(ctx, p);
}

void run_trace(Tour& tour, gpumem_ctx* ctx) noexcept {
  char path[] = "/tmp/gpumem-fault-XXXXXX";
  const int file = mkstemp(path);
  if (file < 0) return;
  close(file);
  if (tour.good("gpumem_memory_trace", gpumem_memory_trace(ctx, path), GPUMEM_FILE_ERROR)) {
    void* p = nullptr;
    if (tour.good("gpumem_alloc_device", gpumem_alloc_device(ctx, 100, &p))) tour.free(ctx, p);
    tour.good("gpumem_memory_trace", gpumem_memory_trace(ctx, nullptr), GPUMEM_FILE_ERROR);
  }
  unlink(path);
}

void run_profile(Tour& tour, gpumem_ctx* ctx) noexcept {
  char path[] = "/tmp/gpumem-fault-XXXXXX";
  const int file = mkstemp(path);
  if (file < 0) return;
  close(file);
  tour.good("gpumem_profile_begin", gpumem_profile_begin(ctx, 4));
  const unsigned char pattern = 1;
  for (int64_t n = 1; n < 7; ++n) tour.good("gpumem_fill", gpumem_fill(ctx, g_registered, &pattern, 1, n));
  int64_t count = 0;
  tour.good("gpumem_profile_report", gpumem_profile_report(ctx, nullptr, 0, &count));
  tour.good("gpumem_profile_write", gpumem_profile_write(ctx, GPUMEM_FORMAT_TRACE, path), GPUMEM_FILE_ERROR);
  tour.sound("gpumem_profile_end", gpumem_profile_end(ctx));
  unlink(path);  // a tuning replaces no file of another kind
  tour.good("gpumem_tuning_save", gpumem_tuning_save(ctx, path), GPUMEM_FILE_ERROR);
  tour.good("gpumem_tuning_load", gpumem_tuning_load(ctx, path, nullptr, nullptr), GPUMEM_FILE_ERROR);
  unlink(path);
}

// They tell of a failure by NULL alone. Freed twice: what could not be freed at first is then, and what was is a mistake that they
// bear.
void run_plugins(Tour& tour) noexcept {
  const int32_t device = tour.setting().device == GPUMEM_DEVICE_HOST ? GPUMEM_DEVICE_HOST : 0;
  void* p = gpumem_torch_malloc(1000, device, nullptr);
  gpumem_torch_record_stream(p, nullptr);
  for (int i = 0; i < 2; ++i) gpumem_torch_free(p, 1000, device, nullptr);
  gpumem_torch_begin_pool(device, 0, 1, nullptr);
  p = gpumem_torch_malloc(1000, device, nullptr);
  gpumem_torch_end_pool(device, 0, 1);
  for (int i = 0; i < 2; ++i) gpumem_torch_free(p, 1000, device, nullptr);
  gpumem_torch_release_pool(device, 0, 1);
  p = gpumem_torch_segment_malloc(1000, device, nullptr);
  for (int i = 0; i < 2; ++i) gpumem_torch_segment_free(p, 1000, device, nullptr);
  p = gpumem_cupy_malloc(nullptr, 1000, device);
  for (int i = 0; i < 2; ++i) gpumem_cupy_free(nullptr, p, device);
  gpumem_torch_empty_cache();
}

}  // namespace

void run_memory(Tour& tour, gpumem_ctx* ctx) noexcept {
  run_pool(tour, ctx);
  run_host_and_managed(tour, ctx);
  run_trace(tour, ctx);
  run_profile(tour, ctx);
  run_plugins(tour);
}

}  // namespace gpumem_test
