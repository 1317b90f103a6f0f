// Prefetch and advice on managed memory.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "support/contexts.hpp"
#include "support/memory.hpp"

namespace gpumem_test {
namespace {

class Managed : public OnEachContext {
 protected:
  void SetUp() override {
    ASSERT_TRUE(ok(gpumem_device_info_init(&info, sizeof info)));
    ASSERT_TRUE(ok(gpumem_ctx_device(ctx, &info)));
  }
  // What a valid call gives: a device without concurrent managed access has no prefetch.
  gpumem_status supported() const { return info.concurrent_managed != 0 ? GPUMEM_OK : GPUMEM_UNSUPPORTED; }

  gpumem_device_info info;
};

constexpr int64_t kBytes = 1 << 20;

gpumem_managed_info query(gpumem_ctx* ctx, const void* p, int64_t bytes) {
  gpumem_managed_info managed;
  EXPECT_TRUE(ok(gpumem_managed_info_init(&managed, sizeof managed)));
  EXPECT_TRUE(ok(gpumem_managed_query(ctx, p, bytes, &managed)));
  return managed;
}

// As much as the machine has can be allocated, and lie on the device. On the host it would end the process.
TEST_P(Managed, MoreThanTheHostHasIsNotPrefetchedToIt) {
  gpumem_device_info host;
  ASSERT_TRUE(ok(gpumem_device_info_init(&host, sizeof host)));
  ASSERT_TRUE(ok(gpumem_device_query(GPUMEM_DEVICE_HOST, &host)));
  void* p = nullptr;
  if (!on_cuda() || info.concurrent_managed == 0) GTEST_SKIP() << "a prefetch moves nothing here";
  if (gpumem_alloc_managed(ctx, host.memory_bytes, &p) != GPUMEM_OK) GTEST_SKIP() << "it can't be allocated";
  EXPECT_TRUE(refused(GPUMEM_OUT_OF_MEMORY, gpumem_managed_prefetch(ctx, p, host.memory_bytes, GPUMEM_DEVICE_HOST),
                      {std::to_string(host.memory_bytes), "available"}));
  EXPECT_TRUE(ok(gpumem_managed_prefetch(ctx, p, kBytes, GPUMEM_DEVICE_HOST)));
  EXPECT_TRUE(ok(gpumem_free(ctx, p)));
}

TEST_P(Managed, PrefetchKeepsTheContents) {
  GuardedBuffer buffer(ctx, GPUMEM_MEMORY_MANAGED, kBytes);
  for (const int32_t device : {info.device, int32_t{GPUMEM_DEVICE_HOST}, info.device}) {
    EXPECT_TRUE(gives(supported(), gpumem_managed_prefetch(ctx, buffer.data(), kBytes, device)));
    EXPECT_TRUE(gives(supported(), gpumem_managed_prefetch_async(ctx, buffer.data(), kBytes, device, nullptr)));
    EXPECT_TRUE(ok(gpumem_ctx_synchronize(ctx)));
    EXPECT_TRUE(buffer.intact());
  }
}

TEST_P(Managed, PrefetchTakesAPartAtAnyOffset) {
  GuardedBuffer buffer(ctx, GPUMEM_MEMORY_MANAGED, kBytes);
  EXPECT_TRUE(gives(supported(), gpumem_managed_prefetch(ctx, buffer.data() + 12345, 1, GPUMEM_DEVICE_HOST)));
  EXPECT_TRUE(gives(supported(), gpumem_managed_prefetch(ctx, buffer.data() + 5, kBytes - 5, info.device)));
  EXPECT_TRUE(buffer.intact());
}

TEST_P(Managed, PrefetchIsOrderedByItsStream) {
  const Memory memory(ctx, GPUMEM_MEMORY_MANAGED, kBytes);
  gpumem_stream* stream = nullptr;
  ASSERT_TRUE(ok(gpumem_stream_create(ctx, &stream)));
  const char pattern = 42;
  ASSERT_TRUE(ok(gpumem_fill_async(ctx, memory.get(), &pattern, 1, kBytes, stream)));
  EXPECT_TRUE(gives(supported(), gpumem_managed_prefetch_async(ctx, memory.get(), kBytes, GPUMEM_DEVICE_HOST, stream)));
  ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, stream)));
  EXPECT_EQ(download(ctx, memory.get(), kBytes), Bytes(kBytes, 42));
  ASSERT_TRUE(ok(gpumem_stream_destroy(stream)));
}

