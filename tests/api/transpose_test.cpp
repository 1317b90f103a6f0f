// gpumem_transpose: a known matrix and the outcomes. Shapes, alignments and kinds of memory are the conformance tests'
// matter.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "support/contexts.hpp"
#include "support/memory.hpp"
#include "support/pages.hpp"

namespace gpumem_test {
namespace {

class Transpose : public OnEachContext {};

TEST_P(Transpose, AKnownMatrix) {
  // 2 x 3 with one element between the rows, to 3 x 2 with two.
  const std::vector<int32_t> src = {1, 2, 3, -1, 4, 5, 6, -1};
  std::vector<int32_t> dst(12, -9);
  ASSERT_TRUE(ok(gpumem_transpose(ctx, 4, 2, 3, src.data(), 4, dst.data(), 4)));
  EXPECT_EQ(dst, (std::vector<int32_t>{1, 4, -9, -9, 2, 5, -9, -9, 3, 6, -9, -9}));
}

TEST_P(Transpose, BetweenEveryTwoKinds) {
  constexpr int64_t kRows = 33, kCols = 65;
  std::vector<int64_t> matrix(kRows * kCols);
  std::iota(matrix.begin(), matrix.end(), 1000);
  for (const gpumem_memory_kind from : kAllKinds) {
    for (const gpumem_memory_kind to : kAllKinds) {
      GuardedBuffer src(ctx, from, matrix.size() * 8);
      GuardedBuffer dst(ctx, to, matrix.size() * 8, 8);
      src.set(matrix.data());
      ASSERT_TRUE(ok(gpumem_transpose(ctx, 8, kRows, kCols, src.data(), kCols, dst.data(), kRows)));
      for (int64_t i = 0; i < kRows; ++i) {
        for (int64_t j = 0; j < kCols; ++j) std::memcpy(dst.image() + (j * kRows + i) * 8, &matrix[i * kCols + j], 8);
      }
      EXPECT_TRUE(dst.intact()) << kind_name(from) << " to " << kind_name(to);
      EXPECT_TRUE(src.intact()) << kind_name(from) << " to " << kind_name(to);
    }
  }
}

// A matrix that crosses the link in pieces, of which the last are too small for the variant.
TEST_P(Transpose, AForcedVariantFitsEveryPieceOrNothingIsWritten) {
  if (GetParam() != On::cuda) GTEST_SKIP() << "nothing crosses a link on the host";
  struct Case {
    const char* variant;
    int64_t rows, cols;
  };
  for (const Case& c : {Case{"tile_realigned", 4100, 1000}, Case{"tile_vec16", 128, 16386}}) {
    const int64_t bytes = c.rows * c.cols * 4;
    const Bytes matrix(static_cast<size_t>(bytes), 1);
    Bytes back(matrix.size());
    const Memory there(ctx, GPUMEM_MEMORY_DEVICE, static_cast<size_t>(bytes));
    const char before = 2;
    ASSERT_TRUE(ok(gpumem_fill(ctx, there.get(), &before, 1, bytes)));
    ASSERT_TRUE(ok(gpumem_variant_force(ctx, GPUMEM_FAMILY_TRANSPOSE, c.variant)));
    const gpumem_status status = gpumem_transpose(ctx, 4, c.rows, c.cols, matrix.data(), c.cols, there.get(), c.rows);
    EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, status, {c.variant}));
    ASSERT_TRUE(ok(gpumem_copy(ctx, back.data(), there.get(), bytes)));
    EXPECT_TRUE(back == Bytes(matrix.size(), 2)) << c.variant;
  }
}

TEST_P(Transpose, OfNothingIsANoOp) {
  Bytes src(64, 1), dst(64, 2);
  EXPECT_TRUE(ok(gpumem_transpose(ctx, 4, 0, 4, src.data(), 4, dst.data(), 4)));
  EXPECT_TRUE(ok(gpumem_transpose(ctx, 4, 4, 0, src.data(), 4, dst.data(), 4)));
  EXPECT_TRUE(ok(gpumem_transpose(ctx, 4, 0, 0, src.data(), 0, dst.data(), 0)));
  EXPECT_EQ(dst, Bytes(64, 2));
}

