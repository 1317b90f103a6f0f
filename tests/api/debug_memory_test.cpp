// Debug mode: writes past the ends of memory are found, named and told; what is sound is left as it is.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "api/debug_memory.hpp"
#include "api/queue_handles.hpp"
#include "support/environment.hpp"

namespace gpumem_test {
namespace {

TEST_P(DebugMemory, WithoutItTheCheckIsUnsupported) {
  const ScopedVariable variable("GPUMEM_DEBUG", "0");
  const Context plain(GetParam());
  EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, gpumem_memory_check(plain), {}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_memory_check(nullptr), {"ctx", "NULL"}));
}

TEST_P(DebugMemory, ACheckOfSoundMemoryIsOk) {
  EXPECT_TRUE(ok(on.check())) << "of none";
  std::vector<void*> blocks;
  for (const Allocator& by : kAllocators) {
    for (const int64_t bytes : kSizes) {
      void* const p = on.allocated(by, bytes, "sound");
      EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % 256, 0u);
      EXPECT_TRUE(ok(gpumem_fill(ctx, p, "x", 1, bytes))) << "to the last byte";
      blocks.push_back(p);
    }
  }
  EXPECT_TRUE(ok(on.check()));
  for (void* p : blocks) EXPECT_TRUE(ok(gpumem_free(ctx, p)));
  EXPECT_TRUE(ok(on.check()));
  EXPECT_TRUE(ok(on.check()));
  EXPECT_EQ(on.log.complaints, "");
}

TEST_P(DebugMemory, NoBytesAreNullAndFreeingNullIsNothing) {
  for (const Allocator& by : kAllocators) {
    void* p = &p;
    EXPECT_TRUE(ok(by.allocate(ctx, 0, &p))) << by.name;
    EXPECT_EQ(p, nullptr);
    EXPECT_TRUE(ok(by.free(ctx, nullptr)));
  }
  EXPECT_TRUE(ok(on.check()));
}

TEST_P(DebugMemory, MoreThanThereIsRunsOut) {
  for (const Allocator& by : kAllocators) {
    for (const int64_t less : {0, 1, 255, 256, 257, 511, 512, 513, 4096}) {
      const int64_t bytes = INT64_MAX - less;
      void* p = &p;
      EXPECT_TRUE(refused(GPUMEM_OUT_OF_MEMORY, by.allocate(ctx, bytes, &p), {std::to_string(bytes)})) << by.name;
      EXPECT_EQ(p, nullptr);
    }
  }
  void* p = &p;
  EXPECT_TRUE(gives(GPUMEM_OUT_OF_MEMORY, gpumem_alloc_async(ctx, INT64_MAX - 2 * kMiB, 2 * kMiB, nullptr, &p)));
  EXPECT_EQ(p, nullptr);
}

TEST_P(DebugMemory, ChecksLeaveLiveMemoryAsItIs) {
  Bytes image(100003);
  poison(image);
  std::vector<std::unique_ptr<Memory>> live;
  for (const Allocator& by : kAllocators) {
    live.push_back(std::make_unique<Memory>(ctx, by.kind, static_cast<int64_t>(image.size())));
    upload(ctx, live.back()->get(), image.data(), image.size());
  }
  for (int round = 0; round < 3; ++round) {
    for (const Allocator& by : kAllocators) on.freed(by, 70000);
    EXPECT_TRUE(ok(on.check()));
    for (const auto& memory : live) EXPECT_EQ(download(ctx, memory->get(), image.size()), image);
  }
}

TEST_P(DebugMemory, StatisticsCountWhatWasAskedFor) {
  for (const Allocator& by : kAllocators) {
    void* const p = on.allocated(by, 1000);
    EXPECT_EQ(on.live_bytes(), 1000) << by.name;
    EXPECT_EQ(live_blocks(stats_of(ctx)), 1);
    EXPECT_TRUE(ok(by.free(ctx, p)));
    on.freed(by, 1000);
    EXPECT_EQ(on.live_bytes(), 0);
  }
  const gpumem_memory_stats_info stats = stats_of(ctx);
  EXPECT_EQ(stats.allocations, 8);
  EXPECT_EQ(stats.frees, 8);
  EXPECT_EQ(stats.device_hits, 0) << "nothing is pooled";
  EXPECT_EQ(stats.device_misses, 4);
  EXPECT_EQ(stats.pinned_hits, 0);
  EXPECT_EQ(stats.pinned_misses, 2);
}

