// gpumem_lincomb_*, with and without dot products, and gpumem_multiply_* against their formula: numbers of every sort, views of every sort (gaps, repeats, shifted views of
// one array, permuted axes), offsets, kinds of memory and z as a source, by every variant; then threads and instruction sets.
#include <algorithm>
#include <utility>

#include "conformance/conformance.hpp"
#include "conformance/views.hpp"
#include "support/arithmetic.hpp"
#include "support/environment.hpp"

namespace gpumem_test {
namespace {

std::string describe(const Arithmetic& c) {
  std::string text = c.product ? "product" : "sum of " + std::to_string(c.x.size());
  for (const int64_t extent : c.extents) text += " x " + std::to_string(extent);
  if (!c.w.empty()) text += ", " + std::to_string(c.w.size()) + " dot products";
  return text + (c.dtype == GPUMEM_F32 ? ", f32" : ", f64");
}

std::vector<int64_t> random_extents(Random& random) {
  std::vector<int64_t> extents(random.below(3) == 0 ? static_cast<size_t>(random.between(4, 8)) : random.below(4));
  const auto rank = static_cast<int64_t>(extents.size());
  const int64_t longest = rank == 1 ? 5000 : rank <= 3 ? 60 : 40 / rank;
  for (int64_t& extent : extents) extent = random.below(12) == 0 ? 1 : random.between(1, longest);
  if (rank > 3 && random.below(2) == 0) extents[random.below(extents.size())] = 1 + random.between(1, 40);
  if (extents.size() == 2 && random.below(3) == 0) extents[1] = random.between(100, 400);
  if (!extents.empty() && random.below(60) == 0) extents[random.below(extents.size())] = 0;
  return extents;
}

class ArithmeticConformance : public Conformance {
 protected:
  static constexpr int64_t kShift = 40;  // elements by which views of one array differ

  GuardedBuffer numbers(int role, gpumem_memory_kind kind, gpumem_dtype dtype, int64_t elements, size_t offset,
                        Random& random) {
    const auto count = static_cast<size_t>(elements);
    GuardedBuffer buffer = blocks.buffer(role, kind, count * size_of(dtype), offset);
    fill_with_numbers(dtype, buffer.whole_image(), GuardedBuffer::kGuard + offset, count, random);
    buffer.write();
    return buffer;
  }

  // The same call on the images.
  static Arithmetic on_images(Arithmetic call, const std::vector<GuardedBuffer*>& of_x, GuardedBuffer& of_w,
                              GuardedBuffer& z, GuardedBuffer& in_memory) {
    for (auto* of : {&call.numerators, &call.denominators}) {
      for (const double*& p : *of) {
        if (p == nullptr) continue;
        const auto place = reinterpret_cast<const char*>(p) - in_memory.data();
        p = reinterpret_cast<const double*>(in_memory.image() + place);
      }
    }
    for (size_t k = 0; k < call.x.size(); ++k) {
      call.x[k].p = of_x[k]->image() + (static_cast<char*>(call.x[k].p) - of_x[k]->data());
    }
    call.z.p = z.image();
    for (View& w : call.w) {  // in the memory of the sources
      if (w.p != nullptr) w.p = of_w.image() + (static_cast<char*>(w.p) - of_w.data());
    }
    return call;
  }

  // Their addresses are chosen later.
  static void add_dots(Arithmetic& c, const std::vector<int64_t>& other, Random& random) {
    for (size_t k = random.between(1, 3); k-- > 0;) {
      View view{nullptr, random.below(2) == 0 ? other : c.z.strides};
      if (random.below(8) == 0 && !view.strides.empty()) view.strides[random.below(view.strides.size())] = 0;
      c.w.push_back(view);
    }
  }

