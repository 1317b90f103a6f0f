// Reductions beyond 2^32: index arithmetic that 32 bits would break.
#include <string>
#include <vector>

#include "tests/gpu/device_memory.hpp"
#include "tests/gpu/large_fixture.hpp"

namespace gpumem::gpu_tests {
namespace {

TEST_F(Large, ReduceBeyond32BitsOfElements) {
  const int64_t n = (int64_t{1} << 32) + 12345;
  void* p = nullptr;
  ASSERT_EQ(gpumem_alloc_device(ctx, n * 4, &p), GPUMEM_OK) << last_error();
  auto* x = static_cast<int32_t*>(p);
  fill_value(x, n, -3);
  fill_value(x + n - 1, 1, -1000);
  // With no variant forced, then by each that takes so many.
  std::vector<const char*> names = {nullptr};
  int32_t count = 0;
  ASSERT_EQ(gpumem_variant_count(GPUMEM_FAMILY_REDUCE, &count), GPUMEM_OK);
  for (int32_t i = 0; i < count; ++i) {
    ASSERT_EQ(gpumem_variant_name(GPUMEM_FAMILY_REDUCE, i, &names.emplace_back()), GPUMEM_OK);
  }
  int fitted = 0;
  for (const char* name : names) {
    const std::string variant = name == nullptr ? "no variant forced" : name;
    ASSERT_EQ(gpumem_variant_force(ctx, GPUMEM_FAMILY_REDUCE, name), GPUMEM_OK);
    int64_t value = 0;
    const gpumem_status sum = gpumem_reduce_i32(ctx, GPUMEM_SUM, x, n, 1, &value);
    EXPECT_TRUE(sum == GPUMEM_OK || (name != nullptr && sum == GPUMEM_UNSUPPORTED)) << variant << ": " << last_error();
    if (sum == GPUMEM_OK) {
      EXPECT_EQ(value, -3 * (n - 1) - 1000) << variant;
      ++fitted;
    }
    const gpumem_status min = gpumem_reduce_i32(ctx, GPUMEM_MIN, x, n, 1, &value);
    EXPECT_TRUE(min == GPUMEM_OK || (name != nullptr && min == GPUMEM_UNSUPPORTED)) << variant << ": " << last_error();
    if (min == GPUMEM_OK) {
      EXPECT_EQ(value, -1000) << variant;
    }
  }
  EXPECT_GE(fitted, 2);
  ASSERT_EQ(gpumem_variant_force(ctx, GPUMEM_FAMILY_REDUCE, nullptr), GPUMEM_OK);
  EXPECT_EQ(gpumem_free(ctx, p), GPUMEM_OK);
}

// Segments that are cut into runs, more of them than there is room to note: offsets that rise and fall name the same elements again
// and again. What was wrong is said, and nothing of it is left for the next call.
TEST_F(Large, SegmentsThatNameTheSameElementsAgain) {
  const int64_t n = 3 * 65536 + 1;
  const int64_t segments = 40000;
  void* p = nullptr;
  ASSERT_EQ(gpumem_alloc_device(ctx, n * 4, &p), GPUMEM_OK) << last_error();
  fill_value(static_cast<int32_t*>(p), n, 1);
  std::vector<int64_t> offsets(segments + 1);
  for (int64_t i = 0; i <= segments; ++i) offsets[i] = i % 2 == 0 ? 0 : n;
  std::vector<int64_t> sums(segments, -1);
  EXPECT_EQ(gpumem_reduce_segments(ctx, GPUMEM_I32, GPUMEM_SUM, p, n, offsets.data(), segments, sums.data()),
            GPUMEM_OUT_OF_RANGE);
  for (int64_t i = 0; i < segments; ++i) ASSERT_EQ(sums[i], i % 2 == 0 ? n : 0) << "segment " << i;
  for (int again = 0; again < 2; ++again) {
    const int64_t sound[] = {0, 10, n, n};
    sums.assign(3, -1);
    ASSERT_EQ(gpumem_reduce_segments(ctx, GPUMEM_I32, GPUMEM_SUM, p, n, sound, 3, sums.data()), GPUMEM_OK)
        << last_error();
    EXPECT_EQ(sums, (std::vector<int64_t>{10, n - 10, 0}));
  }
  EXPECT_EQ(gpumem_free(ctx, p), GPUMEM_OK);
}

// Bytes, beyond 32 bits of them: sums, and a place near the end.
TEST_F(Large, ReductionsOfBytesBeyond32Bits) {
  const int64_t n = (int64_t{1} << 32) + 12345;
  void* p = nullptr;
  ASSERT_EQ(gpumem_alloc_device(ctx, n, &p), GPUMEM_OK) << last_error();
  auto* x = static_cast<unsigned char*>(p);
  ASSERT_EQ(gpumem_fill(ctx, x, "\x03", 1, n), GPUMEM_OK);
  ASSERT_EQ(gpumem_fill(ctx, x + n - 5, "\xc8", 1, 1), GPUMEM_OK);  // 200
  ASSERT_EQ(gpumem_fill(ctx, x + n - 3, "\xc8", 1, 1), GPUMEM_OK);
  uint64_t value = 0;
  int64_t index = 0;
  EXPECT_EQ(gpumem_reduce(ctx, GPUMEM_U8, GPUMEM_SUM, x, n, 1, &value), GPUMEM_OK) << last_error();
  EXPECT_EQ(value, 3 * static_cast<uint64_t>(n) + 2 * 197);
  EXPECT_EQ(gpumem_reduce(ctx, GPUMEM_U8, GPUMEM_MAX, x, n, 1, &value), GPUMEM_OK) << last_error();
  EXPECT_EQ(value, 200u);
  EXPECT_EQ(gpumem_argreduce(ctx, GPUMEM_U8, GPUMEM_MAX, x, n, 1, &value, &index), GPUMEM_OK) << last_error();
  EXPECT_EQ(index, n - 5);
  EXPECT_EQ(gpumem_argreduce(ctx, GPUMEM_U8, GPUMEM_MAX, x + 1, n / 2, 2, &value, &index), GPUMEM_OK) << last_error();
  EXPECT_EQ(index, 0) << "the marks lie at even places: " << value;
  EXPECT_EQ(gpumem_argreduce(ctx, GPUMEM_U8, GPUMEM_MAX, x, n / 2 + 1, 2, &value, &index), GPUMEM_OK) << last_error();
  EXPECT_EQ(index, (n - 5) / 2);
  // Lines whose elements lie more than 2^32 apart.
  uint64_t lines[3] = {};
  const int64_t far = int64_t{1} << 32;
  EXPECT_EQ(gpumem_reduce_axis(ctx, GPUMEM_U8, GPUMEM_SUM, GPUMEM_AXIS_ROWS, x, 2, 12345, far, 1, 0, lines), GPUMEM_OK);
  EXPECT_EQ(lines[0], 3u * 12345);
  EXPECT_EQ(lines[1], 3u * 12345 + 2 * 197);
  EXPECT_EQ(gpumem_reduce_axis(ctx, GPUMEM_U8, GPUMEM_MAX, GPUMEM_AXIS_COLS, x + 12340, 2, 3, far, 1, 0, lines),
            GPUMEM_OK);
  EXPECT_EQ(lines[0], 200u);
  EXPECT_EQ(lines[1], 3u);
  EXPECT_EQ(lines[2], 200u);
  int64_t places[3] = {};
  EXPECT_EQ(gpumem_argreduce_axis(ctx, GPUMEM_U8, GPUMEM_MAX, GPUMEM_AXIS_ROWS, x, 1, n, n, 1, 0, lines, places),
            GPUMEM_OK);
  EXPECT_EQ(lines[0], 200u);
  EXPECT_EQ(places[0], n - 5);
  EXPECT_EQ(gpumem_argreduce_axis(ctx, GPUMEM_U8, GPUMEM_MAX, GPUMEM_AXIS_COLS, x, n, 1, 1, 1, 0, lines, places),
            GPUMEM_OK);
  EXPECT_EQ(places[0], n - 5);
  const int64_t offsets[] = {0, far + 12340, far + 12341, n};
  EXPECT_EQ(gpumem_reduce_segments(ctx, GPUMEM_U8, GPUMEM_SUM, x, n, offsets, 3, lines), GPUMEM_OK) << last_error();
  EXPECT_EQ(lines[0], 3 * static_cast<uint64_t>(far + 12340));
  EXPECT_EQ(lines[1], 200u);
  EXPECT_EQ(lines[2], 3u * 3 + 200);
  EXPECT_EQ(gpumem_free(ctx, p), GPUMEM_OK);
}

// More elements than 32 bits count: by tables, and by a sort of the elements in words of 8 bytes.
TEST_F(Large, ReductionsByIndexBeyond32Bits) {
  const int64_t n = (int64_t{1} << 32) + 12345;
  void* index = nullptr;
  void* x = nullptr;
  if (gpumem_alloc_device(ctx, 4 * n, &index) != GPUMEM_OK || gpumem_alloc_device(ctx, n, &x) != GPUMEM_OK) {
    GTEST_SKIP() << last_error();
  }
  const int32_t bins[] = {2, 0, 1, 2};
  const signed char ones[] = {1};
  ASSERT_EQ(gpumem_fill(ctx, index, bins, 16, n / 4), GPUMEM_OK) << last_error();
  ASSERT_EQ(gpumem_fill(ctx, static_cast<char*>(index) + n / 4 * 16, bins + 1, 4, n % 4), GPUMEM_OK) << last_error();
  ASSERT_EQ(gpumem_fill(ctx, x, ones, 1, n), GPUMEM_OK) << last_error();
  const std::vector<int64_t> expected = {n / 4 + n % 4, n / 4, 2 * (n / 4)};
  std::vector<int64_t> found(3);
  EXPECT_EQ(gpumem_reduce_by_index(ctx, GPUMEM_I64, GPUMEM_SUM, nullptr, GPUMEM_I32, index, n, found.data(), 3),
            GPUMEM_OK)
      << last_error();
  EXPECT_EQ(found, expected);
  const gpumem_status sorted =
      gpumem_reduce_by_index(ctx, GPUMEM_I8, GPUMEM_SUM_SQUARES, x, GPUMEM_I32, index, n, found.data(), 3);
  if (sorted != GPUMEM_OUT_OF_MEMORY) {
    EXPECT_EQ(sorted, GPUMEM_OK) << last_error();
    EXPECT_EQ(found, expected);
  }
  EXPECT_EQ(gpumem_free(ctx, x), GPUMEM_OK);
  EXPECT_EQ(gpumem_free(ctx, index), GPUMEM_OK);
}

// Ones: every partial sum is exact, so a leaf that is left out or counted twice would show.
TEST_F(Large, FloatingPointSumsBeyond32Bits) {
  const int64_t n = (int64_t{1} << 32) + 12345;
  void* p = nullptr;
  ASSERT_EQ(gpumem_alloc_device(ctx, n * 2, &p), GPUMEM_OK) << last_error();
  ASSERT_EQ(gpumem_fill(ctx, p, "\x80\x3f", 2, n), GPUMEM_OK);  // 1 in bf16
  double sum = 0;
  EXPECT_EQ(gpumem_reduce(ctx, GPUMEM_BF16, GPUMEM_SUM, p, n, 1, &sum), GPUMEM_OK) << last_error();
  EXPECT_EQ(sum, static_cast<double>(n));
  EXPECT_EQ(gpumem_reduce(ctx, GPUMEM_BF16, GPUMEM_SUM_SQUARES, static_cast<char*>(p) + 2, n - 1, 1, &sum), GPUMEM_OK);
  EXPECT_EQ(sum, static_cast<double>(n - 1));
  EXPECT_EQ(gpumem_free(ctx, p), GPUMEM_OK);
}

// So many rows, of a warp each, that a warp takes several.
TEST_F(Large, ManyRowsShorterThanALeaf) {
  constexpr int64_t kRows = 100001, kCols = 300;
  std::vector<float> x(kRows * kCols);
  std::vector<double> want(kRows);
  for (int64_t row = 0; row < kRows; ++row) {
    for (int64_t col = 0; col < kCols; ++col) {
      const int64_t v = (row * 7919 + col * col) % 1009;
      x[static_cast<size_t>(row * kCols + col)] = static_cast<float>(v);
      want[static_cast<size_t>(row)] += static_cast<double>(v);
    }
  }
  void* p = nullptr;
  ASSERT_EQ(gpumem_alloc_device(ctx, kRows * kCols * 4, &p), GPUMEM_OK) << last_error();
  ASSERT_EQ(gpumem_copy(ctx, p, x.data(), kRows * kCols * 4), GPUMEM_OK) << last_error();
  std::vector<double> sums(kRows);
  EXPECT_EQ(
      gpumem_reduce_axis(ctx, GPUMEM_F32, GPUMEM_SUM, GPUMEM_AXIS_ROWS, p, kRows, kCols, kCols, 1, 0, sums.data()),
      GPUMEM_OK)
      << last_error();
  EXPECT_TRUE(sums == want);
  EXPECT_EQ(gpumem_free(ctx, p), GPUMEM_OK);
}

}  // namespace
}  // namespace gpumem::gpu_tests
