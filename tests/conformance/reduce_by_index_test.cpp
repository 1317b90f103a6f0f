// gpumem_reduce_by_index() and gpumem_reduce_rows_by_index() against a reduction of each bin by its own: types,
// operations, bins, columns, distributions, offsets, kinds of memory and bad indices, by every variant; then threads.
#include <cstring>

#include "conformance/conformance.hpp"
#include "support/by_index.hpp"
#include "support/numbers.hpp"

namespace gpumem_test {
namespace {

enum class Spread { even, few, one, most, ascending, almost_ascending, all_but_first };
constexpr uint64_t kSpreads = 7;

struct ByIndexCase {
  gpumem_dtype dtype{};
  gpumem_reduce_op op{};
  bool counts{};
  gpumem_dtype index_type{};
  int64_t n{};
  int64_t bins{};
  Spread spread{};
  int bad{};        // numbers of the index
  size_t offset{};  // of x: bytes from a multiple of 16
  Numbers numbers{};
  gpumem_memory_kind kinds[3] = {};  // of x, index and result
  int64_t cols = 1;
  int64_t ld = 0;  // 0: a vector

  int64_t elements() const { return ld == 0 ? n : (n - 1) * ld + cols; }
};

// Several columns, and rows and bins that are fewer by this. Some bins have more than a block of 1024 rows.
void make_rows(ByIndexCase& c, Random& random) {
  static constexpr int64_t kColumns[] = {1, 2, 3, 7, 8, 9, 16, 31, 33, 64, 100, 257};
  c.cols = kColumns[random.below(std::size(kColumns))];
  c.ld = c.cols + (random.below(2) == 0 ? 0 : random.between(1, 5));
  const bool long_bins = random.below(4) == 0;
  c.n = long_bins ? random.between(1000, c.cols < 4 ? 40000 : 2100) : std::max<int64_t>(1, c.n / c.cols);
  c.bins = long_bins ? random.between(1, 3) : std::max<int64_t>(1, c.bins / c.cols);
}

// Sizes around the tiles and tasks, and around the bins that a key of 1 and 2 bytes holds.
ByIndexCase random_case(Random& random) {
  static constexpr int64_t kNear[] = {2048, 4096, 8192, 32768, 65536};
  static constexpr int64_t kBins[] = {2, 3, 10, 256, 1024, 2048, 4096, 65536};
  ByIndexCase c{};
  do {
    c.dtype = kAllTypes[random.below(12)];
    c.op = kReduceOps[random.below(std::size(kReduceOps))];
  } while (!has(c.dtype, c.op));
  c.counts = random.below(5) == 0;
  if (c.counts) c.dtype = GPUMEM_I64, c.op = GPUMEM_SUM;
  c.index_type = kIndexTypes[random.below(4)];
  c.n = random.below(4) != 0 ? random.between(1, 700) : kNear[random.below(5)] + random.between(-1, 1);
  const auto bins = random.below(4);
  c.bins = bins == 0 ? random.between(1, 9) : kBins[random.below(bins == 1 ? 8 : 5)] + random.between(-1, 1);
  c.spread = static_cast<Spread>(random.below(kSpreads));
  c.bad = random.below(6) == 0 ? static_cast<int>(random.between(1, 3)) : 0;
  const size_t bytes = info_of(c.dtype).bytes;
  c.offset = random.below(5) == 0 ? random.below(16) : bytes * random.below(16 / bytes);
  c.numbers = c.op == GPUMEM_PROD ? Numbers::factors : kAllNumbers[random.below(std::size(kAllNumbers))];
  c.kinds[0] = cases::kind(random.below(4));
  for (const int side : {1, 2}) c.kinds[side] = random.below(3) != 0 ? c.kinds[0] : cases::kind(random.below(4));
  if (!c.counts && random.below(2) == 0) make_rows(c, random);
  return c;
}

Bytes index_of(const ByIndexCase& c, Random& random) {
  std::vector<int64_t> numbers(static_cast<size_t>(c.n));
  const int64_t few[] = {random.between(0, c.bins - 1), random.between(0, c.bins - 1), c.bins - 1};
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = c.spread == Spread::one             ? few[0]
                 : c.spread == Spread::few           ? few[random.below(3)]
                 : c.spread == Spread::all_but_first ? (i == 0 ? 0 : few[2])
                 : c.spread == Spread::even          ? random.between(0, c.bins - 1)
                 : c.spread == Spread::most          ? (random.below(50) != 0 ? few[0] : random.between(0, c.bins - 1))
                                                     : static_cast<int64_t>(i) * c.bins / c.n;
  }
  if (c.spread == Spread::almost_ascending) numbers.back() = few[0];
  const int64_t bad[] = {-1, c.bins, INT32_MIN, INT32_MAX, c.bins + 1};  // the low bytes of each
  for (int i = 0; i < c.bad; ++i) numbers[random.below(numbers.size())] = bad[random.below(5)];
  return index_bytes(c.index_type, numbers);
}

class ByIndexConformance : public Conformance {
 protected:
  void run_op(const ByIndex& b, GuardedBuffer& out, GuardedBuffer* word, const LinesOutcome& want,
              const std::string& what) {
    poison(out.whole_image());
    out.write();
    const bool async = word != nullptr;
    if (async) {
      poison(word->whole_image());
      word->write();
    }
    auto* const status_word = async ? reinterpret_cast<gpumem_status*>(word->data()) : nullptr;
    const gpumem_status status = async ? run_async(ctx, b, out.data(), status_word, nullptr) : run(ctx, b, out.data());
    const bool runs = want.status != GPUMEM_UNSUPPORTED;
    ASSERT_TRUE(gives(async && runs ? GPUMEM_OK : want.status, status)) << what;
    ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
    if (want.written) std::memcpy(out.image(), want.words.data(), want.words.size() * 8);
    if (runs && async) std::memcpy(word->image(), &want.status, sizeof want.status);
    ASSERT_TRUE(out.intact()) << what << (async ? ", enqueued" : "");
    ASSERT_TRUE(!async || word->intact()) << what << ": the status word, expected " << want.status;
    ++outcomes[want.status];
  }

