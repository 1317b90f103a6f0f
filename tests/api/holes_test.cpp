// Memory of the program whose first and last byte can be accessed, and something in between can't.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "api/queue_handles.hpp"
#include "support/contexts.hpp"
#include "support/memory.hpp"
#include "support/pages.hpp"

namespace gpumem_test {
namespace {

constexpr int64_t kPage = 4096;

// A call on `bytes` of memory, and the argument that names it.
struct Use {
  const char* name;
  const char* argument;
  bool writes;
  gpumem_status (*call)(gpumem_ctx*, char* p, int64_t bytes, char* other);
};

const Use kUses[] = {
    {"copy from", "src", false,
     [](gpumem_ctx* c, char* p, int64_t bytes, char* other) { return gpumem_copy(c, other, p, bytes); }},
    {"copy to", "dst", true,
     [](gpumem_ctx* c, char* p, int64_t bytes, char* other) { return gpumem_copy(c, p, other, bytes); }},
    {"copy_async from", "src", false,
     [](gpumem_ctx* c, char* p, int64_t bytes, char* other) { return gpumem_copy_async(c, other, p, bytes, nullptr); }},
    {"copy_2d to", "dst", true,
     [](gpumem_ctx* c, char* p, int64_t bytes, char* other) {
       return gpumem_copy_2d(c, p, 1024, other, 1024, 1000, bytes / 1024);
     }},
    {"fill", "dst", true,
     [](gpumem_ctx* c, char* p, int64_t bytes, char* other) { return gpumem_fill(c, p, other, 1, bytes); }},
    {"fill_2d", "dst", true,
     [](gpumem_ctx* c, char* p, int64_t bytes, char* other) {
       return gpumem_fill_2d(c, p, 512, other, 1, 400, bytes / 512);
     }},
    {"reduce", "x", false,
     [](gpumem_ctx* c, char* p, int64_t bytes, char* other) {
       return gpumem_reduce(c, GPUMEM_U8, GPUMEM_SUM, p, bytes, 1, other);
     }},
    {"reduce with a stride", "x", false,
     [](gpumem_ctx* c, char* p, int64_t bytes, char* other) {
       return gpumem_reduce(c, GPUMEM_U8, GPUMEM_SUM, p, bytes / 100, 100, other);
     }},
    {"dot", "y", false,
     [](gpumem_ctx* c, char* p, int64_t bytes, char* other) {
       auto* const x = reinterpret_cast<const double*>(other);
       return gpumem_dot_f64(c, x, reinterpret_cast<const double*>(p), bytes / 8, 1, 1,
                             reinterpret_cast<double*>(other + bytes));
     }},
    {"reduce_axis", "x", false,
     [](gpumem_ctx* c, char* p, int64_t bytes, char* other) {
       return gpumem_reduce_axis(c, GPUMEM_U8, GPUMEM_SUM, GPUMEM_AXIS_COLS, p, bytes / 64, 60, 64, 1, 0, other);
     }},
    {"transpose", "src", false,
     [](gpumem_ctx* c, char* p, int64_t bytes, char* other) {
       return gpumem_transpose(c, 4, bytes / 64, 16, p, 16, other, bytes / 64);
     }},
    {"transpose to", "dst", true,
     [](gpumem_ctx* c, char* p, int64_t bytes, char* other) {
       return gpumem_transpose(c, 4, bytes / 64, 16, other, 16, p, bytes / 64);
     }},
    {"permute", "src", false,
     [](gpumem_ctx* c, char* p, int64_t bytes, char* other) {
       const int64_t extents[] = {bytes / 64, 4, 16};
       const int32_t order[] = {2, 0, 1};
       return gpumem_permute(c, 1, 3, extents, order, p, nullptr, other, nullptr);
     }},
    {"axpby", "x", false,
     [](gpumem_ctx* c, char* p, int64_t bytes, char* other) {
       return gpumem_axpby_f32(c, 1, reinterpret_cast<const float*>(p), 0, nullptr, reinterpret_cast<float*>(other),
                               bytes / 4);
     }},
    {"convert", "src", false,
     [](gpumem_ctx* c, char* p, int64_t bytes, char* other) {
       return gpumem_convert(c, GPUMEM_I8, p, GPUMEM_U8, other, bytes);
     }},
    {"convert", "dst", true,
     [](gpumem_ctx* c, char* p, int64_t bytes, char* other) {
       return gpumem_convert(c, GPUMEM_I8, other, GPUMEM_U8, p, bytes);
     }},
    {"sort", "keys", false,
     [](gpumem_ctx* c, char* p, int64_t bytes, char* other) {
       return gpumem_sort(c, GPUMEM_I8, p, bytes, 0, other, nullptr, GPUMEM_I64);
     }},
    {"scan", "x", false,
     [](gpumem_ctx* c, char* p, int64_t bytes, char* other) {
       return gpumem_scan(c, GPUMEM_I8, GPUMEM_MIN, 0, p, bytes, other, GPUMEM_I8);
     }},
    {"scan", "result", true,
     [](gpumem_ctx* c, char* p, int64_t bytes, char* other) {
       return gpumem_scan(c, GPUMEM_I8, GPUMEM_MIN, 0, other, bytes, p, GPUMEM_I8);
     }},
    {"gather", "src", false,
     [](gpumem_ctx* c, char* p, int64_t bytes, char* other) {
       const int64_t index = 0;
       return gpumem_gather(c, 32, p, bytes / 32, 32, GPUMEM_I64, &index, 1, other, 32);
     }},
};

class Holes : public OnEachContext {};

TEST_P(Holes, InTheMiddleOfARangeAreNoticed) {
  for (const int64_t pages : {3, 5, 30, 40, 1000}) {
    const int64_t bytes = pages * kPage;
    FencedPages memory(static_cast<size_t>(bytes));
    std::string other(static_cast<size_t>(bytes) + 64, 'o');
    std::memset(memory.first(), 1, memory.bytes());
    for (const int64_t at : {int64_t{1}, pages / 2, pages - 2}) {
      for (const int protection : {PROT_NONE, PROT_READ}) {
        char* const hole = memory.first() + at * kPage;
        for (const Use& use : kUses) {
          if (protection == PROT_READ && !use.writes) continue;
          ASSERT_EQ(mprotect(hole, kPage, protection), 0);
          const gpumem_status status = use.call(ctx, memory.first(), bytes, other.data());
          EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, status, {use.argument, use.writes ? "written" : "read"}))
              << use.name << ", page " << at << " of " << pages;
          ASSERT_TRUE(ok(gpumem_ctx_synchronize(ctx)));
          ASSERT_EQ(mprotect(hole, kPage, PROT_READ | PROT_WRITE), 0);
          EXPECT_TRUE(other.find_first_not_of('o') == std::string::npos) << use.name;
          EXPECT_EQ(Bytes(memory.first(), memory.end()), Bytes(memory.bytes(), 1)) << use.name;
        }
      }
    }
    for (const Use& use : kUses) {
      EXPECT_TRUE(ok(use.call(ctx, memory.first(), bytes, other.data()))) << use.name << ", " << pages << " pages";
    }
    ASSERT_TRUE(ok(gpumem_ctx_synchronize(ctx)));
  }
}

