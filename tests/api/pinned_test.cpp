// Pinned memory that is kept for reuse, and memory of the program that is pinned where it lies.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "api/gate.hpp"
#include "api/queue_handles.hpp"
#include "support/contexts.hpp"
#include "support/memory.hpp"
#include "support/pages.hpp"

namespace gpumem_test {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

gpumem_pointer_info query(gpumem_ctx* ctx, const void* p) {
  gpumem_pointer_info info;
  EXPECT_TRUE(ok(gpumem_pointer_info_init(&info, sizeof info)));
  EXPECT_TRUE(ok(gpumem_pointer_query(ctx, p, &info)));
  return info;
}

void* pinned(gpumem_ctx* ctx, int64_t bytes) {
  void* p = nullptr;
  EXPECT_TRUE(ok(gpumem_alloc_pinned(ctx, bytes, &p)));
  return p;
}

class Pinned : public OnEachContext {};

TEST_P(Pinned, AFreedBlockIsKeptAndUsedAgain) {
  for (const int64_t bytes : {int64_t{100}, int64_t{300000}, 20 * kMiB}) {
    void* const p = pinned(ctx, bytes);
    ASSERT_TRUE(ok(gpumem_free(ctx, p)));
    EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_free(ctx, p), {"p", "freed"})) << "though it is kept";
    Bytes image(16, 3);
    EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_copy(ctx, p, image.data(), 16), {"dst", "freed"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_copy(ctx, image.data(), p, 16), {"src", "freed"}));
    EXPECT_EQ(pinned(ctx, bytes), p);
    EXPECT_EQ(query(ctx, p).size_bytes, bytes);
    ASSERT_TRUE(ok(gpumem_free(ctx, p)));
  }
  const gpumem_memory_stats_info stats = stats_of(ctx);
  EXPECT_EQ(stats.pinned_hits, 3);
  EXPECT_EQ(stats.pinned_allocations, 6);
  EXPECT_GE(stats.pinned_reserved_bytes, 20 * kMiB);
}

TEST_P(Pinned, TrimGivesItBack) {
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(ok(gpumem_free(ctx, pinned(ctx, (i + 1) * 4 * kMiB))));
  EXPECT_GE(stats_of(ctx).pinned_reserved_bytes, 24 * kMiB);
  ASSERT_TRUE(ok(gpumem_memory_trim(ctx, 9 * kMiB)));
  EXPECT_LE(stats_of(ctx).pinned_reserved_bytes, 9 * kMiB);
  ASSERT_TRUE(ok(gpumem_memory_trim(ctx, 0)));
  EXPECT_EQ(stats_of(ctx).pinned_reserved_bytes, 0);
  EXPECT_GE(stats_of(ctx).pinned_reserved_peak_bytes, 24 * kMiB);
}

TEST_P(Pinned, NoMoreIsKeptThanTheOptionSays) {
  gpumem_ctx_options options = options_for(GetParam());
  EXPECT_EQ(options.pinned_memory_kept, -1);
  options.pinned_memory_kept = -2;
  gpumem_ctx* none = nullptr;
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_ctx_create(&options, &none), {"pinned_memory_kept", "-2"}));
  for (const int64_t kept : {int64_t{0}, 6 * kMiB}) {
    options.pinned_memory_kept = kept;
    const Context bounded(options);
    std::vector<void*> blocks;
    for (int i = 0; i < 5; ++i) blocks.push_back(pinned(bounded, 2 * kMiB));
    for (void* p : blocks) {
      ASSERT_TRUE(ok(gpumem_free(bounded, p)));
      EXPECT_LE(stats_of(bounded).pinned_reserved_bytes - stats_of(bounded).pinned_bytes, kept);
    }
    EXPECT_EQ(stats_of(bounded).pinned_reserved_bytes, kept);
  }
}

// Nothing is touched before it is known to be there: the system would end the process.
TEST_P(Pinned, MoreThanTheHostHasIsRefused) {
  constexpr int64_t kBytes = int64_t{4} << 40;
  void* p = &p;
  if (GetParam() == On::host) {  // addresses, which the system may give freely: nothing touches them
    const gpumem_status status = gpumem_alloc_pinned(ctx, kBytes, &p);
    EXPECT_TRUE(status == GPUMEM_OUT_OF_MEMORY || ok(status));
    EXPECT_TRUE(ok(gpumem_free(ctx, p)));
    return;
  }
  EXPECT_TRUE(
      refused(GPUMEM_OUT_OF_MEMORY, gpumem_alloc_pinned(ctx, kBytes, &p), {std::to_string(kBytes), "available"}));
  EXPECT_EQ(p, nullptr);
  void* const own = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(own, MAP_FAILED);
  EXPECT_TRUE(refused(GPUMEM_OUT_OF_MEMORY, gpumem_host_register(ctx, own, kBytes), {"available"}));
  EXPECT_EQ(stats_of(ctx).registered_ranges, 0);
  EXPECT_TRUE(ok(gpumem_host_register(ctx, own, kMiB)));
  EXPECT_TRUE(ok(gpumem_host_unregister(ctx, own)));
  munmap(own, kBytes);
}

