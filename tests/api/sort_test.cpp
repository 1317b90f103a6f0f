// gpumem_sort() and gpumem_sort_segments(): known orders and the outcomes. Types, alignments and kinds of memory are the conformance tests' matter.
#include "support/sort.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "support/contexts.hpp"
#include "support/memory.hpp"
#include "support/pages.hpp"
#include "support/rows.hpp"

namespace gpumem_test {
namespace {

gpumem_status plain(gpumem_ctx* ctx, const Sort& s) { return run(ctx, s); }
gpumem_status enqueued(gpumem_ctx* ctx, const Sort& s) {
  const gpumem_status status = run_async(ctx, s, nullptr);
  return status != GPUMEM_OK ? status : gpumem_stream_synchronize(ctx, nullptr);
}
constexpr decltype(&plain) kForms[] = {plain, enqueued};

class SortCalls : public OnEachContext {};

TEST_P(SortCalls, KnownOrders) {
  const std::vector<int32_t> keys = {5, -1, 5, INT32_MIN, 0, INT32_MAX, -1};
  const auto n = static_cast<int64_t>(keys.size());
  for (const auto form : kForms) {
    std::vector<int32_t> sorted(7, 99);
    std::vector<int64_t> order(7, 99);
    ASSERT_TRUE(ok(form(ctx, {GPUMEM_I32, keys.data(), n, 0, sorted.data(), order.data(), GPUMEM_I64})));
    EXPECT_EQ(sorted, (std::vector<int32_t>{INT32_MIN, -1, -1, 0, 5, 5, INT32_MAX}));
    EXPECT_EQ(order, (std::vector<int64_t>{3, 1, 6, 4, 0, 2, 5}));
    ASSERT_TRUE(ok(form(ctx, {GPUMEM_I32, keys.data(), n, 1, sorted.data(), order.data(), GPUMEM_I64})));
    EXPECT_EQ(sorted, (std::vector<int32_t>{INT32_MAX, 5, 5, 0, -1, -1, INT32_MIN}));
    EXPECT_EQ(order, (std::vector<int64_t>{5, 0, 2, 4, 1, 6, 3}));
    ASSERT_TRUE(ok(form(ctx, {GPUMEM_U32, keys.data(), n, 0, nullptr, order.data(), GPUMEM_U64})));
    EXPECT_EQ(order, (std::vector<int64_t>{4, 0, 2, 5, 3, 1, 6}));
  }
}

// NaNs are after all numbers and equal, whatever their bits; -0 is before 0.
TEST_P(SortCalls, OrderOfFloats) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<uint32_t> nans = {0xffc00000, 0x7fc00001, 0x7f800001, 0xffffffff};
  std::vector<float> keys = {1, 0, -0.0f, kInfinity, 0, 0, 0, 0, -kInfinity, -1, 0x1p-149f};
  for (size_t i = 0; i < 4; ++i) std::memcpy(&keys[4 + i], &nans[i], 4);
  const auto n = static_cast<int64_t>(keys.size());
  for (const auto form : kForms) {
    std::vector<int32_t> order(keys.size(), 99);
    ASSERT_TRUE(ok(form(ctx, {GPUMEM_F32, keys.data(), n, 0, nullptr, order.data(), GPUMEM_I32})));
    EXPECT_EQ(order, (std::vector<int32_t>{8, 9, 2, 1, 10, 0, 3, 4, 5, 6, 7}));
    std::vector<uint32_t> sorted(keys.size(), 99);
    ASSERT_TRUE(ok(form(ctx, {GPUMEM_F32, keys.data(), n, 1, sorted.data(), order.data(), GPUMEM_I32})));
    EXPECT_EQ(order, (std::vector<int32_t>{4, 5, 6, 7, 3, 0, 10, 1, 2, 9, 8}));
    EXPECT_EQ(std::vector<uint32_t>(sorted.begin(), sorted.begin() + 4), nans);
  }
}

TEST_P(SortCalls, OfNothingIsANoOp) {
  std::vector<float> z(4, -9);
  for (const auto form : kForms) {
    EXPECT_TRUE(ok(form(ctx, {GPUMEM_F32, nullptr, 0, 0, nullptr})));
    EXPECT_TRUE(ok(form(ctx, {GPUMEM_F32, z.data(), 0, 0, z.data() + 1})));
  }
  EXPECT_EQ(z, std::vector<float>(4, -9));
}

TEST_P(SortCalls, RefusesBadArguments) {
  const std::vector<int32_t> x(16, 1);
  std::vector<int32_t> y(16, -9);
  alignas(8) int64_t order[8] = {};
  for (const auto form : kForms) {
    const Sort sound{GPUMEM_I32, x.data(), 4, 0, y.data(), order, GPUMEM_I64};
    const auto bad = [&](auto change, std::initializer_list<std::string> words) {
      Sort s = sound;
      change(s);
      EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, form(ctx, s), words));
    };
    for (const gpumem_dtype dtype : {-1, 12, INT32_MAX}) {
      bad([&](Sort& s) { s.dtype = dtype; }, {"dtype", std::to_string(dtype)});
      bad([&](Sort& s) { s.dtype = dtype, s.n = 0; }, {"dtype", std::to_string(dtype)});
    }
    for (const gpumem_dtype type : {3, 8, -1, 11, 12, INT32_MAX, INT32_MIN}) {
      bad([&](Sort& s) { s.order_type = type; }, {"order_type", std::to_string(type)});
    }
    for (const int64_t n : {int64_t{-1}, INT64_MIN}) bad([&](Sort& s) { s.n = n; }, {"n", std::to_string(n)});
    for (const int32_t flag : {-1, 2}) bad([&](Sort& s) { s.descending = flag; }, {"descending", std::to_string(flag)});
    bad([](Sort& s) { s.n = INT64_MAX / 4 + 1; }, {"keys"});
    bad([](Sort& s) { s.n = INT64_MAX / 16, s.order = nullptr; }, {"scratch"});
    bad([](Sort& s) { s.n = (int64_t{1} << 31) + 1, s.order_type = GPUMEM_I32; }, {"n", "2147483649", "2147483648"});
    bad([](Sort& s) { s.n = (int64_t{1} << 32) + 1, s.order_type = GPUMEM_U32; }, {"n", "4294967296"});
    bad([](Sort& s) { s.keys = nullptr; }, {"keys", "NULL"});
    bad([](Sort& s) { s.sorted = s.order = nullptr; }, {"sorted", "order", "NULL"});
    bad([](Sort& s) { s.order = static_cast<char*>(s.order) + 4; }, {"order", "8"});
    bad([](Sort& s) { s.order = s.sorted; }, {"order", "sorted"});
    bad([](Sort& s) { s.order = const_cast<void*>(s.keys); }, {"order", "keys"});
    bad([](Sort& s) { s.sorted = static_cast<char*>(const_cast<void*>(s.keys)) + 4; }, {"sorted", "keys"});
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, form(nullptr, sound), {"ctx", "NULL"}));
    Sort without = sound;  // order_type is not used without order
    without.order = nullptr, without.order_type = -5, without.n = 0;
    EXPECT_TRUE(ok(form(ctx, without)));
  }
  EXPECT_EQ(y, std::vector<int32_t>(16, -9));
}