// Elements at the start of every second page, or every hundredth.
TEST_P(Holes, BetweenElementsAreNoMatter) {
  for (const int64_t stride : {2 * kPage, 100 * kPage}) {
    constexpr int64_t kCount = 40;
    FencedPages memory(static_cast<size_t>(kCount * stride));
    int64_t expected = 0;
    for (int64_t i = 0; i < kCount; ++i) {
      memory.first()[i * stride] = static_cast<char>(i);
      expected += i;
      ASSERT_EQ(mprotect(memory.first() + i * stride + kPage, static_cast<size_t>(stride - kPage), PROT_NONE), 0);
    }
    uint64_t sum = 0;
    EXPECT_TRUE(ok(gpumem_reduce(ctx, GPUMEM_U8, GPUMEM_SUM, memory.first(), kCount, stride, &sum)));
    EXPECT_EQ(sum, static_cast<uint64_t>(expected));
    ASSERT_EQ(mprotect(memory.first() + 20 * stride, kPage, PROT_NONE), 0);
    EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER,
                        gpumem_reduce(ctx, GPUMEM_U8, GPUMEM_SUM, memory.first(), kCount, stride, &sum), {"x", "read"}))
        << "the page of an element";
    ASSERT_EQ(mprotect(memory.first() + 20 * stride, kPage, PROT_READ), 0);
    EXPECT_TRUE(ok(gpumem_reduce(ctx, GPUMEM_U8, GPUMEM_SUM, memory.first(), kCount, stride, &sum)));
  }
}

// Memory of the program ends where a block of the library begins.
TEST_P(Holes, MemoryOfTheLibraryIsNoContinuationOfTheProgramsOwn) {
  constexpr int64_t kBytes = int64_t{3} << 20;
  void* block = nullptr;
  ASSERT_TRUE(ok(gpumem_alloc_pinned(ctx, kBytes, &block)));
  char* const before = static_cast<char*>(block) - kPage;
  void* const own =
      mmap(before, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (own != before) {
    EXPECT_TRUE(ok(gpumem_free(ctx, block)));
    GTEST_SKIP() << "the page before the block is in use";
  }
  Bytes other(5 * kPage, 7);
  const auto copied = [&](int64_t bytes) { return gpumem_copy(ctx, other.data(), before, bytes); };
  EXPECT_TRUE(ok(copied(kPage)));
  other = Bytes(5 * kPage, 7);
  for (const int64_t bytes : {kPage + 1, 2 * kPage, 5 * kPage}) {
    EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, copied(bytes), {"src", std::to_string(bytes), "gpumem"}));
    EXPECT_TRUE(gives(GPUMEM_OUT_OF_RANGE, copied(bytes)));
    EXPECT_EQ(last_error().find("nothing is allocated"), std::string::npos) << last_error();
  }
  ASSERT_TRUE(ok(gpumem_free(ctx, block)));
  EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, copied(5 * kPage), {"src", "gpumem", "not allocated"}))
      << "the block is kept, readable as it is";
  EXPECT_EQ(other, Bytes(5 * kPage, 7));
  munmap(before, kPage);
}

INSTANTIATE_TEST_SUITE_P(On, Holes, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
