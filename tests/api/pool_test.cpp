// Device memory in the order of streams: what is reused, when, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "api/gate.hpp"
#include "api/queue_handles.hpp"
#include "support/contexts.hpp"
#include "support/memory.hpp"
#include "support/random.hpp"
#include "support/sanitizers.hpp"

namespace gpumem_test {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kLargestAlignment = 2 * kMiB;

void* allocated(gpumem_ctx* ctx, int64_t bytes, gpumem_stream* stream, int64_t alignment = 256) {
  void* p = nullptr;
  EXPECT_TRUE(ok(gpumem_alloc_async(ctx, bytes, alignment, stream, &p))) << bytes;
  return p;
}

class Pool : public OnEachContext {
 protected:
  // Without stream-ordered memory nothing is kept: the emulated device under the address sanitizer, unless it is told otherwise.
  // Equal addresses would not tell, since any allocator may hand one out again.
  bool keeps() {
    if (!on_cuda()) return true;
    const char* pools = std::getenv("GPUMEM_EMULATION_POOLS");
    return !kAddressSanitizer || !on_emulated_device(ctx) || pools != nullptr;
  }
};

TEST_P(Pool, KeepsWhatIsFreedWhereMemoryIsStreamOrdered) {
  const Stream stream(ctx);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(ok(gpumem_free_async(ctx, allocated(ctx, 300000, stream), stream)));
  const gpumem_memory_stats_info stats = stats_of(ctx);
  EXPECT_EQ(stats.device_hits, keeps() ? 2 : 0);
  EXPECT_EQ(stats.device_misses, keeps() ? 1 : 3);
  EXPECT_EQ(stats.device_reserved_bytes > 0, keeps());
}

TEST_P(Pool, BlocksAreAlignedAndUsableToTheirLastByte) {
  const Stream stream(ctx);
  std::vector<void*> blocks;
  for (int64_t alignment = 1; alignment <= kLargestAlignment; alignment *= 2) {
    for (const int64_t bytes : {int64_t{1}, int64_t{255}, int64_t{2305}, int64_t{70000}, 3 * kMiB + 1}) {
      void* p = allocated(ctx, bytes, stream, alignment);
      ASSERT_NE(p, nullptr);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % static_cast<uintptr_t>(std::max<int64_t>(alignment, 256)), 0u)
          << bytes << " bytes at " << alignment;
      ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, stream)));
      Bytes image(static_cast<size_t>(bytes));
      poison(image);
      upload(ctx, p, image.data(), image.size());
      EXPECT_EQ(download(ctx, p, image.size()), image);
      blocks.push_back(p);
    }
  }
  std::vector<void*> sorted = blocks;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(std::adjacent_find(sorted.begin(), sorted.end()), sorted.end()) << "one address for two live blocks";
  for (void* p : blocks) EXPECT_TRUE(ok(gpumem_free_async(ctx, p, stream)));
}

TEST_P(Pool, NoBytesAreNullAndFreeingNullIsNothing) {
  void* p = &p;
  EXPECT_TRUE(ok(gpumem_alloc_async(ctx, 0, 256, nullptr, &p)));
  EXPECT_EQ(p, nullptr);
  EXPECT_TRUE(ok(gpumem_free_async(ctx, nullptr, nullptr)));
}

TEST_P(Pool, RefusesWhatIsNoSizeAlignmentOrPlace) {
  void* p = &p;
  for (const int64_t bytes : {int64_t{-1}, int64_t{-512}, INT64_MIN, INT64_MIN + 512}) {
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_alloc_async(ctx, bytes, 256, nullptr, &p),
                        {"bytes", std::to_string(bytes)}));
    EXPECT_EQ(p, nullptr);
  }
  for (const int64_t alignment : {int64_t{0}, int64_t{-256}, int64_t{3}, int64_t{255}, int64_t{257}, int64_t{768},
                                  2 * kLargestAlignment, INT64_MIN, INT64_MAX}) {
    p = &p;
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_alloc_async(ctx, 8, alignment, nullptr, &p),
                        {"alignment", std::to_string(alignment), std::to_string(kLargestAlignment)}));
    EXPECT_EQ(p, nullptr);
  }
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_alloc_async(ctx, 8, 256, nullptr, nullptr), {"p", "NULL"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_memory_trim(ctx, -1), {"keep_bytes", "-1"}));
}