TEST_P(Managed, NoBytesAreANoOp) {
  const Memory memory(ctx, GPUMEM_MEMORY_MANAGED, 100);
  EXPECT_TRUE(ok(gpumem_managed_prefetch(ctx, memory.get(), 0, info.device)));
  EXPECT_TRUE(ok(gpumem_managed_prefetch_async(ctx, memory.get(), 0, GPUMEM_DEVICE_HOST, nullptr)));
}

TEST_P(Managed, PrefetchRefusesOtherMemory) {
  const Memory pinned(ctx, GPUMEM_MEMORY_PINNED, 100);
  const Memory device(ctx, GPUMEM_MEMORY_DEVICE, 100);
  const Bytes heap(100);
  const void* const places[] = {pinned.get(), device.get(), heap.data(), reinterpret_cast<const void*>(uintptr_t{64})};
  for (const void* p : places) {
    EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_managed_prefetch(ctx, p, 100, GPUMEM_DEVICE_HOST), {"p"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_managed_prefetch_async(ctx, p, 100, GPUMEM_DEVICE_HOST, nullptr),
                        {"p"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER,
                        gpumem_managed_advise(ctx, p, 100, GPUMEM_ADVISE_READ_MOSTLY, GPUMEM_DEVICE_HOST), {"p"}));
  }
}

TEST_P(Managed, PrefetchRefusesWhatIsNoRangeOrNoDevice) {
  const Memory memory(ctx, GPUMEM_MEMORY_MANAGED, 100);
  void* const p = memory.get();
  const int32_t elsewhere = info.device + 1000;
  EXPECT_TRUE(
      refused(GPUMEM_OUT_OF_RANGE, gpumem_managed_prefetch(ctx, p, 101, GPUMEM_DEVICE_HOST), {"p", "101", "100"}));
  EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, gpumem_managed_prefetch(ctx, memory.bytes() + 50, 51, GPUMEM_DEVICE_HOST),
                      {"p", "51", "50"}));
  EXPECT_TRUE(gives(GPUMEM_OUT_OF_RANGE, gpumem_managed_prefetch(ctx, p, INT64_MAX, GPUMEM_DEVICE_HOST)));
  EXPECT_TRUE(
      refused(GPUMEM_INVALID_ARGUMENT, gpumem_managed_prefetch(ctx, p, -1, GPUMEM_DEVICE_HOST), {"bytes", "-1"}));
  EXPECT_TRUE(
      refused(GPUMEM_INVALID_ARGUMENT, gpumem_managed_prefetch(ctx, nullptr, 8, GPUMEM_DEVICE_HOST), {"p", "NULL"}));
  EXPECT_TRUE(refused(GPUMEM_NOT_FOUND, gpumem_managed_prefetch(ctx, p, 100, elsewhere),
                      {"device", std::to_string(elsewhere)}));
}

TEST_P(Managed, EveryHintCanBeGivenAndTakenBack) {
  GuardedBuffer buffer(ctx, GPUMEM_MEMORY_MANAGED, kBytes);
  for (gpumem_advice advice = GPUMEM_ADVISE_READ_MOSTLY; advice <= GPUMEM_ADVISE_UNSET_ACCESSED_BY; ++advice) {
    for (const int32_t device : {info.device, int32_t{GPUMEM_DEVICE_HOST}}) {
      EXPECT_TRUE(gives(supported(), gpumem_managed_advise(ctx, buffer.data(), kBytes, advice, device)))
          << "advice " << advice << ", device " << device;
    }
  }
  EXPECT_TRUE(buffer.intact());
}

