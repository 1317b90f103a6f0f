// gpumem_map(), gpumem_compare(), gpumem_where() and gpumem_convert_scaled(): known values and the outcomes. Bits, views
// and kinds of memory are the conformance tests' matter.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/contexts.hpp"
#include "support/map.hpp"
#include "support/memory.hpp"

namespace gpumem_test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<int32_t>;

class MapCalls : public OnEachContext {
 protected:
  gpumem_status map32(gpumem_map_op op, const Ints& x, const Ints& y, Ints& z) {
    const auto n = static_cast<int64_t>(x.size());
    return gpumem_map(ctx, op, GPUMEM_I32, 1, &n, x.data(), nullptr, y.data(), nullptr, z.data(), nullptr);
  }
};

TEST_P(MapCalls, KnownValues) {
  const Floats x = {-1.5f, 2.5f, -0.0f, 9};
  Floats z(4);
  const int64_t four[] = {4};
  const auto map1 = [&](gpumem_map_op op) {
    return gpumem_map(ctx, op, GPUMEM_F32, 1, four, x.data(), nullptr, nullptr, nullptr, z.data(), nullptr);
  };
  ASSERT_TRUE(ok(map1(GPUMEM_MAP_ROUND)));
  EXPECT_EQ(z, (Floats{-2, 2, -0.0f, 9}));
  ASSERT_TRUE(ok(map1(GPUMEM_MAP_FLOOR)));
  EXPECT_EQ(z, (Floats{-2, 2, 0, 9}));
  EXPECT_TRUE(std::signbit(z[2]));
  ASSERT_TRUE(ok(map1(GPUMEM_MAP_SQUARE_ROOT)));
  EXPECT_TRUE(std::isnan(z[0]));
  EXPECT_EQ(z[3], 3);
  // A column of a matrix minus the first of each row, in place.
  Floats matrix = {1, 2, 3, 10, 20, 30};
  const Floats first = {1, 10};
  const int64_t shape[] = {2, 3};
  const int64_t column[] = {1, 0};
  ASSERT_TRUE(ok(gpumem_map(ctx, GPUMEM_MAP_SUBTRACT, GPUMEM_F32, 2, shape, matrix.data(), nullptr, first.data(),
                            column, matrix.data(), nullptr)));
  EXPECT_EQ(matrix, (Floats{0, 1, 2, 0, 10, 20}));
  EXPECT_NE(last_problem().find("map kind=map op=subtract dtype=f32 extents=2x3"), std::string::npos) << last_problem();
  std::vector<uint8_t> mask(4);
  const int64_t single[] = {0};
  const float zero = 0;
  ASSERT_TRUE(ok(
      gpumem_compare(ctx, GPUMEM_LESS, GPUMEM_F32, 1, four, x.data(), nullptr, &zero, single, mask.data(), nullptr)));
  EXPECT_EQ(mask, (std::vector<uint8_t>{1, 0, 0, 0}));
  ASSERT_TRUE(
      ok(gpumem_where(ctx, 4, 1, four, mask.data(), nullptr, &zero, single, x.data(), nullptr, z.data(), nullptr)));
  EXPECT_EQ(z, (Floats{0, 2.5f, -0.0f, 9}));
}

TEST_P(MapCalls, ShiftsAndQuotientsThatDoNotFit) {
  constexpr int32_t kLeast = std::numeric_limits<int32_t>::min();
  Ints z(4);
  ASSERT_TRUE(ok(map32(GPUMEM_MAP_SHIFT_RIGHT, {-8, -8, 8, -8}, {1, 32, 40, -1}, z)));
  EXPECT_EQ(z, (Ints{-4, -1, 0, -1}));
  ASSERT_TRUE(ok(map32(GPUMEM_MAP_SHIFT_LEFT, {-8, -8, 8, 1}, {1, 32, -1, 31}, z)));
  EXPECT_EQ(z, (Ints{-16, 0, 0, kLeast}));
  ASSERT_TRUE(ok(map32(GPUMEM_MAP_DIVIDE, {kLeast, -7, 7, 0}, {-1, 2, -2, 5}, z)));
  EXPECT_EQ(z, (Ints{kLeast, -3, -3, 0}));
  ASSERT_TRUE(ok(map32(GPUMEM_MAP_REMAINDER, {kLeast, -7, 7, 0}, {-1, 2, -2, 5}, z)));
  EXPECT_EQ(z, (Ints{0, -1, 1, 0}));
}