TEST_P(Pool, MoreThanThereIsRunsOut) {
  const Stream stream(ctx);
  for (int64_t near = 0; near <= 512; near += 64) {
    const int64_t bytes = INT64_MAX - near;
    for (const int64_t alignment : {int64_t{256}, kLargestAlignment}) {
      void* p = &p;
      EXPECT_TRUE(refused(GPUMEM_OUT_OF_MEMORY, gpumem_alloc_async(ctx, bytes, alignment, stream, &p),
                          {std::to_string(bytes)}));
      EXPECT_EQ(p, nullptr);
    }
  }
  EXPECT_EQ(stats_of(ctx).allocations, 0);
}

TEST_P(Pool, FreeNamesEachMistake) {
  const Stream stream(ctx);
  const Context other(GetParam());
  void* const p = allocated(ctx, 8192, stream);
  void* const neighbour = allocated(ctx, 8192, stream);
  for (const ptrdiff_t offset : {1, 8, 256, 4096, 8191}) {
    EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_free_async(ctx, static_cast<char*>(p) + offset, stream),
                        {"p", std::to_string(offset), "inside"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_memory_used_on(ctx, static_cast<char*>(p) + offset, stream),
                        {"p", "inside"}));
  }
  EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_free_async(other, p, nullptr), {"p", "another", "context"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_memory_used_on(other, p, nullptr), {"p", "another", "context"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_free_async(other, nullptr, stream), {"stream", "another"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_memory_used_on(ctx, nullptr, stream), {"p", "NULL"}));
  EXPECT_TRUE(ok(gpumem_free_async(ctx, p, stream)));
  EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_free_async(ctx, p, stream), {"p", "freed"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_memory_used_on(ctx, p, stream), {"p", "freed"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_free(ctx, p), {"p", "freed"}));
  int on_the_stack = 0;
  EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_free_async(ctx, &on_the_stack, stream), {"p", "gpumem"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_memory_used_on(ctx, &on_the_stack, stream), {"p", "gpumem"}));
  const Memory pinned(ctx, GPUMEM_MEMORY_PINNED, 100);
  EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_free_async(ctx, pinned.get(), stream), {"p", "pinned"}));
  EXPECT_TRUE(ok(gpumem_memory_used_on(ctx, pinned.get(), stream)));
  EXPECT_TRUE(ok(gpumem_free_async(ctx, neighbour, stream)));
}

TEST_P(Pool, AFreedBlockIsNoMemoryThoughItIsKept) {
  const Stream stream(ctx);
  void* const p = allocated(ctx, 4096, stream);
  void* const neighbour = allocated(ctx, 4096, stream);
  ASSERT_TRUE(ok(gpumem_free_async(ctx, p, stream)));
  ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, stream)));
  Bytes bytes(4096, 5);
  gpumem_pointer_info info;
  ASSERT_TRUE(ok(gpumem_pointer_info_init(&info, sizeof info)));
  if (keeps()) {
    EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_copy(ctx, bytes.data(), p, 4096), {"src", "freed"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_copy(ctx, p, bytes.data(), 4096), {"dst", "freed"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_pointer_query(ctx, p, &info), {"p", "freed"}));
  }
  EXPECT_EQ(bytes, Bytes(4096, 5));
  EXPECT_TRUE(ok(gpumem_pointer_query(ctx, neighbour, &info)));
  EXPECT_EQ(info.size_bytes, 4096);
  EXPECT_TRUE(ok(gpumem_free(ctx, neighbour)));
}