TEST_P(Pinned, RegisteredMemoryIsPinnedAndTheProgramsOwn) {
  const Bytes image(100000, 7);
  Bytes own(100000);
  void* const p = own.data() + 1;  // any address
  ASSERT_TRUE(ok(gpumem_host_register(ctx, p, 99998)));
  gpumem_pointer_info info = query(ctx, own.data() + 500);
  EXPECT_EQ(info.kind, GPUMEM_MEMORY_PINNED);
  EXPECT_EQ(info.ours, 0);
  EXPECT_EQ(info.base, p);
  EXPECT_EQ(info.size_bytes, 99998);
  EXPECT_EQ(info.offset_bytes, 499);
  EXPECT_EQ(stats_of(ctx).registered_bytes, 99998);
  EXPECT_EQ(stats_of(ctx).registered_ranges, 1);
  EXPECT_EQ(stats_of(ctx).pinned_bytes, 0) << "it was not allocated";
  const Memory device(ctx, GPUMEM_MEMORY_DEVICE, 100000);
  upload(ctx, device.get(), image.data(), image.size());
  ASSERT_TRUE(ok(gpumem_copy(ctx, p, device.get(), 99998)));
  ASSERT_TRUE(ok(gpumem_copy(ctx, own.data(), device.get(), 100000))) << "a range that is registered in part";
  EXPECT_EQ(own, image);
  ASSERT_TRUE(ok(gpumem_host_unregister(ctx, p)));
  EXPECT_EQ(query(ctx, p).kind, GPUMEM_MEMORY_PAGEABLE);
  EXPECT_EQ(stats_of(ctx).registered_bytes, 0);
  ASSERT_TRUE(ok(gpumem_host_register(ctx, own.data(), 100000))) << "anew, and more of it";
  ASSERT_TRUE(ok(gpumem_host_unregister(ctx, own.data())));
}

