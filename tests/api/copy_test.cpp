// gpumem_copy_2d, gpumem_copy_3d and gpumem_fill_2d: known blocks and the outcomes. Shapes, alignments and kinds of memory are the
// conformance tests' matter.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "api/gate.hpp"
#include "support/contexts.hpp"
#include "support/explain.hpp"
#include "support/memory.hpp"
#include "support/pages.hpp"

namespace gpumem_test {
namespace {

struct Rows {
  int64_t dst_pitch = 0, dst_slice = 0, src_pitch = 0, src_slice = 0, row_bytes = 0, rows = 1, slices = 1;
};
using Call = std::function<gpumem_status(gpumem_ctx*, void*, const void*, const Rows&)>;

gpumem_status after(gpumem_ctx* ctx, gpumem_status status) {
  return status != GPUMEM_OK ? status : gpumem_stream_synchronize(ctx, nullptr);
}

// Both forms of each function.
const std::vector<Call> kCopies2d = {
    [](gpumem_ctx* ctx, void* dst, const void* src, const Rows& r) {
      return gpumem_copy_2d(ctx, dst, r.dst_pitch, src, r.src_pitch, r.row_bytes, r.rows);
    },
    [](gpumem_ctx* ctx, void* dst, const void* src, const Rows& r) {
      return after(ctx, gpumem_copy_2d_async(ctx, dst, r.dst_pitch, src, r.src_pitch, r.row_bytes, r.rows, nullptr));
    }};
const std::vector<Call> kCopies3d = {
    [](gpumem_ctx* ctx, void* dst, const void* src, const Rows& r) {
      return gpumem_copy_3d(ctx, dst, r.dst_pitch, r.dst_slice, src, r.src_pitch, r.src_slice, r.row_bytes, r.rows,
                            r.slices);
    },
    [](gpumem_ctx* ctx, void* dst, const void* src, const Rows& r) {
      return after(ctx, gpumem_copy_3d_async(ctx, dst, r.dst_pitch, r.dst_slice, src, r.src_pitch, r.src_slice,
                                             r.row_bytes, r.rows, r.slices, nullptr));
    }};

std::vector<Call> all_copies() {
  std::vector<Call> all = kCopies2d;
  all.insert(all.end(), kCopies3d.begin(), kCopies3d.end());
  return all;
}

class Copies : public OnEachContext {
 protected:
  Bytes a = Bytes(1024, 1);
  Bytes b = Bytes(1024, 2);
};

TEST_P(Copies, ABlockOfAMatrix) {
  // 2 rows of 3 out of a matrix with rows of 5, into one with rows of 4.
  const std::vector<int32_t> src = {0, 1, 2, 3, 9, 5, 6, 7, 8, 9};
  for (const Call& copy : all_copies()) {
    std::vector<int32_t> dst(8, -1);
    ASSERT_TRUE(ok(copy(ctx, dst.data(), src.data() + 1, {16, 0, 20, 0, 12, 2})));
    EXPECT_EQ(dst, (std::vector<int32_t>{1, 2, 3, -1, 6, 7, 8, -1}));
  }
}

TEST_P(Copies, ABlockOfAStackBetweenEveryTwoKinds) {
  // 3 slices of 4 rows of 5 out of 4 x 6 x 9 bytes, into rows 7 apart and slices 40 apart.
  constexpr Rows kRows{7, 40, 9, 54, 5, 4, 3};
  Bytes stack(4 * 6 * 9);
  std::iota(stack.begin(), stack.end(), static_cast<unsigned char>(0));
  for (const Call& copy : kCopies3d) {
    for (const gpumem_memory_kind from : kAllKinds) {
      for (const gpumem_memory_kind to : kAllKinds) {
        GuardedBuffer src(ctx, from, stack.size());
        GuardedBuffer dst(ctx, to, 2 * 40 + 3 * 7 + 5, 3);
        src.set(stack.data());
        ASSERT_TRUE(ok(copy(ctx, dst.data(), src.data() + 2, kRows))) << kind_name(from) << " to " << kind_name(to);
        for (int64_t s = 0; s < 3; ++s) {
          for (int64_t r = 0; r < 4; ++r) std::memcpy(dst.image() + s * 40 + r * 7, &stack[2 + s * 54 + r * 9], 5);
        }
        EXPECT_TRUE(dst.intact()) << kind_name(from) << " to " << kind_name(to);
        EXPECT_TRUE(src.intact()) << kind_name(from) << " to " << kind_name(to);
      }
    }
  }
}

TEST_P(Copies, OfNothingAreNoOps) {
  for (const Call& copy : all_copies()) {
    EXPECT_TRUE(ok(copy(ctx, nullptr, nullptr, {8, 64, 8, 64, 0, 4})));
    EXPECT_TRUE(ok(copy(ctx, nullptr, nullptr, {8, 64, 8, 64, 8, 0})));
    EXPECT_TRUE(ok(copy(ctx, b.data(), a.data(), {8, 64, 8, 64, 0, 0})));
  }
  for (const Call& copy : kCopies3d) EXPECT_TRUE(ok(copy(ctx, nullptr, nullptr, {8, 64, 8, 64, 8, 4, 0})));
  EXPECT_EQ(b, Bytes(1024, 2));
}

// The pitch of a single row and the distance of a single slice are never used.
TEST_P(Copies, OneRowMayHaveAnyPitch) {
  for (const Call& copy : all_copies()) {
    b = Bytes(1024, 2);
    EXPECT_TRUE(ok(copy(ctx, b.data(), a.data(), {-5, INT64_MIN, INT64_MAX, 0, 8, 1})));
    EXPECT_TRUE(ok(copy(ctx, b.data() + 100, a.data(), {16, -1, 8, INT64_MAX, 8, 2})));
    EXPECT_EQ(std::count(b.begin(), b.end(), 1), 24);
  }
}

TEST_P(Copies, RefuseBadArguments) {
  const auto bad = [&](const std::vector<Call>& copies, const Rows& r, std::initializer_list<std::string> words) {
    for (const Call& copy : copies) {
      EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, copy(ctx, b.data(), a.data(), r), words));
    }
  };
  for (const auto& copies : {kCopies2d, kCopies3d}) {
    bad(copies, {8, 64, 8, 64, -1, 2}, {"row_bytes", "-1"});
    bad(copies, {8, 64, 8, 64, 8, -2}, {"rows", "-2"});
    bad(copies, {8, 64, 8, 64, -8, 0}, {"row_bytes", "-8"});
    bad(copies, {7, 64, 8, 64, 8, 2}, {"dst_pitch_bytes", "7", "row_bytes", "8"});
    bad(copies, {8, 64, 7, 64, 8, 2}, {"src_pitch_bytes", "7", "row_bytes", "8"});
    bad(copies, {-8, 64, 8, 64, 8, 2}, {"dst_pitch_bytes", "-8"});
    bad(copies, {8, 64, INT64_MAX, 64, 8, 3}, {"bytes", "src"});
    bad(copies, {INT64_MAX / 2, 64, 8, 64, 8, 4}, {"bytes", "dst"});
    for (const Call& copy : copies) {
      const Rows sound{8, 64, 16, 64, 8, 4};
      EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, copy(ctx, nullptr, a.data(), sound), {"dst", "NULL"}));
      EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, copy(ctx, b.data(), nullptr, sound), {"src", "NULL"}));
      EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, copy(nullptr, b.data(), a.data(), sound), {"ctx", "NULL"}));
    }
  }
  bad(kCopies3d, {8, 64, 8, 64, 8, 2, -1}, {"slices", "-1"});
  bad(kCopies3d, {8, 15, 8, 64, 8, 2, 2}, {"dst_slice_bytes", "15", "16"});
  bad(kCopies3d, {8, 16, 10, 17, 8, 2, 2}, {"src_slice_bytes", "17", "18"});
  bad(kCopies3d, {8, 7, 8, 8, 8, 1, 2}, {"dst_slice_bytes", "7", "8"});
  bad(kCopies3d, {8, 16, 8, INT64_MAX, 8, 2, 3}, {"bytes", "src"});
  EXPECT_EQ(b, Bytes(1024, 2));
}