TEST_P(Pool, AStreamGetsItsOwnBlockBackAtOnce) {
  if (!keeps()) GTEST_SKIP() << "the device has no stream-ordered memory";
  const Stream stream(ctx);
  for (const int64_t bytes : {int64_t{1}, int64_t{5000}, int64_t{300000}, 5 * kMiB}) {
    void* const p = allocated(ctx, bytes, stream);
    ASSERT_TRUE(ok(gpumem_free_async(ctx, p, stream)));
    void* const again = allocated(ctx, bytes, stream);
    EXPECT_EQ(again, p) << bytes;
    ASSERT_TRUE(ok(gpumem_free(ctx, again)));
    EXPECT_EQ(allocated(ctx, bytes, stream), p) << "freed for all, it is that stream's too";
    ASSERT_TRUE(ok(gpumem_free_async(ctx, p, stream)));
  }
}

TEST_P(Pool, FreeWaitsAndFreeAsyncDoesNot) {
  constexpr int64_t kBytes = 32 * kMiB;
  const Stream stream(ctx);
  Bytes result(kBytes);
  void* const p = allocated(ctx, kBytes, stream);
  const uint32_t pattern = 0x01020304;
  ASSERT_TRUE(ok(gpumem_fill_async(ctx, p, &pattern, 4, kBytes / 4, stream)));
  ASSERT_TRUE(ok(gpumem_copy_async(ctx, result.data(), p, kBytes, stream)));
  ASSERT_TRUE(ok(gpumem_free(ctx, p)));
  EXPECT_TRUE(ok(gpumem_stream_query(ctx, stream))) << "the work was still running after the free";
  EXPECT_EQ(std::memcmp(result.data() + kBytes - 4, &pattern, 4), 0);
}

TEST_P(Pool, MemoryOfManyStreamsKeepsItsContents) {
  constexpr int kStreams = 4;
  std::vector<std::unique_ptr<Stream>> streams;
  streams.reserve(kStreams);
  for (int i = 0; i < kStreams; ++i) streams.push_back(std::make_unique<Stream>(ctx));
  struct Live {
    void* p;
    int64_t words;
    uint32_t value;
    int stream;
  };
  std::vector<Live> live;
  Random random;
  const auto check_and_free = [&](size_t at) {
    const Live block = live[at];
    live.erase(live.begin() + static_cast<ptrdiff_t>(at));
    std::vector<uint32_t> words(static_cast<size_t>(block.words));
    gpumem_stream* const stream = *streams[static_cast<size_t>(block.stream)];
    ASSERT_TRUE(ok(gpumem_copy_async(ctx, words.data(), block.p, block.words * 4, stream)));
    gpumem_stream* const other = *streams[random.below(kStreams)];
    if (random.below(4) == 0) {
      ASSERT_TRUE(ok(gpumem_memory_used_on(ctx, block.p, other)));
    }
    ASSERT_TRUE(ok(gpumem_free_async(ctx, block.p, random.below(2) == 0 ? stream : other)));
    ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, stream)));
    EXPECT_EQ(words, std::vector<uint32_t>(words.size(), block.value));
  };
  for (uint32_t round = 0; round < (quick_run() ? 200u : 2000u); ++round) {
    const auto stream = static_cast<int>(random.below(kStreams));
    const int64_t words = random.between(1, 1 << random.between(1, 17));
    void* const p = allocated(ctx, words * 4, *streams[static_cast<size_t>(stream)]);
    ASSERT_NE(p, nullptr);
    ASSERT_TRUE(ok(gpumem_fill_async(ctx, p, &round, 4, words, *streams[static_cast<size_t>(stream)])));
    live.push_back({p, words, round, stream});
    if (live.size() > 30) check_and_free(random.below(live.size()));
  }
  while (!live.empty()) check_and_free(live.size() - 1);
}

TEST_P(Pool, ABlockOutlivesItsStreamAndTheStreamsDeclaredForIt) {
  void* p = nullptr;
  void* other = nullptr;
  {
    const Stream stream(ctx);
    const Stream declared(ctx);
    p = allocated(ctx, 100000, stream);
    other = allocated(ctx, 100, stream);
    ASSERT_TRUE(ok(gpumem_memory_used_on(ctx, p, declared)));
    ASSERT_TRUE(ok(gpumem_fill_async(ctx, p, "abcd", 4, 25000, declared)));
  }
  EXPECT_EQ(download(ctx, p, 4), (Bytes{'a', 'b', 'c', 'd'}));
  EXPECT_TRUE(ok(gpumem_free_async(ctx, p, nullptr)));
  EXPECT_TRUE(ok(gpumem_free(ctx, other)));
  {
    const Stream later(ctx);
    void* const q = allocated(ctx, 100000, later);
    EXPECT_TRUE(ok(gpumem_fill_async(ctx, q, "wxyz", 4, 25000, later)));
    EXPECT_TRUE(ok(gpumem_free_async(ctx, q, later)));
  }
}

