// The same bits everywhere: random floating-point sums against the order written out plainly (support/reference.cpp), on
// hosts with any number of threads and any instructions, by every variant, in every kind of memory, at every alignment.
#include <cstring>
#include <memory>

#include "conformance/conformance.hpp"
#include "support/bit_cases.hpp"
#include "support/environment.hpp"
#include "support/lines.hpp"

namespace gpumem_test {
namespace {

constexpr int64_t kLongest = 300000;

size_t cases_to_run() { return quick_run() ? 105 : 630; }

// Contexts that must agree to the last bit.
struct Host {
  std::string name;
  std::unique_ptr<Context> ctx;
};

std::vector<Host> hosts() {
  std::vector<Host> all;
  struct Shape {
    int32_t threads;
    const char* simd;
  };
  for (const Shape& s : {Shape{1, "base"}, Shape{1, "avx2"}, Shape{1, "avx512"}, Shape{2, "avx2"}, Shape{3, "avx512"},
                         Shape{7, "base"}, Shape{7, "avx512"}}) {
    const ScopedVariable variable("GPUMEM_HOST_SIMD", s.simd);
    all.push_back({std::to_string(s.threads) + " threads, " + s.simd, std::make_unique<Context>(On::host, s.threads)});
  }
  return all;
}

// Both forms of one case, on data that lies in one kind of memory. Results are written to memory of that kind, where
// the enqueued form can.
class Check {
 public:
  explicit Check(gpumem_ctx* ctx, bool on_cuda) : ctx_(ctx), on_cuda_(on_cuda), blocks_(ctx) {}

  void expect_bits(const BitCase& c, gpumem_memory_kind kind, EveryVariant& variants, const std::string& where) {
    GuardedBuffer x = blocks_.buffer(0, kind, c.x.size(), c.offset);
    if (!c.x.empty()) x.set(c.x.data());
    GuardedBuffer y = blocks_.buffer(1, kind, c.y.size(), c.y_offset);
    if (!c.y.empty()) y.set(c.y.data());
    const bool pageable = on_cuda_ && kind == GPUMEM_MEMORY_PAGEABLE;
    GuardedBuffer result = blocks_.buffer(2, pageable ? int32_t{GPUMEM_MEMORY_PINNED} : kind, 8, 0);
    const Reduction r = c.on(x.data(), y.data());
    variants.for_each(line_of(ctx_, r), c.n == 0, [&](bool accepted, const char* variant) {
      if (!accepted) return;
      const std::string what = std::string(variant) + ", " + where + ", " + kind_name(kind) + ", " + describe(c);
      EXPECT_TRUE(same(c.expected, outcome_of(ctx_, r))) << what;
      poison(result.whole_image());
      result.write();
      EXPECT_TRUE(ok(run_async(ctx_, r, result.data(), nullptr, nullptr))) << what;
      EXPECT_TRUE(ok(gpumem_stream_synchronize(ctx_, nullptr)));
      std::memcpy(result.image(), c.expected.words, 8);
      EXPECT_TRUE(result.intact()) << what << ", enqueued, expected " << hex(c.expected.words[0]);
    });
    EXPECT_TRUE(x.intact() && y.intact()) << "the input changed: " << where << ", " << describe(c);
  }

