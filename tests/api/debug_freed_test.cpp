// Debug mode: writes into memory that was freed, while it is kept and when it is let go; and the end of the context.
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "api/debug_memory.hpp"
#include "support/random.hpp"

namespace gpumem_test {
namespace {

TEST_P(DebugMemory, AWriteAfterTheFreeIsToldOnce) {
  for (const Allocator& by : kAllocators) {
    for (const int64_t offset : {0, 500, 999}) {
      SCOPED_TRACE(describe(by, 1000, offset));
      on.log = Log();
      void* const p = on.freed(by, 1000, "stale");
      EXPECT_TRUE(ok(on.check()));
      on.change(by, p, offset);
      EXPECT_TRUE(on.found(on.check(), {"stale", kind_name(by.kind), std::to_string(offset)}));
      EXPECT_EQ(on.log.errors.size(), 1u) << on.log.all;
      EXPECT_TRUE(ok(on.check()));
      EXPECT_EQ(on.log.errors.size(), 1u) << on.log.all;
      on.change(by, p, offset, 0x0F);
      EXPECT_TRUE(on.found(on.check(), {"stale", kind_name(by.kind), std::to_string(offset)})) << "written again";
      EXPECT_TRUE(ok(on.check()));
      EXPECT_EQ(on.log.errors.size(), 2u) << on.log.all;
    }
  }
}

TEST_P(DebugMemory, AWriteAfterTheFreeHasAFirstAndALastByte) {
  for (const Allocator& by : kAllocators) {
    for (const int64_t bytes : {int64_t{1000}, int64_t{1000003}}) {
      void* const p = on.freed(by, bytes, "stale");
      on.change(by, p, 11);
      on.change(by, p, 77);
      on.change(by, p, bytes - 13);
      EXPECT_TRUE(on.found(on.check(), {"stale", "11", std::to_string(bytes - 13)})) << by.name << ' ' << bytes;
    }
  }
}

TEST_P(DebugMemory, WhatWasFreedIsFilledAndNotHandedOutAgain) {
  for (const Allocator& by : kAllocators) {
    for (const int64_t bytes : kSizes) {
      void* const p = on.allocated(by, bytes);
      ASSERT_TRUE(ok(gpumem_fill(ctx, p, "z", 1, bytes)));
      ASSERT_TRUE(ok(by.free(ctx, p)));
      const auto size = static_cast<size_t>(bytes);
      EXPECT_EQ(Stray(ctx).read(by.kind, p, size), Bytes(size, kFreed)) << by.name << ' ' << bytes;
      EXPECT_NE(on.freed(by, bytes), p);
    }
  }
}

TEST_P(DebugMemory, AWriteIsFoundWhenTheMemoryIsLetGo) {
  for (const Allocator& by : kAllocators) {
    SCOPED_TRACE(by.name);
    on.log = Log();
    void* const p = on.freed(by, kMiB, "early");
    on.change(by, p, 4321);
    for (int i = 0; i < 4; ++i) on.freed(by, 8 * kMiB);
    EXPECT_EQ(on.log.complaints, "") << "it is still kept";
    for (int i = 0; i < 5; ++i) on.freed(by, 8 * kMiB);
    EXPECT_TRUE(on.log.tells({"early", kind_name(by.kind), "4321"}));
    EXPECT_TRUE(on.found(on.check(), {"early", kind_name(by.kind), "4321"}));
    EXPECT_EQ(on.log.errors.size(), 1u) << on.log.all;
    EXPECT_TRUE(ok(on.check()));
    ASSERT_TRUE(ok(gpumem_memory_trim(ctx, 0)));
  }
}

TEST_P(DebugMemory, ABlockLargerThanAllThatIsKeptIsNotKept) {
  on.freed(kAllocators[0], 65 * kMiB);
  EXPECT_EQ(stats_of(ctx).device_reserved_bytes, 0);
  EXPECT_TRUE(ok(on.check()));
}

TEST_P(DebugMemory, NoMoreThanSomeThousandBlocksAreKept) {
  if (quick_run() && GetParam() == On::cuda) GTEST_SKIP() << "thousands of allocations of a device take too long";
  const Allocator& by = kAllocators[0];
  on.change(by, on.freed(by, 1000, "the first"), 123);
  for (int i = 1; i < 4096; ++i) on.freed(by, 16);
  EXPECT_EQ(on.log.complaints, "") << "it is still kept";
  on.freed(by, 16);
  EXPECT_TRUE(on.log.tells({"the first", kind_name(by.kind), "123"}));
  EXPECT_TRUE(on.found(on.check(), {"the first", "123"}));
}

TEST_P(DebugMemory, EachKindIsKeptOnItsOwn) {
  void* const p = on.freed(kAllocators[1], 1000, "pinned one");
  for (int i = 0; i < 9; ++i) on.freed(kAllocators[0], 8 * kMiB);
  on.change(kAllocators[1], p, 123);
  EXPECT_TRUE(on.found(on.check(), {"pinned", "123"}));
}

TEST_P(DebugMemory, TrimLetsGoOfWhatIsKept) {
  for (const Allocator& by : kAllocators) {
    SCOPED_TRACE(by.name);
    on.log = Log();
    on.change(by, on.freed(by, 3 * kMiB, "trimmed"), 99);
    EXPECT_GE(stats_of(ctx).device_reserved_bytes, by.kind == GPUMEM_MEMORY_DEVICE ? 3 * kMiB : 0);
    EXPECT_GE(stats_of(ctx).pinned_reserved_bytes, by.kind == GPUMEM_MEMORY_PINNED ? 3 * kMiB : 0);
    EXPECT_TRUE(ok(gpumem_memory_trim(ctx, INT64_MAX)));
    EXPECT_EQ(on.log.complaints, "") << "nothing had to go";
    EXPECT_TRUE(ok(gpumem_memory_trim(ctx, 0)));
    EXPECT_TRUE(on.log.tells({"trimmed", kind_name(by.kind), "99"}));
    EXPECT_EQ(stats_of(ctx).device_reserved_bytes, 0);
    EXPECT_EQ(stats_of(ctx).pinned_reserved_bytes, 0);
    EXPECT_TRUE(on.found(on.check(), {"trimmed", kind_name(by.kind), "99"}));
    EXPECT_TRUE(ok(on.check()));
  }
}

TEST_P(DebugMemory, TheLimitTakesBackWhatIsKept) {
  gpumem_ctx_options options = debug_options(GetParam());
  options.device_memory_limit = 24 * kMiB;
  DebugContext limited(options);
  for (const Allocator& by : {kAllocators[0], kAllocators[3]}) {
    SCOPED_TRACE(by.name);
    limited.log = Log();
    void* const p = limited.allocated(by, 16 * kMiB, "scratch");
    void* q = &q;
    EXPECT_TRUE(gives(GPUMEM_OUT_OF_MEMORY, by.allocate(limited.ctx, 16 * kMiB, &q)));
    EXPECT_EQ(q, nullptr);
    ASSERT_TRUE(ok(by.free(limited.ctx, p)));
    limited.change(by, p, 55);
    EXPECT_EQ(limited.log.complaints, "");
    limited.freed(by, 16 * kMiB);
    EXPECT_TRUE(limited.log.tells({"scratch", "device", "55"}));
    EXPECT_TRUE(limited.found(limited.check(), {"scratch", "device", "55"}));
    EXPECT_TRUE(ok(limited.check()));
    for (int i = 0; i < 4; ++i) limited.freed(by, 16 * kMiB);
  }
}

TEST_P(DebugMemory, TheEndOfTheContextTellsDamageAndLeaks) {
  for (const Allocator& by : kAllocators) {
    SCOPED_TRACE(by.name);
    DebugContext other(debug_options(GetParam()));
    other.allocated(by, 11111, "forgotten");
    other.change(by, other.allocated(by, 2000, "pressure"), 2044);
    other.change(by, other.allocated(by, 2000, "vorticity"), -44);
    other.change(by, other.freed(by, 2000, "stale"), 1234);
    EXPECT_EQ(other.log.complaints, "");
    other.ctx.destroy();
    EXPECT_TRUE(has_words(other.log.all, {"forgotten", "11111"})) << other.log.all;
    EXPECT_TRUE(other.log.tells({"pressure", kind_name(by.kind), "2044"}));
    EXPECT_TRUE(other.log.tells({"vorticity", kind_name(by.kind), "-44"}));
    EXPECT_TRUE(other.log.tells({"stale", kind_name(by.kind), "1234"}));
  }
}

TEST_P(DebugMemory, TheEndOfASoundContextTellsNothing) {
  DebugContext other(debug_options(GetParam()));
  for (const Allocator& by : kAllocators) other.freed(by, 70000, "sound");
  other.ctx.destroy();
  EXPECT_EQ(other.log.complaints, "");
}

}  // namespace
}  // namespace gpumem_test