TEST_P(Pool, AWrapperMayEndBeforeItsMemory) {
  gpumem_stream* wrapper = nullptr;
  ASSERT_TRUE(ok(gpumem_stream_wrap(ctx, nullptr, &wrapper)));
  void* const p = allocated(ctx, 5000, wrapper);
  void* const freed = allocated(ctx, 5000, wrapper);
  ASSERT_TRUE(ok(gpumem_memory_used_on(ctx, freed, nullptr)));
  ASSERT_TRUE(ok(gpumem_free_async(ctx, freed, nullptr)));
  ASSERT_TRUE(ok(gpumem_stream_destroy(wrapper)));
  EXPECT_TRUE(ok(gpumem_free_async(ctx, p, nullptr)));
  ASSERT_TRUE(ok(gpumem_ctx_synchronize(ctx)));
  EXPECT_TRUE(ok(gpumem_memory_trim(ctx, 0)));
}

TEST_P(Pool, MemoryOfTheContextMayBeFreedInAStreamsOrder) {
  const Stream stream(ctx);
  void* p = nullptr;
  ASSERT_TRUE(ok(gpumem_alloc_device(ctx, 70000, &p)));
  ASSERT_TRUE(ok(gpumem_fill_async(ctx, p, "q", 1, 70000, stream)));
  ASSERT_TRUE(ok(gpumem_free_async(ctx, p, stream)));
  EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_free_async(ctx, p, stream), {"p", "freed"}));
  void* const q = allocated(ctx, 70000, stream);
  EXPECT_TRUE(ok(gpumem_fill_async(ctx, q, "r", 1, 70000, stream)));
  EXPECT_TRUE(ok(gpumem_free(ctx, q)));
}

TEST_P(Pool, StatisticsCountBothWays) {
  const Stream stream(ctx);
  void* const p = allocated(ctx, 70000, stream);
  void* q = nullptr;
  ASSERT_TRUE(ok(gpumem_alloc_device(ctx, 30000, &q)));
  gpumem_memory_stats_info stats = stats_of(ctx);
  EXPECT_EQ(stats.device_bytes, 100000);
  EXPECT_EQ(stats.device_blocks, 2);
  EXPECT_EQ(stats.device_peak_bytes, 100000);
  EXPECT_EQ(stats.allocations, 2);
  ASSERT_TRUE(ok(gpumem_free_async(ctx, p, stream)));
  ASSERT_TRUE(ok(gpumem_free_async(ctx, q, stream)));
  stats = stats_of(ctx);
  EXPECT_EQ(stats.device_bytes, 0);
  EXPECT_EQ(stats.device_blocks, 0);
  EXPECT_EQ(stats.device_peak_bytes, 100000);
  EXPECT_EQ(stats.frees, 2);
}

TEST_P(Pool, EndsWithABlockAliveThatIsReported) {
  struct OperandInfo {
    std::string all;
    static void add(void* user, gpumem_log_level, const char* message) {
      static_cast<OperandInfo*>(user)->all += message;
    }
  } seen;
  gpumem_ctx* other = nullptr;
  const gpumem_ctx_options options = options_for(GetParam());
  ASSERT_TRUE(ok(gpumem_ctx_create(&options, &other)));
  ASSERT_TRUE(ok(gpumem_ctx_set_log(other, OperandInfo::add, &seen)));
  ASSERT_NE(allocated(other, 45678, nullptr), nullptr);
  EXPECT_TRUE(ok(gpumem_ctx_destroy(other)));
  EXPECT_TRUE(contains_word(seen.all, "45678")) << seen.all;
  EXPECT_TRUE(contains_word(seen.all, "device")) << seen.all;
}

