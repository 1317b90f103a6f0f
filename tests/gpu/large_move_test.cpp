// What moves bytes, beyond 2^32 of them: index arithmetic that 32 bits would break, by every variant that takes so many.
#include <numeric>

#include "tests/gpu/device_memory.hpp"
#include "tests/gpu/large_fixture.hpp"

namespace gpumem::gpu_tests {
namespace {

constexpr int64_t kFar = int64_t{1} << 32;

class LargeMove : public Large {
 protected:
  void TearDown() override {
    free_blocks();
    Large::TearDown();
  }

  unsigned char* block(int64_t bytes) {
    void* p = nullptr;
    EXPECT_EQ(gpumem_alloc_device(ctx, bytes, &p), GPUMEM_OK) << last_error();
    if (p != nullptr) blocks_.push_back(p);
    return static_cast<unsigned char*>(p);
  }
  unsigned char* hashed(int64_t bytes) {
    unsigned char* p = block(bytes);
    fill_hash_bytes(p, bytes);
    return p;
  }

  // Done on return: the library waits for no stream of the program's when it frees memory.
  static void set_all(void* p, int value, int64_t bytes) {
    EXPECT_EQ(cudaMemset(p, value, static_cast<size_t>(bytes)), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }

  void free_blocks() {
    for (void* p : blocks_) EXPECT_EQ(gpumem_free(ctx, p), GPUMEM_OK) << last_error();
    blocks_.clear();
  }

  // dst begins as something else before each run, and is as `moved` says after it.
  template <class Run>
  void expect_moved(gpumem_family family, unsigned char* dst, int64_t bytes, const Moved& moved, const Run& run) {
    for_each_variant(family, [&](const char* name) {
      set_all(dst, 0xee, bytes);
      const gpumem_status status = run();
      EXPECT_EQ(status == GPUMEM_OK ? wrong_elements(dst, moved) : 0, 0) << name;
      return status;
    });
  }

 private:
  std::vector<void*> blocks_;
};

TEST_F(LargeMove, Transpose) {
  const int64_t rows = 65536 + 48;
  const int64_t cols = 65536 + 32;
  unsigned char* src = hashed(rows * cols);
  unsigned char* dst = block(rows * cols);
  expect_moved(GPUMEM_FAMILY_TRANSPOSE, dst, rows * cols, {1, 2, {cols, rows}, {1, cols}, {rows, 1}},
               [&] { return gpumem_transpose(ctx, 1, rows, cols, src, cols, dst, rows); });
}

TEST_F(LargeMove, TransposeOfNarrowMatrices) {
  const int64_t rows = kFar / 3 + 17;
  for (const bool inverse : {false, true}) {
    const int64_t r = inverse ? 3 : rows;
    const int64_t c = inverse ? rows : 3;
    unsigned char* src = hashed(rows * 3);
    unsigned char* dst = block(rows * 3);
    expect_moved(GPUMEM_FAMILY_TRANSPOSE, dst, rows * 3, {1, 2, {c, r}, {1, c}, {r, 1}},
                 [&] { return gpumem_transpose(ctx, 1, r, c, src, c, dst, r); });
  }
}

// A number of rows that 32 bits would take for 0.
TEST_F(LargeMove, TransposeOfTwoTimes2To32) {
  unsigned char* src = hashed(kFar * 2);
  unsigned char* dst = block(kFar * 2);
  expect_moved(GPUMEM_FAMILY_TRANSPOSE, dst, kFar * 2, {1, 2, {2, kFar}, {1, 2}, {kFar, 1}},
               [&] { return gpumem_transpose(ctx, 1, kFar, 2, src, 2, dst, kFar); });
}

TEST_F(LargeMove, TransposeInPlace) {
  const int64_t side = 65536 + 16;
  unsigned char* data = block(side * side);
  for_each_variant(GPUMEM_FAMILY_TRANSPOSE, [&](const char* name) {
    fill_hash_bytes(data, side * side);
    const gpumem_status status = gpumem_transpose(ctx, 1, side, side, data, side, data, side);
    EXPECT_EQ(status == GPUMEM_OK ? wrong_elements(data, {1, 2, {side, side}, {1, side}, {side, 1}}) : 0, 0) << name;
    return status;
  });
}

// Long sides of more bytes than the driver takes for a pitch.
TEST_F(LargeMove, TransposeOfNarrowMatricesInPlace) {
  const int64_t n = (int64_t{1} << 31) + 12345;
  unsigned char* data = block(n * 3);
  for (const bool inverse : {false, true}) {
    const int64_t rows = inverse ? 3 : n;
    const int64_t cols = inverse ? n : 3;
    for_each_variant(GPUMEM_FAMILY_TRANSPOSE, [&](const char* name) {
      fill_hash_bytes(data, n * 3);
      const gpumem_status status = gpumem_transpose(ctx, 1, rows, cols, data, cols, data, rows);
      EXPECT_EQ(status == GPUMEM_OK ? wrong_elements(data, {1, 2, {cols, rows}, {1, cols}, {rows, 1}}) : 0, 0) << name;
      return status;
    });
  }
}

// A prime number of rows, at two offsets, elements of every size: what is left of tiles of every form.
TEST_F(LargeMove, TransposeOfOddExtents) {
  const int64_t side = 10007;
  unsigned char* src = hashed((side * side + 1) * 16);
  unsigned char* dst = block((side * side + 1) * 16);
  for (const int64_t e : {1, 2, 4, 8, 16}) {
    for (const int64_t offset : {0, 1}) {
      expect_moved(GPUMEM_FAMILY_TRANSPOSE, dst, (side * side + 1) * e,
                   {static_cast<int>(e), 2, {side, side}, {1, side}, {side, 1}, offset},
                   [&] { return gpumem_transpose(ctx, e, side, side, src + offset * e, side, dst, side); });
    }
  }
}

TEST_F(LargeMove, PermuteToTheReverse) {
  const int64_t extents[] = {1031, 2053, 2039};
  const auto [a, b, c] = extents;
  unsigned char* src = hashed(a * b * c);
  unsigned char* dst = block(a * b * c);
  const int32_t order[] = {2, 1, 0};
  expect_moved(GPUMEM_FAMILY_PERMUTE, dst, a * b * c, {1, 3, {c, b, a}, {1, c, b * c}, {b * a, a, 1}},
               [&] { return gpumem_permute(ctx, 1, 3, extents, order, src, nullptr, dst, nullptr); });
}

TEST_F(LargeMove, PermuteOfLinesAndOfShortAxes) {
  const int64_t extents[] = {9, 257, 2003, 929};
  const auto [a, b, c, d] = extents;
  const int64_t bytes = a * b * c * d;
  unsigned char* src = hashed(bytes);
  unsigned char* dst = block(bytes);
  const int32_t lines[] = {2, 0, 1, 3};
  expect_moved(GPUMEM_FAMILY_PERMUTE, dst, bytes,
               {1, 4, {c, a, b, d}, {d, b * c * d, c * d, 1}, {a * b * d, b * d, d, 1}},
               [&] { return gpumem_permute(ctx, 1, 4, extents, lines, src, nullptr, dst, nullptr); });
  const int32_t mixed[] = {3, 1, 2, 0};
  expect_moved(GPUMEM_FAMILY_PERMUTE, dst, bytes,
               {1, 4, {d, b, c, a}, {1, c * d, d, b * c * d}, {b * c * a, c * a, a, 1}},
               [&] { return gpumem_permute(ctx, 1, 4, extents, mixed, src, nullptr, dst, nullptr); });
}

TEST_F(LargeMove, CopyOfOneRange) {
  const int64_t bytes = kFar + 12345;
  unsigned char* src = hashed(bytes);
  unsigned char* dst = block(bytes);
  expect_moved(GPUMEM_FAMILY_COPY, dst, bytes, {1, 1, {bytes}, {1}, {1}},
               [&] { return gpumem_copy(ctx, dst, src, bytes); });
  expect_moved(GPUMEM_FAMILY_COPY, dst, bytes, {1, 1, {bytes - 3}, {1}, {1}, 3},
               [&] { return gpumem_copy(ctx, dst, src + 3, bytes - 3); });
}

TEST_F(LargeMove, CopyOfRows) {
  for (const int64_t width : {50, 1000, 60001}) {
    const int64_t rows = kFar / width + 7;
    const int64_t src_pitch = width + 13;
    const int64_t dst_pitch = width + 6;
    unsigned char* src = hashed(rows * src_pitch);
    unsigned char* dst = block(rows * dst_pitch);
    expect_moved(GPUMEM_FAMILY_COPY, dst, rows * dst_pitch, {1, 2, {rows, width}, {src_pitch, 1}, {dst_pitch, 1}},
                 [&] { return gpumem_copy_2d(ctx, dst, dst_pitch, src, src_pitch, width, rows); });
    free_blocks();
  }
}

// More than 2^31 words, and words of 16 bytes beyond 2^32 bytes.
TEST_F(LargeMove, Boxes) {
  for (const int64_t width : {1000, 65536}) {
    const int64_t rows = kFar / width + 7;
    const int64_t pitch = width + (width % 16 == 0 ? 16 : 13);
    unsigned char* src = hashed(rows * pitch);
    unsigned char* dst = block(rows * width);
    const int64_t extents[] = {rows, width};
    const int64_t strides[] = {pitch, 1};
    const void* const from = src;
    void* const to = dst;
    expect_moved(GPUMEM_FAMILY_COPY_BOXES, dst, rows * width, {1, 2, {rows, width}, {pitch, 1}, {width, 1}},
                 [&] { return gpumem_copy_boxes(ctx, 1, 2, 1, extents, &from, strides, &to, nullptr); });
    free_blocks();
  }
}

TEST_F(LargeMove, FillOfRows) {
  const int64_t width = 1000;
  const int64_t rows = kFar / width + 7;
  const int64_t pitch = width + 8;
  unsigned char* dst = block(rows * pitch);
  for_each_variant(GPUMEM_FAMILY_FILL, [&](const char* name) {
    set_all(dst, 1, rows * pitch);
    const gpumem_status status = gpumem_fill_2d(ctx, dst, pitch, "\x05\x02", 2, width / 2, rows);
    uint64_t sum = 0;
    if (status != GPUMEM_OK) return status;
    EXPECT_EQ(gpumem_reduce(ctx, GPUMEM_U8, GPUMEM_SUM, dst, rows * pitch, 1, &sum), GPUMEM_OK) << last_error();
    EXPECT_EQ(sum, static_cast<uint64_t>(rows * (width / 2 * 7 + 8))) << name;
    return status;
  });
}

// The rows in reverse, by 32- and 64-bit indices.
TEST_F(LargeMove, RowsByIndex) {
  const int64_t width = 1003;
  const int64_t pitch = 1005;
  const int64_t n = kFar / width + 5;
  unsigned char* src = hashed(n * pitch);
  unsigned char* dst = block(n * pitch);
  std::vector<uint32_t> narrow(static_cast<size_t>(n));
  std::iota(narrow.rbegin(), narrow.rend(), 0u);
  const std::vector<int64_t> wide(narrow.begin(), narrow.end());
  const Moved reversed{1, 2, {n, width}, {-pitch, 1}, {pitch, 1}, (n - 1) * pitch};
  for (const gpumem_dtype type : {GPUMEM_U32, GPUMEM_I64}) {
    const void* index = type == GPUMEM_U32 ? static_cast<const void*>(narrow.data()) : wide.data();
    expect_moved(GPUMEM_FAMILY_GATHER, dst, n * pitch, reversed,
                 [&] { return gpumem_gather(ctx, width, src, n, pitch, type, index, n, dst, pitch); });
    expect_moved(GPUMEM_FAMILY_SCATTER, dst, n * pitch, reversed,
                 [&] { return gpumem_scatter(ctx, width, src, pitch, type, index, n, dst, n, pitch); });
  }
}

// Every second of more than 2^32 rows, and its place.
TEST_F(LargeMove, RowsByMask) {
  const int64_t n = kFar + 12346;
  unsigned char* src = hashed(n);
  unsigned char* mask = block(n);
  unsigned char* dst = block(n / 2);
  ASSERT_EQ(gpumem_fill(ctx, mask, "\x00\x09", 2, n / 2), GPUMEM_OK) << last_error();
  int64_t kept = 0;
  expect_moved(GPUMEM_FAMILY_SELECT, dst, n / 2, {1, 1, {n / 2}, {2}, {1}, 1},
               [&] { return gpumem_select(ctx, 1, src, 1, mask, n, dst, n / 2, 1, &kept); });
  EXPECT_EQ(kept, n / 2);
  free_blocks();
  mask = block(n);
  auto* const places = reinterpret_cast<int64_t*>(block(n / 2 * 8));
  ASSERT_EQ(gpumem_fill(ctx, mask, "\x00\x09", 2, n / 2), GPUMEM_OK) << last_error();
  ASSERT_EQ(gpumem_select_places(ctx, mask, n, GPUMEM_I64, places, n / 2, &kept), GPUMEM_OK) << last_error();
  EXPECT_EQ(kept, n / 2);
  int64_t sum = 0;
  ASSERT_EQ(gpumem_reduce_i64(ctx, GPUMEM_SUM, places, n / 2, 1, &sum), GPUMEM_OK) << last_error();
  EXPECT_EQ(sum, n / 2 * (n / 2));  // of the first odd numbers
}

// Sizes at which both filters hit pixels: the same, each pixel twice (nearest only), and every third.
TEST_F(LargeMove, Resize) {
  const int64_t side = 66000;
  unsigned char* large = hashed(side * side);
  unsigned char* other = block(side * side);
  const auto resize = [this](gpumem_filter filter, const void* src, int64_t from, void* dst, int64_t to) {
    return gpumem_resize_2d(ctx, filter, GPUMEM_U8, 1, src, from, from, from, dst, to, to, to);
  };
  const auto expect_by_default = [&](const char* what, const Moved& moved, gpumem_status status) {
    EXPECT_EQ(status, GPUMEM_OK) << last_error();
    EXPECT_EQ(wrong_elements(other, moved), 0) << what;
  };
  const int64_t third = side / 3;
  for (const gpumem_filter filter : {GPUMEM_FILTER_NEAREST, GPUMEM_FILTER_BILINEAR}) {
    const char* name = filter == GPUMEM_FILTER_NEAREST ? "nearest" : "bilinear";
    set_all(other, 0xee, side * side);
    expect_by_default(name, {1, 2, {side, side}, {side, 1}, {side, 1}}, resize(filter, large, side, other, side));
    expect_by_default(name, {1, 2, {third, third}, {3 * side, 3}, {third, 1}, side + 1},
                      resize(filter, large, side, other, third));
  }
  const int64_t half = side / 2;
  expect_by_default("twice", {1, 4, {half, 2, half, 2}, {half, 0, 1, 0}, {2 * side, side, 2, 1}},
                    resize(GPUMEM_FILTER_NEAREST, large, half, other, side));
}

// Ones, so that every value is exact: 2 * 1 + 3 * 1, written over an operand.
TEST_F(LargeMove, Axpby) {
  const int64_t n = kFar + 12345;
  unsigned char* p = block(n * 4);
  auto* z = reinterpret_cast<float*>(p);
  for_each_variant(GPUMEM_FAMILY_AXPBY, [&](const char* name) {
    EXPECT_EQ(gpumem_fill(ctx, z, "\x00\x00\x80\x3f", 4, n), GPUMEM_OK) << last_error();
    const gpumem_status status = gpumem_axpby_f32(ctx, 2.0f, z, 3.0f, z, z, n);
    if (status != GPUMEM_OK) return status;
    double least_and_largest[2] = {};
    EXPECT_EQ(gpumem_reduce(ctx, GPUMEM_F32, GPUMEM_MIN_MAX, z, n, 1, least_and_largest), GPUMEM_OK) << last_error();
    EXPECT_EQ(least_and_largest[0], 5.0) << name;
    EXPECT_EQ(least_and_largest[1], 5.0) << name;
    return status;
  });
}

TEST_F(LargeMove, Convert) {
  const int64_t n = kFar + 12345;
  unsigned char* src = block(n);
  unsigned char* dst = block(n * 2);
  EXPECT_EQ(gpumem_fill(ctx, src, "\xf9", 1, n), GPUMEM_OK) << last_error();
  for_each_variant(GPUMEM_FAMILY_CONVERT, [&](const char* name) {
    set_all(dst, 0xee, n * 2);
    const gpumem_status status = gpumem_convert(ctx, GPUMEM_I8, src, GPUMEM_F16, dst, n);
    if (status != GPUMEM_OK) return status;
    double least_and_largest[2] = {};
    EXPECT_EQ(gpumem_reduce(ctx, GPUMEM_F16, GPUMEM_MIN_MAX, dst, n, 1, least_and_largest), GPUMEM_OK) << last_error();
    EXPECT_EQ(least_and_largest[0], -7.0) << name;
    EXPECT_EQ(least_and_largest[1], -7.0) << name;
    return status;
  });
}

}  // namespace
}  // namespace gpumem::gpu_tests