TEST_P(Copies, RangesEndWithTheirAllocation) {
  for (const gpumem_memory_kind kind : {GPUMEM_MEMORY_PINNED, GPUMEM_MEMORY_DEVICE, GPUMEM_MEMORY_MANAGED}) {
    const Memory memory(ctx, kind, 100);
    upload(ctx, memory.get(), b.data(), 100);
    for (const Call& copy : kCopies3d) {
      const Rows whole{30, 60, 30, 60, 10, 2, 2};  // 60 + 30 + 10
      EXPECT_TRUE(ok(copy(ctx, memory.get(), a.data(), whole))) << "the last row ends with its bytes, not its pitch";
      EXPECT_TRUE(ok(copy(ctx, b.data(), memory.get(), whole)));
      Rows longer = whole;
      longer.row_bytes = 11;
      EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, copy(ctx, memory.get(), a.data(), longer), {"dst", "101", "100"}));
      EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, copy(ctx, b.data(), memory.get(), longer), {"src", "101", "100"}));
    }
  }
}

// The rows lie on the first and the third of three pages; the second is not there.
TEST_P(Copies, WhatLiesBetweenRowsNeedNotBeMapped) {
  constexpr int64_t kPage = 4096;
  FencedPages pages(3 * kPage);
  std::memset(pages.first(), 5, 100);
  std::memset(pages.end() - kPage, 6, 100);
  ASSERT_EQ(mprotect(pages.first() + kPage, kPage, PROT_NONE), 0);
  for (const gpumem_memory_kind kind : kAllKinds) {
    GuardedBuffer buffer(ctx, kind, 203);
    for (const Call& copy : kCopies2d) {
      ASSERT_TRUE(ok(copy(ctx, buffer.data(), pages.first(), {103, 0, 2 * kPage, 0, 100, 2}))) << kind_name(kind);
      std::memset(buffer.image(), 5, 100);
      std::memset(buffer.image() + 103, 6, 100);
      EXPECT_TRUE(buffer.intact()) << kind_name(kind);
      ASSERT_TRUE(ok(copy(ctx, pages.first(), buffer.data(), {2 * kPage, 0, 103, 0, 100, 2}))) << kind_name(kind);
    }
  }
}

