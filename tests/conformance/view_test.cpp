// Reductions of views: each has the bits of the reference for the same elements, packed in row-major order. By every
// variant, blocking and enqueued.
#include <cstring>

#include "conformance/conformance.hpp"
#include "support/reductions.hpp"

namespace gpumem_test {
namespace {

struct ViewCase {
  gpumem_dtype dtype;
  std::vector<int64_t> extents;
  std::vector<int64_t> strides;    // empty: row-major without padding
  std::vector<int64_t> y_strides;  // of a dot product
  gpumem_memory_kind kind = GPUMEM_MEMORY_DEVICE;
  size_t offset = 0;  // bytes from a multiple of 16
};

std::string list_of(const std::vector<int64_t>& numbers, char separator) {
  return listed(numbers.data(), static_cast<int32_t>(numbers.size()), separator);
}

std::string describe(const ViewCase& c) {
  return std::string(info_of(c.dtype).name) + ", extents (" + list_of(c.extents, ' ') + "), strides (" +
         list_of(c.strides, ' ') + ") and (" + list_of(c.y_strides, ' ') + "), offset " + std::to_string(c.offset) +
         ", in " + kind_name(c.kind);
}

const int64_t* or_null(const std::vector<int64_t>& strides) { return strides.empty() ? nullptr : strides.data(); }

std::vector<int64_t> explicit_strides(const ViewCase& c, const std::vector<int64_t>& strides) {
  if (!strides.empty()) return strides;
  std::vector<int64_t> tight(c.extents.size(), 1);
  for (size_t d = tight.size(); d-- > 1;) tight[d - 1] = tight[d] * c.extents[d];
  return tight;
}

int64_t count_of(const ViewCase& c) {
  int64_t n = 1;
  for (const int64_t extent : c.extents) n *= extent;
  return n;
}

// The element that each index in row-major order names.
std::vector<int64_t> places_of(const ViewCase& c, const std::vector<int64_t>& strides) {
  std::vector<int64_t> places(static_cast<size_t>(count_of(c)));
  const std::vector<int64_t> away = explicit_strides(c, strides);
  for (size_t i = 0; i < places.size(); ++i) {
    auto rest = static_cast<int64_t>(i);
    for (size_t d = c.extents.size(); d-- > 0; rest /= c.extents[d]) places[i] += rest % c.extents[d] * away[d];
  }
  return places;
}

Bytes packed(const ViewCase& c, const Bytes& from, const std::vector<int64_t>& places) {
  const size_t bytes = info_of(c.dtype).bytes;
  Bytes to(places.size() * bytes);
  for (size_t i = 0; i < places.size(); ++i) {
    std::memcpy(to.data() + i * bytes, from.data() + static_cast<size_t>(places[i]) * bytes, bytes);
  }
  return to;
}

class ViewConformance : public Conformance {
 protected:
  struct Operand {
    GuardedBuffer buffer;
    Bytes packed;
  };

  Operand operand(int role, const ViewCase& c, const std::vector<int64_t>& strides, Random& random) {
    const std::vector<int64_t> places = places_of(c, strides);
    const int64_t last = places.empty() ? -1 : *std::max_element(places.begin(), places.end());
    const Numbers numbers = random.below(2) == 0 ? Numbers::medium : Numbers::small;
    Bytes all = random_elements(c.dtype, numbers, last + 1, 1, random);
    if (random.below(4) == 0 && last >= 0) add_specials(c.dtype, all, last + 1, 1, random);
    // Elements between those of the view would show in any result.
    std::vector<bool> used(static_cast<size_t>(last + 1), false);
    for (const int64_t place : places) used[static_cast<size_t>(place)] = true;
    const size_t bytes = info_of(c.dtype).bytes;
    for (size_t i = 0; i < used.size(); ++i) {
      if (!used[i]) std::memset(all.data() + i * bytes, 0xFF, bytes);
    }
    Operand made{blocks.buffer(role, c.kind, all.size(), c.offset), packed(c, all, places)};
    if (!all.empty()) made.buffer.set(all.data());
    return made;
  }

  std::string line_of(const ViewCase& c, gpumem_reduce_op op, const void* x, const void* y) {
    Line line(ctx, "reduce");
    line.with("dtype", c.dtype).with("op", op);
    if (c.extents.empty()) {
      line.with("n", 1);
    } else {
      line.with("extents", list_of(c.extents, 'x')).with("strides", list_of(explicit_strides(c, c.strides), ','));
    }
    line.at("x", x);
    if (op != GPUMEM_DOT) return line;
    if (!c.extents.empty()) line.with("y_strides", list_of(explicit_strides(c, c.y_strides), ','));
    return line.at("y", y);
  }