  void run_case(const ByIndexCase& c, EveryVariant& variants, Random& random) {
    const Bytes numbers = index_of(c, random);
    Bytes elements = random_elements(c.dtype, c.numbers, c.elements(), 1, random);
    if (random.below(3) == 0) add_specials(c.dtype, elements, c.elements(), 1, random);
    GuardedBuffer x = blocks.buffer(0, c.kinds[0], elements.size(), c.offset);
    x.set(elements.data());
    GuardedBuffer index = blocks.buffer(1, c.kinds[1], numbers.size(), 8);
    index.set(numbers.data());
    // The enqueued form takes an index where x's side can read it, and a CUDA context's writes no pageable memory.
    const bool apart = on_cuda() && !c.counts && of_device(c.kinds[0]) != of_device(c.kinds[1]);
    GuardedBuffer near_index = blocks.buffer(2, apart ? c.kinds[0] : c.kinds[1], numbers.size(), 8);
    near_index.set(numbers.data());
    const size_t bytes = static_cast<size_t>(c.bins * c.cols) * 8 * static_cast<size_t>(words_of(c.op));
    const bool pageable = on_cuda() && c.kinds[2] == GPUMEM_MEMORY_PAGEABLE;
    const gpumem_memory_kind async_kind = pageable ? int32_t{GPUMEM_MEMORY_PINNED} : c.kinds[2];
    GuardedBuffer result = blocks.buffer(3, c.kinds[2], bytes, 8);
    GuardedBuffer async_result = blocks.buffer(4, async_kind, bytes, 8);
    GuardedBuffer word = blocks.buffer(5, async_kind, sizeof(gpumem_status), 0);
    ByIndex b{c.dtype, c.op, c.counts ? nullptr : elements.data(), c.index_type, numbers.data(), c.n, c.bins,
              c.cols,  c.ld};
    const LinesOutcome expected = reference(b);
    b.x = c.counts ? nullptr : x.data();
    b.index = index.data();
    ByIndex near = b;
    near.index = near_index.data();
    variants.for_each(line_of(ctx, b), false, [&](bool accepted, const char* variant) {
      const LinesOutcome want = accepted ? expected : LinesOutcome{GPUMEM_UNSUPPORTED, false, {}};
      const std::string what = variant + std::string(", ") + describe(b) + ", numbers " + numbers_name(c.numbers) +
                               ", in " + kind_name(c.kinds[0]) + ", " + kind_name(c.kinds[1]) + " and " +
                               kind_name(c.kinds[2]);
      run_op(b, result, nullptr, want, what);
      if (!HasFatalFailure()) run_op(near, async_result, &word, want, what);
    });
    EXPECT_TRUE(x.intact() && index.intact() && near_index.intact()) << "an input changed: " << describe(b);
  }

