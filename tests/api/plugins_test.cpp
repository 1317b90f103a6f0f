// The allocators in the signatures of other libraries, and the contexts of the process that they share.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/contexts.hpp"
#include "support/memory.hpp"
#include "support/random.hpp"

namespace gpumem_test {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
void* const kLegacy = reinterpret_cast<void*>(uintptr_t{1});  // cudaStreamLegacy

gpumem_ctx* shared_ctx(int32_t device) {
  gpumem_ctx* ctx = nullptr;
  EXPECT_TRUE(ok(gpumem_shared_ctx(device, &ctx)));
  return ctx;
}

// The sentence that a call without a status left.
testing::AssertionResult says(std::initializer_list<std::string> words) {
  const std::string sentence = last_error();
  forget_last_error();
  for (const std::string& word : words) {
    if (!contains_word(sentence, word)) {
      return testing::AssertionFailure() << "the sentence does not name '" << word << "': " << sentence;
    }
  }
  return testing::AssertionSuccess();
}

// Without a failure the sentence is still the one that forget_last_error() left.
testing::AssertionResult says_nothing() { return says({"-424242"}); }

// Of one library: how it asks for memory and gives it back.
struct Plug {
  const char* name;
  void* stream;  // torch: the native stream; cupy: param
  bool torch;

  void* allocate(int64_t bytes, int32_t device) const {
    return torch ? gpumem_torch_malloc(bytes, device, stream) : gpumem_cupy_malloc(stream, bytes, device);
  }
  void free(void* p, int64_t bytes, int32_t device) const {
    if (torch) return gpumem_torch_free(p, bytes, device, stream);
    gpumem_cupy_free(stream, p, device);
  }
};

std::vector<Plug> plugs(On on) {
  std::vector<Plug> all = {{"torch", nullptr, true}, {"cupy", nullptr, false}};
  if (on == On::cuda) {
    all.push_back({"torch on cudaStreamLegacy", kLegacy, true});
    all.push_back({"cupy on cudaStreamLegacy", kLegacy, false});
  }
  return all;
}

class Plugins : public testing::TestWithParam<On> {
 protected:
  void SetUp() override {
    ASSERT_NE(ctx, nullptr);
    before = stats_of(ctx);
    forget_last_error();
  }
  // The context is that of all tests here, so counts are compared.
  void TearDown() override {
    EXPECT_EQ(stats_of(ctx).device_blocks, before.device_blocks) << "the test left memory behind";
  }

  int32_t device = GetParam() == On::host ? int32_t{GPUMEM_DEVICE_HOST} : 0;
  gpumem_ctx* ctx = shared_ctx(device);
  gpumem_memory_stats_info before{};
};

TEST_P(Plugins, GiveMemoryOfTheSharedContextAndTakeItBack) {
  for (const Plug& plug : plugs(GetParam())) {
    for (const int64_t bytes : {int64_t{1}, int64_t{512}, int64_t{100003}, 3 * kMiB}) {
      void* const p = plug.allocate(bytes, device);
      ASSERT_NE(p, nullptr) << plug.name << ": " << last_error();
      EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % 256, 0u);
      const gpumem_memory_stats_info stats = stats_of(ctx);
      EXPECT_EQ(stats.device_bytes, before.device_bytes + bytes) << plug.name;
      EXPECT_EQ(stats.device_blocks, before.device_blocks + 1);
      Bytes image(static_cast<size_t>(bytes));
      poison(image);
      upload(ctx, p, image.data(), image.size());
      EXPECT_EQ(download(ctx, p, image.size()), image);
      plug.free(p, bytes, device);
      EXPECT_EQ(stats_of(ctx).device_bytes, before.device_bytes) << plug.name << ": " << last_error();
      EXPECT_TRUE(says_nothing()) << plug.name;
    }
  }
}

TEST_P(Plugins, NoBytesAreNullAndNoFailure) {
  for (const Plug& plug : plugs(GetParam())) {
    EXPECT_EQ(plug.allocate(0, device), nullptr);
    plug.free(nullptr, 0, device);
    gpumem_torch_record_stream(nullptr, plug.stream);
    EXPECT_TRUE(says_nothing()) << plug.name;
  }
}

TEST_P(Plugins, WhatCannotBeHadIsNullWithASentence) {
  for (const Plug& plug : plugs(GetParam())) {
    for (const int64_t bytes : {int64_t{-1}, INT64_MIN}) {
      EXPECT_EQ(plug.allocate(bytes, device), nullptr);
      EXPECT_TRUE(says({"bytes", std::to_string(bytes), "expected"})) << plug.name;
    }
    for (const int64_t bytes : {INT64_MAX, INT64_MAX - 512}) {
      EXPECT_EQ(plug.allocate(bytes, device), nullptr);
      EXPECT_TRUE(says({std::to_string(bytes), "device", "memory"})) << plug.name;
    }
  }
}

