// Allocation, freeing, what a pointer is, the statistics.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "api/queue_handles.hpp"
#include "support/contexts.hpp"
#include "support/memory.hpp"
#include "support/pages.hpp"
#include "support/sanitizers.hpp"

namespace gpumem_test {
namespace {

struct Allocator {
  const char* name;
  gpumem_memory_kind kind;
  gpumem_status (*allocate)(gpumem_ctx*, int64_t, void**);
};
constexpr Allocator kAllocators[] = {{"device", GPUMEM_MEMORY_DEVICE, gpumem_alloc_device},
                                     {"pinned", GPUMEM_MEMORY_PINNED, gpumem_alloc_pinned},
                                     {"managed", GPUMEM_MEMORY_MANAGED, gpumem_alloc_managed}};

gpumem_pointer_info query(gpumem_ctx* ctx, const void* p) {
  gpumem_pointer_info info;
  EXPECT_TRUE(ok(gpumem_pointer_info_init(&info, sizeof info)));
  EXPECT_TRUE(ok(gpumem_pointer_query(ctx, p, &info)));
  return info;
}

class MemoryOn : public OnEachContext {};

TEST_P(MemoryOn, IsAlignedAndUsableToItsLastByte) {
  for (const Allocator& allocator : kAllocators) {
    for (const int64_t bytes : {1, 2, 255, 256, 257, 4095, 4096, 4097, 1 << 20, (32 << 20) + 3}) {
      void* p = nullptr;
      ASSERT_TRUE(ok(allocator.allocate(ctx, bytes, &p))) << allocator.name << ' ' << bytes;
      ASSERT_NE(p, nullptr);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % 256, 0u) << allocator.name << ' ' << bytes;
      Bytes image(static_cast<size_t>(bytes));
      poison(image);
      upload(ctx, p, image.data(), image.size());
      EXPECT_EQ(download(ctx, p, image.size()), image) << allocator.name << ' ' << bytes;
      EXPECT_TRUE(ok(gpumem_free(ctx, p)));
    }
  }
}

TEST_P(MemoryOn, NoBytesAreNullAndSuccess) {
  for (const Allocator& allocator : kAllocators) {
    void* p = &p;
    EXPECT_TRUE(ok(allocator.allocate(ctx, 0, &p))) << allocator.name;
    EXPECT_EQ(p, nullptr);
  }
  EXPECT_TRUE(ok(gpumem_free(ctx, nullptr)));
}

TEST_P(MemoryOn, RefusesWhatIsNoSizeOrNoPlaceForTheAddress) {
  for (const Allocator& allocator : kAllocators) {
    void* p = &p;
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, allocator.allocate(ctx, -1, &p), {"bytes", "-1"}));
    EXPECT_EQ(p, nullptr);
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, allocator.allocate(ctx, 8, nullptr), {"p", "NULL"}));
    p = &p;
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, allocator.allocate(nullptr, 8, &p), {"ctx", "NULL"}));
    EXPECT_EQ(p, nullptr);
  }
}

TEST_P(MemoryOn, MoreThanThereIsRunsOut) {
  const gpumem_memory_stats_info before = stats_of(ctx);
  for (const Allocator& allocator : kAllocators) {
    for (const int64_t bytes : {int64_t{1} << 50, INT64_MAX - 4096, INT64_MAX}) {
      void* p = &p;
      EXPECT_TRUE(refused(GPUMEM_OUT_OF_MEMORY, allocator.allocate(ctx, bytes, &p), {std::to_string(bytes)}))
          << allocator.name;
      EXPECT_EQ(p, nullptr);
    }
  }
  EXPECT_EQ(stats_of(ctx).allocations, before.allocations);
  EXPECT_TRUE(ok(gpumem_ctx_status(ctx)));
}