TEST_P(DebugMemory, RegisteredMemoryHasNoEndsOfItsOwn) {
  Bytes own(5000, 1);
  ASSERT_TRUE(ok(gpumem_host_register(ctx, own.data() + 1000, 1000)));
  std::fill(own.begin(), own.end(), static_cast<unsigned char>(2));
  EXPECT_TRUE(ok(on.check()));
  EXPECT_EQ(own, Bytes(5000, 2));
  ASSERT_TRUE(ok(gpumem_host_unregister(ctx, own.data() + 1000)));
  EXPECT_EQ(own, Bytes(5000, 2));
}

TEST_P(DebugMemory, FreeAndCheckWaitForEnqueuedWork) {
  constexpr int64_t kBytes = 8 * kMiB;
  const Stream stream(ctx);
  Bytes result(kBytes);
  for (const Allocator& by : kAllocators) {
    void* const p = on.allocated(by, kBytes);
    ASSERT_TRUE(ok(gpumem_fill_async(ctx, p, "w", 1, kBytes, stream)));
    ASSERT_TRUE(ok(on.check()));
    EXPECT_TRUE(ok(gpumem_stream_query(ctx, stream))) << "the work was still running after the check";
    ASSERT_TRUE(ok(gpumem_copy_async(ctx, result.data(), p, kBytes, stream)));
    ASSERT_TRUE(ok(by.free(ctx, p)));
    EXPECT_TRUE(ok(gpumem_stream_query(ctx, stream))) << "the work was still running after the free";
    EXPECT_EQ(result, Bytes(kBytes, 'w'));
  }
}

TEST_P(DebugMemory, FreeFindsAWritePastAnEndAndFreesAllTheSame) {
  for (const Allocator& by : kAllocators) {
    for (const int64_t bytes : kSizes) {
      for (const int64_t offset : {-kEnd, int64_t{-1}, bytes, bytes + kEnd - 1}) {
        SCOPED_TRACE(describe(by, bytes, offset));
        void* const p = on.allocated(by, bytes, "velocity");
        on.change(by, p, offset);
        EXPECT_TRUE(on.found(by.free(ctx, p), {"velocity", kind_name(by.kind), std::to_string(offset)}));
        EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, by.free(ctx, p), {"p", "freed", "before"}));
        EXPECT_EQ(on.live_bytes(), 0);
        EXPECT_TRUE(ok(on.check())) << "it was told";
        ASSERT_TRUE(ok(gpumem_memory_trim(ctx, 0)));
      }
    }
  }
}

TEST_P(DebugMemory, ACheckFindsAWritePastAnEnd) {
  for (const Allocator& by : kAllocators) {
    for (const int64_t bytes : kSizes) {
      for (const int64_t offset : {-kEnd, int64_t{-1}, bytes, bytes + kEnd - 1}) {
        SCOPED_TRACE(describe(by, bytes, offset));
        void* const p = on.allocated(by, bytes, "density");
        on.change(by, p, offset);
        EXPECT_TRUE(on.found(on.check(), {"density", kind_name(by.kind), std::to_string(offset)}));
        const gpumem_status freed = by.free(ctx, p);
        EXPECT_TRUE(freed == GPUMEM_OK || freed == GPUMEM_CORRUPTED) << gpumem_status_name(freed);
        EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, by.free(ctx, p), {"p", "freed", "before"}));
        EXPECT_EQ(on.live_bytes(), 0);
        ASSERT_TRUE(ok(gpumem_memory_trim(ctx, 0)));
      }
    }
  }
}

