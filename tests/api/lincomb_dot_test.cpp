// gpumem_lincomb_dot_*: known values, the bits of the calls that it replaces, the order of streams, and refusals. Views and kinds of
// memory are the conformance tests' matter.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "support/arithmetic.hpp"
#include "support/contexts.hpp"
#include "support/memory.hpp"
#include "support/random.hpp"

namespace gpumem_test {
namespace {

class LincombDot : public OnEachContext {};

TEST_P(LincombDot, KnownValues) {
  const double x[] = {1, 2, 3};
  const double y[] = {10, 20, 30};
  const double* views[] = {x, y};
  const double factors[] = {2, -1};
  const int64_t three[] = {3};
  double z[3] = {};
  const double* w[] = {y, nullptr, x};
  const int64_t w_strides[] = {1, 77, 0};
  double results[] = {-1, -1, -1};
  ASSERT_TRUE(ok(gpumem_lincomb_dot_f64(ctx, 1, three, 2, factors, nullptr, nullptr, views, nullptr, z, nullptr, 3, w,
                                        w_strides, results)));
  EXPECT_EQ(std::vector<double>(z, z + 3), (std::vector<double>{-8, -16, -24}));
  EXPECT_EQ(results[0], -1120) << "z.y";
  EXPECT_EQ(results[1], 896) << "z.z; its stride is not used";
  EXPECT_EQ(results[2], -48) << "an element that is repeated";
  EXPECT_NE(last_problem().find("terms=2 dots=3 "), std::string::npos) << last_problem();
  EXPECT_NE(last_problem().find(" w0=x1 w1=z w2_strides=0 w2=x0"), std::string::npos) << last_problem();
  ASSERT_TRUE(ok(gpumem_lincomb_dot_f64(ctx, 1, three, 1, nullptr, nullptr, nullptr, views, nullptr, z, nullptr, 1,
                                        nullptr, nullptr, results)));
  EXPECT_EQ(results[0], 14) << "no w";
  const float a = 3;
  const float* one[] = {&a};
  float single = 0;
  ASSERT_TRUE(ok(gpumem_lincomb_dot_f32(ctx, 0, nullptr, 1, nullptr, nullptr, nullptr, one, nullptr, &single, nullptr,
                                        1, one, nullptr, results)));
  EXPECT_EQ(single, 3);
  EXPECT_EQ(results[0], 9) << "rank 0";
}

TEST_P(LincombDot, AnExtentOf0GivesZeros) {
  const int64_t none[] = {2, 0};
  const float* views[] = {nullptr};
  double results[] = {-1, -1};
  ASSERT_TRUE(ok(gpumem_lincomb_dot_f32(ctx, 2, none, 1, nullptr, nullptr, nullptr, views, nullptr, nullptr, nullptr, 2,
                                        nullptr, nullptr, results)));
  EXPECT_EQ(results[0], 0);
  EXPECT_EQ(results[1], 0);
}

// Several blocks of the order of sums, and elements that are left.
TEST_P(LincombDot, HasTheBitsOfTwoCalls) {
  Random random(71);
  for (const int64_t extent : {1, 31, 33, 50}) {
    const int64_t extents[] = {extent, 41, 64};
    const auto count = static_cast<size_t>(extent) * 41 * 64;
    Bytes x(count * 8), y(count * 8);
    fill_with_numbers(GPUMEM_F64, x, 0, count, random);
    for (size_t i = 0; i < count; ++i) {
      const double value = static_cast<double>(random.between(-1000, 1000)) / 7;
      std::memcpy(y.data() + 8 * i, &value, 8);
    }
    const double* views[] = {reinterpret_cast<const double*>(y.data()), reinterpret_cast<const double*>(y.data())};
    const double factors[] = {0.3, 1.7};
    std::vector<double> z(count), expected(count);
    double dots[2] = {}, expected_dots[2] = {};
    const double* w[] = {reinterpret_cast<const double*>(x.data()), nullptr};
    ASSERT_TRUE(ok(gpumem_lincomb_dot_f64(ctx, 3, extents, 2, factors, nullptr, nullptr, views, nullptr, z.data(),
                                          nullptr, 2, w, nullptr, dots)));
    ASSERT_TRUE(ok(gpumem_lincomb_at_f64(ctx, 3, extents, 2, factors, nullptr, nullptr, views, nullptr, expected.data(),
                                         nullptr)));
    for (const int k : {0, 1}) {
      ASSERT_TRUE(ok(gpumem_dot_view_f64(ctx, 3, extents, expected.data(), nullptr, k == 0 ? w[0] : expected.data(),
                                         nullptr, &expected_dots[k])));
    }
    EXPECT_EQ(std::memcmp(z.data(), expected.data(), 8 * count), 0) << extent;
    EXPECT_EQ(std::memcmp(dots, expected_dots, sizeof dots), 0) << extent;
  }
}

// Two steps of an iteration whose factors are results of the step before, without a wait.
TEST_P(LincombDot, ResultsAreFactorsOfTheNextCall) {
  constexpr int64_t kCount = 5000;
  const Memory memory(ctx, GPUMEM_MEMORY_DEVICE, (3 * kCount + 8) * 8);
  auto* const x = static_cast<double*>(memory.get());
  auto* const z = x + kCount;
  auto* const q = z + kCount;
  auto* const sums = q + kCount;
  const double two = 2;
  const double minus_one = -1;
  ASSERT_TRUE(ok(gpumem_fill(ctx, x, &two, 8, kCount)));
  const int64_t extents[] = {kCount};
  const double* of_x[] = {x};
  const double* w[] = {x, nullptr};
  ASSERT_TRUE(ok(gpumem_fill(ctx, sums, &minus_one, 8, 4)));
  ASSERT_TRUE(ok(gpumem_lincomb_dot_f64_async(ctx, 1, extents, 1, &two, nullptr, nullptr, of_x, nullptr, z, nullptr, 2,
                                              w, nullptr, sums, nullptr)));
  // q = z - x (z.x / z.z) = 3, in place of z.
  const double* both[] = {z, x};
  const double factors[] = {1, -1};
  const double* numerators[] = {nullptr, sums};
  const double* denominators[] = {nullptr, sums + 1};
  ASSERT_TRUE(ok(gpumem_lincomb_dot_f64_async(ctx, 1, extents, 2, factors, numerators, denominators, both, nullptr, z,
                                              nullptr, 1, nullptr, nullptr, sums + 2, nullptr)));
  ASSERT_TRUE(ok(gpumem_ctx_synchronize(ctx)));
  double found[4] = {};
  ASSERT_TRUE(ok(gpumem_copy(ctx, found, sums, sizeof found)));
  EXPECT_EQ(found[0], 8 * kCount);
  EXPECT_EQ(found[1], 16 * kCount);
  EXPECT_EQ(found[2], 9 * kCount);
  EXPECT_EQ(found[3], -1);
}

TEST_P(LincombDot, Refusals) {
  double x[8] = {};
  double z[8] = {};
  double results[8] = {};
  const int64_t four[] = {4};
  const double* views[] = {x};
  const auto call = [&](int32_t dots, const double* w, double* to, const double* numerator = nullptr,
                        int64_t w_stride = 1) {
    const double* all[] = {nullptr, w};
    const double* numerators[] = {numerator};
    const int64_t strides[] = {1, w_stride};
    return gpumem_lincomb_dot_f64(ctx, 1, four, 1, nullptr, numerators, nullptr, views, nullptr, z, nullptr, dots, all,
                                  strides, to);
  };
  const auto bad = [](gpumem_status status, std::initializer_list<std::string> words) {
    return refused(GPUMEM_INVALID_ARGUMENT, status, words);
  };
  for (const int32_t dots : {0, 4, -1}) EXPECT_TRUE(bad(call(dots, x, results), {"dots", std::to_string(dots), "3"}));
  EXPECT_TRUE(bad(call(2, x, results, nullptr, -1), {"w_strides[1]", "-1"}));
  EXPECT_TRUE(bad(call(2, z + 1, results), {"z", "w[1]"}));
  EXPECT_TRUE(bad(call(2, z, results, nullptr, 0), {"z", "w[1]"})) << "z, but not element by element";
  EXPECT_TRUE(bad(call(2, x, z + 3), {"z", "results"}));
  EXPECT_TRUE(bad(call(2, x, x + 3), {"x[0]", "results"}));
  EXPECT_TRUE(bad(call(2, results + 1, results), {"w[1]", "results"}));
  EXPECT_TRUE(bad(call(2, x, results, results + 1), {"numerators[0]", "results"}));
  EXPECT_TRUE(bad(call(2, x, nullptr), {"results", "NULL"}));
  EXPECT_TRUE(
      refused(GPUMEM_INVALID_POINTER, call(2, reinterpret_cast<const double*>(uintptr_t{4096}), results), {"w[1]"}));
  EXPECT_TRUE(ok(call(2, z, z + 4))) << "z itself, and results behind it";
  const auto* const odd = reinterpret_cast<const double*>(reinterpret_cast<const char*>(x + 4) + 4);
  auto* const to = const_cast<double*>(odd);
  EXPECT_TRUE(bad(gpumem_lincomb_dot_f64_async(ctx, 1, four, 1, nullptr, nullptr, nullptr, views, nullptr, z, nullptr,
                                               1, nullptr, nullptr, to, nullptr),
                  {"results", "8"}));
  EXPECT_TRUE(ok(call(1, x, to))) << "a blocking call takes any address";
}

INSTANTIATE_TEST_SUITE_P(On, LincombDot, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