TEST_P(Pool, TheLimitHoldsAndWhatIsKeptGoesFirst) {
  gpumem_ctx_options options = options_for(GetParam());
  options.device_memory_limit = 64 * kMiB;
  const Context limited(options);
  const Stream first(limited);
  const Stream second(limited);
  void* p = &p;
  EXPECT_TRUE(refused(GPUMEM_OUT_OF_MEMORY, gpumem_alloc_async(limited, 65 * kMiB, 256, first, &p),
                      {std::to_string(65 * kMiB), std::to_string(64 * kMiB), "limit"}));
  EXPECT_EQ(p, nullptr);
  for (int round = 0; round < 20; ++round) {
    gpumem_stream* const stream = round % 2 == 0 ? first : second;
    std::vector<void*> blocks;
    const int64_t bytes = int64_t{round % 5 + 1} * 7 * kMiB / 3;
    for (int64_t live = 0; live + bytes * 9 / 8 <= 60 * kMiB; live += bytes * 9 / 8) {
      blocks.push_back(allocated(limited, bytes, stream));
      ASSERT_NE(blocks.back(), nullptr) << "round " << round;
    }
    EXPECT_TRUE(gives(GPUMEM_OUT_OF_MEMORY, gpumem_alloc_async(limited, 40 * kMiB, 256, first, &p)));
    for (void* block : blocks) ASSERT_TRUE(ok(gpumem_free_async(limited, block, stream)));
  }
  void* small = nullptr;
  ASSERT_TRUE(ok(gpumem_alloc_device(limited, 60 * kMiB, &small))) << "what streams keep is given back for others";
  EXPECT_TRUE(ok(gpumem_free(limited, small)));
}

// src lies in host memory and the work runs on the device, so a copy of src is made there for as long as the call takes.
TEST_P(Pool, AStagedOperandIsLiveForTheCall) {
  if (!on_cuda()) GTEST_SKIP() << "a host context stages nothing";
  constexpr int64_t kCount = kMiB;
  const std::vector<float> src(kCount, 1.5f);
  void* const dst = allocated(ctx, kCount * 8, nullptr);
  const gpumem_memory_stats_info before = stats_of(ctx);
  ASSERT_EQ(before.device_bytes, kCount * 8);
  ASSERT_TRUE(ok(gpumem_convert(ctx, GPUMEM_F32, src.data(), GPUMEM_F64, dst, kCount)));
  const gpumem_memory_stats_info after = stats_of(ctx);
  EXPECT_EQ(after.device_bytes, before.device_bytes);
  EXPECT_EQ(after.device_blocks, before.device_blocks);
  EXPECT_EQ(after.device_peak_bytes, before.device_bytes + kCount * 4);
  std::vector<double> back(kCount);
  ASSERT_TRUE(ok(gpumem_copy(ctx, back.data(), dst, kCount * 8)));
  EXPECT_EQ(back, std::vector<double>(kCount, 1.5));
  EXPECT_TRUE(ok(gpumem_free(ctx, dst)));
}

TEST_P(Pool, AStagedOperandBeyondTheLimitLeavesTheOutput) {
  gpumem_ctx_options options = options_for(GetParam());
  options.device_memory_limit = 20 * kMiB;
  const Context limited(options);
  if (!on_cuda()) GTEST_SKIP() << "a host context stages nothing";
  constexpr int64_t kCount = 3 * kMiB;
  const std::vector<float> src(kCount, 1.5f);
  void* const dst = allocated(limited, kCount * 4, nullptr);
  ASSERT_NE(dst, nullptr);
  ASSERT_TRUE(ok(gpumem_fill(limited, dst, "\xa5", 1, kCount * 4)));
  const gpumem_memory_stats_info before = stats_of(limited);
  EXPECT_TRUE(refused(GPUMEM_OUT_OF_MEMORY, gpumem_convert(limited, GPUMEM_F32, src.data(), GPUMEM_I32, dst, kCount),
                      {std::to_string(kCount * 4), std::to_string(20 * kMiB), "limit"}));
  EXPECT_EQ(stats_of(limited).device_bytes, before.device_bytes);
  EXPECT_EQ(stats_of(limited).device_peak_bytes, before.device_peak_bytes);
  Bytes back(kCount * 4);
  ASSERT_TRUE(ok(gpumem_copy(limited, back.data(), dst, kCount * 4)));
  EXPECT_EQ(back, Bytes(kCount * 4, '\xa5'));
  EXPECT_TRUE(ok(gpumem_free(limited, dst)));
}