TEST_P(DebugMemory, EachAlignmentHoldsAndHasEnds) {
  constexpr int64_t kBytes = 777;
  const Stream stream(ctx);
  for (int64_t alignment = 1; alignment <= 2 * kMiB; alignment *= 2) {
    for (const int64_t offset : {-kEnd, int64_t{-1}, kBytes, kBytes + kEnd - 1}) {
      SCOPED_TRACE(describe(kAllocators[3], kBytes, offset) + ", aligned to " + std::to_string(alignment));
      void* p = nullptr;
      ASSERT_TRUE(ok(gpumem_alloc_async(ctx, kBytes, alignment, stream, &p)));
      EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % static_cast<uintptr_t>(std::max<int64_t>(alignment, 256)), 0u);
      ASSERT_TRUE(ok(gpumem_memory_label(ctx, p, "aligned")));
      ASSERT_TRUE(ok(gpumem_fill_async(ctx, p, "a", 1, kBytes, stream)));
      EXPECT_TRUE(ok(on.check()));
      on.change(kAllocators[3], p, offset);
      EXPECT_TRUE(on.found(gpumem_free_async(ctx, p, stream), {"aligned", "device", std::to_string(offset)}));
      EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_free_async(ctx, p, stream), {"p", "freed", "before"}));
    }
    ASSERT_TRUE(ok(gpumem_memory_trim(ctx, 0)));
  }
}

TEST_P(DebugMemory, TheSentenceHasTheFirstAndTheLastByte) {
  for (const Allocator& by : kAllocators) {
    void* const before = on.allocated(by, 1000, "left");
    for (const int64_t offset : {-20, -77, -200}) on.change(by, before, offset);
    EXPECT_TRUE(on.found(by.free(ctx, before), {"left", "-200", "-20"})) << by.name;
    void* const behind = on.allocated(by, 1000, "right");
    for (const int64_t offset : {1003, 1177, 1044}) on.change(by, behind, offset);
    EXPECT_TRUE(on.found(by.free(ctx, behind), {"right", "1003", "1177"})) << by.name;
  }
}

TEST_P(DebugMemory, BothEndsAndEveryBlockAreTold) {
  for (const Allocator& by : kAllocators) {
    void* const first = on.allocated(by, 1000, by.name);
    void* const second = on.allocated(by, 3000, "second");
    on.change(by, first, -33);
    on.change(by, first, 1044);
    on.change(by, second, 3055);
    EXPECT_TRUE(on.found(on.check(), {})) << by.name;
    EXPECT_TRUE(on.log.tells({by.name, "-33"}));
    EXPECT_TRUE(on.log.tells({by.name, "1044"}));
    EXPECT_TRUE(on.log.tells({"second", "3055"}));
    for (void* p : {first, second}) by.free(ctx, p);
    on.log = Log();
  }
}

TEST_P(DebugMemory, TheLatestLabelIsTheName) {
  for (const Allocator& by : kAllocators) {
    void* const renamed = on.allocated(by, 100, "earlier");
    ASSERT_TRUE(ok(gpumem_memory_label(ctx, renamed, "later")));
    on.change(by, renamed, 101);
    EXPECT_TRUE(on.found(by.free(ctx, renamed), {"later", kind_name(by.kind), "101"}));
    void* const nameless = on.allocated(by, 100);
    on.change(by, nameless, 102);
    EXPECT_TRUE(on.found(by.free(ctx, nameless), {kind_name(by.kind), "102"}));
    EXPECT_FALSE(contains_word(on.log.all, "earlier")) << on.log.all;
    on.log = Log();
  }
}

TEST_P(DebugMemory, AnotherContextTellsNothingOfIt) {
  const DebugContext other(debug_options(GetParam()));
  for (const Allocator& by : kAllocators) {
    void* const live = on.allocated(by, 100, "theirs");
    void* const freed = on.freed(by, 100, "theirs");
    on.change(by, live, 100);
    on.change(by, freed, 50);
    EXPECT_TRUE(ok(other.check())) << by.name;
    EXPECT_TRUE(on.found(by.free(ctx, live), {"theirs", "100"}));
    EXPECT_TRUE(on.found(on.check(), {"theirs", "50"}));
  }
  EXPECT_EQ(other.log.complaints, "");
}

