// Sorts in a graph, and of more elements than 32 bits count.
#include <algorithm>

#include "tests/gpu/captured.hpp"

namespace gpumem::gpu_tests {
namespace {

using SortOnGpu = ReduceCapture;

TEST_F(SortOnGpu, AGraphSortsAnew) {
  constexpr int64_t kN = 100'000;
  Captured captured(ctx);
  auto* const keys = device<float>(kN * 4);
  auto* const sorted = device<float>(kN * 4);
  auto* const order = device<int64_t>(kN * 8);
  captured.begin();
  ASSERT_EQ(gpumem_sort_async(ctx, GPUMEM_F32, keys, kN, 0, sorted, order, GPUMEM_I64, captured.stream), GPUMEM_OK)
      << last_error();
  ASSERT_EQ(gpumem_sort_async(ctx, GPUMEM_F32, keys, kN, 1, keys, nullptr, GPUMEM_I64, captured.stream), GPUMEM_OK)
      << last_error();
  captured.end();
  std::vector<float> numbers(kN);
  std::vector<float> got(kN);
  std::vector<int64_t> places(kN);
  for (const int64_t step : {7919, 104729, 3}) {
    for (int64_t i = 0; i < kN; ++i) numbers[static_cast<size_t>(i)] = static_cast<float>(i * step % kN) - 50'000;
    put(keys, numbers.data(), kN * 4);
    captured.launch();
    captured.wait();
    put(got.data(), sorted, kN * 4);
    put(places.data(), order, kN * 8);
    for (size_t i = 0; i < kN; ++i) ASSERT_EQ(got[i], numbers[static_cast<size_t>(places[i])]) << i;
    std::sort(numbers.begin(), numbers.end());
    EXPECT_EQ(got, numbers);
    put(got.data(), keys, kN * 4);
    std::reverse(numbers.begin(), numbers.end());
    EXPECT_EQ(got, numbers);
  }
}

// Keys are bytes that repeat the same 16. Byte r of value v was at 16 r + v.
void sort_many(gpumem_ctx* ctx, int64_t n, gpumem_dtype order_type, int64_t order_bytes,
               void (*put)(void*, const void*, size_t)) {
  void* memory[3] = {};
  const int64_t sizes[3] = {n, n, n * order_bytes};
  bool enough = true;
  for (int i = 0; i < 3; ++i) enough = enough && gpumem_alloc_device(ctx, sizes[i], &memory[i]) == GPUMEM_OK;
  unsigned char pattern[16];
  for (int i = 0; i < 16; ++i) pattern[i] = static_cast<unsigned char>(255 - i);
  gpumem_status status = GPUMEM_OUT_OF_MEMORY;
  if (enough) {
    EXPECT_EQ(gpumem_fill(ctx, memory[0], pattern, 16, n / 16), GPUMEM_OK);
    status = gpumem_sort(ctx, GPUMEM_U8, memory[0], n, 1, memory[1], memory[2], order_type);
  }
  if (status == GPUMEM_OK) {
    for (const int64_t i : {int64_t{0}, int64_t{1}, n / 16 - 1, n / 16, n / 2 + 12345, n - 1}) {
      unsigned char key = 0;
      int64_t place = 0;
      put(&key, static_cast<char*>(memory[1]) + i, 1);
      put(&place, static_cast<char*>(memory[2]) + i * order_bytes, static_cast<size_t>(order_bytes));
      EXPECT_EQ(key, 255 - i / (n / 16)) << i;
      EXPECT_EQ(place, i % (n / 16) * 16 + i / (n / 16)) << i;
    }
  }
  for (void* p : memory) EXPECT_EQ(gpumem_free(ctx, p), GPUMEM_OK);
  if (status == GPUMEM_OUT_OF_MEMORY) GTEST_SKIP() << "the device has too little memory for " << n << " keys";
  EXPECT_EQ(status, GPUMEM_OK) << last_error();
}

// 64 GB of memory, and 120 GB.
TEST_F(SortOnGpu, OfAsManyAsThirtyTwoBitsCount) { sort_many(ctx, (int64_t{1} << 32) - 16, GPUMEM_U32, 4, put); }
TEST_F(SortOnGpu, OfMoreThanThirtyTwoBitsCount) { sort_many(ctx, (int64_t{1} << 32) + 4096, GPUMEM_I64, 8, put); }

}  // namespace
}  // namespace gpumem::gpu_tests