// The leading dimension of a single row is never used, however large.
TEST_P(Transpose, ASingleRowMayHaveAnyLeadingDimension) {
  const std::vector<int64_t> row = {1, 2, 3};
  std::vector<int64_t> out(3);
  const int64_t huge = int64_t{1} << 61;
  EXPECT_TRUE(ok(gpumem_transpose(ctx, 8, 1, 3, row.data(), huge, out.data(), 1)));
  EXPECT_EQ(out, row);
  int64_t one = 0;
  EXPECT_TRUE(ok(gpumem_transpose(ctx, 8, 1, 1, row.data(), huge, &one, huge)));
  EXPECT_EQ(one, 1);
  for (const gpumem_memory_kind kind : kAllKinds) {
    const Memory device(ctx, kind, 24);
    EXPECT_TRUE(ok(gpumem_transpose(ctx, 8, 1, 3, row.data(), huge, device.get(), 1))) << kind_name(kind);
    EXPECT_TRUE(ok(gpumem_transpose(ctx, 8, 3, 1, device.get(), 1, out.data(), huge))) << kind_name(kind);
    EXPECT_EQ(out, row) << kind_name(kind);
  }
}

TEST_P(Transpose, RefusesBadArguments) {
  Bytes src(1024, 1), dst(1024, 2);
  const auto call = [&](int64_t element, int64_t rows, int64_t cols, int64_t src_ld, int64_t dst_ld) {
    return gpumem_transpose(ctx, element, rows, cols, src.data(), src_ld, dst.data(), dst_ld);
  };
  for (const int64_t element : {int64_t{0}, int64_t{3}, int64_t{-4}, int64_t{5}, int64_t{32}, INT64_MAX, INT64_MIN}) {
    EXPECT_TRUE(
        refused(GPUMEM_INVALID_ARGUMENT, call(element, 4, 4, 4, 4), {"element_bytes", std::to_string(element)}));
  }
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call(4, -1, 4, 4, 4), {"rows", "-1"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call(4, 4, -2, 4, 4), {"cols", "-2"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call(4, 4, 5, 4, 4), {"src_ld", "4", "5"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call(4, 6, 4, 4, 5), {"dst_ld", "5", "6"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call(4, 4, 4, -4, 4), {"src_ld", "-4"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call(4, 4, 4, 4, INT64_MIN), {"dst_ld"}));
  EXPECT_TRUE(
      refused(GPUMEM_INVALID_ARGUMENT, gpumem_transpose(ctx, 4, 4, 4, nullptr, 4, dst.data(), 4), {"src", "NULL"}));
  EXPECT_TRUE(
      refused(GPUMEM_INVALID_ARGUMENT, gpumem_transpose(ctx, 4, 4, 4, src.data(), 4, nullptr, 4), {"dst", "NULL"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_transpose(nullptr, 4, 4, 4, src.data(), 4, dst.data(), 4),
                      {"ctx", "NULL"}));
  EXPECT_EQ(dst, Bytes(1024, 2));
}

TEST_P(Transpose, RefusesProductsThatLeaveInt64) {
  Bytes src(1024, 1), dst(1024, 2);
  struct Shape {
    int64_t element, rows, cols, src_ld, dst_ld;
  };
  constexpr int64_t kHuge = int64_t{1} << 40;
  for (const Shape& s : {Shape{1, kHuge, kHuge, kHuge, kHuge}, Shape{16, 2, INT64_MAX / 16 + 1, INT64_MAX / 16 + 1, 2},
                         Shape{16, 4, 4, INT64_MAX, 4}, Shape{16, 4, 4, 4, INT64_MAX}, Shape{8, 3, 3, INT64_MAX / 8, 3},
                         Shape{1, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX}}) {
    EXPECT_TRUE(gives(GPUMEM_INVALID_ARGUMENT,
                      gpumem_transpose(ctx, s.element, s.rows, s.cols, src.data(), s.src_ld, dst.data(), s.dst_ld)));
  }
  EXPECT_EQ(dst, Bytes(1024, 2));
}

TEST_P(Transpose, RangesEndWithTheirAllocation) {
  for (const gpumem_memory_kind kind : {GPUMEM_MEMORY_PINNED, GPUMEM_MEMORY_DEVICE, GPUMEM_MEMORY_MANAGED}) {
    const Memory src(ctx, kind, 400);
    const Memory dst(ctx, kind, 400);
    const Bytes twos(400, 2);
    upload(ctx, src.get(), twos.data(), 400);
    upload(ctx, dst.get(), twos.data(), 400);
    const auto call = [&](int64_t rows, int64_t cols, int64_t src_ld, int64_t dst_ld) {
      return gpumem_transpose(ctx, 4, rows, cols, src.get(), src_ld, dst.get(), dst_ld);
    };
    EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, call(10, 10, 11, 10), {"src"}));
    EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, call(10, 10, 10, 11), {"dst"}));
    EXPECT_TRUE(gives(GPUMEM_OUT_OF_RANGE, call(101, 1, 1, 101)));
    EXPECT_TRUE(ok(call(4, 10, 30, 4))) << "the last row of src ends with its columns, not its leading dimension";
    EXPECT_TRUE(ok(call(10, 4, 10, 30))) << "the last row of dst ends with its columns, not its leading dimension";
    EXPECT_TRUE(ok(call(10, 10, 10, 10)));
    EXPECT_EQ(download(ctx, dst.get(), 400), twos);
  }
}