TEST_P(Managed, TheDeviceIsIgnoredByHintsThatNameNone) {
  const Memory memory(ctx, GPUMEM_MEMORY_MANAGED, 100);
  for (const gpumem_advice advice :
       {GPUMEM_ADVISE_READ_MOSTLY, GPUMEM_ADVISE_UNSET_READ_MOSTLY, GPUMEM_ADVISE_UNSET_PREFERRED_LOCATION}) {
    EXPECT_TRUE(gives(supported(), gpumem_managed_advise(ctx, memory.get(), 100, advice, 12345))) << advice;
  }
  for (const gpumem_advice advice :
       {GPUMEM_ADVISE_PREFERRED_LOCATION, GPUMEM_ADVISE_ACCESSED_BY, GPUMEM_ADVISE_UNSET_ACCESSED_BY}) {
    EXPECT_TRUE(
        refused(GPUMEM_NOT_FOUND, gpumem_managed_advise(ctx, memory.get(), 100, advice, 12345), {"device", "12345"}));
  }
}

TEST_P(Managed, AdviseRefusesWhatIsNoHintOrNoRange) {
  const Memory memory(ctx, GPUMEM_MEMORY_MANAGED, 100);
  for (const gpumem_advice advice : {0, 7, -1, INT32_MAX, INT32_MIN}) {
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT,
                        gpumem_managed_advise(ctx, memory.get(), 100, advice, GPUMEM_DEVICE_HOST),
                        {"advice", std::to_string(advice)}));
  }
  EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE,
                      gpumem_managed_advise(ctx, memory.get(), 101, GPUMEM_ADVISE_READ_MOSTLY, GPUMEM_DEVICE_HOST),
                      {"p", "101"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT,
                      gpumem_managed_advise(ctx, memory.get(), -5, GPUMEM_ADVISE_READ_MOSTLY, GPUMEM_DEVICE_HOST),
                      {"bytes", "-5"}));
  EXPECT_TRUE(ok(gpumem_managed_advise(ctx, memory.get(), 0, GPUMEM_ADVISE_READ_MOSTLY, GPUMEM_DEVICE_HOST)));
}

TEST_P(Managed, QueryTellsWhatWasAskedFor) {
  if (info.concurrent_managed == 0) GTEST_SKIP() << "the device has no concurrent managed access";
  const Memory memory(ctx, GPUMEM_MEMORY_MANAGED, kBytes);
  const auto asked = [&] { return query(ctx, memory.get(), kBytes); };
  EXPECT_EQ(asked().last_prefetch, GPUMEM_DEVICE_NONE);
  EXPECT_EQ(asked().preferred_location, GPUMEM_DEVICE_NONE);
  EXPECT_EQ(asked().read_mostly, 0);
  EXPECT_EQ(asked().accessed_by, 0);
  std::memset(memory.get(), 1, kBytes);
  EXPECT_EQ(asked().host_bytes, kBytes);
  for (const gpumem_advice advice :
       {GPUMEM_ADVISE_READ_MOSTLY, GPUMEM_ADVISE_PREFERRED_LOCATION, GPUMEM_ADVISE_ACCESSED_BY}) {
    ASSERT_TRUE(ok(gpumem_managed_advise(ctx, memory.get(), kBytes, advice, info.device)));
  }
  ASSERT_TRUE(ok(gpumem_managed_prefetch(ctx, memory.get(), kBytes, info.device)));
  // One memory takes every hint and keeps none.
  EXPECT_EQ(asked().last_prefetch, on_cuda() ? info.device : GPUMEM_DEVICE_NONE);
  EXPECT_EQ(asked().preferred_location, on_cuda() ? info.device : GPUMEM_DEVICE_NONE);
  EXPECT_EQ(asked().read_mostly, on_cuda() ? 1 : 0);
  EXPECT_EQ(asked().accessed_by, on_cuda() ? 1 : 0);
  ASSERT_TRUE(ok(gpumem_managed_prefetch(ctx, memory.get(), kBytes / 2, GPUMEM_DEVICE_HOST)));
  EXPECT_EQ(asked().last_prefetch, GPUMEM_DEVICE_NONE) << "not the same for all of it";
  EXPECT_EQ(query(ctx, memory.get(), kBytes / 2).last_prefetch, on_cuda() ? GPUMEM_DEVICE_HOST : GPUMEM_DEVICE_NONE);
  EXPECT_EQ(query(ctx, memory.get(), 0).host_bytes, 0);
}

