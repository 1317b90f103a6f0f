// gpumem_copy_boxes by every variant: each box has the elements of the formula in the header, and nothing else is
// written.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "conformance/conformance.hpp"
#include "support/boxes.hpp"

namespace gpumem_test {
namespace {

struct Layout {
  int64_t count;
  int32_t ndim;
  int64_t most;  // extent of an axis
  bool sorted;   // axes of both sides are in the order of the extents
};

bool on_host(gpumem_memory_kind kind) { return kind == GPUMEM_MEMORY_PAGEABLE || kind == GPUMEM_MEMORY_PINNED; }

// Two buffers of boxes of src, of two kinds of memory, and one of dst.
struct Drawn {
  std::vector<size_t> src_at;
  std::vector<int> in;
  std::vector<size_t> dst_at;
  size_t src_bytes[2] = {0, 0};
  size_t dst_bytes = 0;
};

class CopyBoxesConformance : public Conformance {
 protected:
  static std::vector<int64_t> extents(const Layout& layout, Random& random) {
    std::vector<int64_t> extents;
    for (int32_t d = 0; d < layout.ndim; ++d) {
      const bool special = random.below(8) == 0;
      extents.push_back(special ? random.between(0, 1) : random.between(1, layout.most));
    }
    return extents;
  }

  // Strides with padding or without it, of axes in the order of the extents or in another.
  static std::vector<int64_t> strides(const Layout& layout, const std::vector<int64_t>& extents, bool may_repeat,
                                      Random& random) {
    std::vector<size_t> order(extents.size());
    std::iota(order.rbegin(), order.rend(), size_t{0});
    if (!layout.sorted && order.size() > 1) std::swap(order[0], order[random.below(order.size())]);
    std::vector<int64_t> strides(extents.size());
    int64_t next = random.below(5) == 0 ? random.between(1, 3) : 1;
    for (const size_t d : order) {
      strides[d] = may_repeat && random.below(9) == 0 ? 0 : next;
      next = std::max<int64_t>(next * extents[d], 1) + (random.below(2) == 0 ? random.between(0, 5) : 0);
    }
    return strides;
  }

  static Drawn draw(const Layout& layout, Boxes& b, Random& random) {
    const bool tight_src = random.below(4) == 0;
    const bool tight_dst = random.below(4) == 0;
    for (int64_t k = 0; k < layout.count; ++k) {
      const std::vector<int64_t> of_box = extents(layout, random);
      b.add(of_box, nullptr, nullptr);
      const auto append = [&](std::vector<int64_t>& to, bool may_repeat) {
        const std::vector<int64_t> more = strides(layout, of_box, may_repeat, random);
        to.insert(to.end(), more.begin(), more.end());
      };
      if (!tight_src) append(b.src_strides, true);
      if (!tight_dst) append(b.dst_strides, false);
    }
    const size_t unit = random.below(3) == 0 ? 1 : static_cast<size_t>(b.element_bytes);
    Drawn drawn;
    for (int64_t k = 0; k < layout.count; ++k) {
      const int in = static_cast<int>(random.below(2));
      drawn.in.push_back(in);
      drawn.src_bytes[in] += unit * random.below(4);
      drawn.src_at.push_back(drawn.src_bytes[in]);
      drawn.src_bytes[in] += b.reach(k, b.src_strides);
      drawn.dst_bytes += unit * random.below(4);
      drawn.dst_at.push_back(drawn.dst_bytes);
      drawn.dst_bytes += b.reach(k, b.dst_strides);
    }
    return drawn;
  }