TEST_P(Copies, OverlapIsAMistakeAndTheSameRowsAreNoOp) {
  for (const gpumem_memory_kind kind : kAllKinds) {
    GuardedBuffer buffer(ctx, kind, 1024);
    char* const p = buffer.data();
    for (const Call& copy : all_copies()) {
      EXPECT_TRUE(ok(copy(ctx, p, p, {32, 0, 32, 0, 20, 8}))) << "dst == src";
      EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, copy(ctx, p, p, {33, 0, 32, 0, 20, 8}), {"dst", "src"}));
      EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, copy(ctx, p + 19, p, {32, 0, 32, 0, 20, 8}), {"dst", "src"}));
      EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, copy(ctx, p + 20, p, {33, 0, 32, 0, 12, 8}), {"dst", "src"}));
      EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, copy(ctx, p + 32, p, {32, 0, 32, 0, 32, 8}), {"dst", "src"}));
    }
    for (const Call& copy : kCopies3d) {
      EXPECT_TRUE(ok(copy(ctx, p, p, {32, 300, 32, 300, 20, 8, 2})));
      EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, copy(ctx, p, p, {32, 300, 32, 299, 20, 8, 2}), {"dst", "src"}));
      // The same columns of slices that are no whole number of rows apart are different columns.
      EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, copy(ctx, p + 16, p, {32, 300, 32, 300, 16, 8, 2}), {"dst", "src"}));
    }
    EXPECT_TRUE(buffer.intact());
  }
}