TEST_P(Plugins, AMistakenFreeChangesNothing) {
  const Context other(GetParam());
  void* foreign = nullptr;
  ASSERT_TRUE(ok(gpumem_alloc_device(other, 1000, &foreign)));
  int on_the_stack = 0;
  for (const Plug& plug : plugs(GetParam())) {
    void* const p = plug.allocate(4096, device);
    plug.free(&on_the_stack, 4, device);
    EXPECT_TRUE(says({"p", "gpumem"})) << plug.name;
    plug.free(static_cast<char*>(p) + 256, 4096, device);
    EXPECT_TRUE(says({"p", "inside", "256"})) << plug.name;
    plug.free(foreign, 1000, device);
    EXPECT_TRUE(says({"p", "another", "context"})) << plug.name;
    EXPECT_EQ(stats_of(ctx).device_blocks, before.device_blocks + 1);
    plug.free(p, -77, device);  // the size is not looked at
    EXPECT_TRUE(says_nothing()) << plug.name;
    plug.free(p, 4096, device);
    EXPECT_TRUE(says({"p", "freed"})) << plug.name;
  }
  EXPECT_TRUE(ok(gpumem_free(other, foreign)));
}

TEST_P(Plugins, ReuseWhatWasFreed) {
  for (const Plug& plug : plugs(GetParam())) {
    plug.free(plug.allocate(300000, device), 300000, device);
    const gpumem_memory_stats_info first = stats_of(ctx);
    if (first.device_reserved_bytes == 0) GTEST_SKIP() << "the device has no stream-ordered memory";
    for (int i = 0; i < 3; ++i) plug.free(plug.allocate(300000, device), 300000, device);
    EXPECT_EQ(stats_of(ctx).device_hits, first.device_hits + 3) << plug.name;
  }
}

TEST_P(Plugins, OneLibraryMayFreeWhatTheOtherHasAndTheContextToo) {
  void* p = gpumem_torch_malloc(5000, device, nullptr);
  gpumem_cupy_free(nullptr, p, device);
  p = gpumem_cupy_malloc(nullptr, 5000, device);
  gpumem_torch_free(p, 5000, device, nullptr);
  EXPECT_TRUE(ok(gpumem_free(ctx, gpumem_torch_malloc(5000, device, nullptr))));
  EXPECT_TRUE(ok(gpumem_free_async(ctx, gpumem_cupy_malloc(nullptr, 5000, device), nullptr)));
  ASSERT_TRUE(ok(gpumem_alloc_device(ctx, 5000, &p)));
  gpumem_torch_free(p, 5000, device, nullptr);
  EXPECT_TRUE(says_nothing());
}

TEST_P(Plugins, AFreeComesBehindTheWorkOfItsStream) {
  constexpr int64_t kBytes = 16 * kMiB;
  gpumem_stream* same = nullptr;  // as PyTorch's stream: the legacy one, or the host's own
  ASSERT_TRUE(ok(gpumem_stream_wrap(ctx, nullptr, &same)));
  Bytes back(kBytes);
  void* const p = gpumem_torch_malloc(kBytes, device, nullptr);
  ASSERT_TRUE(ok(gpumem_fill_async(ctx, p, "a", 1, kBytes, same)));
  ASSERT_TRUE(ok(gpumem_copy_async(ctx, back.data(), p, kBytes, same)));
  gpumem_torch_free(p, kBytes, device, nullptr);
  void* const q = gpumem_torch_malloc(kBytes, device, nullptr);
  ASSERT_TRUE(ok(gpumem_fill_async(ctx, q, "b", 1, kBytes, same)));
  ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, same)));
  EXPECT_EQ(back, Bytes(kBytes, 'a'));
  EXPECT_EQ(download(ctx, q, 1)[0], 'b');
  gpumem_torch_free(q, kBytes, device, nullptr);
  EXPECT_TRUE(ok(gpumem_stream_destroy(same)));
}