TEST_P(MapCalls, ADivisionByZeroIsReported) {
  Ints z(3, -1);
  EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, map32(GPUMEM_MAP_DIVIDE, {6, 7, 8}, {2, 0, 3}, z), {"y", "0", "divide"}));
  EXPECT_EQ(z, (Ints{3, 0, 2})) << "the other elements are right";
  EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, map32(GPUMEM_MAP_REMAINDER, {6, 7, 8}, {4, 0, 3}, z), {"y", "remainder"}));
  EXPECT_EQ(z, (Ints{2, 0, 2}));
  const Memory x(ctx, GPUMEM_MEMORY_DEVICE, 12), y(ctx, GPUMEM_MEMORY_DEVICE, 12), to(ctx, GPUMEM_MEMORY_DEVICE, 12);
  const Ints a = {6, 7, 8};
  const int64_t three[] = {3};
  upload(ctx, x.get(), a.data(), 12);
  for (const gpumem_memory_kind kind : {GPUMEM_MEMORY_PINNED, GPUMEM_MEMORY_DEVICE}) {
    const Memory status(ctx, kind, 4);
    for (const Ints& b : {Ints{1, 0, 2}, Ints{1, 2, 3}}) {
      upload(ctx, y.get(), b.data(), 12);
      ASSERT_TRUE(ok(gpumem_map_async(ctx, GPUMEM_MAP_DIVIDE, GPUMEM_I32, 1, three, x.get(), nullptr, y.get(), nullptr,
                                      to.get(), nullptr, static_cast<gpumem_status*>(status.get()), nullptr)));
      ASSERT_TRUE(ok(gpumem_ctx_synchronize(ctx)));
      gpumem_status got = -1;
      std::memcpy(&got, download(ctx, status.get(), 4).data(), 4);
      EXPECT_EQ(got, b[1] == 0 ? GPUMEM_OUT_OF_RANGE : GPUMEM_OK);
    }
    const int64_t none[] = {0};
    const int32_t wrong = 77;
    upload(ctx, status.get(), &wrong, 4);
    ASSERT_TRUE(ok(gpumem_map_async(ctx, GPUMEM_MAP_DIVIDE, GPUMEM_I32, 1, none, nullptr, nullptr, nullptr, nullptr,
                                    nullptr, nullptr, static_cast<gpumem_status*>(status.get()), nullptr)));
    ASSERT_TRUE(ok(gpumem_ctx_synchronize(ctx)));
    gpumem_status got = -1;
    std::memcpy(&got, download(ctx, status.get(), 4).data(), 4);
    EXPECT_EQ(got, GPUMEM_OK) << "of no elements";
  }
  const float zeros[] = {0, 0, 0};
  float quotients[3] = {};
  EXPECT_TRUE(
      ok(gpumem_map(ctx, GPUMEM_MAP_DIVIDE, GPUMEM_F32, 1, three, zeros, nullptr, zeros, nullptr, quotients, nullptr)));
  EXPECT_TRUE(std::isnan(quotients[0])) << "only integers are reported";
}

TEST_P(MapCalls, ScaledConversions) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> src = {1, 2.5, -400, nan};
  const int64_t four[] = {4};
  const double scale = 2;
  const double offset = 1;
  std::vector<int8_t> dst(4);
  ASSERT_TRUE(ok(gpumem_convert_scaled(ctx, 1, four, GPUMEM_F64, src.data(), nullptr, &scale, nullptr, &offset, nullptr,
                                       -7, GPUMEM_I8, dst.data(), nullptr)));
  EXPECT_EQ(dst, (std::vector<int8_t>{4, 7, -128, -7}));
  ASSERT_TRUE(ok(gpumem_convert_scaled(ctx, 1, four, GPUMEM_F64, src.data(), nullptr, nullptr, nullptr, nullptr,
                                       nullptr, nan, GPUMEM_I8, dst.data(), nullptr)));
  EXPECT_EQ(dst, (std::vector<int8_t>{1, 2, -128, 0})) << "a NaN for NaN becomes what it becomes in gpumem_convert()";
  const std::vector<uint16_t> counts = {0, 1000, 2000, 65535};
  const std::vector<double> factors = {0.5, 1, 2, 4};
  Floats numbers(4);
  const int64_t each[] = {1};
  ASSERT_TRUE(ok(gpumem_convert_scaled(ctx, 1, four, GPUMEM_U16, counts.data(), nullptr, factors.data(), each, &offset,
                                       nullptr, 0, GPUMEM_F32, numbers.data(), nullptr)));
  EXPECT_EQ(numbers, (Floats{0.5f, 1001, 4002, 262144}));
  const int64_t negative[] = {-1};  // of an operand that is absent
  ASSERT_TRUE(ok(gpumem_convert_scaled(ctx, 1, four, GPUMEM_U16, counts.data(), nullptr, nullptr, negative, nullptr,
                                       negative, 0, GPUMEM_F32, numbers.data(), nullptr)));
  EXPECT_EQ(numbers, (Floats{0, 1000, 2000, 65535}));
}

