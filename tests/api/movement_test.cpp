// Copy and fill: outcomes. What they move, at every offset and between every two kinds, is the conformance tests'
// matter.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "support/contexts.hpp"
#include "support/memory.hpp"
#include "support/pages.hpp"

namespace gpumem_test {
namespace {

using CopyCall = gpumem_status (*)(gpumem_ctx*, void*, const void*, int64_t);
using FillCall = gpumem_status (*)(gpumem_ctx*, void*, const void*, int64_t, int64_t);

gpumem_status copy_async(gpumem_ctx* ctx, void* dst, const void* src, int64_t bytes) {
  const gpumem_status status = gpumem_copy_async(ctx, dst, src, bytes, nullptr);
  return status != GPUMEM_OK ? status : gpumem_stream_synchronize(ctx, nullptr);
}
gpumem_status fill_async(gpumem_ctx* ctx, void* dst, const void* pattern, int64_t pattern_bytes, int64_t count) {
  const gpumem_status status = gpumem_fill_async(ctx, dst, pattern, pattern_bytes, count, nullptr);
  return status != GPUMEM_OK ? status : gpumem_stream_synchronize(ctx, nullptr);
}
constexpr CopyCall kCopies[] = {gpumem_copy, copy_async};
constexpr FillCall kFills[] = {gpumem_fill, fill_async};

class Movement : public OnEachContext {};

TEST_P(Movement, CopyBetweenEveryTwoKinds) {
  for (const CopyCall copy : kCopies) {
    for (const gpumem_memory_kind from : kAllKinds) {
      for (const gpumem_memory_kind to : kAllKinds) {
        GuardedBuffer src(ctx, from, 1001, 3);
        GuardedBuffer dst(ctx, to, 1001, 5);
        std::memset(src.image(), 0x11 + from, 1001);
        src.write();
        ASSERT_TRUE(ok(copy(ctx, dst.data(), src.data(), 1001))) << kind_name(from) << " to " << kind_name(to);
        std::memcpy(dst.image(), src.image(), 1001);
        EXPECT_TRUE(dst.intact()) << kind_name(from) << " to " << kind_name(to);
        EXPECT_TRUE(src.intact()) << kind_name(from) << " to " << kind_name(to);
      }
    }
  }
}

TEST_P(Movement, NothingToDoIsSuccess) {
  char x = 'x';
  const char pattern = 'p';
  for (const CopyCall copy : kCopies) {
    EXPECT_TRUE(ok(copy(ctx, nullptr, nullptr, 0)));
    EXPECT_TRUE(ok(copy(ctx, &x, nullptr, 0)));
    EXPECT_TRUE(ok(copy(ctx, nullptr, &x, 0)));
    EXPECT_TRUE(ok(copy(ctx, &x, &x, 1))) << "dst == src";
  }
  for (const FillCall fill : kFills) {
    EXPECT_TRUE(ok(fill(ctx, nullptr, &pattern, 1, 0)));
    EXPECT_TRUE(ok(fill(ctx, &x, &pattern, 1, 0)));
  }
  EXPECT_EQ(x, 'x');
}

TEST_P(Movement, CopyRefusesBadArguments) {
  Bytes a(64, 1), b(64, 2);
  for (const CopyCall copy : kCopies) {
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, copy(ctx, a.data(), b.data(), -1), {"bytes", "-1"}));
    EXPECT_TRUE(gives(GPUMEM_INVALID_ARGUMENT, copy(ctx, a.data(), b.data(), INT64_MIN)));
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, copy(ctx, nullptr, b.data(), 8), {"dst", "NULL"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, copy(ctx, a.data(), nullptr, 8), {"src", "NULL"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, copy(nullptr, a.data(), b.data(), 8), {"ctx", "NULL"}));
    EXPECT_NE(copy(ctx, a.data(), b.data(), INT64_MAX), GPUMEM_OK);
  }
  EXPECT_EQ(a, Bytes(64, 1));
}

TEST_P(Movement, CopyRefusesOverlap) {
  for (const gpumem_memory_kind kind : kAllKinds) {
    GuardedBuffer buffer(ctx, kind, 1000);
    for (const CopyCall copy : kCopies) {
      EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, copy(ctx, buffer.data() + 1, buffer.data(), 500), {"dst", "src"}));
      EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, copy(ctx, buffer.data(), buffer.data() + 499, 500), {"dst", "src"}));
      EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, copy(ctx, buffer.data() + 499, buffer.data(), 500), {"dst", "src"}));
    }
    EXPECT_TRUE(buffer.intact());
  }
}

TEST_P(Movement, NeighboursDoNotOverlap) {
  for (const gpumem_memory_kind kind : kAllKinds) {
    GuardedBuffer buffer(ctx, kind, 1000);
    for (const CopyCall copy : kCopies) {
      EXPECT_TRUE(ok(copy(ctx, buffer.data() + 500, buffer.data(), 500)));
      std::memcpy(buffer.image() + 500, buffer.image(), 500);
      EXPECT_TRUE(ok(copy(ctx, buffer.data(), buffer.data() + 500, 500)));
    }
    EXPECT_TRUE(buffer.intact());
  }
}