TEST_P(MemoryOn, FreeTakesTheStartOfALiveAllocationOnly) {
  for (const Allocator& allocator : kAllocators) {
    void* p = nullptr;
    ASSERT_TRUE(ok(allocator.allocate(ctx, 8192, &p)));
    for (const ptrdiff_t offset : {1, 8, 256, 4096, 8191}) {
      EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_free(ctx, static_cast<char*>(p) + offset), {"p"}));
    }
    EXPECT_TRUE(ok(gpumem_free(ctx, p)));
    EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_free(ctx, p), {"p"})) << "a double free";
  }
  int on_the_stack = 0;
  const std::unique_ptr<char[]> on_the_heap(new char[64]);
  EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_free(ctx, &on_the_stack), {"p"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_free(ctx, on_the_heap.get()), {"p"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_free(ctx, reinterpret_cast<void*>(uintptr_t{64})), {"p"}));
}

TEST_P(MemoryOn, FreeRefusesAnotherContextsMemory) {
  const Context other(GetParam());
  const Memory theirs(other, GPUMEM_MEMORY_PINNED, 100);
  EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_free(ctx, theirs.get()), {"p"}));
  EXPECT_EQ(live_blocks(stats_of(other)), 1);
}

TEST_P(MemoryOn, FreeWaitsForEnqueuedWork) {
  constexpr int64_t kBytes = int64_t{32} << 20;
  gpumem_stream* stream = nullptr;
  ASSERT_TRUE(ok(gpumem_stream_create(ctx, &stream)));
  Bytes result(kBytes);
  for (const Allocator& allocator : kAllocators) {
    void* p = nullptr;
    ASSERT_TRUE(ok(allocator.allocate(ctx, kBytes, &p)));
    const uint32_t pattern = 0x01020304;
    ASSERT_TRUE(ok(gpumem_fill_async(ctx, p, &pattern, 4, kBytes / 4, stream)));
    ASSERT_TRUE(ok(gpumem_copy_async(ctx, result.data(), p, kBytes, stream)));
    ASSERT_TRUE(ok(gpumem_free(ctx, p)));
    EXPECT_TRUE(ok(gpumem_stream_query(ctx, stream))) << "the work was still running after the free";
    ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, stream)));
    EXPECT_EQ(std::memcmp(result.data() + kBytes - 4, &pattern, 4), 0);
  }
  ASSERT_TRUE(ok(gpumem_stream_destroy(stream)));
}

TEST_P(MemoryOn, QueryTellsTheLibrarysOwnMemory) {
  for (const Allocator& allocator : kAllocators) {
    void* p = nullptr;
    ASSERT_TRUE(ok(allocator.allocate(ctx, 5000, &p)));
    for (const int64_t offset : {0, 1, 4096, 4999}) {
      const gpumem_pointer_info info = query(ctx, static_cast<char*>(p) + offset);
      EXPECT_EQ(info.kind, allocator.kind) << allocator.name;
      EXPECT_EQ(info.ours, 1);
      EXPECT_EQ(info.base, p);
      EXPECT_EQ(info.offset_bytes, offset);
      EXPECT_EQ(info.size_bytes, 5000);
      const bool on_device = on_cuda() && allocator.kind != GPUMEM_MEMORY_PINNED;
      EXPECT_EQ(info.device >= 0, on_device) << allocator.name << " lies on device " << info.device;
    }
    EXPECT_TRUE(ok(gpumem_free(ctx, p)));
  }
}

TEST_P(MemoryOn, QueryTellsOrdinaryMemory) {
  static int in_the_image = 0;
  int on_the_stack = 0;
  const std::vector<int> on_the_heap(1000);
  const FencedPages pages(1);
  const void* const places[] = {&in_the_image, &on_the_stack, on_the_heap.data(), pages.first(), pages.end() - 1};
  for (const void* place : places) {
    const gpumem_pointer_info info = query(ctx, place);
    EXPECT_EQ(info.kind, GPUMEM_MEMORY_PAGEABLE);
    EXPECT_EQ(info.device, GPUMEM_DEVICE_HOST);
    EXPECT_EQ(info.ours, 0);
    EXPECT_EQ(info.size_bytes, 0);
    EXPECT_EQ(info.offset_bytes, 0);
    EXPECT_EQ(info.base, nullptr);
  }
}

