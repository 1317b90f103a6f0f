// Values of whole reductions, at the worst that elements can be.
#include "kernels/values.hpp"

#include <gtest/gtest.h>

namespace gpumem {
namespace {

constexpr int64_t kMost = (int64_t{1} << 31) - 1;

// The sum of n elements that are all the least, or all the greatest, of a type.
IntegerNode extreme_sum(gpumem_dtype dtype, int64_t n, bool least) {
  const int bits = 8 * static_cast<int>(element_bytes(dtype));
  const bool is_signed = is_signed_integer(dtype);
  const Int128 greatest = (Int128{1} << (is_signed ? bits - 1 : bits)) - 1;
  return IntegerNode((least ? (is_signed ? -greatest - 1 : Int128{0}) : greatest) * n);
}

TEST(Values, SumsThatAlwaysHaveOneHaveItAtTheWorst) {
  for (gpumem_dtype dtype = 0; dtype < kDtypes; ++dtype) {
    if (is_floating(dtype)) continue;
    const bool wide = element_bytes(dtype) == 8;
    EXPECT_EQ(always_has_value(dtype, GPUMEM_SUM, kMost), !wide) << dtype;
    EXPECT_FALSE(always_has_value(dtype, GPUMEM_SUM_CUBES, 2)) << dtype;
    for (const bool least : {false, true}) {
      const bool fits = !wide || (least && !is_signed_integer(dtype));
      const ReduceValue value = value_of(dtype, GPUMEM_SUM, extreme_sum(dtype, kMost, least));
      EXPECT_EQ(value.status, fits ? GPUMEM_OK : GPUMEM_OVERFLOW) << dtype << " " << least;
    }
  }
}

TEST(Values, OnlyTheLeastI64HasNoMagnitude) {
  for (gpumem_dtype dtype = 0; dtype < kDtypes; ++dtype) {
    const uint64_t least = is_signed_integer(dtype) ? sign_bit(dtype) : 0;
    const uint64_t key = key_of(dtype, least);
    const ReduceValue value = value_of(dtype, GPUMEM_MAX_ABS, RangeNode{key, key});
    EXPECT_EQ(value.status == GPUMEM_OK, always_has_value(dtype, GPUMEM_MAX_ABS, 1)) << dtype;
    EXPECT_FALSE(always_has_value(dtype, GPUMEM_MIN, 0)) << dtype;
  }
}

}  // namespace
}  // namespace gpumem
