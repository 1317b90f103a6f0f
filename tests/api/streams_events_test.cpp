// Streams and events: order, asynchrony, time. Where a test needs work that is surely still running, it stands at a
// gate.
#include <gtest/gtest.h>

#include <malloc.h>

#include <chrono>
#include <string>
#include <vector>

#include "api/gate.hpp"
#include "api/queue_handles.hpp"
#include "support/contexts.hpp"
#include "support/memory.hpp"

namespace gpumem_test {
namespace {

constexpr int64_t kLong = int64_t{64} << 20;  // bytes: enough for the host backend to share out
constexpr int64_t kShort = 4096;

class Streams : public testing::TestWithParam<On> {
 protected:
  // Enqueues a long fill of ordinary memory that waits at the gate.
  void enqueue_gated(gpumem_stream* stream) {
    const char pattern = 1;
    gate.close();
    ASSERT_TRUE(ok(gpumem_fill_async(ctx, held.data(), &pattern, 1, kLong, stream)));
    ASSERT_TRUE(gate.reached());
  }

  Gate gate;
  Bytes held = Bytes(kLong);
  Bytes a = Bytes(kShort, 'a');
  Bytes b = Bytes(kShort, 'b');
  const Bytes all_a = Bytes(kShort, 'a');
  const Bytes all_b = Bytes(kShort, 'b');
  Context ctx{gate.options(GetParam())};
};

TEST_P(Streams, AsyncCallsReturnBeforeTheirWork) {
  const OpenAtEnd open(gate);
  enqueue_gated(nullptr);
  EXPECT_TRUE(gives(GPUMEM_NOT_READY, gpumem_stream_query(ctx, nullptr)));
  ASSERT_TRUE(ok(gpumem_copy_async(ctx, b.data(), a.data(), kShort, nullptr))) << "from heap memory to heap memory";
  EXPECT_EQ(b, all_b) << "the copy did not wait for the work before it";
  const char pattern = 'c';
  ASSERT_TRUE(ok(gpumem_fill_async(ctx, a.data(), &pattern, 1, kShort, nullptr)));
  EXPECT_EQ(a, all_a);
  EXPECT_TRUE(gives(GPUMEM_NOT_READY, gpumem_stream_query(ctx, nullptr)));
  gate.open();
  ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
  EXPECT_TRUE(ok(gpumem_stream_query(ctx, nullptr)));
  EXPECT_EQ(b, all_a);
  EXPECT_EQ(a, Bytes(kShort, 'c'));
  EXPECT_EQ(held, Bytes(kLong, 1));
}

TEST_P(Streams, HeapMemoryIsCopiedInTheOrderOfItsStreamThroughEveryKind) {
  for (const gpumem_memory_kind kind : kAllKinds) {
    const Stream stream(ctx);
    const Memory between(ctx, kind, kShort);
    const OpenAtEnd open(gate);
    b = all_b;
    enqueue_gated(stream);
    ASSERT_TRUE(ok(gpumem_copy_async(ctx, between.get(), a.data(), kShort, stream))) << kind_name(kind);
    ASSERT_TRUE(ok(gpumem_copy_async(ctx, b.data(), between.get(), kShort, stream))) << kind_name(kind);
    EXPECT_EQ(b, all_b) << kind_name(kind);
    gate.open();
    ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, stream)));
    EXPECT_EQ(b, all_a) << kind_name(kind);
  }
}

TEST_P(Streams, AStreamRunsInOrder) {
  for (const gpumem_memory_kind kind : kAllKinds) {
    const Stream stream(ctx);
    const Memory source(ctx, kind, kLong);
    std::vector<Bytes> seen(4, Bytes(kLong));
    for (size_t i = 0; i < seen.size(); ++i) {
      const char pattern = static_cast<char>('0' + i);
      ASSERT_TRUE(ok(gpumem_fill_async(ctx, source.get(), &pattern, 1, kLong, stream)));
      ASSERT_TRUE(ok(gpumem_copy_async(ctx, seen[i].data(), source.get(), kLong, stream)));
    }
    ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, stream)));
    for (size_t i = 0; i < seen.size(); ++i) {
      EXPECT_EQ(seen[i], Bytes(kLong, static_cast<unsigned char>('0' + i))) << kind_name(kind) << ", copy " << i;
    }
  }
}