TEST_P(SortCalls, RangesEndWithTheirAllocation) {
  for (const gpumem_memory_kind kind : {GPUMEM_MEMORY_PINNED, GPUMEM_MEMORY_DEVICE, GPUMEM_MEMORY_MANAGED}) {
    const Memory small(ctx, kind, 200);
    const Memory large(ctx, kind, 400);
    const Memory order(ctx, kind, 400);
    for (const auto form : kForms) {
      EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, form(ctx, {GPUMEM_I32, small.get(), 51, 0, large.get()}), {"keys"}));
      EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, form(ctx, {GPUMEM_F32, large.get(), 51, 0, small.get()}), {"sorted"}));
      EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE,
                          form(ctx, {GPUMEM_U8, large.get(), 51, 0, small.get(), order.get(), GPUMEM_I64}), {"order"}));
      EXPECT_TRUE(ok(form(ctx, {GPUMEM_U32, large.get(), 50, 0, small.get(), order.get(), GPUMEM_I64})));
    }
  }
}

TEST_P(SortCalls, BetweenEveryTwoKinds) {
  constexpr int64_t kN = 1001;
  std::vector<uint16_t> keys(kN);
  for (int64_t i = 0; i < kN; ++i) keys[i] = static_cast<uint16_t>(i * 7919 % 1009);
  std::vector<uint16_t> expected(kN);
  std::vector<uint32_t> expected_order(kN);
  sort_reference({GPUMEM_U16, keys.data(), kN, 0, expected.data(), expected_order.data(), GPUMEM_U32});
  for (const gpumem_memory_kind of_keys : kAllKinds) {
    for (const gpumem_memory_kind of_sorted : kAllKinds) {
      for (const gpumem_memory_kind of_order : kAllKinds) {
        GuardedBuffer src(ctx, of_keys, kN * 2, 2);
        src.set(keys.data());
        for (const auto form : kForms) {
          const std::string what =
              std::string(kind_name(of_keys)) + " to " + kind_name(of_sorted) + " and " + kind_name(of_order);
          GuardedBuffer dst(ctx, of_sorted, kN * 2, 6);
          GuardedBuffer order(ctx, of_order, kN * 4, 8);
          const bool device = of_keys >= GPUMEM_MEMORY_DEVICE;
          const bool across = on_cuda() && ((of_sorted >= GPUMEM_MEMORY_DEVICE) != device ||
                                            (of_order >= GPUMEM_MEMORY_DEVICE) != device);
          const gpumem_status status = form(ctx, {GPUMEM_U16, src.data(), kN, 0, dst.data(), order.data(), GPUMEM_U32});
          if (across && form == enqueued) {
            EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, status, {"sorted"})) << what;
          } else {
            ASSERT_TRUE(ok(status)) << what;
            std::memcpy(dst.image(), expected.data(), kN * 2);
            std::memcpy(order.image(), expected_order.data(), kN * 4);
          }
          EXPECT_TRUE(dst.intact()) << what;
          EXPECT_TRUE(order.intact()) << what;
          EXPECT_TRUE(src.intact()) << what;
        }
      }
    }
  }
}