TEST_P(Copies, BlocksOfColumnsOfOneMatrixDoNotOverlap) {
  for (const gpumem_memory_kind kind : kAllKinds) {
    GuardedBuffer buffer(ctx, kind, 1000, 4);
    for (const Call& copy : all_copies()) {
      for (int64_t r = 0; r < 20; ++r) std::memcpy(buffer.image() + r * 50 + 25, buffer.image() + r * 50, 25);
      ASSERT_TRUE(ok(copy(ctx, buffer.data() + 25, buffer.data(), {50, 0, 50, 0, 25, 20}))) << kind_name(kind);
      EXPECT_TRUE(buffer.intact()) << kind_name(kind);
    }
    for (const Call& copy : kCopies3d) {  // rows 0-3 and 5-8 to rows 1-4 and 6-9, other columns
      for (const int64_t r : {0, 1, 2, 3, 5, 6, 7, 8}) {
        std::memcpy(buffer.image() + (r + 1) * 50 + 30, buffer.image() + r * 50 + 3, 20);
      }
      ASSERT_TRUE(ok(copy(ctx, buffer.data() + 80, buffer.data() + 3, {50, 250, 50, 250, 20, 4, 2})));
      EXPECT_TRUE(buffer.intact()) << kind_name(kind);
    }
  }
}

// The host's stores go around the caches here.
TEST_P(Copies, LargerThanTheCaches) {
  constexpr int64_t kWidth = 1003, kRows = 40000;
  const char pattern[2] = {3, 4};
  std::vector<char> src(1010 * kRows), dst(1021 * kRows, 9);
  ASSERT_TRUE(ok(gpumem_fill_2d(ctx, src.data() + 1, 1010, pattern, 1, kWidth, kRows)));
  ASSERT_TRUE(ok(gpumem_fill_2d(ctx, src.data() + 1, 1010, pattern, 2, 300, kRows)));
  ASSERT_TRUE(ok(gpumem_copy_2d(ctx, dst.data() + 2, 1021, src.data() + 1, 1010, kWidth, kRows)));
  for (int64_t r = 0; r < kRows; ++r) {
    const char* row = dst.data() + r * 1021;
    ASSERT_EQ(row[1], 9) << r;
    ASSERT_EQ(row[2 + kWidth], 9) << r;
    ASSERT_EQ(std::memcmp(row + 2, src.data() + 1 + r * 1010, kWidth), 0) << r;
    ASSERT_EQ(row[2] + row[3] + row[2 + kWidth - 1], 3 + 4 + 3) << r;
    ASSERT_EQ(src[static_cast<size_t>(r * 1010)], 0) << r;
  }
}

TEST_P(Copies, EnqueuedOnesLeaveHeapMemoryAloneUntilTheStreamHasCome) {
  Gate gate;
  const Context gated(gate.options(GetParam()));
  constexpr int64_t kLong = int64_t{64} << 20;  // enough for the host backend to share out
  Bytes held(kLong);
  for (const gpumem_memory_kind kind : kAllKinds) {
    const Memory between(gated, kind, 1024);
    std::vector<int32_t> from(200, 1), to(200, 2);
    {
      const OpenAtEnd open(gate);
      gate.close();
      const char pattern = 1;
      ASSERT_TRUE(ok(gpumem_fill_async(gated, held.data(), &pattern, 1, kLong, nullptr)));
      ASSERT_TRUE(gate.reached());
      ASSERT_TRUE(ok(gpumem_copy_2d_async(gated, between.get(), 100, from.data(), 80, 40, 10, nullptr)));
      ASSERT_TRUE(ok(gpumem_copy_3d_async(gated, to.data(), 80, 400, between.get(), 100, 500, 40, 5, 2, nullptr)));
      EXPECT_EQ(to, std::vector<int32_t>(200, 2)) << kind_name(kind);
      from[0] = 7;
    }
    ASSERT_TRUE(ok(gpumem_stream_synchronize(gated, nullptr)));
    for (size_t i = 0; i < 200; ++i) {
      ASSERT_EQ(to[i], i % 20 >= 10 ? 2 : i == 0 ? 7 : 1) << kind_name(kind) << ' ' << i;
    }
  }
}