TEST_P(DebugMemory, TheEndsAreNoMemoryOfTheProgram) {
  for (const Allocator& by : kAllocators) {
    void* const p = on.allocated(by, 1000);
    gpumem_pointer_info info;
    ASSERT_TRUE(ok(gpumem_pointer_info_init(&info, sizeof info)));
    for (const int64_t offset : {-kEnd, int64_t{-1}, int64_t{1000}, 1000 + kEnd - 1}) {
      SCOPED_TRACE(describe(by, 1000, offset));
      void* const at = static_cast<char*>(p) + offset;
      info.ours = 0;
      const gpumem_status status = gpumem_pointer_query(ctx, at, &info);
      EXPECT_TRUE(status == GPUMEM_OK || status == GPUMEM_INVALID_POINTER) << gpumem_status_name(status);
      EXPECT_EQ(info.ours, 0);
      EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_free(ctx, at), {"p"}));
      EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_memory_label(ctx, at, "end"), {"p"}));
    }
    ASSERT_TRUE(ok(gpumem_pointer_query(ctx, static_cast<char*>(p) + 999, &info)));
    EXPECT_EQ(info.ours, 1);
    EXPECT_EQ(info.base, p);
    EXPECT_EQ(info.offset_bytes, 999);
    EXPECT_EQ(info.size_bytes, 1000);
    EXPECT_TRUE(ok(by.free(ctx, p)));
  }
}

TEST_P(DebugMemory, RangesStillEndWithTheAllocation) {
  Bytes bytes(1001, 7);
  for (const Allocator& by : kAllocators) {
    void* const p = on.allocated(by, 1000);
    EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, gpumem_copy(ctx, p, bytes.data(), 1001), {"dst", "1001", "1000"}));
    EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, gpumem_copy(ctx, bytes.data(), p, 1001), {"src", "1001", "1000"}));
    EXPECT_TRUE(gives(GPUMEM_OUT_OF_RANGE, gpumem_fill(ctx, p, "f", 1, 1001)));
    EXPECT_TRUE(ok(on.check())) << by.name;
    EXPECT_TRUE(ok(by.free(ctx, p)));
  }
}

TEST_P(DebugMemory, APointerIntoFreedMemoryIsFreedBefore) {
  Bytes bytes(4, 7);
  gpumem_pointer_info info;
  ASSERT_TRUE(ok(gpumem_pointer_info_init(&info, sizeof info)));
  for (const Allocator& by : kAllocators) {
    void* const p = on.freed(by, 1000);
    for (const int64_t offset : {0, 500, 996}) {
      SCOPED_TRACE(describe(by, 1000, offset));
      void* const at = static_cast<char*>(p) + offset;
      const auto* x = static_cast<const int32_t*>(at);
      int64_t sum = 0;
      EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_pointer_query(ctx, at, &info), {"p", "freed", "before"}));
      EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_copy(ctx, at, bytes.data(), 4), {"dst", "freed", "before"}));
      EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_copy(ctx, bytes.data(), at, 4), {"src", "freed", "before"}));
      EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_fill(ctx, at, "f", 1, 4), {"dst", "freed", "before"}));
      EXPECT_TRUE(
          refused(GPUMEM_INVALID_POINTER, gpumem_reduce_i32(ctx, GPUMEM_SUM, x, 1, 1, &sum), {"x", "freed", "before"}));
      EXPECT_TRUE(gives(GPUMEM_INVALID_POINTER, gpumem_memory_label(ctx, at, "late")));
    }
  }
  EXPECT_EQ(bytes, Bytes(4, 7));
  EXPECT_TRUE(ok(on.check()));
}

INSTANTIATE_TEST_SUITE_P(On, DebugMemory, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
