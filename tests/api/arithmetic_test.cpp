// gpumem_lincomb_* and gpumem_multiply_*: known values and the outcomes. Bits, views and kinds of memory are the conformance tests' matter.
#include <gtest/gtest.h>

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
  const float factors[] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  const float* views[] = {x.data(), x.data(), x.data(), x.data(), x.data(), x.data(), x.data(), x.data(), x.data()};
  const auto call = [&](int32_t rank, const int64_t* sizes, int32_t terms, const int64_t* x_strides = nullptr,
                        const int64_t* z_strides = nullptr, float* to = nullptr) {
    return gpumem_lincomb_f32(ctx, rank, sizes, terms, factors, views, x_strides, to != nullptr ? to : z.data(),
                              z_strides);
  };
  const auto bad = [](gpumem_status status, std::initializer_list<std::string> words) {
    return refused(GPUMEM_INVALID_ARGUMENT, status, words);
  };
  EXPECT_TRUE(bad(call(4, extents, 1), {"ndim", "4", "3"}));
  EXPECT_TRUE(bad(call(-1, extents, 1), {"ndim", "-1"}));
  EXPECT_TRUE(bad(call(2, nullptr, 1), {"extents", "NULL"}));
  EXPECT_TRUE(bad(call(2, extents, 0), {"terms", "0", "8"}));
  EXPECT_TRUE(bad(call(2, extents, 9), {"terms", "9", "8"}));
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