// The stream is one of the context, which a free without a stream knows of on the host and waits for as a part of the device.
TEST_P(Plugins, AFreeForAllStreamsWaitsForThem) {
  constexpr int64_t kBytes = 32 * kMiB;
  gpumem_stream* stream = nullptr;
  ASSERT_TRUE(ok(gpumem_stream_create(ctx, &stream)));
  Bytes back(kBytes);
  void* const p = gpumem_cupy_malloc(nullptr, kBytes, device);
  ASSERT_TRUE(ok(gpumem_fill_async(ctx, p, "a", 1, kBytes, stream)));
  ASSERT_TRUE(ok(gpumem_copy_async(ctx, back.data(), p, kBytes, stream)));
  gpumem_cupy_free(nullptr, p, device);
  EXPECT_TRUE(ok(gpumem_stream_query(ctx, stream))) << "the work was still running after the free";
  EXPECT_EQ(back, Bytes(kBytes, 'a'));
  EXPECT_TRUE(ok(gpumem_stream_destroy(stream)));
}

TEST_P(Plugins, RecordStreamDeclaresAUse) {
  void* const p = gpumem_torch_malloc(4096, device, nullptr);
  gpumem_torch_record_stream(p, nullptr);
  EXPECT_TRUE(says_nothing());
  gpumem_torch_record_stream(static_cast<char*>(p) + 8, nullptr);
  EXPECT_TRUE(says({"p", "inside"}));
  gpumem_torch_free(p, 4096, device, nullptr);
  void* const every = gpumem_cupy_malloc(nullptr, 4096, device);
  gpumem_torch_record_stream(every, nullptr);
  gpumem_cupy_free(nullptr, every, device);
  EXPECT_TRUE(says_nothing());
  gpumem_torch_record_stream(p, nullptr);
  EXPECT_TRUE(says({"p", "not memory"}));
  int on_the_stack = 0;
  gpumem_torch_record_stream(&on_the_stack, nullptr);
  EXPECT_TRUE(says({"p", "not memory"}));
  const Context other(GetParam());
  const Memory foreign(other, GPUMEM_MEMORY_DEVICE, 64);
  gpumem_torch_record_stream(foreign.get(), nullptr);
  EXPECT_TRUE(says({"p", "not memory"}));
}

// Without captures: tests/fault/graph_pools_test.cpp has them.
TEST_P(Plugins, APoolOfGraphsKeepsItsMemory) {
  constexpr int64_t kBytes = 3 * kMiB;
  gpumem_torch_free(gpumem_torch_malloc(kBytes, device, nullptr), kBytes, device, nullptr);
  if (stats_of(ctx).device_reserved_bytes == 0) GTEST_SKIP() << "the device has no stream-ordered memory";
  for (int round = 0; round < 3; ++round) {
    gpumem_torch_begin_pool(device, 7, 0, nullptr);
    void* const p = gpumem_torch_malloc(kBytes, device, nullptr);
    gpumem_torch_free(p, kBytes, device, nullptr);
    EXPECT_EQ(gpumem_torch_malloc(kBytes, device, nullptr), p);
    void* const kept = gpumem_torch_malloc(1000, device, nullptr);
    gpumem_torch_end_pool(device, 7, 0);
    gpumem_torch_free(p, kBytes, device, nullptr);
    gpumem_torch_empty_cache();
    std::vector<void*> others;
    for (int i = 0; i < 4; ++i) others.push_back(gpumem_torch_malloc(kBytes, device, nullptr));
    EXPECT_EQ(std::count(others.begin(), others.end(), p), 0);
    for (void* other : others) gpumem_torch_free(other, kBytes, device, nullptr);
    gpumem_torch_release_pool(device, 7, 0);
    EXPECT_TRUE(says_nothing());
    gpumem_torch_empty_cache();
    EXPECT_LT(stats_of(ctx).device_reserved_bytes, before.device_reserved_bytes + kBytes);
    upload(ctx, kept, "abc", 3);
    EXPECT_EQ(download(ctx, kept, 3), (Bytes{'a', 'b', 'c'}));
    gpumem_torch_free(kept, 1000, device, nullptr);
    EXPECT_TRUE(says_nothing());
  }
}

