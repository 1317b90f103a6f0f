// Reductions of some axes of views: each result has the bits of the reference for its elements, packed in row-major order.
#include <algorithm>
#include <cstring>

#include "conformance/conformance.hpp"
#include "conformance/views.hpp"
#include "support/convert.hpp"
#include "support/reductions.hpp"

namespace gpumem_test {
namespace {

struct AxesCase {
  gpumem_dtype dtype = GPUMEM_F32;
  std::vector<int64_t> extents;
  std::vector<int64_t> strides;
  uint32_t axes = 0;
  gpumem_memory_kind x = GPUMEM_MEMORY_DEVICE;
  gpumem_memory_kind result = GPUMEM_MEMORY_DEVICE;
  size_t offset = 0;  // bytes from a multiple of 16
  bool rounded = false;

  int32_t rank() const { return static_cast<int32_t>(extents.size()); }
  bool reduces(size_t d) const { return (axes >> d & 1) != 0; }
  gpumem_dtype result_type() const { return rounded ? dtype : result_type_of(dtype); }
};

std::string describe(const AxesCase& c) {
  return std::string(info_of(c.dtype).name) + ", extents (" + listed(c.extents.data(), c.rank(), ' ') + "), strides (" +
         listed(c.strides.data(), c.rank(), ' ') + "), axes " + std::to_string(c.axes) + ", offset " +
         std::to_string(c.offset) + ", in " + kind_name(c.x) + " and " + kind_name(c.result) +
         (c.rounded ? ", rounded" : "");
}

// The places of the elements that the reduced axes, or the others, name, in row-major order.
std::vector<int64_t> places_along(const AxesCase& c, bool reduced) {
  std::vector<int64_t> places = {0};
  for (size_t d = 0; d < c.extents.size(); ++d) {
    if (c.reduces(d) != reduced) continue;
    std::vector<int64_t> all;
    for (const int64_t place : places) {
      for (int64_t i = 0; i < c.extents[d]; ++i) all.push_back(place + i * c.strides[d]);
    }
    places = all;
  }
  return places;
}

// What a call gives and writes.
struct AxesOutcome {
  gpumem_status status = GPUMEM_OK;
  Bytes results;
};

AxesOutcome expected(const AxesCase& c, gpumem_reduce_op op, const Bytes& elements) {
  const std::vector<int64_t> lines = places_along(c, false);
  const std::vector<int64_t> line = places_along(c, true);
  if (!lines.empty() && line.empty() && needs_elements(op)) return {GPUMEM_EMPTY, {}};
  const size_t bytes = info_of(c.dtype).bytes;
  AxesOutcome outcome;
  Bytes packed(line.size() * bytes);
  for (const int64_t first : lines) {
    for (size_t i = 0; i < line.size(); ++i) {
      std::memcpy(packed.data() + i * bytes, elements.data() + static_cast<size_t>(first + line[i]) * bytes, bytes);
    }
    const Outcome one = reference(op, {c.dtype, packed.data(), static_cast<int64_t>(line.size()), 1});
    outcome.status = std::max(outcome.status, one.status);
    for (int w = 0; w < words_of(op); ++w) {
      const uint64_t word = c.rounded ? converted(GPUMEM_F64, c.dtype, one.words[w]) : one.words[w];
      const auto* const first_byte = reinterpret_cast<const unsigned char*>(&word);
      outcome.results.insert(outcome.results.end(), first_byte, first_byte + info_of(c.result_type()).bytes);
    }
  }
  return outcome;
}

class AxesConformance : public Conformance {
 protected:
  Bytes elements_of(const AxesCase& c, Random& random) {
    if (std::find(c.extents.begin(), c.extents.end(), 0) != c.extents.end()) return {};
    const int64_t count = reach(c.extents, c.strides);
    Bytes all = random_elements(c.dtype, random.below(2) == 0 ? Numbers::medium : Numbers::small, count, 1, random);
    if (random.below(4) == 0) add_specials(c.dtype, all, count, 1, random);
    // Elements between those of the view would show in any result.
    std::vector<bool> used(static_cast<size_t>(count), false);
    for (const int64_t first : places_along(c, false)) {
      for (const int64_t place : places_along(c, true)) used[static_cast<size_t>(first + place)] = true;
    }
    const size_t bytes = info_of(c.dtype).bytes;
    for (size_t i = 0; i < used.size(); ++i) {
      if (!used[i]) std::memset(all.data() + i * bytes, 0xFF, bytes);
    }
    return all;
  }

