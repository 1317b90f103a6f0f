// gpumem_lincomb_* and gpumem_multiply_*: known values and the outcomes. Bits, views and kinds of memory are the conformance tests' matter.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "support/arithmetic.hpp"
#include "support/contexts.hpp"
#include "support/memory.hpp"

namespace gpumem_test {
namespace {

using Floats = std::vector<float>;

class ArithmeticCalls : public OnEachContext {};

TEST_P(ArithmeticCalls, AStencilInOnePass) {
  // 4 x 5, of which the inside is 2 x 3.
  const Floats x = {0, 1, 2, 3, 4, 10, 11, 12, 13, 14, 20, 21, 22, 23, 24, 30, 31, 32, 33, 34};
  Floats z(20, -1);
  const int64_t inside[] = {2, 3};
  const int64_t strides[] = {5, 1};
  const float factors[] = {1, 0.25f, 0.25f, 0.25f, 0.25f};
  const float* views[] = {&x[6], &x[1], &x[11], &x[5], &x[7]};
  ASSERT_TRUE(ok(gpumem_lincomb_f32(ctx, 2, inside, 5, factors, views, nullptr, &z[6], strides)));
  EXPECT_EQ(z, (Floats{-1, -1, -1, -1, -1, -1, 22, 24, 26, -1, -1, 42, 44, 46, -1, -1, -1, -1, -1, -1}));
  EXPECT_NE(last_problem().find("arithmetic op=lincomb dtype=f32 extents=2x3 terms=5 z_strides=5,1"), std::string::npos)
      << last_problem();
}

TEST_P(ArithmeticCalls, KnownValues) {
  const Floats x = {1, 2, 3, 4};
  const Floats y = {10, 20, 30, 40};
  Floats z(4, -1);
  const int64_t four[] = {4};
  const int64_t repeated[] = {0};
  ASSERT_TRUE(ok(gpumem_multiply_f32(ctx, 1, four, x.data(), nullptr, y.data(), nullptr, z.data(), nullptr)));
  EXPECT_EQ(z, (Floats{10, 40, 90, 160}));
  ASSERT_TRUE(ok(gpumem_multiply_f32(ctx, 1, four, z.data(), nullptr, y.data(), repeated, z.data(), nullptr)));
  EXPECT_EQ(z, (Floats{100, 400, 900, 1600})) << "in place, by one number";
  const int64_t matrix[] = {2, 2};
  const int64_t turned[] = {1, 2};
  ASSERT_TRUE(ok(gpumem_multiply_f32(ctx, 2, matrix, x.data(), turned, x.data(), nullptr, z.data(), nullptr)));
  EXPECT_EQ(z, (Floats{1, 6, 6, 16})) << "a matrix and its transpose";
  const double a = 3;
  const double* one[] = {&a};
  double result = 0;
  const double factor = -2;
  ASSERT_TRUE(ok(gpumem_lincomb_f64(ctx, 0, nullptr, 1, &factor, one, nullptr, &result, nullptr)));
  EXPECT_EQ(result, -6) << "rank 0";
  ASSERT_TRUE(ok(gpumem_lincomb_f64_async(ctx, 0, nullptr, 1, &factor, one, nullptr, &result, nullptr, nullptr)));
  ASSERT_TRUE(ok(gpumem_ctx_synchronize(ctx)));
  EXPECT_EQ(result, -6);
}

TEST_P(ArithmeticCalls, ASourceWhoseFactorIsZeroIsNotRead) {
  const Floats x = {1, 2};
  Floats z(2, -1);
  const int64_t two[] = {2};
  const float factors[] = {0, 3, -0.0f};
  const float* views[] = {nullptr, x.data(), nullptr};
  ASSERT_TRUE(ok(gpumem_lincomb_f32(ctx, 1, two, 3, factors, views, nullptr, z.data(), nullptr)));
  EXPECT_EQ(z, (Floats{3, 6}));
  const float zeros[] = {0, -0.0f};
  const float* nothing[] = {nullptr, nullptr};
  ASSERT_TRUE(ok(gpumem_lincomb_f32(ctx, 1, two, 2, zeros, nothing, nullptr, z.data(), nullptr)));
  EXPECT_EQ(z, (Floats{0, 0}));
  EXPECT_FALSE(std::signbit(z[0]));
}

TEST_P(ArithmeticCalls, SixteenTermsOfEightAxes) {
  // 2 x 2 x ... in an array of 2 x 3 x 2 x 3 ..., so that no axes can be merged.
  const int64_t extents[] = {2, 2, 2, 2, 2, 2, 2, 2};
  int64_t strides[8];
  int64_t stride = 1;
  for (int d = 7; d >= 0; --d) {
    strides[d] = stride;
    stride *= d % 2 == 0 ? 3 : 2;
    if (d == 7) stride = 3;
  }
  Floats x(static_cast<size_t>(stride) + 16);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  Floats factors(16);
  std::vector<const float*> views(16);
  for (size_t k = 0; k < 16; ++k) {
    factors[k] = static_cast<float>(k + 1);
    views[k] = &x[k];
  }
  Floats z(static_cast<size_t>(stride), -1);
  ASSERT_TRUE(ok(gpumem_lincomb_f32(ctx, 8, extents, 16, factors.data(), views.data(), nullptr, z.data(), strides)));
  int written = 0;
  for (int64_t i = 0; i < 256; ++i) {
    size_t at = 0;
    for (int d = 0; d < 8; ++d) at += static_cast<size_t>(((i >> d) & 1) * strides[d]);
    // The sum of (k + 1) * (at + k) over k.
    EXPECT_EQ(z[at], static_cast<float>(136 * at + 1360)) << i;
  }
  for (const float value : z) written += value != -1 ? 1 : 0;
  EXPECT_EQ(written, 256);
  EXPECT_NE(last_problem().find("extents=2x2x2x2x2x2x2x2 terms=16"), std::string::npos) << last_problem();
}

TEST_P(ArithmeticCalls, FactorsInMemory) {
  const Memory memory(ctx, GPUMEM_MEMORY_DEVICE, 4 * 8);
  auto* const numbers = static_cast<double*>(memory.get());
  const double host[] = {3, 4, 0, std::numeric_limits<double>::infinity()};
  ASSERT_TRUE(ok(gpumem_copy(ctx, numbers, host, sizeof host)));
  const Floats x = {1, 2};
  const Floats y = {10, 20};
  const int64_t two[] = {2};
  const float factors[] = {2, -1};
  const float* views[] = {x.data(), y.data()};
  const double* numerators[] = {numbers, nullptr};
  const double* denominators[] = {numbers + 1, nullptr};
  Floats z(2, -1);
  const auto call = [&](const float* given, const double* const* above, const double* const* below) {
    return gpumem_lincomb_at_f32(ctx, 1, two, 2, given, above, below, views, nullptr, z.data(), nullptr);
  };
  ASSERT_TRUE(ok(call(factors, numerators, denominators)));
  EXPECT_EQ(z, (Floats{-8.5f, -17})) << "2 * 3 / 4, from memory of the other side";
  EXPECT_NE(last_problem().find("terms=2 factors_in_memory=1"), std::string::npos) << last_problem();
  ASSERT_TRUE(ok(call(nullptr, numerators, nullptr)));
  EXPECT_EQ(z, (Floats{13, 26})) << "no factors";
  ASSERT_TRUE(ok(call(factors, nullptr, nullptr)));
  EXPECT_EQ(z, (Floats{-8, -16})) << "only factors";
  // Each source is read, since its factor is not known before.
  const float zeros[] = {0, 0};
  const double* infinite[] = {nullptr, host + 3};
  ASSERT_TRUE(ok(call(zeros, infinite, nullptr)));
  EXPECT_TRUE(std::isnan(z[0])) << "0 * infinity";
  const double* none[] = {nullptr, host + 2};
  ASSERT_TRUE(ok(call(factors, none, nullptr)));
  EXPECT_EQ(z, (Floats{2, 4}));
}

TEST_P(ArithmeticCalls, FactorsAreReadInTheOrderOfTheStream) {
  const Memory memory(ctx, GPUMEM_MEMORY_DEVICE, 1024);
  auto* const x = static_cast<double*>(memory.get());
  const double value = 2;
  const int64_t eight[] = {8};
  const double* views[] = {x};
  const double* numerators[] = {x + 16};
  ASSERT_TRUE(ok(gpumem_fill(ctx, x, &value, 8, 8)));
  ASSERT_TRUE(ok(gpumem_fill(ctx, x + 16, &value, 8, 1)));
  const double later = 5;
  ASSERT_TRUE(ok(gpumem_fill_async(ctx, x + 16, &later, 8, 1, nullptr)));
  ASSERT_TRUE(ok(gpumem_lincomb_at_f64_async(ctx, 1, eight, 1, nullptr, numerators, nullptr, views, nullptr, x + 32,
                                             nullptr, nullptr)));
  ASSERT_TRUE(ok(gpumem_fill_async(ctx, x + 16, &value, 8, 1, nullptr)));
  ASSERT_TRUE(ok(gpumem_ctx_synchronize(ctx)));
  double z[8] = {};
  ASSERT_TRUE(ok(gpumem_copy(ctx, z, x + 32, sizeof z)));
  EXPECT_TRUE(std::all_of(z, z + 8, [](double v) { return v == 10; })) << z[0];
}

TEST_P(ArithmeticCalls, RefusalsOfFactorsInMemory) {
  double x[8] = {};
  double z[8] = {};
  const int64_t four[] = {4};
  const double factors[] = {1, 1};
  const double* views[] = {x, x};
  const auto call = [&](const double* numerator, const double* denominator) {
    const double* numerators[] = {nullptr, numerator};
    const double* denominators[] = {nullptr, denominator};
    return gpumem_lincomb_at_f64(ctx, 1, four, 2, factors, numerators, denominators, views, nullptr, z, nullptr);
  };
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call(z + 3, nullptr), {"z", "numerators[1]"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call(nullptr, z), {"z", "denominators[1]"}));
  const auto* const odd = reinterpret_cast<const double*>(reinterpret_cast<const char*>(x) + 4);
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call(odd, nullptr), {"numerators[1]", "8"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, call(nullptr, reinterpret_cast<const double*>(uintptr_t{4096})),
                      {"denominators[1]"}));
  EXPECT_TRUE(ok(call(z + 4, x))) << "behind z";
}