TEST_P(Transpose, PartialOverlapIsAMistake) {
  for (const gpumem_memory_kind kind : kAllKinds) {
    GuardedBuffer buffer(ctx, kind, 4096);
    char* const p = buffer.data();
    const auto call = [&](const void* src, void* dst) { return gpumem_transpose(ctx, 4, 16, 16, src, 16, dst, 16); };
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call(p, p + 4), {"src", "dst"})) << kind_name(kind);
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call(p + 1023, p), {"src", "dst"})) << kind_name(kind);
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call(p, p + 1023), {"src", "dst"})) << kind_name(kind);
    EXPECT_TRUE(buffer.intact()) << kind_name(kind);
    EXPECT_TRUE(ok(call(p, p + 1024))) << kind_name(kind) << ": neighbours do not overlap";
  }
}

TEST_P(Transpose, BlocksOfColumnsOfOneMatrixDoNotOverlap) {
  // 5 x 7 in the first columns of a 7 x 16 matrix goes to 7 x 5 from column 8 on.
  constexpr int64_t kPitch = 16, kRows = 5, kCols = 7;
  for (const gpumem_memory_kind kind : kAllKinds) {
    std::vector<int32_t> matrix(7 * kPitch);
    std::iota(matrix.begin(), matrix.end(), 100);
    GuardedBuffer buffer(ctx, kind, matrix.size() * 4, 8);
    buffer.set(matrix.data());
    char* const p = buffer.data();
    ASSERT_TRUE(ok(gpumem_transpose(ctx, 4, kRows, kCols, p, kPitch, p + 8 * 4, kPitch))) << kind_name(kind);
    for (int64_t i = 0; i < kRows; ++i) {
      for (int64_t j = 0; j < kCols; ++j) matrix[j * kPitch + 8 + i] = matrix[i * kPitch + j];
    }
    std::memcpy(buffer.image(), matrix.data(), matrix.size() * 4);
    EXPECT_TRUE(buffer.intact()) << kind_name(kind);
    // One column further left the two share a column; and with another pitch their elements meet somewhere.
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_transpose(ctx, 4, kRows, kCols, p, kPitch, p + 6 * 4, kPitch),
                        {"src", "dst"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT,
                        gpumem_transpose(ctx, 4, kRows, kCols, p, kPitch, p + 8 * 4, kPitch - 2), {"src", "dst"}));
    EXPECT_TRUE(buffer.intact()) << kind_name(kind);
  }
}

TEST_P(Transpose, UnreadableAndUnwritableMemoryIsRefused) {
  FencedPages pages(4096);
  Bytes heap(4096, 2);
  const auto call = [&](const void* src, void* dst) { return gpumem_transpose(ctx, 4, 8, 8, src, 8, dst, 8); };
  EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, call(pages.end(), heap.data()), {"src"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, call(heap.data(), pages.end()), {"dst"}));
  for (const gpumem_status tail : {call(pages.end() - 255, heap.data()), call(heap.data(), pages.end() - 255)}) {
    EXPECT_TRUE(tail == GPUMEM_OUT_OF_RANGE || tail == GPUMEM_INVALID_POINTER) << gpumem_status_name(tail);
  }
  pages.protect(PROT_READ);
  EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, call(heap.data(), pages.first()), {"dst"}));
  EXPECT_EQ(heap, Bytes(4096, 2));
}

INSTANTIATE_TEST_SUITE_P(On, Transpose, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