  void run_form(const AxesReduction& r, const AxesOutcome& want, bool enqueued, gpumem_memory_kind kind,
                const std::string& what) {
    GuardedBuffer result = blocks.buffer(1, kind, want.results.size(), 0);
    GuardedBuffer word = blocks.buffer(2, kind, sizeof(gpumem_status), 0);
    const CallForm form{enqueued, nullptr, reinterpret_cast<gpumem_status*>(word.data())};
    const gpumem_status status = reductions::run_as(form, ctx, r, result.data());
    ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr))) << what;
    const bool later = enqueued && want.status == GPUMEM_OVERFLOW;
    ASSERT_TRUE(gives(later ? GPUMEM_OK : want.status, status)) << what;
    if (want.status != GPUMEM_EMPTY) {
      if (!want.results.empty()) std::memcpy(result.image(), want.results.data(), want.results.size());
      if (enqueued) std::memcpy(word.image(), &want.status, sizeof want.status);
    }
    ASSERT_TRUE(result.intact()) << what;
    ASSERT_TRUE(word.intact()) << what;
    ++outcomes[want.status];
  }

  void run_case(const AxesCase& c, Random& random) {
    const Bytes elements = elements_of(c, random);
    GuardedBuffer x = blocks.buffer(0, c.x, elements.size(), c.offset);
    if (!elements.empty()) x.set(elements.data());
    const gpumem_memory_kind async_kind =
        on_cuda() && c.result == GPUMEM_MEMORY_PAGEABLE ? int32_t{GPUMEM_MEMORY_PINNED} : c.result;
    for (const gpumem_reduce_op op : kReduceOps) {
      if (!has(c.dtype, op)) continue;
      const AxesReduction r{c.dtype,
                            op,
                            c.rank(),
                            c.extents.data(),
                            elements.empty() ? nullptr : x.data(),
                            c.strides.data(),
                            static_cast<int32_t>(c.axes),
                            c.result_type()};
      const AxesOutcome want = expected(c, op, elements);
      for (const bool enqueued : {false, true}) {
        run_form(r, want, enqueued, enqueued ? async_kind : c.result,
                 std::string(enqueued ? "enqueued " : "") + op_name(op) + " of " + describe(c));
        if (HasFatalFailure()) return;
      }
    }
    EXPECT_TRUE(x.intact()) << "the input changed: " << describe(c);
  }

  std::map<gpumem_status, int64_t> outcomes;
};