  std::map<gpumem_status, int64_t> outcomes;
};

TEST_P(ByIndexConformance, GivesTheReferencesBitsByEveryVariant) {
  EveryVariant variants(ctx, GPUMEM_FAMILY_REDUCE_BY_INDEX);
  Random random(91);
  const int cases = quick_run() ? 250 : 1000;
  for (int i = 0; i < cases && !enough(); ++i) run_case(random_case(random), variants, random);
  // Sums, which few random cases are: of rows, and of vectors with up to 16383 elements in a bin. In device memory; those
  // with many elements per bin also on the host.
  struct {
    int64_t n, bins;
    Spread spread;
    int64_t cols, ld;
    gpumem_memory_kind kind = GPUMEM_MEMORY_DEVICE;
  } const sums[] = {{700, 9, Spread::even, 3, 4},
                    {700, 90, Spread::even, 1, 0},
                    {9000, 900, Spread::even, 1, 0},
                    {4000, 1500, Spread::few, 1, 0},
                    {16384, 2, Spread::all_but_first, 1, 0},
                    {16384, 700, Spread::all_but_first, 1, 0},
                    {5100, 60, Spread::most, 1, 0},
                    {16384, 2, Spread::all_but_first, 1, 0, GPUMEM_MEMORY_PAGEABLE},
                    {8192, 1, Spread::one, 1, 0, GPUMEM_MEMORY_PAGEABLE},
                    {5100, 30, Spread::most, 1, 0, GPUMEM_MEMORY_PAGEABLE}};
  for (const gpumem_dtype dtype : kFloatingTypes) {
    for (const auto& sum : sums) {
      run_case({dtype,
                GPUMEM_SUM,
                false,
                kIndexTypes[random.below(4)],
                sum.n,
                sum.bins,
                sum.spread,
                0,
                0,
                Numbers::full,
                {sum.kind, sum.kind, sum.kind},
                sum.cols,
                sum.ld},
               variants, random);
    }
  }
  variants.expect_all_used(on_cuda());
  for (const gpumem_status status : {GPUMEM_OK, GPUMEM_OVERFLOW, GPUMEM_EMPTY, GPUMEM_OUT_OF_RANGE}) {
    EXPECT_GT(outcomes[status], 0) << "no case gave " << gpumem_status_name(status);
  }
}

// Enough elements for tables in a device's shared memory: counts, and each short integer with its extremes and sums, whose
// lower halves carry.
TEST_P(ByIndexConformance, OfManyElementsInFewBins) {
  EveryVariant variants(ctx, GPUMEM_FAMILY_REDUCE_BY_INDEX);
  Random random(93);
  for (const gpumem_dtype dtype : {GPUMEM_I8, GPUMEM_U8, GPUMEM_I16, GPUMEM_U16, GPUMEM_I32, GPUMEM_U32, GPUMEM_I64}) {
    const bool counts = dtype == GPUMEM_I64;
    for (const gpumem_reduce_op op : {GPUMEM_SUM, GPUMEM_MIN, GPUMEM_MAX}) {
      if (counts && op != GPUMEM_SUM) continue;
      for (const int64_t bins : {1, 3, 37}) {
        if (quick_run() && random.below(3) != 0) continue;
        const auto spread = static_cast<Spread>(random.below(kSpreads));
        const int64_t cols = counts ? 1 : 1 + random.below(2) * random.between(0, 6);
        run_case({dtype,
                  op,
                  counts,
                  kIndexTypes[random.below(4)],
                  20'000 / cols + random.between(-9, 9),
                  bins,
                  spread,
                  random.below(8) == 0 ? 2 : 0,
                  0,
                  random.below(2) == 0 ? Numbers::full : Numbers::extreme,
                  {GPUMEM_MEMORY_DEVICE, GPUMEM_MEMORY_DEVICE, GPUMEM_MEMORY_DEVICE},
                  cols,
                  cols == 1 ? 0 : cols + random.between(0, 2)},
                 variants, random);
      }
    }
  }
}

// The message names the first of several bad numbers, also across tasks and blocks.
TEST_P(ByIndexConformance, NamesTheFirstBadNumber) {
  EveryVariant variants(ctx, GPUMEM_FAMILY_REDUCE_BY_INDEX);
  constexpr int64_t kN = 150'000;
  for (const int64_t cols : {0, 1, 3}) {
    const bool counts = cols == 0;
    for (const int64_t first : {0, 1, 77'777, static_cast<int>(kN) - 2}) {
      std::vector<int64_t> index(kN, 3);
      index[static_cast<size_t>(first)] = -12345;
      index[static_cast<size_t>(first) + 1] = 10;
      index[kN - 1] = 99;
      const std::vector<int16_t> x(kN * 4, 1);
      std::vector<int64_t> result(30, 77);
      ByIndex b{GPUMEM_I16, GPUMEM_SUM_SQUARES, x.data(), GPUMEM_I64, index.data(), kN, 10};
      if (counts) b.dtype = GPUMEM_I64, b.op = GPUMEM_SUM, b.x = nullptr;
      if (cols > 1) b.op = first == 0 ? GPUMEM_SUM : b.op, b.cols = cols, b.ld = cols + 1;
      variants.for_each(line_of(ctx, b), false, [&](bool accepted, const char* variant) {
        if (!accepted) return;
        EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, run(ctx, b, result.data()),
                            {"index[" + std::to_string(first) + "]", "-12345", "bins = 10"}))
            << variant;
      });
      EXPECT_EQ(result, std::vector<int64_t>(30, 77));
    }
  }
}