TEST_P(Plugins, APoolAcceptsTheStreamsOfItsFilter) {
  gpumem_torch_free(gpumem_torch_malloc(5000, device, nullptr), 5000, device, nullptr);
  if (stats_of(ctx).device_reserved_bytes == 0) GTEST_SKIP() << "the device has no stream-ordered memory";
  int asked = 0;
  const std::function<bool(void*)> none = [&asked](void* stream) {
    EXPECT_EQ(stream, nullptr);
    ++asked;
    return false;
  };
  const std::function<bool(void*)> throws = [](void*) -> bool { throw std::runtime_error("no stream"); };
  gpumem_torch_begin_pool(device, 0, 1, nullptr);
  void* const p = gpumem_torch_malloc(5000, device, nullptr);
  gpumem_torch_begin_pool(device, 0, 2, &none);
  gpumem_torch_begin_pool(device, 0, 3, &throws);
  gpumem_torch_free(p, 5000, device, nullptr);
  EXPECT_EQ(gpumem_torch_malloc(5000, device, nullptr), p) << "the first pool accepts what the others don't";
  EXPECT_EQ(asked, 1);
  gpumem_torch_free(p, 5000, device, nullptr);
  for (const int64_t number : {1, 2, 3}) {
    gpumem_torch_end_pool(device, 0, number);
    gpumem_torch_release_pool(device, 0, number);
  }
  EXPECT_TRUE(says_nothing());
  gpumem_torch_end_pool(device, 0, 1);
  EXPECT_TRUE(says({"pool", "not", "open"}));
  gpumem_torch_release_pool(device, 0, 1);
  EXPECT_TRUE(says({"pool", "began"}));
}

TEST_P(Plugins, SegmentsAreMemoryOfEveryStream) {
  void* const p = gpumem_torch_segment_malloc(2 * kMiB, device, nullptr);
  ASSERT_NE(p, nullptr) << last_error();
  gpumem_torch_segment_free(p, 2 * kMiB, device, nullptr);
  EXPECT_EQ(gpumem_torch_segment_malloc(0, device, nullptr), nullptr);
  gpumem_torch_segment_free(nullptr, 0, device, nullptr);
  EXPECT_TRUE(says_nothing());
  EXPECT_EQ(gpumem_torch_segment_malloc(-1, device, nullptr), nullptr);
  EXPECT_TRUE(says({"bytes", "-1", "expected"}));
}

// CUDA itself would look into an address that is none.
TEST_P(Plugins, AStreamThatIsNoneIsRefused) {
  void* const per_thread = reinterpret_cast<void*>(uintptr_t{2});  // cudaStreamPerThread
  void* const p = gpumem_torch_malloc(64, device, nullptr);
  for (void* stream : GetParam() == On::host ? std::vector<void*>{per_thread, &before} : std::vector{per_thread}) {
    EXPECT_EQ(gpumem_torch_malloc(64, device, stream), nullptr);
    EXPECT_TRUE(says({"native_stream", "expected"}));
    EXPECT_EQ(gpumem_cupy_malloc(stream, 64, device), nullptr);
    EXPECT_TRUE(says({"native_stream", "expected"}));
    gpumem_torch_free(p, 64, device, stream);
    EXPECT_TRUE(says({"native_stream", "expected"}));
    gpumem_cupy_free(stream, p, device);
    EXPECT_TRUE(says({"native_stream", "expected"}));
    gpumem_torch_record_stream(p, stream);
    EXPECT_TRUE(says({"native_stream", "expected"}));
  }
  EXPECT_EQ(stats_of(ctx).device_blocks, before.device_blocks + 1);
  gpumem_torch_free(p, 64, device, nullptr);
}

