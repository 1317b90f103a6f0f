// Contexts of the kinds that this machine has, and the fixture for tests that run on each of them.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <ostream>
#include <string>
#include <vector>

#include "gpumem.h"
#include "support/status.hpp"

namespace gpumem_test {

enum class On { host, cuda };

inline int32_t cuda_devices() {
  int32_t count = 0;
  return gpumem_device_count(&count) == GPUMEM_OK ? count : 0;
}

// Why there is no CUDA context to test on, in the library's own words.
inline std::string no_cuda_reason() {
  gpumem_device_info info;
  if (gpumem_device_info_init(&info, sizeof info) != GPUMEM_OK) return last_error();
  const gpumem_status status = gpumem_device_query(GPUMEM_DEVICE_CUDA, &info);
  return status == GPUMEM_OK ? "" : std::string(gpumem_status_name(status)) + ": " + last_error();
}

inline std::vector<On> contexts_here() {
  if (cuda_devices() > 0) return {On::host, On::cuda};
  return {On::host};
}

inline gpumem_ctx_options default_options() {
  gpumem_ctx_options options;
  EXPECT_TRUE(ok(gpumem_ctx_options_init(&options, sizeof options)));
  return options;
}

inline gpumem_ctx_options options_for(On on, int32_t host_threads = 0) {
  gpumem_ctx_options options = default_options();
  options.device = on == On::host ? GPUMEM_DEVICE_HOST : GPUMEM_DEVICE_CUDA;
  options.host_threads = host_threads;
  return options;
}

// The same on the machine's n-th device, as far as it has so many: members of a test then have several.
inline gpumem_ctx_options options_for_device(On on, int32_t n, int32_t host_threads = 0) {
  gpumem_ctx_options options = options_for(on, host_threads);
  if (on == On::cuda) options.device = n % cuda_devices();
  return options;
}

// A context that is destroyed, with a check that it could be, at the end of its scope.
class Context {
 public:
  explicit Context(On on, int32_t host_threads = 0) : Context(options_for(on, host_threads)) {}
  explicit Context(const gpumem_ctx_options& options) { EXPECT_TRUE(ok(gpumem_ctx_create(&options, &ctx_))); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { destroy(); }

  void destroy() {
    EXPECT_TRUE(ok(gpumem_ctx_destroy(ctx_)));
    ctx_ = nullptr;
  }
  operator gpumem_ctx*() const { return ctx_; }  // NOLINT(google-explicit-constructor): stands for the handle

 private:
  gpumem_ctx* ctx_ = nullptr;
};

inline gpumem_memory_stats_info stats_of(gpumem_ctx* ctx) {
  gpumem_memory_stats_info stats;
  EXPECT_TRUE(ok(gpumem_memory_stats_init(&stats, sizeof stats)));
  EXPECT_TRUE(ok(gpumem_memory_stats(ctx, &stats)));
  return stats;
}

inline int64_t live_blocks(const gpumem_memory_stats_info& stats) {
  return stats.device_blocks + stats.pinned_blocks + stats.managed_blocks;
}

inline bool on_emulated_device(gpumem_ctx* ctx) {
  gpumem_device_info device;
  EXPECT_TRUE(ok(gpumem_device_info_init(&device, sizeof device)));
  EXPECT_TRUE(ok(gpumem_ctx_device(ctx, &device)));
  return std::strstr(device.name, "emulated") != nullptr;
}

inline std::string name_of(On on) { return on == On::host ? "host" : "cuda"; }

inline void PrintTo(On on, std::ostream* out) { *out << name_of(on); }

// A test that runs on each kind of context. At its end nothing that it allocated may be left.
class OnEachContext : public testing::TestWithParam<On> {
 public:
  static std::string name(const testing::TestParamInfo<On>& info) { return name_of(info.param); }

 protected:
  void TearDown() override { EXPECT_EQ(live_blocks(stats_of(ctx)), 0) << "the test left memory behind"; }

  bool on_cuda() const { return GetParam() == On::cuda; }
  Context ctx{GetParam()};
};

}  // namespace gpumem_test