TEST_P(Streams, AWaitForAnEventOrdersTwoStreams) {
  const Stream first(ctx), second(ctx);
  const Event event(ctx);
  const OpenAtEnd open(gate);
  enqueue_gated(first);
  const char pattern = 'z';
  ASSERT_TRUE(ok(gpumem_fill_async(ctx, a.data(), &pattern, 1, kShort, first)));
  ASSERT_TRUE(ok(gpumem_event_record(ctx, event, first)));
  ASSERT_TRUE(ok(gpumem_stream_wait_event(ctx, second, event)));
  ASSERT_TRUE(ok(gpumem_copy_async(ctx, b.data(), a.data(), kShort, second)));
  EXPECT_TRUE(gives(GPUMEM_NOT_READY, gpumem_stream_query(ctx, second)));
  EXPECT_EQ(b, all_b);
  gate.open();
  ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, second)));
  EXPECT_EQ(b, Bytes(kShort, 'z'));
  EXPECT_EQ(a, Bytes(kShort, 'z'));
}

TEST_P(Streams, AWaitIsForTheLastRecordSoFar) {
  const Stream first(ctx), second(ctx);
  const Event event(ctx);
  const OpenAtEnd open(gate);
  ASSERT_TRUE(ok(gpumem_event_record(ctx, event, first)));
  ASSERT_TRUE(ok(gpumem_event_synchronize(event)));
  ASSERT_TRUE(ok(gpumem_stream_wait_event(ctx, second, event)));
  enqueue_gated(first);
  ASSERT_TRUE(ok(gpumem_event_record(ctx, event, first)));
  EXPECT_TRUE(ok(gpumem_stream_synchronize(ctx, second))) << "a later record must not count";
}

TEST_P(Streams, AnEventOutlivesItsHandleWhereWorkWaitsForIt) {
  const Stream first(ctx), second(ctx);
  Event event(ctx);
  const OpenAtEnd open(gate);
  enqueue_gated(first);
  ASSERT_TRUE(ok(gpumem_copy_async(ctx, b.data(), a.data(), kShort, first)));
  ASSERT_TRUE(ok(gpumem_event_record(ctx, event, first)));
  ASSERT_TRUE(ok(gpumem_stream_wait_event(ctx, second, event)));
  event.destroy();
  Bytes c(kShort);
  ASSERT_TRUE(ok(gpumem_copy_async(ctx, c.data(), b.data(), kShort, second)));
  gate.open();
  ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, second)));
  EXPECT_EQ(c, all_a);
}

TEST_P(Streams, ABlockingCallRunsBehindTheContextsOwnStream) {
  const int32_t pattern = 3;
  std::vector<int32_t> x(kLong / 4);
  ASSERT_TRUE(ok(gpumem_fill_async(ctx, x.data(), &pattern, 4, kLong / 4, nullptr)));
  int64_t sum = 0;
  ASSERT_TRUE(ok(gpumem_reduce_i32(ctx, GPUMEM_SUM, x.data(), kLong / 4, 1, &sum)));
  EXPECT_EQ(sum, kLong / 4 * 3);
  const int32_t other = 5;
  int32_t last = 0;
  ASSERT_TRUE(ok(gpumem_fill_async(ctx, x.data(), &other, 4, kLong / 4, nullptr)));
  ASSERT_TRUE(ok(gpumem_copy(ctx, &last, &x.back(), 4)));
  EXPECT_EQ(last, 5);
  std::vector<int32_t> y(x.size());
  ASSERT_TRUE(ok(gpumem_fill_async(ctx, x.data(), &pattern, 4, kLong / 4, nullptr)));
  ASSERT_TRUE(ok(gpumem_transpose(ctx, 4, 4096, kLong / 4 / 4096, x.data(), kLong / 4 / 4096, y.data(), 4096)));
  EXPECT_EQ(y.back(), 3);
}