TEST_P(Pool, ABlockThatAnotherStreamStillUsesIsNotTheLastWord) {
  gpumem_ctx_options options = options_for(GetParam());
  options.device_memory_limit = 20 * kMiB;
  const Context limited(options);
  const Stream stream(limited);
  const Stream reader(limited);
  Bytes back(16 * kMiB);
  void* const p = allocated(limited, 16 * kMiB, stream);
  ASSERT_TRUE(ok(gpumem_fill_async(limited, p, "a", 1, 16 * kMiB, stream)));
  ASSERT_TRUE(ok(gpumem_stream_synchronize(limited, stream)));
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(ok(gpumem_copy_async(limited, back.data(), p, 16 * kMiB, reader)));
  ASSERT_TRUE(ok(gpumem_memory_used_on(limited, p, reader)));
  ASSERT_TRUE(ok(gpumem_free_async(limited, p, stream)));
  void* const q = allocated(limited, 16 * kMiB, stream);  // the limit leaves it no other memory
  ASSERT_NE(q, nullptr);
  ASSERT_TRUE(ok(gpumem_fill_async(limited, q, "b", 1, 16 * kMiB, stream)));
  ASSERT_TRUE(ok(gpumem_stream_synchronize(limited, reader)));
  EXPECT_EQ(back, Bytes(16 * kMiB, 'a')) << "the memory was written again before its reader had done";
  ASSERT_TRUE(ok(gpumem_free_async(limited, q, reader)));
  void* r = nullptr;
  ASSERT_TRUE(ok(gpumem_alloc_device(limited, 16 * kMiB, &r)));
  EXPECT_TRUE(ok(gpumem_free(limited, r)));
}

// The reader's host function stands at a gate: without any clock, the block is still in use when its stream asks again.
TEST(PoolOnHost, ReuseWaitsForADeclaredStream) {
  constexpr int64_t kBytes = 16 * kMiB;
  Gate gate;
  gpumem_ctx_options options = gate.options(On::host);
  options.device_memory_limit = 20 * kMiB;
  const Context ctx(options);
  const Stream stream(ctx);
  const Stream reader(ctx);
  Bytes back(kBytes);
  void* const p = allocated(ctx, kBytes, stream);
  ASSERT_TRUE(ok(gpumem_fill(ctx, p, "a", 1, kBytes)));
  {
    const OpenAtEnd open(gate);
    gate.close();
    ASSERT_TRUE(ok(gpumem_transpose_async(ctx, 1, 4096, 4096, p, 4096, back.data(), 4096, reader)));
    ASSERT_TRUE(gate.reached());
    ASSERT_TRUE(ok(gpumem_memory_used_on(ctx, p, reader)));
    ASSERT_TRUE(ok(gpumem_free_async(ctx, p, stream)));
    void* q = nullptr;
    ASSERT_TRUE(ok(gpumem_alloc_async(ctx, kBytes, 256, stream, &q))) << "it does not wait for the reader itself";
    EXPECT_EQ(q, p);
    ASSERT_TRUE(ok(gpumem_fill_async(ctx, q, "b", 1, kBytes, stream)));
    EXPECT_TRUE(gives(GPUMEM_NOT_READY, gpumem_stream_query(ctx, stream)));
    ASSERT_TRUE(ok(gpumem_free_async(ctx, q, stream)));
  }
  ASSERT_TRUE(ok(gpumem_ctx_synchronize(ctx)));
  EXPECT_EQ(back, Bytes(kBytes, 'a'));
}