TEST_P(SortCalls, UnreadableAndUnwritableMemoryIsRefused) {
  const FencedPages pages(4096);
  FencedPages constant(4096);
  constant.protect(PROT_READ);
  std::vector<float> heap(1024, 2);
  for (const auto form : kForms) {
    EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, form(ctx, {GPUMEM_F32, pages.end(), 8, 0, heap.data()}), {"keys"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, form(ctx, {GPUMEM_F32, heap.data(), 8, 0, pages.end()}), {"sorted"}));
    EXPECT_TRUE(
        refused(GPUMEM_INVALID_POINTER, form(ctx, {GPUMEM_F32, heap.data(), 8, 0, constant.first()}), {"sorted"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, form(ctx, {GPUMEM_F32, heap.data(), 8, 0, nullptr, constant.first()}),
                        {"order"}));
  }
  EXPECT_EQ(heap, std::vector<float>(1024, 2));
}

TEST_P(SortCalls, RunsInTheOrderOfItsStream) {
  constexpr int64_t kN = 1 << 18;
  gpumem_stream* stream = nullptr;
  ASSERT_TRUE(ok(gpumem_stream_create(ctx, &stream)));
  for (const gpumem_memory_kind kind : {GPUMEM_MEMORY_PAGEABLE, GPUMEM_MEMORY_DEVICE}) {
    const Memory a(ctx, kind, kN * 4);
    const Memory order(ctx, kind, kN * 4);
    const int32_t pattern[4] = {4, 3, 2, 1};
    ASSERT_TRUE(ok(gpumem_fill_async(ctx, a.get(), pattern, 16, kN / 4, stream)));
    ASSERT_TRUE(ok(run_async(ctx, {GPUMEM_I32, a.get(), kN, 0, a.get(), order.get(), GPUMEM_I32}, stream)));
    ASSERT_TRUE(ok(run_async(ctx, {GPUMEM_I32, order.get(), kN, 1, order.get()}, stream)));
    ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, stream)));
    const Bytes sorted = download(ctx, a.get(), kN * 4);
    const Bytes places = download(ctx, order.get(), kN * 4);
    for (const int64_t i : {int64_t{0}, kN / 4, kN / 2, kN - 1}) {
      EXPECT_EQ(bits_at(GPUMEM_I32, sorted.data(), i), static_cast<uint64_t>(1 + i / (kN / 4))) << kind_name(kind);
      EXPECT_EQ(bits_at(GPUMEM_I32, places.data(), i), static_cast<uint64_t>(kN - 1 - i)) << kind_name(kind);
    }
  }
  EXPECT_TRUE(ok(gpumem_stream_destroy(stream)));
}