TEST_P(Streams, DestroyWaitsForTheStreamsWork) {
  const char pattern = 9;
  {
    const Stream stream(ctx);
    ASSERT_TRUE(ok(gpumem_fill_async(ctx, held.data(), &pattern, 1, kLong, stream)));
  }
  EXPECT_EQ(held, Bytes(kLong, 9));
}

TEST_P(Streams, SynchronizeOfTheContextCoversEveryStream) {
  const Stream first(ctx), second(ctx);
  Bytes other(kLong);
  const char pattern = 9;
  ASSERT_TRUE(ok(gpumem_fill_async(ctx, held.data(), &pattern, 1, kLong, first)));
  ASSERT_TRUE(ok(gpumem_fill_async(ctx, other.data(), &pattern, 1, kLong, second)));
  ASSERT_TRUE(ok(gpumem_copy_async(ctx, b.data(), a.data(), kShort, nullptr)));
  ASSERT_TRUE(ok(gpumem_ctx_synchronize(ctx)));
  EXPECT_EQ(held, Bytes(kLong, 9));
  EXPECT_EQ(other, Bytes(kLong, 9));
  EXPECT_EQ(b, all_a);
  for (gpumem_stream* stream : {static_cast<gpumem_stream*>(first), static_cast<gpumem_stream*>(second)}) {
    EXPECT_TRUE(ok(gpumem_stream_query(ctx, stream)));
  }
}

// Nothing is left of a stream that is gone: the next one finds its place.
TEST_P(Streams, ManyOneAfterTheOtherTakeNoMemory) {
  const auto pairs = [&](int count) {
    for (int i = 0; i < count; ++i) {
      gpumem_stream* each = nullptr;
      ASSERT_TRUE(ok(gpumem_stream_create(ctx, &each)));
      ASSERT_TRUE(ok(gpumem_stream_destroy(each)));
    }
  };
  pairs(100);
  const size_t before = mallinfo2().uordblks;
  pairs(1000);
  EXPECT_LT(mallinfo2().uordblks, before + (size_t{64} << 10));
}

TEST_P(Streams, AWrappedStreamWorksAndIsLeftAlone) {
  for (int i = 0; i < 2; ++i) {
    gpumem_stream* wrapped = nullptr;
    ASSERT_TRUE(ok(gpumem_stream_wrap(ctx, nullptr, &wrapped)));
    b = all_b;
    ASSERT_TRUE(ok(gpumem_copy_async(ctx, b.data(), a.data(), kShort, wrapped)));
    ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, wrapped)));
    EXPECT_EQ(b, all_a);
    EXPECT_TRUE(ok(gpumem_stream_query(ctx, wrapped)));
    EXPECT_TRUE(ok(gpumem_stream_destroy(wrapped)));
  }
  EXPECT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
}

TEST_P(Streams, ElapsedIsTheTimeBetweenTwoRecords) {
  const Stream stream(ctx);
  const Event start(ctx), end(ctx);
  ASSERT_TRUE(ok(gpumem_event_record(ctx, start, stream)));
  const char pattern = 2;
  ASSERT_TRUE(ok(gpumem_fill_async(ctx, held.data(), &pattern, 1, kLong, stream)));
  ASSERT_TRUE(ok(gpumem_event_record(ctx, end, stream)));
  ASSERT_TRUE(ok(gpumem_event_synchronize(end)));
  double seconds = -1;
  ASSERT_TRUE(ok(gpumem_event_elapsed(start, end, &seconds)));
  EXPECT_GT(seconds, 0) << "64 MiB were written";
  EXPECT_LT(seconds, 600) << "the unit is seconds";
  ASSERT_TRUE(ok(gpumem_event_elapsed(end, end, &seconds)));
  EXPECT_EQ(seconds, 0);
}

