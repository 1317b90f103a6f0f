// A long random trace of allocations and frees that nearly fills the device: nothing runs out, and what the pool takes stays close to
// what is live.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "support/contexts.hpp"
#include "support/numbers.hpp"
#include "support/random.hpp"
#include "tests/gpu/gpu_fixture.hpp"

namespace gpumem::gpu_tests {
namespace {

using gpumem_test::log_uniform;
using gpumem_test::Random;
using gpumem_test::stats_of;

struct Live {
  void* p;
  int64_t bytes;
};

TEST_F(Gpu, ALongTraceNeverRunsOutAndWastesLittle) {
  constexpr int kOperations = 1000000;
  std::size_t free = 0;
  std::size_t total = 0;
  ASSERT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  const auto most = static_cast<int64_t>(total / 4 * 3);
  if (static_cast<std::size_t>(most) > free / 20 * 19)
    GTEST_SKIP() << "others use the device: " << free << " bytes are free";
  Random random(7);
  std::vector<Live> live;
  int64_t bytes = 0;
  for (int i = 0; i < kOperations; ++i) {
    const int64_t wanted = log_uniform(8, int64_t{256} << 20, random);
    // As many frees as allocations in the long run, and more of them where there is no room.
    if (!live.empty() && (bytes + wanted > most || random.below(1000) < 450)) {
      std::swap(live[random.below(live.size())], live.back());
      ASSERT_EQ(gpumem_free_async(ctx, live.back().p, nullptr), GPUMEM_OK) << i << ": " << last_error();
      bytes -= live.back().bytes;
      live.pop_back();
      continue;
    }
    void* p = nullptr;
    ASSERT_EQ(gpumem_alloc_async(ctx, wanted, 256, nullptr, &p), GPUMEM_OK)
        << "operation " << i << ", " << wanted << " bytes with " << bytes << " live: " << last_error();
    live.push_back({p, wanted});
    bytes += wanted;
  }
  const gpumem_memory_stats_info stats = stats_of(ctx);
  const double ratio =
      static_cast<double>(stats.device_reserved_peak_bytes) / static_cast<double>(stats.device_peak_bytes);
  std::printf("peak of live %.1f GB, of reserved %.1f GB: %.3f; %lld of %lld allocations from the pool\n",
              static_cast<double>(stats.device_peak_bytes) * 1e-9,
              static_cast<double>(stats.device_reserved_peak_bytes) * 1e-9, ratio,
              static_cast<long long>(stats.device_hits), static_cast<long long>(stats.device_allocations));
  EXPECT_LE(ratio, 1.25);
  for (const Live& block : live) ASSERT_EQ(gpumem_free_async(ctx, block.p, nullptr), GPUMEM_OK);
  ASSERT_EQ(gpumem_ctx_synchronize(ctx), GPUMEM_OK);
  ASSERT_EQ(gpumem_memory_trim(ctx, 0), GPUMEM_OK);
  EXPECT_EQ(stats_of(ctx).device_reserved_bytes, 0);
}

}  // namespace
}  // namespace gpumem::gpu_tests
