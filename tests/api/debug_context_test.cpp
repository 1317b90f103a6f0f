// Debug mode: how it is asked for, and that the library works in it as usual, from several threads too.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "api/debug_memory.hpp"
#include "api/queue_handles.hpp"
#include "support/environment.hpp"
#include "support/random.hpp"

namespace gpumem_test {
namespace {

TEST_P(DebugMemory, OptionsThatAreNoneAreRefused) {
  EXPECT_EQ(options_for(GetParam()).debug_memory, 0);
  EXPECT_EQ(options_for(GetParam()).reserved2, 0);
  for (const int32_t value : {2, -1, INT32_MAX, INT32_MIN}) {
    gpumem_ctx_options options = options_for(GetParam());
    options.debug_memory = value;
    auto* none = reinterpret_cast<gpumem_ctx*>(&options);
    EXPECT_TRUE(
        refused(GPUMEM_INVALID_ARGUMENT, gpumem_ctx_create(&options, &none), {"debug_memory", std::to_string(value)}));
    EXPECT_EQ(none, nullptr);
  }
  gpumem_ctx_options options = debug_options(GetParam());
  options.reserved2 = 1;
  gpumem_ctx* none = nullptr;
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_ctx_create(&options, &none), {"reserved2", "1"}));
}

TEST_P(DebugMemory, AnOlderCallersOptionsHaveNoSuchField) {
  const ScopedVariable variable("GPUMEM_DEBUG", "0");
  gpumem_ctx_options options = debug_options(GetParam());
  options.reserved2 = 7;
  options.struct_size = offsetof(gpumem_ctx_options, debug_memory);
  const Context older(options);
  EXPECT_TRUE(gives(GPUMEM_UNSUPPORTED, gpumem_memory_check(older)));
}

TEST_P(DebugMemory, TheEnvironmentTurnsItOn) {
  const ScopedVariable variable("GPUMEM_DEBUG", "1");
  DebugContext by_variable(options_for(GetParam()));
  EXPECT_TRUE(ok(by_variable.check()));
  for (const Allocator& by : kAllocators) {
    void* const p = by_variable.allocated(by, 100, "marked");
    by_variable.change(by, p, 100);
    EXPECT_TRUE(by_variable.found(by.free(by_variable.ctx, p), {"marked", "100"})) << by.name;
  }
}

TEST_P(DebugMemory, TheEnvironmentLeavesItOff) {
  for (const char* value : {"0", ""}) {
    const ScopedVariable variable("GPUMEM_DEBUG", value);
    const Context plain(GetParam());
    EXPECT_TRUE(gives(GPUMEM_UNSUPPORTED, gpumem_memory_check(plain))) << '\'' << value << '\'';
    const Context asked(debug_options(GetParam()));
    EXPECT_TRUE(ok(gpumem_memory_check(asked))) << "the options ask for it, whatever the variable is";
  }
}

TEST_P(DebugMemory, TheEnvironmentIsRefusedWhereItSaysNeither) {
  for (const char* value : {"yes", "2", "01", "1x"}) {
    const ScopedVariable variable("GPUMEM_DEBUG", value);
    const gpumem_ctx_options options = options_for(GetParam());
    gpumem_ctx* none = nullptr;
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_ctx_create(&options, &none), {"GPUMEM_DEBUG", value}));
    EXPECT_EQ(none, nullptr);
  }
}