// Rows, columns and neither, whole views, windows that overlap, repeated elements, nothing to reduce, no elements.
std::vector<AxesCase> shapes_with_axes() {
  const auto of = [](std::vector<int64_t> extents, std::vector<int64_t> strides, uint32_t axes) {
    AxesCase c;
    c.extents = std::move(extents);
    c.strides = std::move(strides);
    c.axes = axes;
    return c;
  };
  return {of({}, {}, 0),
          of({5000}, {1}, 1),
          of({3000}, {2}, 1),
          of({300}, {1}, 0),
          of({300}, {3}, 0),
          of({30, 20}, {20, 1}, 0),
          of({30, 1200}, {1201, 1}, 2),
          of({1200, 30}, {31, 1}, 1),
          of({1100, 31}, {31, 1}, 3),
          of({1100, 31}, {33, 1}, 3),
          of({4, 3, 50, 60}, {9000, 3000, 60, 1}, 0b1100),  // the mean of each channel of each image
          of({4, 3, 50, 60}, {9000, 3000, 60, 1}, 0b1101),  // of each channel
          of({9, 5, 20, 40}, {5000, 1000, 45, 1}, 0b1101),  // the same with padding
          of({6, 3, 30, 2, 40}, {7200, 2400, 80, 40, 1}, 0b10101),
          of({4, 50, 60, 3}, {9000, 180, 3, 1}, 0b0110),
          of({20, 30, 40}, {1200, 40, 1}, 0b101),            // time and longitude
          of({25, 3, 50, 40}, {6400, 2100, 42, 1}, 0b0101),  // time and latitude
          of({3, 2, 11, 64}, {64, 6336, 576, 1}, 0b0101),
          of({20, 30, 40}, {1, 40, 1200}, 0b100),
          of({7, 9, 11, 13}, {1500, 150, 13, 1}, 0b1001),
          of({50, 100}, {1, 1}, 0b10),
          of({50, 100}, {0, 1}, 0b10),
          of({50, 100}, {1, 0}, 0b10),
          of({6, 50, 100}, {90, 1, 1}, 0b100),
          of({2, 2, 2, 2, 2, 2, 2, 2}, {128, 64, 32, 16, 8, 4, 2, 1}, 0b01010101),
          of({4, 0, 3}, {3, 3, 1}, 0b010),
          of({4, 0, 3}, {3, 3, 1}, 0b101),
          of({5, 0, 3}, {3, 3, 1}, 0b011)};
}

TEST_P(AxesConformance, OfShapesOfEachKind) {
  Random random;
  size_t number = 0;
  for (AxesCase c : shapes_with_axes()) {
    ++number;  // other types of each shape in a quick run
    for (const gpumem_dtype dtype : kAllTypes) {
      ++number;
      if (quick_run() && number % 4 != 0) continue;
      c.dtype = dtype;
      c.rounded = is_floating(dtype) && dtype != GPUMEM_F64 && number % 3 == 0;
      c.x = kAllKinds[number % 4];
      c.result = kAllKinds[number / 4 % 4];
      c.offset = number % 5 == 0 ? number % 16 : number % 4 * info_of(dtype).bytes;
      run_case(c, random);
      if (enough()) return;
    }
  }
  for (const gpumem_status status : {GPUMEM_OK, GPUMEM_OVERFLOW, GPUMEM_EMPTY}) {
    EXPECT_GT(outcomes[status], 0) << "no case gave " << gpumem_status_name(status);
  }
}

// So large that a thread takes several columns.
TEST_P(AxesConformance, OfLargeColumnsAlongTwoAxes) {
  if (!on_cuda()) GTEST_SKIP() << "the host has no such columns";
  Random random(3);
  for (const gpumem_dtype dtype : {GPUMEM_F32, GPUMEM_F16}) {
    AxesCase c;
    c.dtype = dtype;
    c.extents = {40, 2, 27, 1024};
    c.strides = {2 * 27 * 1028, 27 * 1028, 1028, 1};
    c.axes = 0b0101;
    c.rounded = dtype == GPUMEM_F16;
    const Bytes elements = elements_of(c, random);
    GuardedBuffer x = blocks.buffer(0, c.x, elements.size(), c.offset);
    x.set(elements.data());
    const AxesReduction r{dtype, GPUMEM_SUM, 4, c.extents.data(), x.data(), c.strides.data(), 0b0101, c.result_type()};
    run_form(r, expected(c, GPUMEM_SUM, elements), false, c.result, describe(c));
    if (HasFatalFailure()) return;
  }
}