// The same for few floating-point elements, across the tiles of a block.
TEST_P(ByIndexConformance, NamesTheFirstBadNumberOfFewElements) {
  EveryVariant variants(ctx, GPUMEM_FAMILY_REDUCE_BY_INDEX);
  constexpr int64_t kN = 16'384;
  const std::vector<float> x(kN * 4, 1);
  for (const int64_t cols : {1, 3}) {
    for (const int64_t first : {0, 4095, 4096, static_cast<int>(kN) - 2}) {
      std::vector<int32_t> index(kN, 3);
      index[static_cast<size_t>(first)] = -12345;
      index[static_cast<size_t>(first) + 1] = 10;
      const std::vector<int64_t> wide(index.begin(), index.end());
      for (const bool is_wide : {false, true}) {
        std::vector<double> result(30, 77);
        const void* const of = is_wide ? static_cast<const void*>(wide.data()) : index.data();
        ByIndex b{GPUMEM_F32, GPUMEM_SUM, x.data(), is_wide ? GPUMEM_I64 : GPUMEM_I32, of, kN, 10};
        if (cols > 1) b.cols = cols, b.ld = cols + 1;
        variants.for_each(line_of(ctx, b), false, [&](bool accepted, const char* variant) {
          if (!accepted) return;
          EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, run(ctx, b, result.data()),
                              {"index[" + std::to_string(first) + "]", "-12345", "bins = 10"}))
              << variant;
        });
        EXPECT_EQ(result, std::vector<double>(30, 77));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(On, ByIndexConformance, testing::ValuesIn(contexts_here()), OnEachContext::name);

// In one step and in two, with buckets and bins of so many elements that several threads share them.
TEST(ByIndexThreads, GiveTheSameBits) {
  struct Shape {
    int64_t bins;
    Spread spread;
    int64_t cols = 1;
  };
  static constexpr Shape kShapes[] = {
      {3, Spread::even},       {5000, Spread::even},         {20'000, Spread::even},
      {20'000, Spread::most},  {20'000, Spread::ascending},  {20'000, Spread::almost_ascending},
      {400'000, Spread::even}, {400'000, Spread::ascending}, {3, Spread::one, 3},
      {700, Spread::even, 40}, {50, Spread::most, 300},      {1000, Spread::even},
      {40, Spread::most}};
  Random random(92);
  for (const gpumem_dtype dtype : kAllTypes) {
    const int64_t n = random.between(270'000, 300'000);
    const Bytes elements = random_elements(dtype, Numbers::medium, n, 1, random);
    for (const auto& [bins, spread, cols] : kShapes) {
      const gpumem_dtype index_type = kIndexTypes[random.below(4)];
      const int64_t rows = n / cols;
      const Bytes numbers = index_of({.index_type = index_type, .n = rows, .bins = bins, .spread = spread}, random);
      ByIndex b{dtype, GPUMEM_SUM, elements.data(), index_type, numbers.data(), rows, bins};
      if (cols > 1) b.cols = b.ld = cols;
      const LinesOutcome expected = reference(b);
      for (const int32_t threads : {1, 3, 7}) {
        const Context ctx(On::host, threads);
        std::vector<uint64_t> result(static_cast<size_t>(bins * cols), 99);
        ASSERT_TRUE(ok(run(ctx, b, result.data())));
        EXPECT_EQ(result, expected.words) << threads << " threads, " << describe(b);
      }
    }
  }
}

}  // namespace
}  // namespace gpumem_test