TEST_P(Managed, QueryRefusesWhatPrefetchRefuses) {
  const Memory memory(ctx, GPUMEM_MEMORY_MANAGED, 100);
  const Bytes heap(100);
  gpumem_managed_info managed;
  ASSERT_TRUE(ok(gpumem_managed_info_init(&managed, sizeof managed)));
  EXPECT_TRUE(
      refused(GPUMEM_OUT_OF_RANGE, gpumem_managed_query(ctx, memory.get(), 101, &managed), {"p", "101", "100"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_managed_query(ctx, memory.get(), -1, &managed), {"bytes", "-1"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_managed_query(ctx, memory.get(), 1, nullptr), {"info", "NULL"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_managed_query(ctx, heap.data(), 100, &managed), {"p", "managed"}));
}

TEST_P(Managed, WorkOnTheDeviceBringsItsOperandsThere) {
  if (info.concurrent_managed == 0) GTEST_SKIP() << "the device has no concurrent managed access";
  constexpr int64_t kCount = 2000001;  // 8 MB and more, from an odd place on
  GuardedBuffer buffer(ctx, GPUMEM_MEMORY_MANAGED, kCount * 4, 4);
  auto* const x = reinterpret_cast<int32_t*>(buffer.data());
  const int32_t came = on_cuda() ? info.device : GPUMEM_DEVICE_NONE;
  const int32_t three = 3;
  for (int64_t i = 0; i < kCount; ++i) std::memcpy(buffer.image() + 4 * i, &three, 4);
  gpumem_stream* stream = nullptr;
  ASSERT_TRUE(ok(gpumem_stream_create(ctx, &stream)));
  for (gpumem_stream* on : {stream, static_cast<gpumem_stream*>(nullptr)}) {
    ASSERT_TRUE(ok(gpumem_managed_prefetch(ctx, x, kCount * 4, GPUMEM_DEVICE_HOST)));
    ASSERT_TRUE(ok(gpumem_fill_async(ctx, x, &three, 4, kCount, on)));
    ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, on)));
    EXPECT_TRUE(buffer.intact()) << "and what lies beside it";
  }
  // A range's blocks are given up, its ends are not: they were asked for on their own.
  EXPECT_EQ(query(ctx, x, 1).last_prefetch, came);
  EXPECT_EQ(query(ctx, x + kCount / 2, 4).last_prefetch, came);
  EXPECT_EQ(query(ctx, x + kCount - 1, 4).last_prefetch, came);
  ASSERT_TRUE(ok(gpumem_managed_prefetch(ctx, x, kCount * 4, GPUMEM_DEVICE_HOST)));
  int64_t sum = 0;
  ASSERT_TRUE(ok(gpumem_reduce_i32(ctx, GPUMEM_SUM, x, kCount, 1, &sum)));
  EXPECT_EQ(sum, 3 * kCount);
  EXPECT_EQ(query(ctx, x, kCount * 4).last_prefetch, came);
  ASSERT_TRUE(ok(gpumem_stream_destroy(stream)));
}

TEST_P(Managed, WorkLeavesWhatIsAdvisedToLieElsewhere) {
  if (info.concurrent_managed == 0) GTEST_SKIP() << "the device has no concurrent managed access";
  constexpr int64_t kCount = 1000000;
  const Memory memory(ctx, GPUMEM_MEMORY_MANAGED, kCount * 4);
  ASSERT_TRUE(
      ok(gpumem_managed_advise(ctx, memory.get(), kCount * 4, GPUMEM_ADVISE_PREFERRED_LOCATION, GPUMEM_DEVICE_HOST)));
  const int32_t three = 3;
  ASSERT_TRUE(ok(gpumem_fill(ctx, memory.get(), &three, 4, kCount)));
  int64_t sum = 0;
  ASSERT_TRUE(ok(gpumem_reduce_i32(ctx, GPUMEM_SUM, static_cast<const int32_t*>(memory.get()), kCount, 1, &sum)));
  EXPECT_EQ(sum, 3 * kCount);
  EXPECT_EQ(query(ctx, memory.get(), kCount * 4).last_prefetch, GPUMEM_DEVICE_NONE);
}

INSTANTIATE_TEST_SUITE_P(On, Managed, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