// On a device they are brought there, where an element must not end up beside its alignment.
TEST_P(ArithmeticCalls, ViewsOfHostMemoryOverlapAtAnyDistance) {
  constexpr int64_t kCount = 500;
  const int64_t extents[] = {kCount};
  for (const int64_t distance : {1, 2, 4, 6, 8, 401}) {
    Bytes bytes(static_cast<size_t>(kCount * 4 + 3 * distance));
    Random random(static_cast<uint64_t>(distance));
    fill_with_numbers(GPUMEM_F32, bytes, 0, static_cast<size_t>(kCount), random);
    Arithmetic c{false, GPUMEM_F32, {kCount}, {}, {}, {nullptr, {1}}};
    const float* views[4] = {};
    const float factors[4] = {1, 2, 1, 0.5f};
    const int order[4] = {1, 0, 3, 2};
    for (size_t k = 0; k < 4; ++k) {
      c.factors.push_back(bits_of(GPUMEM_F32, factors[k]));
      c.x.push_back({bytes.data() + order[k] * distance, {1}});
      views[k] = static_cast<const float*>(c.x[k].p);
    }
    Bytes expected(kCount * 4);
    c.z.p = expected.data();
    arithmetic_reference(c);
    const Memory z(ctx, GPUMEM_MEMORY_DEVICE, kCount * 4);
    auto* const to = static_cast<float*>(z.get());
    ASSERT_TRUE(ok(gpumem_lincomb_f32(ctx, 1, extents, 4, factors, views, nullptr, to, nullptr))) << distance;
    EXPECT_EQ(download(ctx, to, expected.size()), expected) << distance << " bytes apart";
  }
}