// On the host, a worker ends an item in two steps. A program that looks between them sees neither or both.
TEST_P(Streams, ASynchronizedStreamHasPassedItsEvents) {
  constexpr int kTimes = 3000;
  const Stream stream(ctx);
  const Event event(ctx);
  constexpr int64_t kBytes = 256 << 10;  // so that the event is enqueued before the end of the work
  const Memory memory(ctx, GPUMEM_MEMORY_PINNED, kBytes);
  const int32_t value = 7;
  for (int i = 0; i < kTimes; ++i) {
    ASSERT_TRUE(ok(gpumem_fill_async(ctx, memory.get(), &value, 4, kBytes / 4, stream)));
    ASSERT_TRUE(ok(gpumem_event_record(ctx, event, stream)));
    const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(500) * (i % 500);
    while (std::chrono::steady_clock::now() < end) {
    }
    ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, stream)));
    double seconds = -1;
    ASSERT_TRUE(ok(gpumem_event_elapsed(event, event, &seconds))) << "time " << i;
  }
}

TEST_P(Streams, ElapsedIsNotReadyWhileAnEventIsPending) {
  const Stream stream(ctx);
  const Event start(ctx), end(ctx);
  const OpenAtEnd open(gate);
  ASSERT_TRUE(ok(gpumem_event_record(ctx, start, stream)));
  enqueue_gated(stream);
  ASSERT_TRUE(ok(gpumem_event_record(ctx, end, stream)));
  double seconds = -7;
  EXPECT_TRUE(gives(GPUMEM_NOT_READY, gpumem_event_elapsed(start, end, &seconds)));
  EXPECT_TRUE(gives(GPUMEM_NOT_READY, gpumem_event_elapsed(end, end, &seconds)));
  EXPECT_EQ(seconds, -7);
  gate.open();
  ASSERT_TRUE(ok(gpumem_event_synchronize(end)));
  EXPECT_TRUE(ok(gpumem_event_elapsed(start, end, &seconds)));
  EXPECT_GE(seconds, 0);
}

TEST_P(Streams, AnEventThatWasNeverRecordedIsDone) {
  const Event never(ctx), recorded(ctx);
  ASSERT_TRUE(ok(gpumem_event_record(ctx, recorded, nullptr)));
  EXPECT_TRUE(ok(gpumem_event_synchronize(never)));
  EXPECT_TRUE(ok(gpumem_stream_wait_event(ctx, nullptr, never)));
  EXPECT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
  double seconds = -7;
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_event_elapsed(never, recorded, &seconds), {"start"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_event_elapsed(recorded, never, &seconds), {"end"}));
  EXPECT_TRUE(gives(GPUMEM_INVALID_ARGUMENT, gpumem_event_elapsed(never, never, &seconds)));
  EXPECT_EQ(seconds, -7);
}

TEST_P(Streams, EventsOfTwoContextsHaveNoTimeBetweenThem) {
  const Context other(GetParam());
  const Event mine(ctx), theirs(other);
  ASSERT_TRUE(ok(gpumem_event_record(ctx, mine, nullptr)));
  ASSERT_TRUE(ok(gpumem_event_record(other, theirs, nullptr)));
  ASSERT_TRUE(ok(gpumem_event_synchronize(mine)));
  ASSERT_TRUE(ok(gpumem_event_synchronize(theirs)));
  double seconds = -7;
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_event_elapsed(mine, theirs, &seconds), {"start", "end"}));
  EXPECT_EQ(seconds, -7);
}