TEST_P(Plugins, TheContextIsOneForTheProcessAndStays) {
  EXPECT_EQ(shared_ctx(device), ctx);
  std::vector<gpumem_ctx*> seen(8);
  std::vector<std::thread> threads;
  for (gpumem_ctx*& mine : seen) threads.emplace_back([&mine, this] { mine = shared_ctx(device); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(seen, std::vector<gpumem_ctx*>(8, ctx));
  EXPECT_TRUE(refused(GPUMEM_BUSY, gpumem_ctx_destroy(ctx), {"ctx", "process", std::to_string(device)}));
  EXPECT_TRUE(ok(gpumem_ctx_status(ctx)));
  EXPECT_TRUE(ok(gpumem_memory_trim(ctx, 0)));
  EXPECT_TRUE(ok(gpumem_ctx_synchronize(ctx)));
  gpumem_device_info info;
  ASSERT_TRUE(ok(gpumem_device_info_init(&info, sizeof info)));
  ASSERT_TRUE(ok(gpumem_ctx_device(ctx, &info)));
  EXPECT_EQ(info.device, device);
}

TEST_P(Plugins, FromManyThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([this, t] {
      const std::vector<Plug> all = plugs(GetParam());
      Random random(static_cast<uint64_t>(t));
      struct Live {
        void* p;
        const Plug* plug;
        int64_t bytes;
      };
      std::vector<Live> live;
      for (int i = 0; i < (quick_run() ? 200 : 3000); ++i) {
        const Plug& plug = all[random.below(all.size())];
        const int64_t bytes = random.between(1, 40000);
        void* const p = plug.allocate(bytes, device);
        ASSERT_NE(p, nullptr) << last_error();
        if (random.below(8) == 0) gpumem_torch_record_stream(p, nullptr);
        live.push_back({p, &plug, bytes});
        if (random.below(3) == 0) continue;
        std::swap(live[random.below(live.size())], live.back());
        live.back().plug->free(live.back().p, live.back().bytes, device);
        live.pop_back();
      }
      for (const Live& block : live) block.plug->free(block.p, block.bytes, device);
      EXPECT_TRUE(last_error().empty()) << last_error();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

INSTANTIATE_TEST_SUITE_P(On, Plugins, testing::ValuesIn(contexts_here()), OnEachContext::name);

TEST(PluginsAnywhere, ADeviceThatIsNotThereIsNullWithASentence) {
  for (const int32_t device : {cuda_devices(), 127, 128, 1000, INT32_MAX}) {
    gpumem_device_info info;
    ASSERT_TRUE(ok(gpumem_device_info_init(&info, sizeof info)));
    const gpumem_status status = gpumem_device_query(device, &info);
    ASSERT_NE(status, GPUMEM_OK);
    gpumem_ctx* ctx = reinterpret_cast<gpumem_ctx*>(&info);
    EXPECT_TRUE(gives(status, gpumem_shared_ctx(device, &ctx)));
    EXPECT_EQ(ctx, nullptr);
    forget_last_error();
    EXPECT_EQ(gpumem_torch_malloc(64, device, nullptr), nullptr);
    EXPECT_FALSE(says_nothing());
    EXPECT_EQ(gpumem_cupy_malloc(nullptr, 64, device), nullptr);
    EXPECT_FALSE(says_nothing());
    int on_the_stack = 0;
    gpumem_torch_free(&on_the_stack, 64, device, nullptr);
    EXPECT_FALSE(says_nothing());
    gpumem_cupy_free(nullptr, &on_the_stack, device);
    EXPECT_FALSE(says_nothing());
  }
}

TEST(PluginsAnywhere, ADeviceIsNamed) {
  for (const int32_t device : {int32_t{GPUMEM_DEVICE_BEST}, int32_t{GPUMEM_DEVICE_CUDA}, -4, INT32_MIN}) {
    gpumem_ctx* ctx = reinterpret_cast<gpumem_ctx*>(&ctx);
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_shared_ctx(device, &ctx), {"device", std::to_string(device)}));
    EXPECT_EQ(ctx, nullptr);
    EXPECT_EQ(gpumem_torch_malloc(64, device, nullptr), nullptr);
    EXPECT_TRUE(says({"device", std::to_string(device), "expected"}));
    EXPECT_EQ(gpumem_cupy_malloc(nullptr, 64, device), nullptr);
    EXPECT_TRUE(says({"device", std::to_string(device), "expected"}));
  }
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_shared_ctx(GPUMEM_DEVICE_HOST, nullptr), {"ctx", "NULL"}));
}

// A child has a context of its own, in which the parent's memory is none; the parent goes on.
TEST(PluginsAnywhere, AForkedChildMakesItsOwn) {
  gpumem_ctx* const ctx = shared_ctx(GPUMEM_DEVICE_HOST);
  void* const p = gpumem_torch_malloc(4096, GPUMEM_DEVICE_HOST, nullptr);
  const auto child_step = [&]() -> int {
    if (gpumem_ctx_status(ctx) != GPUMEM_FORKED) return 1;
    gpumem_ctx* own = nullptr;
    if (gpumem_shared_ctx(GPUMEM_DEVICE_HOST, &own) != GPUMEM_OK || own == ctx) return 2;
    gpumem_torch_free(p, 4096, GPUMEM_DEVICE_HOST, nullptr);
    if (!contains_word(last_error(), "gpumem")) return 3;
    void* const q = gpumem_torch_malloc(4096, GPUMEM_DEVICE_HOST, nullptr);
    if (q == nullptr) return 4;
    std::memset(q, 1, 4096);
    gpumem_torch_free(q, 4096, GPUMEM_DEVICE_HOST, nullptr);
    return stats_of(own).device_blocks == 0 ? 0 : 5;
  };
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);
    _exit(child_step());
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "the child was ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0) << "the child's step of that number failed";
  EXPECT_EQ(shared_ctx(GPUMEM_DEVICE_HOST), ctx);
  gpumem_torch_free(p, 4096, GPUMEM_DEVICE_HOST, nullptr);
}

}  // namespace
}  // namespace gpumem_test