TEST_P(DebugMemory, OperationsWorkAsUsual) {
  constexpr int64_t kRows = 67, kCols = 129, kCount = kRows * kCols;
  std::vector<int32_t> matrix(kCount);
  for (size_t i = 0; i < matrix.size(); ++i) matrix[i] = static_cast<int32_t>(i * 7 % 1000);
  std::vector<int32_t> turned(kCount);
  for (size_t i = 0; i < matrix.size(); ++i) turned[i % kCols * kRows + i / kCols] = matrix[i];
  int64_t expected = 0;
  for (const int32_t value : matrix) expected += value;
  const Stream stream(ctx);
  for (const gpumem_memory_kind from : kAllKinds) {
    for (const gpumem_memory_kind to : kAllKinds) {
      SCOPED_TRACE(std::string(kind_name(from)) + " to " + kind_name(to));
      const Memory x(ctx, from, kCount * 4);
      const Memory y(ctx, to, kCount * 4);
      const int32_t five = 5;
      ASSERT_TRUE(ok(gpumem_fill(ctx, y.get(), &five, 4, kCount)));
      int64_t sum = 0;
      ASSERT_TRUE(ok(gpumem_reduce_i32(ctx, GPUMEM_SUM, static_cast<int32_t*>(y.get()), kCount, 1, &sum)));
      EXPECT_EQ(sum, 5 * kCount);
      ASSERT_TRUE(ok(gpumem_copy_async(ctx, x.get(), matrix.data(), kCount * 4, stream)));
      ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, stream)));
      ASSERT_TRUE(ok(gpumem_copy(ctx, y.get(), x.get(), kCount * 4)));
      ASSERT_TRUE(ok(gpumem_reduce_i32(ctx, GPUMEM_SUM, static_cast<int32_t*>(y.get()), kCount, 1, &sum)));
      EXPECT_EQ(sum, expected);
      ASSERT_TRUE(ok(gpumem_transpose(ctx, 4, kRows, kCols, x.get(), kCols, y.get(), kRows)));
      std::vector<int32_t> back(kCount);
      ASSERT_TRUE(ok(gpumem_copy(ctx, back.data(), y.get(), kCount * 4)));
      EXPECT_EQ(back, turned);
    }
  }
  EXPECT_TRUE(ok(on.check()));
  EXPECT_EQ(on.log.complaints, "");
}

template <class F>
void on_threads(int count, F f) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&f, i] { f(i); });
  for (std::thread& thread : threads) thread.join();
}

TEST_P(DebugMemory, ThreadsAllocateFreeAndCheckAtOnce) {
  on_threads(6, [this](int thread) {
    Random random(static_cast<uint64_t>(thread));
    std::vector<void*> blocks;
    for (int i = 0; i < (quick_run() ? 20 : 150); ++i) {
      const Allocator& by = kAllocators[random.below(4)];
      const int64_t bytes = random.between(1, 30000);
      void* const p = on.allocated(by, bytes, by.name);
      ASSERT_TRUE(ok(gpumem_fill(ctx, p, "t", 1, bytes)));
      blocks.push_back(p);
      if (random.below(3) == 0) continue;
      const size_t at = random.below(blocks.size());
      ASSERT_TRUE(ok(gpumem_free(ctx, blocks[at])));
      blocks.erase(blocks.begin() + static_cast<ptrdiff_t>(at));
      if (random.below(8) == 0) {
        ASSERT_TRUE(ok(on.check()));
      }
      if (random.below(16) == 0) {
        ASSERT_TRUE(ok(gpumem_memory_trim(ctx, 10000)));
      }
    }
    for (void* p : blocks) ASSERT_TRUE(ok(gpumem_free(ctx, p)));
  });
  EXPECT_TRUE(ok(on.check()));
  EXPECT_EQ(on.log.complaints, "");
  EXPECT_EQ(on.live_bytes(), 0);
}

// Pinned memory, into which every thread may store at any time.
TEST_P(DebugMemory, EachThreadFindsWhatItWrote) {
  constexpr int kThreads = 4, kRounds = 20;
  const Allocator& by = kAllocators[1];
  on_threads(kThreads, [&](int thread) {
    for (int round = 0; round < kRounds; ++round) {
      const std::string label = "block" + std::to_string(thread * kRounds + round);
      void* const p = on.allocated(by, 1000, label.c_str());
      static_cast<char*>(p)[1000 + round] ^= 0x55;
      EXPECT_TRUE(refused(GPUMEM_CORRUPTED, by.free(ctx, p), {label, std::to_string(1000 + round)}));
    }
  });
  EXPECT_EQ(on.log.errors.size(), static_cast<size_t>(kThreads * kRounds)) << on.log.all;
  for (int i = 0; i < kThreads * kRounds; ++i) EXPECT_TRUE(on.log.tells({"block" + std::to_string(i), "pinned"}));
  EXPECT_TRUE(ok(on.check()));
}

}  // namespace
}  // namespace gpumem_test
