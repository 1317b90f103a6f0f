// gpumem_permute against the formula of the header, over the lists of cases and over random ones, by every variant.
#include <cstring>

#include "conformance/conformance.hpp"
#include "conformance/permute_cases.hpp"

namespace gpumem_test {
namespace {

const int64_t* or_null(const std::vector<int64_t>& strides) { return strides.empty() ? nullptr : strides.data(); }

bool is_empty(const PermuteCase& c) { return std::find(c.extents.begin(), c.extents.end(), 0) != c.extents.end(); }

std::vector<int64_t> row_major(const std::vector<int64_t>& extents) {
  std::vector<int64_t> strides(extents.size(), 1);
  for (size_t d = extents.size(); d-- > 1;) strides[d - 1] = strides[d] * extents[d];
  return strides;
}

// The case with its strides spelled out.
struct Layout {
  std::vector<int64_t> dst_extents;
  std::vector<int64_t> src_strides;
  std::vector<int64_t> dst_strides;

  explicit Layout(const PermuteCase& c)
      : dst_extents(cases::in_order(c.extents, c.order)),
        src_strides(c.src_strides.empty() ? row_major(c.extents) : c.src_strides),
        dst_strides(c.dst_strides.empty() ? row_major(dst_extents) : c.dst_strides) {}
};

size_t bytes_to_last(const std::vector<int64_t>& extents, const std::vector<int64_t>& strides, int64_t element_bytes) {
  int64_t last = 0;
  for (size_t d = 0; d < extents.size(); ++d) {
    if (extents[d] == 0) return 0;
    if (extents[d] > 1) last += (extents[d] - 1) * strides[d];
  }
  return static_cast<size_t>((last + 1) * element_bytes);
}

// dst[sum over d of i[order[d]] * dst_strides[d]] = src[sum over d of i[d] * src_strides[d]] for every index i.
void reference(const PermuteCase& c, const Layout& l, const unsigned char* src, unsigned char* dst) {
  if (is_empty(c)) return;
  std::vector<int64_t> i(c.extents.size(), 0);
  for (;;) {
    int64_t from = 0;
    int64_t to = 0;
    for (size_t d = 0; d < i.size(); ++d) {
      const auto axis = static_cast<size_t>(c.order[d]);
      if (i[d] > 0) from += i[d] * l.src_strides[d];
      if (i[axis] > 0) to += i[axis] * l.dst_strides[d];
    }
    std::memcpy(dst + to * c.element_bytes, src + from * c.element_bytes, static_cast<size_t>(c.element_bytes));
    size_t d = i.size();
    while (d > 0 && ++i[d - 1] == c.extents[d - 1]) i[--d] = 0;
    if (d == 0) return;
  }
}

template <class T>
std::string joined(const std::vector<T>& values) {
  std::string text;
  for (const T value : values) text += (text.empty() ? "" : " ") + std::to_string(value);
  return "(" + text + ")";
}

std::string describe(const PermuteCase& c) {
  return joined(c.extents) + " of " + std::to_string(c.element_bytes) + " bytes, order " + joined(c.order) +
         ", strides " + joined(c.src_strides) + " and " + joined(c.dst_strides) + ", offsets " +
         std::to_string(c.src_offset) + " and " + std::to_string(c.dst_offset) + ", from " + kind_name(c.src) + " to " +
         kind_name(c.dst);
}

bool on_host(gpumem_memory_kind kind) { return kind == GPUMEM_MEMORY_PAGEABLE || kind == GPUMEM_MEMORY_PINNED; }

class PermuteConformance : public Conformance {
 protected:
  void run(const PermuteCase& c, EveryVariant& variants, Random& random) {
    const Layout layout(c);
    GuardedBuffer src =
        blocks.buffer(0, c.src, bytes_to_last(c.extents, layout.src_strides, c.element_bytes), c.src_offset);
    GuardedBuffer dst =
        blocks.buffer(1, c.dst, bytes_to_last(layout.dst_extents, layout.dst_strides, c.element_bytes), c.dst_offset);
    random.fill(src.whole_image());
    src.write();
    const Bytes poisoned = dst.whole_image();
    reference(c, layout, src.image(), dst.image());
    const Bytes expected = dst.whole_image();
    const auto rank = static_cast<int32_t>(c.order.size());
    const std::string line = permute_line(ctx, c.element_bytes, rank, c.extents.data(), c.order.data(), src.data(),
                                          or_null(c.src_strides), dst.data(), or_null(c.dst_strides));
    const bool moves_between_sides = on_cuda() && on_host(c.src) != on_host(c.dst) && !is_empty(c);
    variants.for_each(line, is_empty(c), [&](bool accepted, const char* variant) {
      for (const bool async : {false, true}) {
        dst.whole_image() = poisoned;
        dst.write();
        const gpumem_status status =
            async ? gpumem_permute_async(ctx, c.element_bytes, rank, c.extents.data(), c.order.data(), src.data(),
                                         or_null(c.src_strides), dst.data(), or_null(c.dst_strides), nullptr)
                  : gpumem_permute(ctx, c.element_bytes, rank, c.extents.data(), c.order.data(), src.data(),
                                   or_null(c.src_strides), dst.data(), or_null(c.dst_strides));
        if (async) {
          ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
        }
        const bool moved = accepted && !(async && moves_between_sides);
        if (moved) dst.whole_image() = expected;
        ASSERT_TRUE(gives(moved ? GPUMEM_OK : GPUMEM_UNSUPPORTED, status))
            << variant << (async ? ", enqueued, " : ", ") << describe(c);
        ASSERT_TRUE(dst.intact()) << variant << (async ? ", enqueued, " : ", ") << describe(c);
      }
    });
    EXPECT_TRUE(src.intact()) << "the input changed: " << describe(c);
  }
  void run(const std::vector<PermuteCase>& list, EveryVariant& variants) {
    Random random(10);
    for (const PermuteCase& c : list) {
      run(c, variants, random);
      if (enough()) break;
    }
  }
  void run(const std::vector<PermuteCase>& list) {
    EveryVariant variants(ctx, GPUMEM_FAMILY_PERMUTE);
    run(list, variants);
  }
};

TEST_P(PermuteConformance, MovesEveryElementByEveryVariant) {
  EveryVariant variants(ctx, GPUMEM_FAMILY_PERMUTE);
  run(permute_cases(quick_run()), variants);
  variants.expect_all_used(on_cuda());
}

TEST_P(PermuteConformance, MovesRunsWhateverTheyCanBeWidenedTo) { run(widening_cases(quick_run())); }

TEST_P(PermuteConformance, MovesArraysOfSeveralBoxes) { run(box_cases(quick_run())); }

TEST_P(PermuteConformance, MovesAnyArrayInAnyOrder) {
  Random random(11);
  std::vector<PermuteCase> list;
  for (int i = 0; i < (quick_run() ? 60 : 400); ++i) list.push_back(random_permutation(random));
  run(list);
}

// Large enough for several tasks, and for stores around the caches; the pieces of a task begin and end anywhere.
TEST_P(PermuteConformance, LargeArraysAreCutIntoTasks) {
  std::vector<PermuteCase> list;
  const auto add = [&](int64_t element, const std::vector<int64_t>& extents, const std::vector<int32_t>& order,
                       const std::vector<int64_t>& src_strides = {}) {
    list.push_back({element,
                    extents,
                    order,
                    src_strides,
                    {},
                    0,
                    static_cast<size_t>(element) % 16,
                    GPUMEM_MEMORY_DEVICE,
                    GPUMEM_MEMORY_DEVICE});
  };
  add(4, {1003, 301}, {0, 1}, {605, 2});
  add(1, {5, 70001}, {0, 1}, {140010, 2});
  add(2, {300007, 3}, {0, 1}, {7, 2});
  add(4, {1 << 20}, {0});
  add(4, {201, 33, 150}, {1, 0, 2});
  add(2, {1001, 1003}, {1, 0});
  add(4, {70, 130, 110}, {2, 1, 0});
  add(8, {3, 100003}, {1, 0});
  add(1, {300007, 5}, {1, 0});
  add(1, {5, 7, 70001}, {1, 2, 0});
  add(4, {301, 1003}, {1, 0}, {2007, 2});
  add(16, {90, 3, 201}, {2, 0, 1}, {0, 1, 3});
  run(quick_run() ? std::vector<PermuteCase>(list.begin(), list.begin() + 7) : list);
}

INSTANTIATE_TEST_SUITE_P(On, PermuteConformance, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
