// gpumem_reduce_i32 against a loop in 128 bits, over the list of cases, by every variant.
#include <cstring>
#include <limits>
#include <optional>

#include "conformance/conformance.hpp"

namespace gpumem_test {
namespace {

using Wide = __int128;

constexpr int kOps = 7;
constexpr const char* kOpNames[kOps] = {"sum", "min", "max", "sum_abs", "sum_squares", "sum_cubes", "max_abs"};

// What a call must give: a value, or a status and no value.
struct Expected {
  gpumem_status status;
  int64_t value;
};

// The n elements of a case. Between them, and to the end, lie numbers that would show in any result.
std::vector<int32_t> elements_of(const ReduceCase& c, Random& random) {
  std::vector<int32_t> x(c.n == 0 ? 0 : static_cast<size_t>((c.n - 1) * c.stride + 1));
  if (c.stride > 1) {
    for (int32_t& gap : x) gap = INT32_MAX - static_cast<int32_t>(random.below(1000));
  }
  static constexpr int32_t kExtremes[] = {INT32_MIN, INT32_MAX, -1, 0, 1, INT32_MIN + 1};
  for (int64_t i = 0; i < c.n; ++i) {
    int32_t& e = x[static_cast<size_t>(i * c.stride)];
    switch (c.numbers) {
      case Numbers::small:
        e = static_cast<int32_t>(random.between(-255, 255));
        break;
      case Numbers::medium:
        e = static_cast<int32_t>(random.between(-(1 << 20), 1 << 20));
        break;
      case Numbers::full:
        e = static_cast<int32_t>(random.bits());
        break;
      case Numbers::extreme:
        e = kExtremes[random.below(6)];
        break;
      case Numbers::cancelling:
        e = i >= (c.n + 1) / 2 ? -x[static_cast<size_t>((i - (c.n + 1) / 2) * c.stride)]
                               : static_cast<int32_t>(random.between(-INT32_MAX, INT32_MAX));
        break;
    }
  }
  if (c.numbers == Numbers::cancelling && c.n % 2 != 0) x[static_cast<size_t>((c.n - 1) / 2 * c.stride)] = -12345;
  return x;
}

// The reference: one plain loop, every operation in 128 bits.
std::vector<Expected> expected_of(const std::vector<int32_t>& x, int64_t n, int64_t stride) {
  Wide sum = 0, sum_abs = 0, squares = 0, cubes = 0;
  Wide low = std::numeric_limits<int64_t>::max(), high = std::numeric_limits<int64_t>::min(), high_abs = 0;
  for (int64_t i = 0; i < n; ++i) {
    const Wide e = x[static_cast<size_t>(i * stride)];
    const Wide magnitude = e < 0 ? -e : e;
    sum += e;
    sum_abs += magnitude;
    squares += e * e;
    cubes += e * e * e;
    low = e < low ? e : low;
    high = e > high ? e : high;
    high_abs = magnitude > high_abs ? magnitude : high_abs;
  }
  std::vector<Expected> expected;
  for (const Wide value : {sum, low, high, sum_abs, squares, cubes, high_abs}) {
    const bool fits = value >= std::numeric_limits<int64_t>::min() && value <= std::numeric_limits<int64_t>::max();
    expected.push_back({fits ? GPUMEM_OK : GPUMEM_OVERFLOW, fits ? static_cast<int64_t>(value) : 0});
  }
  if (n == 0) expected[GPUMEM_MIN] = expected[GPUMEM_MAX] = expected[GPUMEM_MAX_ABS] = {GPUMEM_EMPTY, 0};
  return expected;
}

std::string describe(const ReduceCase& c) {
  return "n " + std::to_string(c.n) + ", stride " + std::to_string(c.stride) + ", offset " + std::to_string(c.offset) +
         ", x in " + kind_name(c.x) + ", result in " + kind_name(c.result) + ", numbers " +
         std::to_string(static_cast<int>(c.numbers));
}

class ReduceConformance : public Conformance {
 protected:
  // All operations of one case with the variant that is forced now.
  void run(const ReduceCase& c, const GuardedBuffer& x, GuardedBuffer& result, const std::vector<Expected>& expected,
           bool accepted, const char* variant) {
    const auto* elements = reinterpret_cast<const int32_t*>(x.data());
    auto* const out = reinterpret_cast<int64_t*>(result.data());
    for (gpumem_reduce_op op = 0; op < kOps; ++op) {
      const Expected want = accepted ? expected[static_cast<size_t>(op)] : Expected{GPUMEM_UNSUPPORTED, 0};
      poison(result.whole_image());
      result.write();
      const gpumem_status status = gpumem_reduce_i32(ctx, op, elements, c.n, c.stride, out);
      if (want.status == GPUMEM_OK) std::memcpy(result.image(), &want.value, sizeof want.value);
      ASSERT_TRUE(gives(want.status, status)) << variant << ", " << kOpNames[op] << ", " << describe(c);
      ASSERT_TRUE(result.intact()) << variant << ", " << kOpNames[op] << ", expected " << want.value << ", "
                                   << describe(c);
      ++outcomes[status];
    }
  }

  std::map<gpumem_status, int64_t> outcomes;
};

TEST_P(ReduceConformance, GivesTheExactValueByEveryVariant) {
  EveryVariant variants(ctx, GPUMEM_FAMILY_REDUCE);
  Random random;
  for (const ReduceCase& c : reduce_cases(quick_run())) {
    const std::vector<int32_t> elements = elements_of(c, random);
    const std::vector<Expected> expected = expected_of(elements, c.n, c.stride);
    GuardedBuffer x = blocks.buffer(0, c.x, elements.size() * sizeof(int32_t), c.offset);
    if (!elements.empty()) x.set(elements.data());
    GuardedBuffer result = blocks.buffer(1, c.result, sizeof(int64_t), 0);
    const gpumem_problem problem = reduce_problem(GPUMEM_SUM, x.data(), c.n, c.stride);
    variants.for_each(problem, c.n == 0,
                      [&](bool accepted, const char* variant) { run(c, x, result, expected, accepted, variant); });
    EXPECT_TRUE(x.intact()) << "the input changed: " << describe(c);
    if (enough()) break;
  }
  variants.expect_all_used(on_cuda());
  for (const gpumem_status status : {GPUMEM_OK, GPUMEM_OVERFLOW, GPUMEM_EMPTY, GPUMEM_UNSUPPORTED}) {
    EXPECT_GT(outcomes[status], 0) << "no case gave " << gpumem_status_name(status);
  }
}

INSTANTIATE_TEST_SUITE_P(On, ReduceConformance, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