TEST_P(MemoryOn, QueryRefusesWhatIsNoMemory) {
  gpumem_pointer_info info;
  ASSERT_TRUE(ok(gpumem_pointer_info_init(&info, sizeof info)));
  info.kind = 77;
  info.size_bytes = 78;
  const FencedPages pages(1);
  void* freed = nullptr;
  if (!kSanitized) {  // a sanitizer's run-time maps memory of its own where a block was
    ASSERT_TRUE(ok(gpumem_alloc_pinned(ctx, 4096, &freed)));
    ASSERT_TRUE(ok(gpumem_free(ctx, freed)));
  }
  const void* const places[] = {nullptr,
                                reinterpret_cast<const void*>(uintptr_t{8}),
                                pages.first() - 1,
                                pages.end(),
                                freed,
                                reinterpret_cast<const void*>(~uintptr_t{0}),
                                reinterpret_cast<const void*>(uintptr_t{0x8000000000000000u})};
  for (const void* place : places) {
    EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_pointer_query(ctx, place, &info), {"p"})) << place;
  }
  EXPECT_TRUE(info.kind == 77 && info.size_bytes == 78) << "a refused query wrote";
  int x = 0;
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_pointer_query(ctx, &x, nullptr), {"info", "NULL"}));
}

TEST_P(MemoryOn, FreedMemoryOfEachKindIsAnInvalidPointer) {
  if (kSanitized) GTEST_SKIP() << "the sanitizer's run-time maps memory of its own where a block was";
  Bytes bytes(4096, 5);
  for (const Allocator& allocator : kAllocators) {
    void* p = nullptr;
    ASSERT_TRUE(ok(allocator.allocate(ctx, 4096, &p)));
    ASSERT_TRUE(ok(gpumem_free(ctx, p)));
    EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_copy(ctx, bytes.data(), p, 4096), {"src"})) << allocator.name;
    EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_copy(ctx, p, bytes.data(), 4096), {"dst"})) << allocator.name;
  }
  EXPECT_EQ(bytes, Bytes(4096, 5));
}

TEST_P(MemoryOn, FreedDeviceMemoryIsInvalidWhileTheDeviceWorksToo) {
  constexpr int64_t kBytes = int64_t{16} << 20;
  const Memory from(ctx, GPUMEM_MEMORY_DEVICE, kBytes);
  const Memory to(ctx, GPUMEM_MEMORY_DEVICE, kBytes);
  void* freed = nullptr;
  ASSERT_TRUE(ok(gpumem_alloc_device(ctx, 4096, &freed)));
  ASSERT_TRUE(ok(gpumem_free(ctx, freed)));
  const Stream stream(ctx);
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(ok(gpumem_copy_async(ctx, to.get(), from.get(), kBytes, stream)));
  Bytes bytes(4096, 5);
  do {
    ASSERT_TRUE(gives(GPUMEM_INVALID_POINTER, gpumem_copy(ctx, bytes.data(), freed, 4096)));
  } while (gpumem_stream_query(ctx, stream) == GPUMEM_NOT_READY);
  EXPECT_EQ(bytes, Bytes(4096, 5));
}