TEST_P(MapCalls, Refusals) {
  const Ints x(12, 1);
  Ints z(12, -1);
  const int64_t extents[] = {2, 3};
  const auto call = [&](int32_t rank, const int64_t* sizes, const int64_t* x_strides, const int64_t* z_strides,
                        int32_t op = GPUMEM_MAP_ADD, gpumem_dtype dtype = GPUMEM_I32) {
    return gpumem_map(ctx, op, dtype, rank, sizes, x.data(), x_strides, x.data(), nullptr, z.data(), z_strides);
  };
  const auto bad = [](gpumem_status status, std::initializer_list<std::string> words) {
    return refused(GPUMEM_INVALID_ARGUMENT, status, words);
  };
  EXPECT_TRUE(bad(call(9, extents, nullptr, nullptr), {"ndim", "9", "8"}));
  EXPECT_TRUE(bad(call(-1, extents, nullptr, nullptr), {"ndim", "-1"}));
  EXPECT_TRUE(bad(call(2, nullptr, nullptr, nullptr), {"extents", "NULL"}));
  EXPECT_TRUE(bad(call(2, extents, nullptr, nullptr, 9), {"op", "9", "8", "16", "28"}));
  EXPECT_TRUE(bad(call(2, extents, nullptr, nullptr, -1), {"op", "-1"}));
  EXPECT_TRUE(bad(call(2, extents, nullptr, nullptr, GPUMEM_MAP_ADD, 12), {"dtype", "12"}));
  EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, call(2, extents, nullptr, nullptr, GPUMEM_MAP_SQUARE_ROOT),
                      {"square_root", "i32", "floating"}));
  EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, call(2, extents, nullptr, nullptr, GPUMEM_MAP_AND, GPUMEM_F32),
                      {"and", "f32", "integer"}));
  const int64_t negative[] = {3, -1};
  const int64_t colliding[] = {2, 1};
  EXPECT_TRUE(bad(call(2, negative, nullptr, nullptr), {"extents[1]", "-1"}));
  EXPECT_TRUE(bad(call(2, extents, negative, nullptr), {"x_strides[1]", "-1"}));
  EXPECT_TRUE(bad(call(2, extents, nullptr, colliding), {"z_strides[0]", "2", "3"}));
  const int64_t huge[] = {int64_t{1} << 40, int64_t{1} << 40};
  EXPECT_TRUE(bad(call(2, huge, nullptr, nullptr), {"64 bits"}));
  const auto to = [&](const void* a, const void* b) {
    return gpumem_map(ctx, GPUMEM_MAP_ADD, GPUMEM_I32, 2, extents, a, nullptr, b, nullptr, z.data(), nullptr);
  };
  EXPECT_TRUE(bad(to(nullptr, x.data()), {"x", "NULL"}));
  EXPECT_TRUE(bad(to(x.data(), nullptr), {"y", "NULL"}));
  EXPECT_TRUE(bad(to(x.data(), z.data() + 1), {"z", "y"}));
  std::vector<uint8_t> mask(6, 9);
  EXPECT_TRUE(
      bad(gpumem_compare(ctx, 6, GPUMEM_I32, 2, extents, x.data(), nullptr, x.data(), nullptr, mask.data(), nullptr),
          {"op", "6", "5"}));
  EXPECT_TRUE(bad(
      gpumem_where(ctx, 3, 2, extents, mask.data(), nullptr, x.data(), nullptr, x.data(), nullptr, z.data(), nullptr),
      {"element_bytes", "3"}));
  const double two[] = {2, 2, 2, 2, 2, 2};
  EXPECT_TRUE(bad(gpumem_convert_scaled(ctx, 2, extents, GPUMEM_I32, x.data(), nullptr, two, negative, nullptr, nullptr,
                                        0, GPUMEM_I32, z.data(), nullptr),
                  {"scale_strides[1]", "-1"}));
  EXPECT_TRUE(bad(gpumem_convert_scaled(ctx, 2, extents, GPUMEM_I32, x.data(), nullptr, two, nullptr, nullptr, nullptr,
                                        0, 40, z.data(), nullptr),
                  {"dst_type", "40"}));
  EXPECT_EQ(z, Ints(12, -1)) << "nothing was written";
  EXPECT_EQ(mask, std::vector<uint8_t>(6, 9));
}

INSTANTIATE_TEST_SUITE_P(On, MapCalls, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
