// gpumem_sort() and gpumem_sort_segments() against a stable sort by comparisons: types, directions, outputs, offsets,
// kinds of memory, in place, segments, by every variant; then threads.
#include "support/sort.hpp"

#include "conformance/conformance.hpp"
#include "support/rows.hpp"

namespace gpumem_test {
namespace {

struct SortCase {
  gpumem_dtype dtype;
  int64_t n;
  int32_t descending;
  gpumem_dtype order_type;
  bool sorted;
  bool order;
  bool in_place;
  size_t offsets[2];            // of keys and sorted: bytes from a multiple of 16
  gpumem_memory_kind kinds[4];  // of keys, sorted, order and the offsets of segments
  int64_t segments;             // -1: one sequence
};

// Lengths from 0 on, of one scale; at times one long segment. Elements before and after them. In order, or not.
std::vector<int64_t> random_offsets(int64_t n, int64_t segments, bool sound, Random& random) {
  std::vector<int64_t> offsets(static_cast<size_t>(segments) + 1);
  for (int64_t& offset : offsets) offset = random.between(0, n);
  if (random.below(2) == 0) offsets.front() = 0, offsets.back() = n;
  std::sort(offsets.begin(), offsets.end());
  const auto at = static_cast<size_t>(random.between(0, segments));
  if (random.below(4) == 0) std::fill_n(offsets.begin(), at, offsets.front());
  if (!sound)
    offsets[at] = random.below(2) == 0 ? n + 1 + random.between(0, 1) * (INT64_MAX - n - 1) : -1 - random.between(0, n);
  return offsets;
}

// Sizes around the device's tiles and the host's tasks.
SortCase random_case(Random& random) {
  static constexpr int64_t kNear[] = {1, 256, 2048, 4864, 9728, 8192, 12288, 32768};
  SortCase c{};
  c.dtype = kAllTypes[random.below(12)];
  c.n = random.below(4) != 0 ? random.between(0, 600)
                             : kNear[random.below(8)] * random.between(1, 2) + random.between(-1, 1);
  c.descending = static_cast<int32_t>(random.below(2));
  c.order_type = kIndexTypes[random.below(4)];
  c.sorted = random.below(4) != 0;
  c.order = !c.sorted || random.below(2) == 0;
  c.in_place = c.sorted && random.below(3) == 0;
  c.segments = -1;
  const size_t bytes = info_of(c.dtype).bytes;
  for (size_t& offset : c.offsets) offset = random.below(5) == 0 ? random.below(16) : bytes * random.below(16 / bytes);
  c.kinds[0] = cases::kind(random.below(4));
  if (random.below(2) == 0) {
    c.segments = random.below(8) == 0 ? random.between(0, 2 * c.n) : random.between(0, 1 + c.n / random.between(1, 40));
  }
  for (const int side : {1, 2, 3}) c.kinds[side] = random.below(3) != 0 ? c.kinds[0] : cases::kind(random.below(4));
  return c;
}

class SortConformance : public Conformance {
 protected:
  void run_case(const SortCase& c, EveryVariant& variants, Random& random) {
    const auto n = static_cast<size_t>(c.n);
    GuardedBuffer keys = blocks.buffer(0, c.kinds[0], n * info_of(c.dtype).bytes, c.offsets[0]);
    GuardedBuffer sorted = blocks.buffer(1, c.kinds[1], n * info_of(c.dtype).bytes, c.offsets[1]);
    GuardedBuffer order = blocks.buffer(2, c.kinds[2], n * info_of(c.order_type).bytes, 8);
    GuardedBuffer& from = c.in_place ? sorted : keys;
    const size_t first = GuardedBuffer::kGuard + c.offsets[c.in_place ? 1 : 0];
    fill_with_keys(c.dtype, from.whole_image(), first, n, random);
    from.write();
    const Bytes before = sorted.whole_image();
    const Bytes order_before = order.whole_image();
    const bool empty = c.n == 0 || c.segments == 0;
    const bool sound = empty || c.segments == -1 || random.below(6) != 0;
    const std::vector<int64_t> offsets = random_offsets(c.n, std::max<int64_t>(c.segments, 0), sound, random);
    GuardedBuffer ends = blocks.buffer(3, c.kinds[3], offsets.size() * 8, 0);
    ends.set(offsets.data());
    GuardedBuffer word = blocks.buffer(4, GPUMEM_MEMORY_PINNED, sizeof(gpumem_status), 0);
    Sort expect{c.dtype,
                from.image(),
                c.n,
                c.descending,
                c.sorted ? sorted.image() : nullptr,
                c.order ? order.image() : nullptr,
                c.order_type,
                offsets.data(),
                c.segments};
    if (c.segments == -1) {
      sort_reference(expect);
    } else if (sound) {
      segments_reference(expect);
    }
    const Bytes expected = sorted.whole_image();
    const Bytes expected_order = order.whole_image();
    Sort call{c.dtype,
              from.data(),
              c.n,
              c.descending,
              c.sorted ? sorted.data() : nullptr,
              c.order ? order.data() : nullptr,
              c.order_type,
              reinterpret_cast<const int64_t*>(ends.data()),
              c.segments};
    const bool side = of_device(c.kinds[c.in_place ? 1 : 0]);
    // Kernels read offsets in pinned memory.
    const bool offsets_across =
        c.segments != -1 && (side ? c.kinds[3] == GPUMEM_MEMORY_PAGEABLE : of_device(c.kinds[3]));
    const bool across =
        on_cuda() && !empty &&
        ((c.sorted && of_device(c.kinds[1]) != side) || (c.order && of_device(c.kinds[2]) != side) || offsets_across);
    variants.for_each(line_of(ctx, call), empty, [&](bool accepted, const char* variant) {
      for (const bool async : {false, true}) {
        sorted.whole_image() = before;
        sorted.write();
        order.whole_image() = order_before;
        order.write();
        word.whole_image().assign(word.whole_image().size(), 0x5A);
        word.write();
        call.status = async ? reinterpret_cast<gpumem_status*>(word.data()) : nullptr;
        const gpumem_status status = async ? run_async(ctx, call, nullptr) : run(ctx, call);
        const bool runs = accepted && !(async && across);
        const gpumem_status outcome = sound || async ? GPUMEM_OK : GPUMEM_OUT_OF_RANGE;
        ASSERT_TRUE(gives(runs ? outcome : GPUMEM_UNSUPPORTED, status)) << variant << ", " << describe(call);
        if (async) {
          ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
        }
        if (runs && async && c.segments != -1) {
          const gpumem_status verdict = sound ? GPUMEM_OK : GPUMEM_OUT_OF_RANGE;
          std::memcpy(word.image(), &verdict, sizeof verdict);
        }
        ASSERT_TRUE(word.intact()) << "the status, " << variant << ", " << describe(call);
        if (runs) sorted.whole_image() = expected;
        if (runs) order.whole_image() = expected_order;
        ASSERT_TRUE(sorted.intact()) << variant << (async ? ", enqueued, " : ", ") << describe(call);
        ASSERT_TRUE(order.intact()) << "order, " << variant << (async ? ", enqueued, " : ", ") << describe(call);
      }
    });
    EXPECT_TRUE(keys.intact() && ends.intact()) << "an input changed: " << describe(call);
  }
};

TEST_P(SortConformance, GivesTheReferencesOrderByEveryVariant) {
  EveryVariant variants(ctx, GPUMEM_FAMILY_SORT);
  Random random(71);
  const int cases = quick_run() ? 150 : 600;
  for (int i = 0; i < cases && !enough(); ++i) run_case(random_case(random), variants, random);
  variants.expect_all_used(on_cuda());
}

// Every element of the short types, from the largest to the smallest and twice.
TEST_P(SortConformance, OfEveryElementOfTheShortTypes) {
  EveryVariant variants(ctx, GPUMEM_FAMILY_SORT);
  for (const gpumem_dtype dtype : kAllTypes) {
    const size_t bytes = info_of(dtype).bytes;
    if (bytes > 2) continue;
    const size_t n = size_t{2} << (8 * bytes);
    Bytes keys(n * bytes);
    for (size_t i = 0; i < n; ++i) {
      const size_t value = n - 1 - i;
      std::memcpy(&keys[i * bytes], &value, bytes);
    }
    const Memory src(ctx, GPUMEM_MEMORY_DEVICE, static_cast<int64_t>(keys.size()));
    const Memory dst(ctx, GPUMEM_MEMORY_DEVICE, static_cast<int64_t>(keys.size()));
    const Memory order(ctx, GPUMEM_MEMORY_DEVICE, static_cast<int64_t>(n * 4));
    upload(ctx, src.get(), keys.data(), keys.size());
    for (const int32_t descending : {0, 1}) {
      Bytes expected(keys.size());
      Bytes expected_order(n * 4);
      const auto count = static_cast<int64_t>(n);
      sort_reference({dtype, keys.data(), count, descending, expected.data(), expected_order.data(), GPUMEM_U32});
      const Sort call{dtype, src.get(), count, descending, dst.get(), order.get(), GPUMEM_U32};
      variants.for_each(line_of(ctx, call), false, [&](bool accepted, const char* variant) {
        if (!accepted) return;
        ASSERT_TRUE(ok(run(ctx, call)));
        EXPECT_TRUE(download(ctx, dst.get(), expected.size()) == expected) << variant << ", " << describe(call);
        EXPECT_TRUE(download(ctx, order.get(), n * 4) == expected_order) << variant << ", " << describe(call);
      });
    }
  }
}

// Enough for many tiles and tasks. The order is checked by its definition.
TEST_P(SortConformance, OfManyElements) {
  Random random(72);
  const int64_t n = quick_run() ? 60'000 : 300'000;
  for (const gpumem_dtype dtype : kAllTypes) {
    const size_t bytes = info_of(dtype).bytes;
    Bytes keys(static_cast<size_t>(n) * bytes);
    fill_with_keys(dtype, keys, 0, static_cast<size_t>(n), random);
    const Memory src(ctx, GPUMEM_MEMORY_DEVICE, static_cast<int64_t>(keys.size()));
    const Memory dst(ctx, GPUMEM_MEMORY_DEVICE, static_cast<int64_t>(keys.size()));
    const Memory order(ctx, GPUMEM_MEMORY_DEVICE, n * 8);
    upload(ctx, src.get(), keys.data(), keys.size());
    const auto descending = static_cast<int32_t>(random.below(2));
    Bytes expected(keys.size());
    Bytes expected_order(static_cast<size_t>(n) * 8);
    sort_reference({dtype, keys.data(), n, descending, expected.data(), expected_order.data(), GPUMEM_I64});
    const Sort call{dtype, src.get(), n, descending, dst.get(), order.get(), GPUMEM_I64};
    ASSERT_TRUE(ok(run(ctx, call)));
    EXPECT_TRUE(download(ctx, dst.get(), expected.size()) == expected) << describe(call);
    EXPECT_TRUE(download(ctx, order.get(), expected_order.size()) == expected_order) << describe(call);
    ASSERT_TRUE(ok(run(ctx, {dtype, src.get(), n, descending, src.get()})));
    EXPECT_TRUE(download(ctx, src.get(), expected.size()) == expected) << describe(call) << ", then in place";
  }
}

// Segments of every length around those where the way of sorting changes, and long ones among short ones.
TEST_P(SortConformance, OfSegmentsOfManyLengths) {
  Random random(74);
  for (const gpumem_dtype dtype : kAllTypes) {
    std::vector<int64_t> offsets = {3};
    for (int64_t length = 0; length <= 135; ++length) offsets.push_back(offsets.back() + length);
    const int64_t segments = static_cast<int64_t>(offsets.size()) - 1;
    const int64_t n = offsets.back() + 5;
    const size_t bytes = info_of(dtype).bytes;
    Bytes keys(static_cast<size_t>(n) * bytes);
    fill_with_keys(dtype, keys, 0, static_cast<size_t>(n), random);
    const auto descending = static_cast<int32_t>(random.below(2));
    Bytes expected(keys.size(), 0xA5);
    Bytes order(static_cast<size_t>(n) * 4, 0xA5);
    const Memory src(ctx, GPUMEM_MEMORY_DEVICE, static_cast<int64_t>(keys.size()));
    const Memory dst(ctx, GPUMEM_MEMORY_DEVICE, static_cast<int64_t>(keys.size()));
    const Memory places(ctx, GPUMEM_MEMORY_DEVICE, n * 4);
    upload(ctx, src.get(), keys.data(), keys.size());
    upload(ctx, dst.get(), expected.data(), expected.size());
    upload(ctx, places.get(), order.data(), order.size());
    const Sort call{dtype, src.get(), n, descending, dst.get(), places.get(), GPUMEM_U32, offsets.data(), segments};
    segments_reference(
        {dtype, keys.data(), n, descending, expected.data(), order.data(), GPUMEM_U32, offsets.data(), segments});
    ASSERT_TRUE(ok(run(ctx, call)));
    EXPECT_TRUE(download(ctx, dst.get(), expected.size()) == expected) << describe(call);
    EXPECT_TRUE(download(ctx, places.get(), order.size()) == order) << describe(call);
  }
}

INSTANTIATE_TEST_SUITE_P(On, SortConformance, testing::ValuesIn(contexts_here()), OnEachContext::name);

TEST(SortThreads, GiveTheSameOrder) {
  Random random(73);
  for (const gpumem_dtype dtype : kAllTypes) {
    const int64_t n = random.between(70'000, 100'000);
    const size_t bytes = info_of(dtype).bytes;
    Bytes keys(static_cast<size_t>(n) * bytes);
    fill_with_keys(dtype, keys, 0, static_cast<size_t>(n), random);
    Bytes expected(keys.size());
    std::vector<uint32_t> expected_order(static_cast<size_t>(n));
    sort_reference({dtype, keys.data(), n, 0, expected.data(), expected_order.data(), GPUMEM_U32});
    for (const int32_t threads : {1, 3, 7}) {
      const Context ctx(On::host, threads);
      Bytes sorted(keys.size(), 0xA5);
      std::vector<uint32_t> order(static_cast<size_t>(n), 99);
      const Sort call{dtype, keys.data(), n, 0, sorted.data(), order.data(), GPUMEM_U32};
      ASSERT_TRUE(ok(run(ctx, call)));
      EXPECT_TRUE(sorted == expected) << threads << " threads, " << describe(call);
      EXPECT_EQ(order, expected_order) << threads << " threads, " << describe(call);
    }
  }
}

// Short segments in all tasks, and long ones that all tasks sort together.
TEST(SortThreads, GiveTheSameOrderOfSegments) {
  Random random(75);
  for (const gpumem_dtype dtype : kAllTypes) {
    std::vector<int64_t> offsets = {0};
    for (int i = 0; i < 2000; ++i) {
      const bool longer = i == 0 || i == 700 || i == 1999;
      offsets.push_back(offsets.back() + (longer ? random.between(33'000, 70'000) : random.between(0, 40)));
    }
    const int64_t n = offsets.back();
    const size_t bytes = info_of(dtype).bytes;
    Bytes keys(static_cast<size_t>(n) * bytes);
    fill_with_keys(dtype, keys, 0, static_cast<size_t>(n), random);
    Bytes expected(keys.size());
    std::vector<uint32_t> expected_order(static_cast<size_t>(n));
    Sort call{dtype, keys.data(), n, 0, expected.data(), expected_order.data(), GPUMEM_U32, offsets.data(), 2000};
    segments_reference(call);
    for (const int32_t threads : {1, 3, 7}) {
      const Context ctx(On::host, threads);
      Bytes sorted = keys;
      std::vector<uint32_t> order(static_cast<size_t>(n), 99);
      call.keys = call.sorted = sorted.data();
      call.order = order.data();
      ASSERT_TRUE(ok(run(ctx, call)));
      EXPECT_TRUE(sorted == expected) << threads << " threads, " << describe(call);
      EXPECT_EQ(order, expected_order) << threads << " threads, " << describe(call);
    }
  }
}

}  // namespace
}  // namespace gpumem_test