  // of_grid: with dot products, in memory of the device, aligned, and with few lists of strides, as in a solver.
  void run_case(EveryVariant& variants, Random& random, std::vector<int64_t> extents, bool of_grid = false) {
    Arithmetic c;
    c.product = !of_grid && random.below(4) == 0;
    c.dtype = random.below(2) == 0 ? GPUMEM_F32 : GPUMEM_F64;
    c.extents = std::move(extents);
    c.z.strides = distinct_strides(c.extents, random);
    const bool empty = std::find(c.extents.begin(), c.extents.end(), 0) != c.extents.end();
    const size_t element = size_of(c.dtype);
    const bool aligned = of_grid || random.below(4) != 0;
    const auto offset = [&] { return aligned ? element * random.below(16 / element) : random.below(16); };
    const gpumem_memory_kind z_kind = of_grid ? GPUMEM_MEMORY_DEVICE : cases::kind(random.below(4));
    const gpumem_memory_kind x_kind = of_grid || random.below(3) != 0 ? z_kind : cases::kind(random.below(4));
    const size_t terms = c.product ? 2 : random.between(1, !of_grid && random.below(3) == 0 ? 16 : 8);
    int64_t longest = reach(c.extents, c.z.strides);
    const std::vector<int64_t> other = distinct_strides(c.extents, random);
    if (of_grid || (!c.product && random.below(2) == 0)) add_dots(c, other, random);
    for (const View& view : c.w) longest = std::max(longest, reach(c.extents, view.strides));
    for (size_t k = 0; k < terms; ++k) {
      View view{nullptr, c.z.strides};
      if (random.below(4) == 0)
        view.strides = !of_grid && random.below(3) == 0 ? distinct_strides(c.extents, random) : other;
      if (random.below(c.w.empty() ? 8 : 40) == 0 && !view.strides.empty())
        view.strides[random.below(view.strides.size())] = 0;
      longest = std::max(longest, reach(c.extents, view.strides));
      c.x.push_back(view);
      c.factors.push_back(random_factor(c.dtype, random));
    }
    GuardedBuffer z = numbers(0, z_kind, c.dtype, reach(c.extents, c.z.strides), offset(), random);
    GuardedBuffer x = numbers(1, x_kind, c.dtype, longest + kShift, offset(), random);
    const gpumem_memory_kind numbers_kind = random.below(2) != 0 ? z_kind : cases::kind(random.below(4));
    GuardedBuffer in_memory = numbers(2, numbers_kind, GPUMEM_F64, 2 * 16, 0, random);
    c.z.p = z.data();
    const bool has_numbers = !c.product && random.below(3) == 0;
    bool reads_numbers = false;
    for (size_t k = 0; has_numbers && k < terms; ++k) {
      const auto number = [&] {
        const bool given = random.below(2) == 0;
        reads_numbers = reads_numbers || given;
        return given ? reinterpret_cast<const double*>(in_memory.data()) + random.below(32) : nullptr;
      };
      c.numerators.push_back(number());
      c.denominators.push_back(number());
    }
    const bool in_place = random.below(5) == 0;
    std::vector<GuardedBuffer*> of_x;
    bool across = false;
    for (size_t k = 0; k < terms; ++k) {
      const bool is_z = in_place && c.x[k].strides == c.z.strides;
      of_x.push_back(is_z ? &z : &x);
      c.x[k].p = is_z ? z.data() : x.data() + static_cast<size_t>(random.between(0, kShift)) * element;
      const bool read = c.product || (c.factors[k] << (c.dtype == GPUMEM_F32 ? 33 : 1)) != 0 ||
                        (has_numbers && (c.numerators[k] != nullptr || c.denominators[k] != nullptr));
      across = across || (read && !is_z && on_cuda() && of_device(x_kind) != of_device(z_kind));
    }
    if (reads_numbers && on_cuda()) {
      const bool pageable = numbers_kind == GPUMEM_MEMORY_PAGEABLE;
      across = across || (of_device(z_kind) ? pageable : of_device(numbers_kind));
    }
    const gpumem_memory_kind results_kind = cases::kind(random.below(4));
    const bool pageable_results = !c.w.empty() && on_cuda() && results_kind == GPUMEM_MEMORY_PAGEABLE;
    GuardedBuffer results = blocks.buffer(3, results_kind, 8 * c.w.size(), 8 * random.below(2));
    for (View& w : c.w) {
      if (random.below(3) != 0) w.p = x.data() + static_cast<size_t>(random.between(0, kShift)) * element;
      across = across || (w.p != nullptr && on_cuda() && of_device(x_kind) != of_device(z_kind));
    }
    const Bytes before = z.whole_image();
    const Bytes results_before = results.whole_image();
    double expected_dots[3] = {};
    Arithmetic images = on_images(c, of_x, x, z, in_memory);
    images.results = expected_dots;
    arithmetic_reference(images);
    const Bytes expected = z.whole_image();
    std::memcpy(results.image(), expected_dots, results.size());
    const Bytes results_after = results.whole_image();
    c.results = reinterpret_cast<double*>(results.data());
    const auto restore = [&] {
      z.whole_image() = before;
      z.write();
      results.whole_image() = results_before;
      results.write();
    };
    restore();
    ASSERT_TRUE(ok(run(ctx, c))) << describe(c);
    variants.for_each(last_problem(), empty, [&](bool accepted, const char* variant) {
      for (const bool async : {false, true}) {
        restore();
        const gpumem_status status = async ? run_async(ctx, c, nullptr) : run(ctx, c);
        const bool fits = accepted && !(async && across && !empty);
        const bool runs = fits && !(async && pageable_results);
        const gpumem_status wanted = runs ? GPUMEM_OK : fits ? GPUMEM_INVALID_POINTER : GPUMEM_UNSUPPORTED;
        ASSERT_TRUE(gives(wanted, status)) << variant << ", " << describe(c);
        if (async) {
          ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
        }
        if (runs) {
          z.whole_image() = expected;
          results.whole_image() = results_after;
        }
        ASSERT_TRUE(results.intact()) << "results, " << variant << (async ? ", enqueued, " : ", ") << describe(c);
        ASSERT_TRUE(z.intact()) << variant << (async ? ", enqueued, " : ", ") << describe(c);
      }
    });
    EXPECT_TRUE(x.intact() && in_memory.intact()) << "a source changed: " << describe(c);
  }
};

TEST_P(ArithmeticConformance, GivesTheBitsOfTheFormulaByEveryVariant) {
  EveryVariant variants(ctx, GPUMEM_FAMILY_ARITHMETIC);
  Random random(61);
  const int cases = quick_run() ? 150 : 1000;
  for (int i = 0; i < cases && !enough(); ++i) run_case(variants, random, random_extents(random));
  variants.expect_all_used(on_cuda());
}

// Rows of a multiple of 128 elements, and others; few blocks of the order of sums, and many.
TEST_P(ArithmeticConformance, GivesTheBitsOfDotProductsOfGrids) {
  EveryVariant variants(ctx, GPUMEM_FAMILY_ARITHMETIC);
  Random random(64);
  const int cases = quick_run() ? 60 : 400;
  for (int i = 0; i < cases && !enough(); ++i) {
    const int64_t rows[] = {1, 31, 32, 100, 128, 130, 256, 300, 1024, 2050};
    std::vector<int64_t> extents = {rows[random.below(10)]};
    while (extents.size() < 3 && random.below(4) != 0) extents.insert(extents.begin(), random.between(1, 25));
    if (extents.size() == 3 && random.below(6) == 0) extents.insert(extents.begin(), 2);
    run_case(variants, random, extents, true);
  }
}

// So many elements that a thread has several of them: along each of the axes, and of rows as short as a few.
TEST_P(ArithmeticConformance, GivesTheBitsOfTheFormulaOfLargeViews) {
  EveryVariant variants(ctx, GPUMEM_FAMILY_ARITHMETIC);
  Random random(63);
  const std::vector<std::vector<int64_t>> all = {
      {1217, 1033}, {3, 420001},    {430, 11, 277},    {1300007},
      {420001, 3},  {140003, 3, 3}, {3, 90, 5, 7, 61}, {2, 3, 2, 50, 2, 3, 2, 401}};
  const size_t cases = quick_run() ? 4 : 5 * all.size();
  for (size_t i = 0; i < cases && !enough(); ++i) run_case(variants, random, all[i % all.size()]);
}

INSTANTIATE_TEST_SUITE_P(On, ArithmeticConformance, testing::ValuesIn(contexts_here()), OnEachContext::name);

class ArithmeticBits : public testing::TestWithParam<const char*> {};

// A five-point step over the inside of an array, larger than one task and than the caches are told to be.
TEST_P(ArithmeticBits, DoNotDependOnThreadsOrInstructions) {
  const ScopedVariable simd("GPUMEM_HOST_SIMD", GetParam());
  Random random(62);
  for (const gpumem_dtype dtype : {GPUMEM_F32, GPUMEM_F64}) {
    const int64_t rows = random.between(300, 900);
    const int64_t cols = random.between(300, 900);
    const size_t element = size_of(dtype);
    const auto bytes = static_cast<size_t>(rows * cols) * element;
    Bytes x(bytes), z(bytes, 0xA5), expected(bytes, 0xA5);
    fill_with_numbers(dtype, x, 0, bytes / element, random);
    Arithmetic c{false, dtype, {rows - 2, cols - 2}, {}, {}, {}};
    const auto view = [&](Bytes& of, int64_t row, int64_t col) {
      return View{of.data() + static_cast<size_t>(row * cols + col) * element, {cols, 1}};
    };
    for (const auto& [row, col] : {std::pair{1, 1}, {0, 1}, {2, 1}, {1, 0}, {1, 2}}) {
      c.factors.push_back(bits_of(dtype, row == 1 && col == 1 ? 0.5 : 0.125));
      c.x.push_back(view(x, row, col));
    }
    double expected_dots[2] = {};
    c.w = {view(x, 1, 1), {nullptr, {cols, 1}}};
    c.results = expected_dots;
    c.z = view(expected, 1, 1);
    arithmetic_reference(c);
    c.z = view(z, 1, 1);
    for (const int32_t threads : {1, 2, 3, 7}) {
      const Context ctx(On::host, threads);
      z.assign(bytes, 0xA5);
      double dots[2] = {};
      c.results = dots;
      ASSERT_TRUE(ok(run(ctx, c)));
      EXPECT_TRUE(z == expected) << threads << " threads, " << describe(c);
      EXPECT_EQ(std::memcmp(dots, expected_dots, sizeof dots), 0) << threads << " threads, " << describe(c);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(With, ArithmeticBits, testing::Values("base", "avx2", "avx512"));

}  // namespace
}  // namespace gpumem_test