TEST_P(Streams, ObjectsOfAnotherContextAreRefused) {
  const Context other(GetParam());
  const Stream theirs(other);
  const Event their_event(other), my_event(ctx);
  for (const gpumem_status status :
       {gpumem_copy_async(ctx, b.data(), a.data(), kShort, theirs), gpumem_stream_synchronize(ctx, theirs),
        gpumem_stream_query(ctx, theirs), gpumem_event_record(ctx, my_event, theirs),
        gpumem_event_record(ctx, their_event, nullptr), gpumem_stream_wait_event(ctx, nullptr, their_event)}) {
    EXPECT_TRUE(gives(GPUMEM_INVALID_ARGUMENT, status));
  }
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_stream_query(ctx, theirs), {"stream"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_event_record(ctx, their_event, nullptr), {"event"}));
  EXPECT_EQ(b, all_b);
}

TEST_P(Streams, NullsAreRefused) {
  const Event event(ctx);
  ASSERT_TRUE(ok(gpumem_event_record(ctx, event, nullptr)));
  ASSERT_TRUE(ok(gpumem_event_synchronize(event)));
  double seconds = 0;
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_stream_create(ctx, nullptr), {"stream", "NULL"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_stream_wrap(ctx, nullptr, nullptr), {"stream", "NULL"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_event_create(ctx, nullptr), {"event", "NULL"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_event_record(ctx, nullptr, nullptr), {"event", "NULL"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_event_synchronize(nullptr), {"event", "NULL"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_stream_wait_event(ctx, nullptr, nullptr), {"event", "NULL"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_event_elapsed(nullptr, event, &seconds), {"start", "NULL"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_event_elapsed(event, nullptr, &seconds), {"end", "NULL"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_event_elapsed(event, event, nullptr), {"seconds", "NULL"}));
  EXPECT_TRUE(ok(gpumem_stream_destroy(nullptr)));
  EXPECT_TRUE(ok(gpumem_event_destroy(nullptr)));
}

INSTANTIATE_TEST_SUITE_P(On, Streams, testing::ValuesIn(contexts_here()), OnEachContext::name);

TEST(HostStreams, ANativeStreamIsUnsupported) {
  const Context ctx(On::host);
  int native = 0;
  auto* stream = reinterpret_cast<gpumem_stream*>(&native);
  EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, gpumem_stream_wrap(ctx, &native, &stream), {"native_stream"}));
  EXPECT_EQ(stream, nullptr);
}

TEST(HostStreams, AreNoCudaStreams) {
  const Context ctx(On::host);
  const Stream stream(ctx);
  for (gpumem_stream* of : {static_cast<gpumem_stream*>(nullptr), static_cast<gpumem_stream*>(stream)}) {
    void* native = &of;
    EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, gpumem_stream_native(ctx, of, &native), {"host context"}));
    EXPECT_EQ(native, nullptr);
  }
  void* native = &native;
  EXPECT_TRUE(
      gives(GPUMEM_INVALID_HANDLE, gpumem_stream_native(ctx, reinterpret_cast<gpumem_stream*>(&native), &native)));
  EXPECT_EQ(native, nullptr);
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_stream_native(ctx, nullptr, nullptr), {"native_stream", "NULL"}));
}

TEST(HostStreams, AWrappedNullIsOneMoreNameForTheContextsOwn) {
  Gate gate;
  Bytes held(kLong);
  const Context ctx(gate.options(On::host));
  gpumem_stream* wrapped = nullptr;
  ASSERT_TRUE(ok(gpumem_stream_wrap(ctx, nullptr, &wrapped)));
  {
    const OpenAtEnd open(gate);
    gate.close();
    const char pattern = 1;
    ASSERT_TRUE(ok(gpumem_fill_async(ctx, held.data(), &pattern, 1, kLong, nullptr)));
    ASSERT_TRUE(gate.reached());
    EXPECT_TRUE(gives(GPUMEM_NOT_READY, gpumem_stream_query(ctx, wrapped)));
    EXPECT_TRUE(ok(gpumem_stream_destroy(wrapped))) << "it waits for nothing";
  }
  EXPECT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
}

}  // namespace
}  // namespace gpumem_test