TEST_P(Movement, RangesEndWithTheirAllocation) {
  Bytes heap(400, 7);
  const char pattern[16] = {};
  for (const gpumem_memory_kind kind : {GPUMEM_MEMORY_PINNED, GPUMEM_MEMORY_DEVICE, GPUMEM_MEMORY_MANAGED}) {
    const Memory memory(ctx, kind, 200);
    for (const CopyCall copy : kCopies) {
      EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, copy(ctx, memory.get(), heap.data(), 201), {"dst", "201", "200"}));
      EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, copy(ctx, heap.data(), memory.get(), 201), {"src", "201", "200"}));
      EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, copy(ctx, memory.bytes() + 150, heap.data(), 51), {"dst", "51", "50"}));
      EXPECT_TRUE(gives(GPUMEM_OUT_OF_RANGE, copy(ctx, heap.data(), memory.get(), INT64_MAX)));
    }
    for (const FillCall fill : kFills) {
      EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, fill(ctx, memory.get(), pattern, 16, 13), {"dst", "208", "200"}));
      EXPECT_TRUE(gives(GPUMEM_OUT_OF_RANGE, fill(ctx, memory.get(), pattern, 1, INT64_MAX)));
    }
  }
  EXPECT_EQ(heap, Bytes(400, 7));
}

TEST_P(Movement, UnreadableAndUnwritableMemoryIsRefused) {
  FencedPages pages(8192);
  Bytes heap(16384, 7);
  for (const CopyCall copy : kCopies) {
    EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, copy(ctx, heap.data(), pages.first() - 8, 8), {"src"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, copy(ctx, pages.first() - 8, heap.data(), 8), {"dst"}));
    EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, copy(ctx, heap.data(), pages.first(), 8193), {"src", "8193"}));
    EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, copy(ctx, pages.first(), heap.data(), 8193), {"dst", "8193"}));
  }
  for (const FillCall fill : kFills) {
    EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, fill(ctx, heap.data(), pages.first() - 8, 8, 2), {"pattern"}));
    EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, fill(ctx, heap.data(), pages.end() - 4, 8, 2), {"pattern", "8"}));
    if (on_cuda()) {
      const Memory device(ctx, GPUMEM_MEMORY_DEVICE, 64);
      EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, fill(ctx, heap.data(), device.get(), 8, 2), {"pattern", "device"}));
    }
  }
  EXPECT_EQ(heap, Bytes(16384, 7)) << "nothing was written";
  pages.protect(PROT_READ);
  const char pattern = 1;
  for (const CopyCall copy : kCopies) {
    EXPECT_TRUE(ok(copy(ctx, heap.data(), pages.first(), 8192)));
    EXPECT_TRUE(gives(GPUMEM_INVALID_POINTER, copy(ctx, pages.first(), heap.data(), 8192)));
  }
  for (const FillCall fill : kFills) {
    EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, fill(ctx, pages.first(), &pattern, 1, 10), {"dst"}));
  }
}

TEST_P(Movement, FillWritesItsPatternAndNothingElse) {
  unsigned char pattern[16];
  for (size_t i = 0; i < sizeof pattern; ++i) pattern[i] = static_cast<unsigned char>(i * 17 + 1);
  for (const FillCall fill : kFills) {
    for (const gpumem_memory_kind kind : kAllKinds) {
      for (const size_t bytes : {1, 2, 4, 8, 16}) {
        GuardedBuffer buffer(ctx, kind, bytes * 37, 7);
        ASSERT_TRUE(ok(fill(ctx, buffer.data(), pattern, static_cast<int64_t>(bytes), 37)));
        for (size_t at = 0; at < bytes * 37; ++at) buffer.image()[at] = pattern[at % bytes];
        EXPECT_TRUE(buffer.intact()) << kind_name(kind) << ", pattern of " << bytes;
      }
    }
  }
}

TEST_P(Movement, FillRefusesBadArguments) {
  Bytes bytes(64, 1);
  const std::array<char, 32> pattern{};
  for (const FillCall fill : kFills) {
    for (const int64_t size : {int64_t{0}, int64_t{3}, int64_t{-1}, int64_t{5}, int64_t{32}, INT64_MAX, INT64_MIN}) {
      EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, fill(ctx, bytes.data(), pattern.data(), size, 1),
                          {"pattern_bytes", std::to_string(size)}));
    }
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, fill(ctx, bytes.data(), pattern.data(), 4, -3), {"count", "-3"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, fill(ctx, nullptr, pattern.data(), 4, 1), {"dst", "NULL"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, fill(ctx, bytes.data(), nullptr, 4, 1), {"pattern", "NULL"}));
    EXPECT_TRUE(
        refused(GPUMEM_INVALID_ARGUMENT, fill(ctx, bytes.data(), pattern.data(), 16, INT64_MAX / 16 + 1), {"count"}));
    EXPECT_TRUE(gives(GPUMEM_INVALID_ARGUMENT, fill(ctx, bytes.data(), pattern.data(), 2, INT64_MAX)));
  }
  EXPECT_EQ(bytes, Bytes(64, 1));
}

TEST_P(Movement, ThePatternIsReadBeforeTheCallReturns) {
  constexpr int64_t kCount = int64_t{8} << 20;
  Bytes bytes(kCount);
  auto pattern = std::make_unique<char>('a');
  ASSERT_TRUE(ok(gpumem_fill_async(ctx, bytes.data(), pattern.get(), 1, kCount, nullptr)));
  *pattern = 'z';
  pattern.reset();
  ASSERT_TRUE(ok(gpumem_ctx_synchronize(ctx)));
  EXPECT_EQ(bytes, Bytes(kCount, 'a'));
}

INSTANTIATE_TEST_SUITE_P(On, Movement, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