TEST_P(Copies, ExplainSaysWhoCopies) {
  const Memory device(ctx, GPUMEM_MEMORY_DEVICE, 4096);
  char* const p = device.bytes();
  Explained explained;
  const auto explain_last = [&] {
    ASSERT_TRUE(ok(explain(ctx, last_problem(), explained)));
    EXPECT_EQ(explained.json.member("line").text, last_problem());
  };
  ASSERT_TRUE(ok(gpumem_copy(ctx, p + 2048, p, 100)));
  EXPECT_EQ(last_problem(), "copy bytes=100 src=device dst=device");
  explain_last();
  EXPECT_EQ(explained.variant, on_cuda() ? "vec16" : "host_parallel");
  ASSERT_TRUE(ok(gpumem_copy_2d(ctx, p + 2049, 40, p, 40, 20, 10)));
  EXPECT_EQ(last_problem(), "copy bytes=20 rows=10 src_pitch=40 dst_pitch=40 src=device dst=device dst_misaligned=1");
  explain_last();
  EXPECT_EQ(explained.variant, on_cuda() ? "realigned" : "host_parallel");
  ASSERT_TRUE(ok(gpumem_copy_3d_async(ctx, p + 2048, 40, 401, p, 40, 401, 20, 10, 2, nullptr)));
  EXPECT_EQ(last_problem(),
            "copy bytes=20 rows=10 slices=2 src_pitch=40 src_slice=401 dst_pitch=40 dst_slice=401 "
            "src=device dst=device form=async");
  explain_last();
  ASSERT_TRUE(ok(gpumem_copy_3d(ctx, p, 40, 401, p, 40, 401, 20, 10, 2)));
  EXPECT_NE(last_problem().find("dst=src"), std::string::npos) << last_problem();
  explain_last();
  EXPECT_TRUE(explained.json.member("empty").text == "true") << "dst == src";

  // Over the link the driver copies, or rings: what is forced for other copies says nothing there.
  ASSERT_TRUE(ok(gpumem_variant_force(ctx, GPUMEM_FAMILY_COPY, on_cuda() ? "scalar" : "host_serial")));
  ASSERT_TRUE(ok(gpumem_copy_3d(ctx, b.data(), 40, 401, p, 40, 401, 20, 10, 2)));
  explain_last();
  EXPECT_EQ(explained.variant, on_cuda() ? "rings" : "host_serial");
  if (!on_cuda()) return;
  EXPECT_NE(explained.not_taken["driver"].find("rows with gaps"), std::string::npos) << explained.not_taken["driver"];
  ASSERT_TRUE(ok(gpumem_variant_force(ctx, GPUMEM_FAMILY_COPY, nullptr)));
  ASSERT_TRUE(ok(explain(ctx, "copy bytes=4096 src=pinned dst=device", explained)));
  EXPECT_EQ(explained.variant, "driver");
  ASSERT_TRUE(ok(explain(ctx, "copy bytes=4096 src=mixed dst=device", explained)));
  EXPECT_EQ(explained.variant, "rings");
  ASSERT_TRUE(ok(explain(ctx, "copy bytes=4096 src=pageable dst=device form=async", explained)));
  EXPECT_EQ(explained.variant, "rings");
  ASSERT_TRUE(ok(explain(ctx, "copy bytes=4096 src=device:1 dst=device", explained)));
  EXPECT_EQ(explained.variant, "driver");
  for (const char* forced : {"driver", "rings"}) {
    ASSERT_TRUE(ok(gpumem_variant_force(ctx, GPUMEM_FAMILY_COPY, forced)));
    ASSERT_TRUE(ok(gpumem_copy(ctx, b.data(), p, 40)));
    explain_last();
    EXPECT_EQ(explained.variant, forced);
  }
  EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, gpumem_copy(ctx, p + 2048, p, 100), {"rings", "host memory"}));
}

