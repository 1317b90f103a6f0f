// How far sums may be from the truth: the documented bounds, against sums without rounding.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <numeric>
#include <vector>

#include "conformance/conformance.hpp"
#include "support/reductions.hpp"

namespace gpumem_test {
namespace {

double absolute_sum(const std::vector<double>& x) {
  std::vector<double> magnitudes;
  for (const double value : x) magnitudes.push_back(std::fabs(value));
  return exact_sum(magnitudes);
}

double ulp(double value) {
  const double magnitude = std::fabs(value);
  return std::nextafter(magnitude, INFINITY) - magnitude;
}

// |result - the exact sum|, rounded once.
double error_of(double result, std::vector<double> x) {
  x.push_back(-result);
  return std::fabs(exact_sum(x));
}

// A sum that nearly cancels, after algorithm 6.1 of T. Ogita, S. M. Rump and S. Oishi, Accurate sum and dot product, SIAM
// J. Sci. Comput. 26 (2005): the first half has exponents up to half of the condition number's, the second takes back, at
// falling exponents, what the exact sum is by then.
std::vector<double> ill_conditioned(size_t n, double condition, Random& random) {
  const auto uniform = [&] { return static_cast<double>(random.between(-(1 << 30), 1 << 30)) / (1 << 30); };
  const double b = std::log2(condition);
  std::vector<double> x;
  for (size_t i = 0; i < n / 2; ++i) {
    const double exponent = i == 0 ? b : b * static_cast<double>(random.below(1000)) / 1000;
    x.push_back(std::ldexp(uniform() + (i == 0 ? 2 : 0), static_cast<int>(exponent)));
  }
  // Exactly summed anew at each step: the halves need not be long.
  const size_t rest = n - x.size();
  for (size_t i = 0; i < rest; ++i) {
    const double exponent = rest == 1 ? 0 : b * (1 - static_cast<double>(i) / static_cast<double>(rest - 1));
    x.push_back(std::ldexp(uniform(), static_cast<int>(exponent)) - exact_sum(x));
  }
  for (size_t i = x.size() - 1; i > 0; --i) std::swap(x[i], x[random.below(i + 1)]);
  return x;
}

class Accuracy : public Conformance {
 protected:
  double reduce(gpumem_reduce_op op, const std::vector<double>& x) {
    const Outcome got = outcome_of(ctx, {GPUMEM_F64, op, x.data(), static_cast<int64_t>(x.size())});
    EXPECT_EQ(got.status, GPUMEM_OK);
    return std::bit_cast<double>(got.words[0]);
  }
};

TEST_P(Accuracy, CompensatedSumsAreWithinTwoUlp) {
  double worst = 0;
  double hardest = 0;
  for (int round = 0; round < (quick_run() ? 30 : 600); ++round) {
    Random random(static_cast<uint64_t>(round));
    const auto n = static_cast<size_t>(log_uniform(4, 260, random));
    // Every third is hard for certain: few rounds at random may have none.
    const int64_t easiest = round % 3 == 0 ? 44 : 1;
    const double wanted = std::ldexp(1.0, static_cast<int>(random.between(easiest, 49)));
    std::vector<double> x = ill_conditioned(n, wanted, random);
    // Long ones: pairs that cancel exactly, which leave the sum and the error as they are but not the condition.
    const int64_t more = round % 5 == 0 ? log_uniform(10, 100000, random) : 0;
    for (int64_t i = 0; i < more; ++i) {
      const double value = std::ldexp(static_cast<double>(random.bits() >> 11), -60);
      x.push_back(value);
      x.insert(x.begin() + static_cast<ptrdiff_t>(x.size() - 1 - random.below(std::min<size_t>(x.size(), 2000))),
               -value);
    }
    const double exact = exact_sum(x);
    if (exact == 0) continue;
    const double condition = absolute_sum(x) / std::fabs(exact);
    if (condition > 1e15) continue;
    hardest = std::max(hardest, condition);
    const double result = reduce(GPUMEM_SUM_COMPENSATED, x);
    const double ulps = error_of(result, x) / ulp(exact);
    worst = std::max(worst, ulps);
    EXPECT_LE(ulps, 2) << "round " << round << ": n " << x.size() << ", condition " << condition << ", exact " << exact
                       << ", got " << result;
  }
  EXPECT_GT(hardest, 1e13) << "no sum was hard";
  std::printf("compensated sums: at most %.3f ulp, at conditions up to %.1e\n", worst, hardest);
}

// A plain sum could not do it: or the test above shows nothing.
TEST_P(Accuracy, PlainSumsOfTheSameKindAreFarOff) {
  double worst = 0;
  for (uint64_t round = 0; round < 20; ++round) {
    Random random(round);
    const std::vector<double> x = ill_conditioned(200, 1e14, random);
    const double exact = exact_sum(x);
    if (exact != 0) worst = std::max(worst, error_of(reduce(GPUMEM_SUM, x), x) / ulp(exact));
  }
  EXPECT_GT(worst, 1000);
}

TEST_P(Accuracy, SumsKeepTheDocumentedBound) {
  double closest = 0;
  for (int round = 0; round < (quick_run() ? 40 : 500); ++round) {
    Random random(static_cast<uint64_t>(round) + 500);
    static constexpr gpumem_reduce_op kSums[] = {GPUMEM_SUM, GPUMEM_SUM_ABS, GPUMEM_SUM_SQUARES, GPUMEM_SUM_CUBES,
                                                 GPUMEM_DOT};
    const gpumem_reduce_op op = kSums[round % 5];
    const gpumem_dtype dtype =
        op == GPUMEM_DOT ? (round % 2 != 0 ? GPUMEM_F32 : GPUMEM_F64) : kFloatingTypes[round % 4];
    const int64_t n = log_uniform(1, quick_run() ? 5000 : 200000, random);
    const Numbers numbers = round % 3 == 0 ? Numbers::cancelling : Numbers::medium;
    const Bytes x = random_elements(dtype, numbers, n, 1, random);
    const Bytes y = random_elements(dtype, Numbers::medium, n, 1, random);
    const Reduction r{dtype, op, x.data(), n, 1, y.data(), 1};
    const std::vector<double> t = terms(op, {dtype, x.data(), n, 1}, {dtype, y.data(), n, 1});
    bool finite = true;
    for (const double term : t) finite = finite && std::isfinite(term);
    if (!finite) continue;
    const double magnitude = absolute_sum(t);
    if (!std::isfinite(magnitude) || magnitude == 0) continue;
    const Outcome got = outcome_of(ctx, r);
    ASSERT_EQ(got.status, GPUMEM_OK);
    const double error = error_of(std::bit_cast<double>(got.words[0]), t);
    const double bound = (15 + std::ceil(std::log2(static_cast<double>(n) / 1024))) * 0x1p-53 * magnitude;
    EXPECT_LE(error, bound * (1 + 1e-12)) << describe(r);
    closest = std::max(closest, error / bound);
  }
  std::printf("sums: at most %.3f of the documented bound\n", closest);
}

// ------------------------------------------------------------------------------------------------------------- norms

// The norm worked out with every element scaled by the largest, in long double: good to a few units of 2^-64.
long double scaled_norm(const std::vector<double>& x) {
  double most = 0;
  for (const double value : x) most = std::max(most, std::fabs(value));
  if (most == 0) return 0;
  int exponent = 0;
  std::frexp(most, &exponent);
  long double sum = 0;
  for (const double value : x) {
    const long double scaled = std::ldexp(static_cast<long double>(value), -exponent);
    sum += scaled * scaled;
  }
  return std::ldexp(std::sqrt(sum), exponent);
}

TEST_P(Accuracy, NormsNeitherOverflowNorUnderflow) {
  struct Range {
    double low, high;
  };
  const Range ranges[] = {{1e300, 1e302},       {1e-302, 1e-300},       {5e-324, 1e-310},     {1e-170, 1e-140},
                          {0x1p-512, 0x1p-510}, {0x1p485, 0x1p487},     {1e-300, 1e300},      {0x1p1000, 0x1p1016},
                          {1e-3, 1e3},          {0x1p-1022, 0x1p-1000}, {0x1p-515, 0x1p-505}, {0x1p480, 0x1p500}};
  for (const Range& range : ranges) {
    for (const int64_t n : {1, 2, 3, 100, 1000, 3000}) {
      Random random(static_cast<uint64_t>(n));
      std::vector<double> x;
      const double span = std::log2(range.high) - std::log2(range.low);
      for (int64_t i = 0; i < n; ++i) {
        const double share = static_cast<double>(random.below(1 << 20)) / (1 << 20);
        const double value = std::exp2(std::log2(range.low) + share * span);
        x.push_back(random.below(2) != 0 ? -value : value);
      }
      const long double exact = scaled_norm(x);
      const double result = reduce(GPUMEM_NRM2, x);
      ASSERT_LT(exact, 0x1.FFFFFFFFFFFFFp1023L);
      // A subnormal norm can be no closer than its own last bit.
      const long double slack = 20 * 0x1p-53L * exact + 0x1p-1074L;
      EXPECT_LE(std::fabs(static_cast<long double>(result) - exact), slack)
          << n << " elements from " << range.low << " to " << range.high << ": " << result;
    }
  }
}

TEST_P(Accuracy, NormsAtTheEnds) {
  const double largest = 0x1.FFFFFFFFFFFFFp1023;
  EXPECT_EQ(reduce(GPUMEM_NRM2, {largest}), largest);
  EXPECT_EQ(reduce(GPUMEM_NRM2, {-largest, 1e-300, 0}), largest);
  EXPECT_EQ(reduce(GPUMEM_NRM2, {largest, largest}), INFINITY);
  EXPECT_EQ(reduce(GPUMEM_NRM2, {0x1p1023, 0x1p1023}), std::sqrt(2) * 0x1p1023);
  EXPECT_EQ(reduce(GPUMEM_NRM2, std::vector<double>(4, 0x1p1022)), 0x1p1023);
  EXPECT_EQ(reduce(GPUMEM_NRM2, std::vector<double>(4, -0x1p-1074)), 0x1p-1073);
  EXPECT_EQ(reduce(GPUMEM_NRM2, {5e-324, 0}), 5e-324);
  EXPECT_EQ(reduce(GPUMEM_NRM2, {-0.0, -0.0}), 0);
  EXPECT_FALSE(std::signbit(reduce(GPUMEM_NRM2, {-0.0, -0.0})));
  EXPECT_EQ(reduce(GPUMEM_NRM2, {INFINITY, 1}), INFINITY);
  EXPECT_EQ(reduce(GPUMEM_NRM2, {-INFINITY, 1e-300}), INFINITY);
  EXPECT_EQ(reduce(GPUMEM_NRM2, {3 * 0x1p666, 4 * 0x1p666, 5e-324, 1}), 5 * 0x1p666);
  for (const std::vector<double>& x :
       {std::vector<double>{NAN}, {NAN, 1e300}, {INFINITY, NAN}, {NAN, 5e-324}, {0, NAN}, {1e300, -NAN, INFINITY}}) {
    EXPECT_EQ(std::bit_cast<uint64_t>(reduce(GPUMEM_NRM2, x)), 0x7FF8000000000000u);
  }
  // 4096 equal elements: every addition of their squares is exact.
  const std::vector<float> floats(4096, 3e38f);
  double norm = 0;
  ASSERT_TRUE(ok(gpumem_nrm2_f32(ctx, floats.data(), 4096, 1, &norm)));
  EXPECT_EQ(norm, 64 * double{3e38f});
  const std::vector<float> tiny(4096, 1e-45f);
  ASSERT_TRUE(ok(gpumem_nrm2_f32(ctx, tiny.data(), 4096, 1, &norm)));
  EXPECT_EQ(norm, 64 * double{1e-45f});
}

INSTANTIATE_TEST_SUITE_P(On, Accuracy, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
