// The ladder of textbook reductions: every rung gives the sum of i32 on the device, for lengths that its blocks divide and
// lengths that they do not, and leaves its input alone; it takes nothing else.
#include <algorithm>
#include <cstring>
#include <set>
#include <vector>

#include "support/memory.hpp"
#include "support/numbers.hpp"
#include "support/reductions.hpp"
#include "tests/gpu/gpu_fixture.hpp"

namespace gpumem::gpu_tests {
namespace {

constexpr const char* kLadder[] = {"neighbored",   "neighbored_packed", "interleaved", "unroll2",
                                   "unroll8_warp", "unroll8_complete",  "strided",     "coalesced"};

class Textbook : public Gpu {
 protected:
  void TearDown() override {
    if (ctx != nullptr) {
      EXPECT_EQ(gpumem_variant_force(ctx, GPUMEM_FAMILY_REDUCE, nullptr), GPUMEM_OK);
    }
    Gpu::TearDown();
  }
  gpumem_status force(const char* name) { return gpumem_variant_force(ctx, GPUMEM_FAMILY_REDUCE, name); }
};

TEST_F(Textbook, EveryRungStandsInTheTable) {
  const std::vector<std::string> names = gpumem_test::variant_names(GPUMEM_FAMILY_REDUCE);
  for (const char* rung : kLadder) EXPECT_EQ(std::count(names.begin(), names.end(), rung), 1) << rung;
}

TEST_F(Textbook, SumsOfAnyLength) {
  std::set<int64_t> lengths = {1, 2, 3, 31, 32, 33, 100, 255, 256, 257, 1000, 1025, 4095, 65537, 1000003};
  for (const int64_t block : {64, 128, 256, 512, 1024}) {
    for (const int64_t times : {1, 2, 3, 4, 7, 8, 9, 16, 17}) {
      for (const int64_t off : {-1, 0, 1}) lengths.insert(block * times + off);
    }
  }
  if (gpumem_test::quick_run()) lengths = {1, 33, 256, 1025, 4097, 65537};
  gpumem_test::Random random(11);
  const gpumem_test::Numbers kinds[] = {gpumem_test::Numbers::small, gpumem_test::Numbers::full,
                                        gpumem_test::Numbers::extreme};
  for (const int64_t n : lengths) {
    const auto numbers = gpumem_test::random_elements(GPUMEM_I32, kinds[n % 3], n, 1, random);
    const gpumem_test::Outcome expected =
        gpumem_test::reference(gpumem_test::Reduction{GPUMEM_I32, GPUMEM_SUM, numbers.data(), n});
    // Guarded at both ends: what a rung reads too much would be in its sum, what it writes would be seen.
    for (const size_t offset : {0, 4}) {
      gpumem_test::GuardedBuffer x(ctx, GPUMEM_MEMORY_DEVICE, numbers.size(), offset);
      x.set(numbers.data());
      for (const char* rung : kLadder) {
        ASSERT_EQ(force(rung), GPUMEM_OK) << rung << ": " << last_error();
        const gpumem_test::Reduction r{GPUMEM_I32, GPUMEM_SUM, x.data(), n};
        gpumem_test::Explained explained;
        const gpumem_status fits = gpumem_test::explain(ctx, gpumem_test::line_of(ctx, r), explained);
        if (fits == GPUMEM_UNSUPPORTED && offset != 0) continue;  // a rung may want aligned data, and say so
        EXPECT_EQ(fits, GPUMEM_OK) << rung << ", n " << n << ": " << last_error();
        EXPECT_EQ(explained.variant, rung);
        EXPECT_TRUE(gpumem_test::same(expected, gpumem_test::outcome_of(ctx, r)))
            << rung << ", n " << n << ", offset " << offset;
        uint64_t enqueued = 0;
        const gpumem_test::Memory out(ctx, GPUMEM_MEMORY_PINNED, 8);
        EXPECT_EQ(gpumem_test::run_async(ctx, r, out.get(), nullptr, nullptr), GPUMEM_OK) << rung << last_error();
        EXPECT_EQ(gpumem_stream_synchronize(ctx, nullptr), GPUMEM_OK) << last_error();
        std::memcpy(&enqueued, out.get(), 8);
        EXPECT_EQ(enqueued, expected.words[0]) << rung << ", n " << n << ", enqueued";
        EXPECT_TRUE(x.intact()) << rung << ", n " << n << ": the input changed";
        if (HasFailure()) return;
      }
    }
  }
}

TEST_F(Textbook, TakeSumsOfI32Alone) {
  const gpumem_test::Memory x(ctx, GPUMEM_MEMORY_DEVICE, 8192);
  const gpumem_test::Bytes zeros(8192);
  gpumem_test::upload(ctx, x.get(), zeros.data(), zeros.size());
  for (const char* rung : kLadder) {
    ASSERT_EQ(force(rung), GPUMEM_OK);
    for (const gpumem_dtype dtype : gpumem_test::kAllTypes) {
      for (const gpumem_reduce_op op : gpumem_test::kAllOps) {
        const bool sum = op == GPUMEM_SUM || op == GPUMEM_SUM_ABS || op == GPUMEM_SUM_SQUARES || op == GPUMEM_SUM_CUBES;
        if (!gpumem_test::has(dtype, op) || (dtype == GPUMEM_I32 && sum)) continue;
        uint64_t words[2] = {77, 77};
        const gpumem_test::Reduction r{dtype, op, x.get(), 500, 1, x.get(), 1};
        EXPECT_TRUE(gpumem_test::refused(GPUMEM_UNSUPPORTED, gpumem_test::run(ctx, r, words), {rung})) << describe(r);
        EXPECT_TRUE(words[0] == 77 && words[1] == 77) << describe(r);
      }
    }
  }
}

}  // namespace
}  // namespace gpumem::gpu_tests