TEST_P(ArithmeticCalls, Refusals) {
  const Floats x(12, 1);
  Floats z(12, -1);
  const int64_t extents[] = {2, 3};
  const Floats ones(17, 1);
  const float* const factors = ones.data();
  const std::vector<const float*> sources(17, x.data());
  const float* const* const views = sources.data();
  const auto call = [&](int32_t rank, const int64_t* sizes, int32_t terms, const int64_t* x_strides = nullptr,
                        const int64_t* z_strides = nullptr, float* to = nullptr) {
    return gpumem_lincomb_f32(ctx, rank, sizes, terms, factors, views, x_strides, to != nullptr ? to : z.data(),
                              z_strides);
  };
  const auto bad = [](gpumem_status status, std::initializer_list<std::string> words) {
    return refused(GPUMEM_INVALID_ARGUMENT, status, words);
  };
  EXPECT_TRUE(bad(call(9, extents, 1), {"ndim", "9", "8"}));
  EXPECT_TRUE(bad(call(-1, extents, 1), {"ndim", "-1"}));
  EXPECT_TRUE(bad(call(2, nullptr, 1), {"extents", "NULL"}));
  EXPECT_TRUE(bad(call(2, extents, 0), {"terms", "0", "16"}));
  EXPECT_TRUE(bad(call(2, extents, 17), {"terms", "17", "16"}));
  const int64_t negative[] = {3, -1};
  const int64_t colliding[] = {2, 1};
  EXPECT_TRUE(bad(call(2, negative, 1), {"extents[1]", "-1"}));
  EXPECT_TRUE(bad(call(2, extents, 1, negative), {"x_strides[1]", "-1"}));
  EXPECT_TRUE(bad(call(2, extents, 1, nullptr, negative), {"z_strides[1]", "-1"}));
  EXPECT_TRUE(bad(call(2, extents, 1, nullptr, colliding), {"z_strides[0]", "2", "3"}));
  EXPECT_TRUE(
      bad(gpumem_lincomb_f32(ctx, 2, extents, 1, nullptr, views, nullptr, z.data(), nullptr), {"factors", "NULL"}));
  EXPECT_TRUE(bad(gpumem_lincomb_f32(ctx, 2, extents, 1, factors, nullptr, nullptr, z.data(), nullptr), {"x", "NULL"}));
  const float* missing[] = {x.data(), nullptr};
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT,
                      gpumem_lincomb_f32(ctx, 2, extents, 2, factors, missing, nullptr, z.data(), nullptr),
                      {"x[1]", "NULL"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT,
                      gpumem_multiply_f32(ctx, 2, extents, x.data(), nullptr, nullptr, nullptr, z.data(), nullptr),
                      {"y", "NULL"}));
  const float* shifted[] = {z.data() + 1};
  EXPECT_TRUE(bad(gpumem_lincomb_f32(ctx, 2, extents, 1, factors, shifted, nullptr, z.data(), nullptr), {"z", "x[0]"}));
  const int64_t turned[] = {1, 2};
  const int64_t rows_first[] = {3, 1};
  const float* same[] = {z.data()};
  EXPECT_TRUE(bad(gpumem_lincomb_f32(ctx, 2, extents, 1, factors, same, turned, z.data(), rows_first), {"z", "x[0]"}))
      << "z itself, read in another order";
  const int64_t huge[] = {int64_t{1} << 40, int64_t{1} << 40};
  EXPECT_TRUE(bad(call(2, huge, 1), {"64 bits"}));
  EXPECT_EQ(z, Floats(12, -1)) << "nothing was written";
  const int64_t none[] = {2, 0};
  EXPECT_TRUE(ok(gpumem_lincomb_f32(ctx, 2, none, 2, factors, missing, nullptr, nullptr, nullptr))) << "an extent of 0";
}

INSTANTIATE_TEST_SUITE_P(On, ArithmeticCalls, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