 private:
  gpumem_ctx* ctx_;
  bool on_cuda_;
  Blocks blocks_;
};

bool enough() { return testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count() > 30; }

TEST(Bits, AreTheSameWithAnyThreadsAndInstructions) {
  test_seed();
  const std::vector<Host> all = hosts();
  std::vector<std::unique_ptr<Check>> checks;
  std::vector<std::unique_ptr<EveryVariant>> variants;
  for (const Host& host : all) {
    checks.push_back(std::make_unique<Check>(*host.ctx, false));
    variants.push_back(std::make_unique<EveryVariant>(*host.ctx, GPUMEM_FAMILY_REDUCE));
  }
  for (size_t i = 0; i < cases_to_run() && !enough(); ++i) {
    Random random(i);
    // A few are long enough for every thread to have much to do.
    const BitCase c = bit_case(i, i % 50 == 49 && !quick_run() ? 8 * kLongest : kLongest, random);
    for (size_t h = 0; h < all.size(); ++h) {
      checks[h]->expect_bits(c, GPUMEM_MEMORY_PAGEABLE, *variants[h], all[h].name);
    }
  }
}

class BitsOn : public Conformance {};

TEST_P(BitsOn, AreTheSameInEveryKindOfMemory) {
  Check check(ctx, on_cuda());
  EveryVariant variants(ctx, GPUMEM_FAMILY_REDUCE);
  for (size_t i = 0; i < cases_to_run() && !enough(); ++i) {
    Random random(i + 10000);
    const BitCase c = bit_case(i, on_cuda() ? kLongest : 20000, random);
    for (const gpumem_memory_kind kind : kAllKinds) check.expect_bits(c, kind, variants, name_of(GetParam()));
  }
}

// One sequence at every place that its elements can begin at, and with every stride: the same bits each time.
TEST_P(BitsOn, DoNotDependOnAlignmentOrStride) {
  Random random(5);
  for (const gpumem_dtype dtype : kFloatingTypes) {
    const size_t element_bytes = info_of(dtype).bytes;
    for (const int64_t n : {5, 130, 1023, 5000, 70001}) {
      const Bytes tight = random_elements(dtype, Numbers::full, n, 1, random);
      for (const gpumem_reduce_op op : {GPUMEM_SUM, GPUMEM_SUM_CUBES, GPUMEM_SUM_COMPENSATED, GPUMEM_NRM2}) {
        if (!has(dtype, op)) continue;
        const Outcome expected = reference(Reduction{dtype, op, tight.data(), n});
        for (const int64_t stride : {1, 2, 5}) {
          Bytes spread(static_cast<size_t>((n - 1) * stride + 1) * element_bytes, 0xFF);
          for (int64_t i = 0; i < n; ++i) {
            std::memcpy(spread.data() + static_cast<size_t>(i * stride) * element_bytes,
                        tight.data() + static_cast<size_t>(i) * element_bytes, element_bytes);
          }
          for (size_t offset = 0; offset < 16; offset += quick_run() ? 5 : 1) {
            GuardedBuffer x = blocks.buffer(0, GPUMEM_MEMORY_DEVICE, spread.size(), offset);
            x.set(spread.data());
            const Reduction r{dtype, op, x.data(), n, stride};
            EXPECT_TRUE(same(expected, outcome_of(ctx, r))) << describe(r);
          }
        }
      }
    }
    if (enough()) break;
  }
}

INSTANTIATE_TEST_SUITE_P(On, BitsOn, testing::ValuesIn(contexts_here()), OnEachContext::name);

// What has no order to keep, too: integers, minima, places.
TEST(Bits, OfExactReductionsAreTheSameWithAnyThreadsAndInstructions) {
  const std::vector<Host> all = hosts();
  for (size_t i = 0; i < (quick_run() ? 24u : 480u) && !enough(); ++i) {
    Random random(i + 30000);
    const gpumem_dtype dtype = kAllTypes[i % 12];
    const int64_t n = bit_cases::length(i % 40 == 39 ? 3 * kLongest : kLongest, random);
    const int64_t stride = n > kLongest / 4 ? 1 : 1 + static_cast<int64_t>(random.below(3));
    Bytes elements = random_elements(dtype, kAllNumbers[random.below(std::size(kAllNumbers))], n, stride, random);
    if (random.below(4) == 0) add_specials(dtype, elements, n, stride, random);
    elements.insert(elements.begin(), random.below(16), 0);  // misaligned by any number of bytes
    for (const gpumem_reduce_op op : kAllOps) {
      if (!has(dtype, op) || (is_floating(dtype) && !needs_elements(op))) continue;
      const Reduction r{dtype, op, elements.data() + i % 5, std::max<int64_t>(n - 5, 0), stride};
      const Outcome expected = reference(r);
      for (const Host& host : all) {
        EXPECT_TRUE(same(expected, outcome_of(*host.ctx, r))) << host.name << ", " << describe(r);
      }
    }
  }
}

// Rows and columns too, with any threads and instructions.
TEST(Bits, OfLinesAreTheSameWithAnyThreadsAndInstructions) {
  const std::vector<Host> all = hosts();
  const std::vector<bit_cases::TypeAndOp> kinds = bit_cases::ordered();
  for (size_t i = 0; i < (quick_run() ? 10u : 120u) && !enough(); ++i) {
    Random random(i + 20000);
    const auto [dtype, op] = kinds[random.below(kinds.size())];
    if (op == GPUMEM_DOT || op == GPUMEM_NRM2 || op >= GPUMEM_SUM_ORDER_FREE) continue;
    const int64_t rows = log_uniform(1, 3000, random);
    const int64_t cols = log_uniform(1, kLongest / rows + 2, random);
    Axis a{dtype, op, static_cast<gpumem_axis>(i % 2), nullptr, rows, cols, cols + random.between(0, 3), 1, 0};
    const Numbers numbers = op == GPUMEM_PROD ? Numbers::factors : Numbers::full;
    const Bytes x = random_elements(dtype, numbers, extent_of(a), 1, random);
    a.x = x.data();
    const LinesOutcome expected = reference(a);
    for (const Host& host : all) {
      std::vector<uint64_t> words(expected.words.size());
      EXPECT_TRUE(ok(run(*host.ctx, a, words.data())));
      EXPECT_EQ(difference(expected, words.data(), op), "") << host.name << ", " << describe(a);
    }
  }
}

}  // namespace
}  // namespace gpumem_test