TEST_P(Copies, AForcedVariantThatDoesNotFitIsRefused) {
  const Memory device(ctx, GPUMEM_MEMORY_DEVICE, 4096);
  const Bytes zeros(4096);
  upload(ctx, device.get(), zeros.data(), zeros.size());
  const char* variant = on_cuda() ? "vec4" : "vec16";
  ASSERT_TRUE(ok(gpumem_variant_force(ctx, GPUMEM_FAMILY_COPY, variant)));
  char* const p = device.bytes();
  EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, gpumem_copy(ctx, p + 2049, p, 100), {variant}));
  EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, gpumem_copy_async(ctx, p + 2049, p, 100, nullptr), {variant}));
  for (const Call& copy : all_copies()) {
    EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, copy(ctx, p + 2048, p, {32, 0, 32, 0, 16, 4}), {variant}));
  }
  ASSERT_TRUE(ok(gpumem_variant_force(ctx, GPUMEM_FAMILY_COPY, nullptr)));
  for (const Call& copy : all_copies()) EXPECT_TRUE(ok(copy(ctx, p + 2048, p, {32, 0, 32, 0, 16, 4})));
}

gpumem_status fill_2d_async(gpumem_ctx* ctx, void* dst, int64_t pitch, const void* pattern, int64_t pattern_bytes,
                            int64_t cols, int64_t rows) {
  return after(ctx, gpumem_fill_2d_async(ctx, dst, pitch, pattern, pattern_bytes, cols, rows, nullptr));
}
constexpr auto kFills = {gpumem_fill_2d, fill_2d_async};

TEST_P(Copies, FilledRowsEachBeginWithThePattern) {
  const char pattern[] = "abcd";
  for (const auto fill : kFills) {
    std::string matrix(30, '.');
    ASSERT_TRUE(ok(fill(ctx, matrix.data() + 1, 10, pattern, 4, 2, 3)));
    EXPECT_EQ(matrix, ".abcdabcd..abcdabcd..abcdabcd.");
    EXPECT_TRUE(ok(fill(ctx, matrix.data(), -3, pattern, 2, 2, 1))) << "the pitch of one row is not used";
    EXPECT_EQ(matrix, "ababdabcd..abcdabcd..abcdabcd.");
  }
}

TEST_P(Copies, FillsOfRowsRefuseBadArguments) {
  const char pattern[16] = {};
  for (const auto fill : kFills) {
    void* const p = b.data();
    EXPECT_TRUE(ok(fill(ctx, nullptr, 8, pattern, 4, 0, 3)));
    EXPECT_TRUE(ok(fill(ctx, nullptr, 8, pattern, 4, 3, 0)));
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, fill(ctx, p, 8, pattern, 3, 2, 3), {"pattern_bytes", "3"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, fill(ctx, p, 8, pattern, 4, -2, 3), {"cols", "-2"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, fill(ctx, p, 8, pattern, 4, 2, -3), {"rows", "-3"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, fill(ctx, p, 7, pattern, 4, 2, 2), {"dst_pitch_bytes", "7", "8"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, fill(ctx, nullptr, 8, pattern, 4, 2, 2), {"dst", "NULL"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, fill(ctx, p, 8, nullptr, 4, 2, 2), {"pattern", "NULL"}));
    EXPECT_TRUE(gives(GPUMEM_INVALID_ARGUMENT, fill(ctx, p, INT64_MAX, pattern, 4, 2, 3)));
    EXPECT_TRUE(gives(GPUMEM_INVALID_ARGUMENT, fill(ctx, p, 8, pattern, 16, INT64_MAX / 8, 2)));
    const Memory memory(ctx, GPUMEM_MEMORY_DEVICE, 100);
    EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, fill(ctx, memory.get(), 46, pattern, 1, 9, 3), {"dst", "101", "100"}));
    EXPECT_TRUE(ok(fill(ctx, memory.get(), 46, pattern, 1, 8, 3)));
  }
  EXPECT_EQ(b, Bytes(1024, 2));
}

INSTANTIATE_TEST_SUITE_P(On, Copies, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