TEST_P(Pinned, RegistrationNamesEachMistake) {
  const FencedPages pages(4 * 4096);
  char* const p = pages.first();
  const auto bytes = static_cast<int64_t>(pages.end() - pages.first());
  for (const int64_t wrong : {int64_t{0}, int64_t{-1}, INT64_MIN, INT64_MIN + 512}) {
    EXPECT_TRUE(
        refused(GPUMEM_INVALID_ARGUMENT, gpumem_host_register(ctx, p, wrong), {"bytes", std::to_string(wrong)}));
  }
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_host_register(ctx, nullptr, 8), {"p", "NULL"}));
  EXPECT_TRUE(gives(GPUMEM_OUT_OF_RANGE, gpumem_host_register(ctx, p, bytes + 1)));
  for (int64_t near = 0; near <= 512; near += 128) {
    EXPECT_TRUE(gives(GPUMEM_OUT_OF_RANGE, gpumem_host_register(ctx, p, INT64_MAX - near)));
  }
  EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_host_register(ctx, p - 1, 8), {"p"}));
  const Memory ours(ctx, GPUMEM_MEMORY_PINNED, 100);
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_host_register(ctx, ours.get(), 50), {"p", "pinned"}));
  ASSERT_TRUE(ok(gpumem_host_register(ctx, p, bytes / 2)));
  const Context other(GetParam());
  for (gpumem_ctx* context : {static_cast<gpumem_ctx*>(ctx), static_cast<gpumem_ctx*>(other)}) {
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_host_register(context, p, bytes / 2), {"p"})) << "twice";
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_host_register(context, p, bytes), {"p"})) << "and more";
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_host_register(context, p + 100, 100), {"p"})) << "inside";
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_host_register(context, p + bytes / 2 - 1, 2), {"p"}));
  }
  EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_host_unregister(ctx, p + 1), {"p", "1", "inside"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_host_unregister(other, p), {"p", "another", "context"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_host_unregister(ctx, ours.get()), {"p", "allocated"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_host_unregister(ctx, p + bytes - 1), {"p", "not", "registered"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_host_unregister(ctx, nullptr), {"p", "NULL"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_free(ctx, p), {"p", "registered"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_free_async(ctx, p, nullptr), {"p", "registered"}));
  ASSERT_TRUE(ok(gpumem_host_unregister(ctx, p)));
  EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_host_unregister(ctx, p), {"p", "not", "registered"})) << "twice";
}

TEST_P(Pinned, UnregisteringWaitsForEnqueuedWork) {
  constexpr int64_t kBytes = 16 * kMiB;
  const Stream stream(ctx);
  Bytes own(kBytes);
  Bytes result(kBytes);
  ASSERT_TRUE(ok(gpumem_host_register(ctx, own.data(), kBytes)));
  ASSERT_TRUE(ok(gpumem_fill_async(ctx, own.data(), "u", 1, kBytes, stream)));
  ASSERT_TRUE(ok(gpumem_copy_async(ctx, result.data(), own.data(), kBytes, stream)));
  ASSERT_TRUE(ok(gpumem_host_unregister(ctx, own.data())));
  EXPECT_TRUE(ok(gpumem_stream_query(ctx, stream))) << "the work was still running";
  EXPECT_EQ(result, Bytes(kBytes, 'u'));
}

TEST_P(Pinned, WhatIsLeftIsReportedByItsLabel) {
  struct OperandInfo {
    std::string all;
    static void add(void* user, gpumem_log_level, const char* message) {
      static_cast<OperandInfo*>(user)->all += std::string(message) + '\n';
    }
  } seen;
  Bytes own(5000);
  gpumem_ctx* other = nullptr;
  const gpumem_ctx_options options = options_for(GetParam());
  ASSERT_TRUE(ok(gpumem_ctx_create(&options, &other)));
  ASSERT_TRUE(ok(gpumem_ctx_set_log(other, OperandInfo::add, &seen)));
  void* device = nullptr;
  void* managed = nullptr;
  ASSERT_TRUE(ok(gpumem_alloc_async(other, 11111, 256, nullptr, &device)));
  ASSERT_TRUE(ok(gpumem_alloc_managed(other, 22222, &managed)));
  void* const host = pinned(other, 33333);
  ASSERT_TRUE(ok(gpumem_host_register(other, own.data(), 4444)));
  ASSERT_TRUE(ok(gpumem_memory_label(other, device, "velocity")));
  ASSERT_TRUE(ok(gpumem_memory_label(other, managed, "mesh")));
  ASSERT_TRUE(ok(gpumem_memory_label(other, host, "first")));
  ASSERT_TRUE(ok(gpumem_memory_label(other, host, std::string(500, 'x').c_str()))) << "another, too long";
  ASSERT_TRUE(ok(gpumem_memory_label(other, own.data(), "borrowed")));
  void* const gone = pinned(other, 100);
  ASSERT_TRUE(ok(gpumem_memory_label(other, gone, "gone")));
  ASSERT_TRUE(ok(gpumem_free(other, gone)));
  void* const shown = pinned(other, 100);
  ASSERT_TRUE(ok(gpumem_memory_label(other, shown, "a\x1b[2J\u009b\u202e\u00e9\xff")));
  void* const plain = pinned(other, 100);  // the same memory, as a rule
  ASSERT_TRUE(ok(gpumem_memory_label(other, plain, "erased")));
  ASSERT_TRUE(ok(gpumem_memory_label(other, plain, nullptr)));
  EXPECT_TRUE(ok(gpumem_ctx_destroy(other)));
  for (const char* word : {"11111", "velocity", "22222", "mesh", "33333", "4444", "borrowed", "registered"}) {
    EXPECT_TRUE(contains_word(seen.all, word)) << word << " is not in\n" << seen.all;
  }
  EXPECT_TRUE(contains_word(seen.all, std::string(127, 'x'))) << seen.all;
  EXPECT_NE(seen.all.find("(a\\x1b[2J\\x9b\\u202e\u00e9\\xff)"), seen.all.npos) << seen.all;
  for (const char* word : {"first", "gone", "erased"}) EXPECT_FALSE(contains_word(seen.all, word)) << seen.all;
  EXPECT_EQ(query(ctx, own.data()).kind, GPUMEM_MEMORY_PAGEABLE);
}

TEST_P(Pinned, LabelsNameTheStartOfLiveMemory) {
  void* const p = pinned(ctx, 1000);
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_memory_label(ctx, nullptr, "a"), {"p", "NULL"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_memory_label(ctx, static_cast<char*>(p) + 1, "a"), {"p"}));
  int on_the_stack = 0;
  EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_memory_label(ctx, &on_the_stack, "a"), {"p", "gpumem"}));
  ASSERT_TRUE(ok(gpumem_free(ctx, p)));
  EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_memory_label(ctx, p, "a"), {"p", "freed"}));
}

TEST_P(Pinned, StatisticsOfAllKindsAddUp) {
  const Memory device(ctx, GPUMEM_MEMORY_DEVICE, 1000);
  const Memory host(ctx, GPUMEM_MEMORY_PINNED, 2000);
  const Memory managed(ctx, GPUMEM_MEMORY_MANAGED, 3000);
  { const Memory freed(ctx, GPUMEM_MEMORY_PINNED, 2000); }
  const gpumem_memory_stats_info stats = stats_of(ctx);
  EXPECT_EQ(stats.device_allocations, 1);
  EXPECT_EQ(stats.pinned_allocations, 2);
  EXPECT_EQ(stats.managed_allocations, 1);
  EXPECT_EQ(stats.allocations, 4);
  EXPECT_EQ(stats.frees, 1);
  EXPECT_GE(stats.device_reserved_bytes, stats.device_bytes);
  EXPECT_GE(stats.device_reserved_peak_bytes, stats.device_reserved_bytes);
  EXPECT_GE(stats.pinned_reserved_bytes, stats.pinned_bytes);
  EXPECT_EQ(stats.device_hits + stats.device_misses, stats.device_allocations);
  EXPECT_EQ(stats.pinned_hits + stats.pinned_misses, stats.pinned_allocations);
}

INSTANTIATE_TEST_SUITE_P(On, Pinned, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