  void run_layout(const Layout& layout, int64_t element_bytes, const std::vector<std::string>& variants,
                  Random& random) {
    const gpumem_memory_kind dst_kind = cases::kind(random.below(cases::kKinds));
    gpumem_memory_kind src_kind[2] = {cases::kind(random.below(cases::kKinds)),
                                      cases::kind(random.below(cases::kKinds))};
    if (random.below(2) == 0) src_kind[0] = src_kind[1] = dst_kind;
    Boxes b{.element_bytes = element_bytes, .ndim = layout.ndim};
    const Drawn drawn = draw(layout, b, random);
    std::vector<GuardedBuffer> from;
    for (const int i : {0, 1}) {
      from.push_back(blocks.buffer(i, src_kind[i], drawn.src_bytes[i], random.below(16)));
      random.fill(from.back().whole_image());
      from.back().write();
    }
    GuardedBuffer dst = blocks.buffer(2, dst_kind, drawn.dst_bytes, random.below(16));
    const Bytes poisoned = dst.whole_image();
    bool moved = false;
    bool empty = true;
    for (size_t k = 0; k < drawn.in.size(); ++k) {
      GuardedBuffer& src = from[static_cast<size_t>(drawn.in[k])];
      const auto box = static_cast<int64_t>(k);
      copy_box_reference(b, box, src.image() + drawn.src_at[k], dst.image() + drawn.dst_at[k]);
      b.src[k] = src.data() + drawn.src_at[k];
      b.dst[k] = dst.data() + drawn.dst_at[k];
      empty = empty && b.empty(box);
      moved = moved || (on_cuda() && !b.empty(box) && on_host(src_kind[drawn.in[k]]) != on_host(dst_kind));
    }
    const Bytes expected = dst.whole_image();
    const std::string what = std::to_string(layout.count) + " boxes of " + std::to_string(layout.ndim) + " axes and " +
                             std::to_string(element_bytes) + " bytes, from " + kind_name(src_kind[0]) + " and " +
                             kind_name(src_kind[1]) + " to " + kind_name(dst_kind);
    for (const std::string& variant : variants) {
      const char* const forced = variant.empty() ? nullptr : variant.c_str();
      ASSERT_TRUE(ok(gpumem_variant_force(ctx, GPUMEM_FAMILY_COPY_BOXES, forced)));
      for (const bool async : {false, true}) {
        dst.whole_image() = poisoned;
        dst.write();
        const gpumem_status status = async ? run_async(ctx, b, nullptr) : gpumem_test::run(ctx, b);
        ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
        if (async && moved) {
          ASSERT_TRUE(gives(GPUMEM_UNSUPPORTED, status)) << what;
        } else if (status != GPUMEM_OK) {
          ASSERT_TRUE(gives(GPUMEM_UNSUPPORTED, status)) << what;
          ASSERT_FALSE(variant.empty()) << what;
        } else {
          if (!empty) ++ran[variant];
          dst.whole_image() = expected;
        }
        ASSERT_TRUE(dst.intact()) << variant << (async ? ", enqueued, " : ", ") << what;
      }
    }
    ASSERT_TRUE(ok(gpumem_variant_force(ctx, GPUMEM_FAMILY_COPY_BOXES, nullptr)));
    for (const GuardedBuffer& src : from) EXPECT_TRUE(src.intact()) << "the input changed: " << what;
  }

  std::map<std::string, int64_t> ran;
};

TEST_P(CopyBoxesConformance, MovesEveryElementByEveryVariant) {
  static constexpr Layout kLayouts[] = {{1, 3, 20, true},  {2, 2, 70, false}, {3, 1, 900, true}, {7, 3, 17, true},
                                        {5, 4, 9, false},  {33, 3, 6, true},  {1, 0, 1, true},   {9, 5, 5, false},
                                        {129, 2, 5, true}, {4, 8, 3, false},  {6, 2, 40, true},  {300, 3, 3, true},
                                        {2, 3, 48, true},  {3, 3, 40, false}};
  std::vector<std::string> variants = variant_names(GPUMEM_FAMILY_COPY_BOXES);
  variants.insert(variants.begin(), "");
  Random random;
  size_t next = 0;
  for (int round = 0; round < (quick_run() ? 2 : 8); ++round) {
    for (const int64_t element_bytes : {1, 2, 4, 8, 16}) {
      for (int i = 0; i < 5; ++i) {
        run_layout(kLayouts[next++ % std::size(kLayouts)], element_bytes, variants, random);
        if (enough()) return;
      }
    }
  }
  for (const std::string& variant : variants) {
    const bool runs_here = variant.empty() || variant.rfind("host_", 0) == 0 || on_cuda();
    EXPECT_EQ(ran[variant] > 0, runs_here) << variant;
    std::printf("%-20s %8lld runs\n", variant.c_str(), static_cast<long long>(ran[variant]));
  }
}

// Many threads and few. Some boxes are large enough to be shared by all of them.
TEST(CopyBoxesOnTheHost, AreTheSameWithAnyThreads) {
  Random random(1);
  constexpr int64_t kBoxes = 12;
  Boxes b{.element_bytes = 4, .ndim = 3};
  std::vector<Bytes> src;
  for (int64_t k = 0; k < kBoxes; ++k) {
    const int64_t most = k % 4 == 0 ? 120 : 30;
    b.add({random.between(1, most), random.between(1, most), random.between(1, most)}, nullptr, nullptr);
    const int64_t* const e = b.extents_of(k);
    b.src_strides.insert(b.src_strides.end(), {e[1] * (e[2] + 3), e[2] + 3, 1});
    if (k % 3 == 0) {
      b.dst_strides.insert(b.dst_strides.end(), {1, e[0], e[0] * e[1]});
    } else {
      b.dst_strides.insert(b.dst_strides.end(), {e[1] * e[2], e[2], 1});
    }
    src.emplace_back(b.reach(k, b.src_strides));
    random.fill(src.back());
  }
  std::vector<Bytes> expected;
  for (int64_t k = 0; k < kBoxes; ++k) {
    const auto at = static_cast<size_t>(k);
    expected.emplace_back(b.reach(k, b.dst_strides));
    copy_box_reference(b, k, src[at].data(), expected.back().data());
    b.src[at] = src[at].data();
  }
  for (const int32_t threads : {1, 2, 7}) {
    const Context ctx(On::host, threads);
    std::vector<Bytes> dst;
    for (size_t k = 0; k < expected.size(); ++k) {
      dst.emplace_back(expected[k].size(), 0xA5);
      b.dst[k] = dst.back().data();
    }
    ASSERT_TRUE(ok(run(ctx, b)));
    EXPECT_TRUE(dst == expected) << threads << " threads";
  }
}

INSTANTIATE_TEST_SUITE_P(On, CopyBoxesConformance, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