TEST_P(MemoryOn, AnAddressThatTheSystemHandsOutAgainIsOrdinaryMemory) {
  constexpr size_t kBytes = size_t{1} << 20;
  void* p = nullptr;
  ASSERT_TRUE(ok(gpumem_alloc_pinned(ctx, kBytes, &p)));
  ASSERT_TRUE(ok(gpumem_free(ctx, p)));
  ASSERT_TRUE(ok(gpumem_memory_trim(ctx, 0)));  // else it is kept
  void* again = mmap(p, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (again != p) {
    if (again != MAP_FAILED) munmap(again, kBytes);
    GTEST_SKIP() << "the address of freed memory is still in use, so the program can't get it";
  }
  const Bytes bytes(kBytes, 9);
  EXPECT_TRUE(ok(gpumem_copy(ctx, again, bytes.data(), kBytes)));
  EXPECT_EQ(static_cast<unsigned char*>(again)[kBytes - 1], 9);
  EXPECT_EQ(query(ctx, again).ours, 0);
  munmap(again, kBytes);
}

TEST_P(MemoryOn, StatisticsFollowEachKind) {
  const gpumem_memory_stats_info start = stats_of(ctx);
  EXPECT_EQ(live_blocks(start), 0);
  void* pinned[2] = {};
  void* device = nullptr;
  void* managed = nullptr;
  ASSERT_TRUE(ok(gpumem_alloc_pinned(ctx, 100, &pinned[0])));
  ASSERT_TRUE(ok(gpumem_alloc_pinned(ctx, 1000, &pinned[1])));
  ASSERT_TRUE(ok(gpumem_alloc_device(ctx, 70000, &device)));
  ASSERT_TRUE(ok(gpumem_alloc_managed(ctx, 333, &managed)));
  ASSERT_TRUE(ok(gpumem_free(ctx, pinned[0])));
  const gpumem_memory_stats_info now = stats_of(ctx);
  EXPECT_EQ(now.pinned_bytes, 1000);
  EXPECT_EQ(now.pinned_blocks, 1);
  EXPECT_EQ(now.pinned_peak_bytes, 1100);
  EXPECT_EQ(now.device_bytes, 70000);
  EXPECT_EQ(now.device_blocks, 1);
  EXPECT_EQ(now.device_peak_bytes, 70000);
  EXPECT_EQ(now.managed_bytes, 333);
  EXPECT_EQ(now.managed_blocks, 1);
  EXPECT_EQ(now.managed_peak_bytes, 333);
  EXPECT_EQ(now.allocations - start.allocations, 4);
  EXPECT_EQ(now.frees - start.frees, 1);
  for (void* p : {pinned[1], device, managed}) ASSERT_TRUE(ok(gpumem_free(ctx, p)));
  const gpumem_memory_stats_info end = stats_of(ctx);
  EXPECT_EQ(live_blocks(end), 0);
  EXPECT_EQ(end.pinned_bytes + end.device_bytes + end.managed_bytes, 0);
  EXPECT_EQ(end.pinned_peak_bytes, 1100);
  EXPECT_EQ(end.device_peak_bytes, 70000);
  EXPECT_EQ(end.allocations, end.frees);
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_memory_stats(ctx, nullptr), {"stats", "NULL"}));
}

TEST_P(MemoryOn, OperationsLeaveNothingInTheStatistics) {
  std::vector<int32_t> x(10000, 3);
  std::vector<int32_t> y(10000);
  const gpumem_memory_stats_info before = stats_of(ctx);
  int64_t sum = 0;
  ASSERT_TRUE(ok(gpumem_reduce_i32(ctx, GPUMEM_SUM, x.data(), 10000, 1, &sum)));
  ASSERT_TRUE(ok(gpumem_transpose(ctx, 4, 100, 100, x.data(), 100, y.data(), 100)));
  ASSERT_TRUE(ok(gpumem_copy(ctx, y.data(), x.data(), 40000)));
  EXPECT_EQ(live_blocks(stats_of(ctx)), live_blocks(before));
}

int64_t resident_bytes() {
  int64_t mapped = 0;
  int64_t resident = 0;
  std::ifstream("/proc/self/statm") >> mapped >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST(HostScratch, StaysForTheNextCallUntilTrim) {
  const Context ctx(On::host, 1);
  std::vector<int32_t> keys(2'000'000);
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<int32_t>(i * 2654435761U);
  std::vector<int32_t> sorted(keys.size());
  ASSERT_TRUE(ok(gpumem_sort(ctx, GPUMEM_I32, keys.data(), 2'000'000, 0, sorted.data(), nullptr, GPUMEM_I64)));
  const int64_t before = resident_bytes();
  ASSERT_TRUE(ok(gpumem_memory_trim(ctx, int64_t{64} << 20)));
  EXPECT_GT(resident_bytes(), before - 4'000'000);
  ASSERT_TRUE(ok(gpumem_memory_trim(ctx, 0)));
  EXPECT_LT(resident_bytes(), before - 4'000'000);
}

INSTANTIATE_TEST_SUITE_P(On, MemoryOn, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