// More lines than the host copies at once, or lines that it reads where they are: one in the middle overflows, and the
// last part is shorter.
TEST_P(AxesConformance, OfManyLinesAlongTwoAxes) {
  Random random(4);
  constexpr std::pair<gpumem_dtype, gpumem_reduce_op> kKinds[] = {
      {GPUMEM_F32, GPUMEM_SUM}, {GPUMEM_I64, GPUMEM_SUM}, {GPUMEM_U8, GPUMEM_MIN_MAX}, {GPUMEM_F64, GPUMEM_MAX}};
  for (int i = 0; i < 8; ++i) {
    const auto [dtype, op] = kKinds[i % 4];
    const bool in_place = i >= 4;
    AxesCase c;
    c.dtype = dtype;
    c.extents = {in_place ? 7 : 61, in_place ? 103 : 3, in_place ? 2 : 7, dtype == GPUMEM_U8 ? 2100 : 700};
    const int64_t matrix = c.extents[3] * c.extents[2];
    c.strides = {matrix * c.extents[1], matrix, c.extents[3], 1};
    c.axes = 0b1010;
    c.rounded = dtype == GPUMEM_F32;
    Bytes elements = elements_of(c, random);
    const int64_t greatest[] = {INT64_MAX, INT64_MAX};
    if (dtype == GPUMEM_I64) {
      std::memcpy(elements.data() + (c.extents[0] / 2 * c.strides[0] + c.strides[2]) * 8, greatest, sizeof greatest);
    }
    GuardedBuffer x = blocks.buffer(0, c.x, elements.size(), c.offset);
    x.set(elements.data());
    const AxesReduction r{dtype, op, 4, c.extents.data(), x.data(), c.strides.data(), 0b1010, c.result_type()};
    const AxesOutcome want = expected(c, op, elements);
    EXPECT_EQ(want.status == GPUMEM_OVERFLOW, dtype == GPUMEM_I64);
    run_form(r, want, false, c.result, describe(c));
    if (HasFatalFailure()) return;
  }
}

// So long that threads share them.
TEST_P(AxesConformance, OfFewLongLinesAlongTwoAxes) {
  Random random(5);
  AxesCase c;
  c.extents = {400, 2, 700};
  c.strides = {1400, 700, 1};
  c.axes = 0b101;
  const Bytes elements = elements_of(c, random);
  GuardedBuffer x = blocks.buffer(0, c.x, elements.size(), c.offset);
  x.set(elements.data());
  const AxesReduction r{c.dtype, GPUMEM_SUM, 3, c.extents.data(), x.data(), c.strides.data(), 0b101, c.result_type()};
  run_form(r, expected(c, GPUMEM_SUM, elements), false, c.result, describe(c));
}

// Their sums have the order of the indices, and not that of the memory.
TEST_P(AxesConformance, OfTransposedAxes) {
  Random random(2);
  for (const int64_t stride : {600, 601}) {
    for (const uint32_t axes : {0b011, 0b101, 0b111}) {
      AxesCase c;
      c.dtype = GPUMEM_F64;
      c.extents = {30, 20, 40};
      c.strides = {1, 30, stride};
      c.axes = axes;
      run_case(c, random);
    }
  }
}

TEST_P(AxesConformance, OfRandomViews) {
  Random random(1);
  for (int i = 0; i < (quick_run() ? 40 : 400); ++i) {
    AxesCase c;
    c.dtype = kAllTypes[random.below(std::size(kAllTypes))];
    const size_t rank = random.below(9);
    int64_t n = 1;
    for (size_t d = 0; d < rank; ++d) {
      const int64_t most = std::min<int64_t>(rank < 4 ? 60 : 9, 9000 / n);
      c.extents.push_back(random.below(60) == 0 ? 0 : random.between(1, std::max<int64_t>(1, most)));
      n *= std::max<int64_t>(1, c.extents.back());
    }
    c.strides = distinct_strides(c.extents, random);
    for (int64_t& stride : c.strides) {
      if (random.below(10) == 0) stride = random.between(0, 2);
    }
    c.axes = static_cast<uint32_t>(random.below(uint64_t{1} << rank));
    c.rounded = is_floating(c.dtype) && c.dtype != GPUMEM_F64 && random.below(2) == 0;
    c.x = kAllKinds[random.below(4)];
    c.result = kAllKinds[random.below(4)];
    c.offset = random.below(3) == 0 ? random.below(16) : 0;
    run_case(c, random);
    if (enough()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(On, AxesConformance, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