TEST_P(SortCalls, ExplainsWhereItRuns) {
  const Memory keys(ctx, GPUMEM_MEMORY_DEVICE, 4096);
  const Memory sorted(ctx, GPUMEM_MEMORY_DEVICE, 4096);
  const Memory order(ctx, GPUMEM_MEMORY_DEVICE, 4096);
  const Sort call{GPUMEM_F32, keys.get(), 500, 1, sorted.get(), order.get(), GPUMEM_U32};
  Explained explained;
  ASSERT_TRUE(ok(explain(ctx, line_of(ctx, call), explained)));
  EXPECT_EQ(explained.variant, on_cuda() ? "tiles" : "host_parallel");
  ASSERT_TRUE(ok(run(ctx, call)));
  EXPECT_EQ(last_problem(), "sort dtype=f32 n=500 descending=1 keys=device order=device order_type=u32 sorted=device");
  ASSERT_TRUE(ok(run(ctx, {GPUMEM_I8, keys.get(), 500, 0, keys.get()})));
  EXPECT_EQ(last_problem(), "sort dtype=i8 n=500 keys=device order=none sorted=keys");
  ASSERT_TRUE(ok(explain(ctx, last_problem(), explained)));
  const int64_t offsets[] = {0, 200, 500};
  ASSERT_TRUE(ok(run(ctx, {GPUMEM_I8, keys.get(), 500, 0, keys.get(), nullptr, GPUMEM_I64, offsets, 2})));
  EXPECT_EQ(last_problem(), "sort dtype=i8 n=500 segments=2 keys=device order=none sorted=keys offsets=pageable");
  ASSERT_TRUE(ok(explain(ctx, last_problem(), explained)));
  EXPECT_EQ(explained.variant, on_cuda() ? "segment_tiles" : "host_segments");
}

// The keys in no segment are the first and the last. Without one of the outputs, and in place.
TEST_P(SortCalls, KnownOrdersOfSegments) {
  const std::vector<float> keys = {9, 3, 1, 2, 5, 4, 8};
  const std::vector<int64_t> offsets = {1, 4, 4, 6};
  for (const auto form : kForms) {
    std::vector<float> sorted(7, -9);
    std::vector<int32_t> order(7, -9);
    Sort call{GPUMEM_F32, keys.data(), 7, 0, sorted.data(), order.data(), GPUMEM_I32, offsets.data(), 3};
    ASSERT_TRUE(ok(form(ctx, call)));
    EXPECT_EQ(sorted, (std::vector<float>{-9, 1, 2, 3, 4, 5, -9}));
    EXPECT_EQ(order, (std::vector<int32_t>{-9, 2, 3, 1, 5, 4, -9}));
    std::vector<float> x = keys;
    call.keys = call.sorted = x.data();
    call.order = nullptr, call.descending = 1;
    ASSERT_TRUE(ok(form(ctx, call)));
    EXPECT_EQ(x, (std::vector<float>{9, 3, 2, 1, 5, 4, 8}));
  }
}

TEST_P(SortCalls, SegmentsWithBadOffsets) {
  const std::vector<int32_t> keys = {2, 1, 4, 3};
  struct Bad {
    std::vector<int64_t> offsets;
    const char* word;
  };
  const Bad all[] = {{{-1, 2, 4}, "offsets[0] is -1"},
                     {{0, 5, 4}, "offsets[1] is 5"},
                     {{0, 2, 1}, "offsets[2] is 1"},
                     {{0, 2, 5}, "offsets[2] is 5"},
                     {{3, INT64_MIN, 4}, "offsets[1] is -9223372036854775808"}};
  for (const Bad& bad : all) {
    std::vector<int32_t> sorted(4, -9);
    std::vector<int64_t> order(4, -9);
    Sort call{GPUMEM_I32, keys.data(), 4, 0, sorted.data(), order.data(), GPUMEM_I64, bad.offsets.data(), 2};
    EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, plain(ctx, call), {bad.word, "n = 4", "nothing was written"}));
    const Memory word(ctx, GPUMEM_MEMORY_PINNED, sizeof(gpumem_status));
    call.status = static_cast<gpumem_status*>(word.get());
    *call.status = GPUMEM_INTERNAL;
    ASSERT_TRUE(ok(enqueued(ctx, call)));
    EXPECT_EQ(*call.status, GPUMEM_OUT_OF_RANGE);
    call.status = nullptr;
    ASSERT_TRUE(ok(enqueued(ctx, call)));
    EXPECT_EQ(sorted, std::vector<int32_t>(4, -9));
    EXPECT_EQ(order, std::vector<int64_t>(4, -9));
  }
}