  void run(const ViewCase& c, EveryVariant& variants, Random& random) {
    Operand x = operand(0, c, c.strides, random);
    Operand y = operand(1, c, c.y_strides, random);
    const gpumem_memory_kind results = on_cuda() && c.kind == GPUMEM_MEMORY_PAGEABLE ? GPUMEM_MEMORY_PINNED : c.kind;
    GuardedBuffer result = blocks.buffer(2, results, 16, 0);
    GuardedBuffer word = blocks.buffer(3, results, sizeof(gpumem_status), 0);
    const int64_t n = count_of(c);
    for (const gpumem_reduce_op op : kAllOps) {
      if (!has(c.dtype, op)) continue;
      const Outcome expected = reference(op, {c.dtype, x.packed.data(), n, 1}, {c.dtype, y.packed.data(), n, 1});
      const ViewReduction r{c.dtype,
                            op,
                            static_cast<int32_t>(c.extents.size()),
                            or_null(c.extents),
                            x.buffer.data(),
                            or_null(c.strides),
                            y.buffer.data(),
                            or_null(c.y_strides)};
      const auto each = [&](bool accepted, const char* variant) {
        for (const bool enqueued : {false, true}) {
          const std::string what =
              std::string(variant) + (enqueued ? ", enqueued, " : ", ") + op_name(op) + " of " + describe(c);
          poison(result.whole_image());
          result.write();
          poison(word.whole_image());
          word.write();
          const CallForm form{enqueued, nullptr, reinterpret_cast<gpumem_status*>(word.data())};
          const gpumem_status status = reductions::run_as(form, ctx, r, result.data());
          ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr))) << what;
          const gpumem_status want = accepted ? expected.status : GPUMEM_UNSUPPORTED;
          const bool later = enqueued && want == GPUMEM_OVERFLOW;  // the work finds it
          ASSERT_TRUE(gives(later ? GPUMEM_OK : want, status)) << what;
          if (want == GPUMEM_OK) std::memcpy(result.image(), expected.words, static_cast<size_t>(words_of(op)) * 8);
          if (enqueued && status == GPUMEM_OK && takes_status(op)) std::memcpy(word.image(), &want, sizeof want);
          ASSERT_TRUE(result.intact()) << what << ", expected " << gpumem_test::describe(expected);
          ASSERT_TRUE(word.intact()) << what;
        }
      };
      variants.for_each(line_of(c, op, x.buffer.data(), y.buffer.data()), n == 0, each);
      if (HasFatalFailure()) return;
    }
    EXPECT_TRUE(x.buffer.intact()) << "the input changed: " << describe(c);
    EXPECT_TRUE(y.buffer.intact()) << "the second input changed: " << describe(c);
  }
};

struct Shape {
  std::vector<int64_t> extents;
  std::vector<int64_t> strides;
  std::vector<int64_t> y_strides;
};

std::vector<Shape> shapes(bool quick) {
  std::vector<Shape> all = {
      {{}, {}, {}},
      {{7}, {}, {3}},
      {{1, 1, 1}, {9, 0, 4}, {}},
      {{5, 0, 3}, {}, {}},
      {{3, 5}, {}, {}},
      {{33, 70}, {75, 1}, {}},
      {{33, 70}, {75, 1}, {70, 1}},
      {{70, 33}, {1, 75}, {33, 1}},  // transposed
      {{9, 30, 31}, {33 * 40, 33, 1}, {930, 31, 1}},
      {{50, 40}, {1, 0}, {0, 1}},  // repeated elements
      {{700, 3}, {4, 1}, {3, 1}},
      {{1000, 5}, {1, 1}, {5, 1}},                // windows that overlap
      {{600, 2, 3, 4}, {80, 36, 8, 2}, {}},       // a leaf crosses many runs of three axes
      {{3, 3, 20, 31}, {6000, 1900, 40, 1}, {}},  // some leaves cross
      {{2, 3, 2, 3, 2, 3, 2, 3}, {9001, 2500, 1200, 330, 160, 50, 20, 3}, {}},
      {{2, 5000}, {5003, 1}, {}},
  };
  if (!quick) all.push_back({{62, 62, 62}, {4096, 64, 1}, {64 * 66, 66, 1}});
  return all;
}

TEST_P(ViewConformance, HasTheBitsOfItsElementsInRowMajorOrder) {
  EveryVariant variants(ctx, GPUMEM_FAMILY_REDUCE);
  Random random;
  int which = 0;
  for (const Shape& shape : shapes(quick_run())) {
    for (const gpumem_dtype dtype : kAllTypes) {
      ++which;
      if (quick_run() && which % 3 != 0) continue;
      const size_t offset = which % 5 == 0 ? static_cast<size_t>(which % 16) : which % 4 * info_of(dtype).bytes;
      const gpumem_memory_kind kind = kAllKinds[static_cast<size_t>(which) % 4];
      run({dtype, shape.extents, shape.strides, shape.y_strides, kind, offset}, variants, random);
      if (enough()) return;
    }
  }
}

TEST_P(ViewConformance, OfRandomViews) {
  EveryVariant variants(ctx, GPUMEM_FAMILY_REDUCE);
  Random random(1);
  for (int i = 0; i < (quick_run() ? 20 : 150); ++i) {
    const size_t rank = 1 + random.below(5);
    ViewCase c{kAllTypes[random.below(std::size(kAllTypes))], {}, {}, {}, kAllKinds[random.below(4)], 0};
    int64_t n = 1;
    for (size_t d = 0; d < rank; ++d) {
      c.extents.push_back(1 +
                          static_cast<int64_t>(random.below(static_cast<uint64_t>(std::min<int64_t>(60, 20000 / n)))));
      n *= c.extents.back();
    }
    const auto strides = [&] {
      std::vector<int64_t> made(rank, 0);
      int64_t reach = 1 + static_cast<int64_t>(random.below(2));
      for (size_t d = rank; d-- > 0;) {
        made[d] = random.below(8) == 0 ? static_cast<int64_t>(random.below(3)) : reach;
        reach = std::min<int64_t>(reach * c.extents[d] + static_cast<int64_t>(random.below(3)), 50000);
      }
      if (random.below(3) == 0) std::swap(made[0], made[rank - 1]);
      return made;
    };
    c.strides = strides();
    c.y_strides = strides();
    c.offset = random.below(3) == 0 ? random.below(16) : 0;
    run(c, variants, random);
    if (enough()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(On, ViewConformance, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