// 112 MiB are needed at a time, of which 50 wait for a reader; so 135 may be taken before idle blocks go back. Of live blocks there are
// 62 MiB at most.
TEST(PoolOnHost, WhatAReaderStillUsesCountsAsLive) {
  Gate gate;
  const Bytes from(16 * kMiB);
  Bytes to(16 * kMiB);
  const Context ctx(gate.options(On::host));
  const Stream stream(ctx);
  const Stream reader(ctx);
  const auto allocate = [&](int count, int64_t bytes) {
    std::vector<void*> blocks;
    for (int i = 0; i < count; ++i) blocks.push_back(allocated(ctx, bytes, stream));
    return blocks;
  };
  const OpenAtEnd open(gate);
  gate.close();
  ASSERT_TRUE(ok(gpumem_transpose_async(ctx, 1, 4096, 4096, from.data(), 4096, to.data(), 4096, reader)));
  ASSERT_TRUE(gate.reached());
  for (void* p : allocate(50, kMiB)) {
    ASSERT_TRUE(ok(gpumem_memory_used_on(ctx, p, reader)));
    ASSERT_TRUE(ok(gpumem_free_async(ctx, p, stream)));
  }
  const std::vector<void*> second = allocate(50, kMiB * 5 / 4);
  for (size_t i = 0; i < 12; ++i) ASSERT_TRUE(ok(gpumem_free_async(ctx, second[i], stream)));
  allocate(10, kMiB * 3 / 2);
  const int64_t hits = stats_of(ctx).device_hits;
  allocate(12, kMiB * 5 / 4);
  EXPECT_EQ(stats_of(ctx).device_hits - hits, 12) << "idle blocks went back though what is needed left them room";
}

TEST_P(Pool, TrimGivesBackAndKeepsWhatItIsTold) {
  const Stream stream(ctx);
  std::vector<void*> blocks;
  blocks.reserve(20);
  for (int i = 0; i < 20; ++i) blocks.push_back(allocated(ctx, 3 * kMiB, stream));
  void* const live = allocated(ctx, 1000, stream);
  for (void* p : blocks) ASSERT_TRUE(ok(gpumem_free_async(ctx, p, stream)));
  EXPECT_TRUE(ok(gpumem_memory_trim(ctx, INT64_MAX)));
  EXPECT_TRUE(ok(gpumem_memory_trim(ctx, 10 * kMiB)));
  EXPECT_TRUE(ok(gpumem_memory_trim(ctx, 0)));
  EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_free_async(ctx, blocks[0], stream), {"p", "freed"}));
  EXPECT_TRUE(ok(gpumem_fill_async(ctx, live, "z", 1, 1000, stream)));
  EXPECT_TRUE(ok(gpumem_free_async(ctx, live, stream)));
}

TEST_P(Pool, ThreadsWithAStreamEach) {
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([this, t] {
      const Stream stream(ctx);
      Random random(static_cast<uint64_t>(t));
      std::vector<void*> blocks;
      for (int i = 0; i < (quick_run() ? 200 : 5000); ++i) {
        void* p = nullptr;
        ASSERT_TRUE(ok(gpumem_alloc_async(ctx, random.between(1, 40000), 256, stream, &p)));
        blocks.push_back(p);
        if (random.below(3) == 0) continue;
        const size_t at = random.below(blocks.size());
        const uint64_t way = random.below(50);
        const gpumem_status status = way == 0   ? gpumem_free(ctx, blocks[at])
                                     : way == 1 ? gpumem_free_async(ctx, blocks[at], nullptr)
                                                : gpumem_free_async(ctx, blocks[at], stream);
        ASSERT_TRUE(ok(status));
        blocks.erase(blocks.begin() + static_cast<ptrdiff_t>(at));
        if (random.below(500) == 0) {
          ASSERT_TRUE(ok(gpumem_memory_trim(ctx, 1 << 20)));
        }
      }
      for (void* p : blocks) ASSERT_TRUE(ok(gpumem_free_async(ctx, p, stream)));
    });
  }
  for (std::thread& thread : threads) thread.join();
  const gpumem_memory_stats_info stats = stats_of(ctx);
  EXPECT_EQ(stats.device_bytes, 0);
  EXPECT_EQ(stats.allocations, stats.frees);
}