TEST_P(SortCalls, NoSegmentsAreANoOp) {
  std::vector<float> x = {2, 1};
  const Memory word(ctx, GPUMEM_MEMORY_PINNED, sizeof(gpumem_status));
  auto* const status = static_cast<gpumem_status*>(word.get());
  for (const auto form : kForms) {
    *status = GPUMEM_INTERNAL;
    EXPECT_TRUE(ok(form(ctx, {GPUMEM_F32, x.data(), 2, 0, x.data(), nullptr, GPUMEM_I64, nullptr, 0, status})));
    EXPECT_EQ(*status, form == enqueued ? GPUMEM_OK : GPUMEM_INTERNAL);
    EXPECT_TRUE(ok(form(ctx, {GPUMEM_F32, nullptr, 0, 0, nullptr, nullptr, GPUMEM_I64, nullptr, 3, status})));
  }
  EXPECT_EQ(x, (std::vector<float>{2, 1}));
}

TEST_P(SortCalls, RefusesBadSegments) {
  const std::vector<int32_t> x(16, 1);
  std::vector<int32_t> y(16, -9);
  alignas(8) int64_t offsets[4] = {0, 2, 4, 4};
  for (const auto form : kForms) {
    const Sort sound{GPUMEM_I32, x.data(), 4, 0, y.data(), nullptr, GPUMEM_I64, offsets, 2};
    const auto bad = [&](auto change, std::initializer_list<std::string> words) {
      Sort s = sound;
      change(s);
      EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, form(ctx, s), words));
    };
    bad([](Sort& s) { s.segments = INT64_MIN; }, {"segments", "-9223372036854775808"});
    bad([](Sort& s) { s.segments = INT64_MAX; }, {"segments + 1"});
    bad([](Sort& s) { s.segments = INT64_MAX - 1; }, {"bytes of offsets"});
    bad([](Sort& s) { s.n = -1; }, {"n", "-1"});
    bad([&](Sort& s) { s.offsets = reinterpret_cast<int64_t*>(reinterpret_cast<char*>(offsets) + 4); },
        {"offsets", "8"});
    bad([](Sort& s) { s.offsets = nullptr; }, {"offsets", "NULL"});
    bad([&](Sort& s) { s.sorted = offsets; }, {"sorted", "offsets"});
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, form(nullptr, sound), {"ctx", "NULL"}));
  }
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT,
                      gpumem_sort_segments(ctx, GPUMEM_I32, x.data(), 4, offsets, -1, 0, y.data(), nullptr, GPUMEM_I64),
                      {"segments", "-1"}));
  const Sort overlaps{GPUMEM_I32, x.data(), 4, 0, y.data(), nullptr, GPUMEM_I64, offsets, 2, y.data()};
  EXPECT_TRUE(
      refused(on_cuda() ? GPUMEM_INVALID_POINTER : GPUMEM_INVALID_ARGUMENT, enqueued(ctx, overlaps), {"status"}));
  EXPECT_EQ(y, std::vector<int32_t>(16, -9));
}

// Also with an order on the other side, which keeps what is in no segment.
TEST_P(SortCalls, SegmentsInEveryKind) {
  constexpr int64_t kN = 1001;
  const std::vector<int64_t> offsets = {4, 9, 300, 301, 990};
  std::vector<uint16_t> keys(kN);
  for (int64_t i = 0; i < kN; ++i) keys[static_cast<size_t>(i)] = static_cast<uint16_t>(i * 7919 % 509);
  for (const gpumem_memory_kind of_sorted : kAllKinds) {
    for (const gpumem_memory_kind of_order : kAllKinds) {
      for (const gpumem_memory_kind of_offsets : kAllKinds) {
        GuardedBuffer dst(ctx, of_sorted, kN * 2, 6);
        GuardedBuffer order(ctx, of_order, kN * 4, 8);
        GuardedBuffer ends(ctx, of_offsets, offsets.size() * 8, 0);
        ends.set(offsets.data());
        segments_reference({GPUMEM_U16, keys.data(), kN, 0, dst.image(), order.image(), GPUMEM_U32, offsets.data(), 4});
        const Sort call{GPUMEM_U16, keys.data(),  kN,         0,
                        dst.data(), order.data(), GPUMEM_U32, reinterpret_cast<const int64_t*>(ends.data()),
                        4};
        ASSERT_TRUE(ok(plain(ctx, call)));
        EXPECT_TRUE(dst.intact() && order.intact() && ends.intact())
            << kind_name(of_sorted) << ", " << kind_name(of_order) << ", offsets " << kind_name(of_offsets);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(On, SortCalls, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