// A stream that grows takes from the others what they do not use, while they may take it themselves.
TEST_P(Pool, ThreadsTakeFromEachOther) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(quick_run() ? 1 : 2);
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([this, t, end] {
      const Stream stream(ctx);
      Random random(static_cast<uint64_t>(t));
      std::vector<void*> blocks(12);
      while (std::chrono::steady_clock::now() < end) {
        const int64_t bytes = random.between(1, 40000);
        for (void*& p : blocks) ASSERT_TRUE(ok(gpumem_alloc_async(ctx, bytes, 256, stream, &p)));
        for (void* p : blocks) ASSERT_TRUE(ok(gpumem_free_async(ctx, p, stream)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(stats_of(ctx).device_bytes, 0);
}

// Sizes log-uniform from 8 bytes to 256 MiB, in random order: what is taken stays near what is live.
// Over what was live at a time, or a tenth over what the two streams needed each.
TEST_P(Pool, ARandomTraceTakesAtMostAQuarterMoreThanWasLive) {
  if (!keeps()) GTEST_SKIP() << "the device has no stream-ordered memory";
  gpumem_device_info device;
  ASSERT_TRUE(ok(gpumem_device_info_init(&device, sizeof device)));
  ASSERT_TRUE(ok(gpumem_ctx_device(ctx, &device)));
  const int64_t most_live = std::min<int64_t>(int64_t{16} << 30, device.memory_bytes / 4);
  const Stream streams[2] = {Stream(ctx), Stream(ctx)};
  struct Live {
    void* p;
    int64_t bytes;
    size_t stream;
  };
  std::vector<Live> live;
  int64_t live_bytes = 0;
  int64_t of_stream[2] = {};
  int64_t needed[2] = {};
  Random random;
  for (int operation = 0; operation < (quick_run() ? 20000 : 200000); ++operation) {
    const auto bytes = static_cast<int64_t>(std::exp2(3 + 25 * static_cast<double>(random.below(1000000)) * 1e-6));
    const bool full = live_bytes + bytes > most_live;
    if (!live.empty() && (full || random.below(5) < 2)) {
      const size_t at = random.below(live.size());
      std::swap(live[at], live.back());
      live_bytes -= live.back().bytes;
      of_stream[live.back().stream] -= live.back().bytes;
      ASSERT_TRUE(ok(gpumem_free_async(ctx, live.back().p, streams[live.back().stream])));
      live.pop_back();
    } else if (!full) {
      const size_t stream = random.below(8) == 0 ? 1 : 0;
      void* const p = allocated(ctx, bytes, streams[stream]);
      ASSERT_NE(p, nullptr) << "operation " << operation;
      live.push_back({p, bytes, stream});
      live_bytes += bytes;
      of_stream[stream] += bytes;
      needed[stream] = std::max(needed[stream], of_stream[stream]);
    }
  }
  const gpumem_memory_stats_info stats = stats_of(ctx);
  EXPECT_EQ(stats.device_bytes, live_bytes);
  const auto reserved = static_cast<double>(stats.device_reserved_peak_bytes);
  const auto peak = static_cast<double>(stats.device_peak_bytes);
  std::printf("reserved over live, at their highest: %.3f; from the cache: %.3f\n", reserved / peak,
              static_cast<double>(stats.device_hits) / static_cast<double>(stats.device_allocations));
  EXPECT_LE(reserved, std::max(1.25 * peak, 1.1 * static_cast<double>(needed[0] + needed[1])));
  for (const Live& block : live) ASSERT_TRUE(ok(gpumem_free_async(ctx, block.p, streams[block.stream])));
}

TEST_P(Pool, OneOfManyDoubleFreesSucceeds) {
  for (int round = 0; round < (quick_run() ? 20 : 300); ++round) {
    void* const p = allocated(ctx, 1000, nullptr);
    std::atomic<int> freed{0};
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] { freed += gpumem_free_async(ctx, p, nullptr) == GPUMEM_OK ? 1 : 0; });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(freed, 1);
  }
}

INSTANTIATE_TEST_SUITE_P(On, Pool, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
