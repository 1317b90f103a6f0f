// Ranks of keys, by which sorts order elements: the order of gpumem.h, with equal NaNs, and the rank that fills tiles.
#include <gtest/gtest.h>

#include <vector>

#include "kernels/elements.hpp"
#include "kernels/sort/params.hpp"
#include "support/random.hpp"

namespace gpumem {
namespace {

bool is_nan(gpumem_dtype dtype, uint64_t bits) {
  return is_floating(dtype) && (bits & ~sign_bit(dtype)) > infinity_bits(dtype);
}

// Whether x comes before y in ascending order.
bool comes_before(gpumem_dtype dtype, uint64_t x, uint64_t y) {
  if (is_nan(dtype, x) || is_nan(dtype, y)) return !is_nan(dtype, x);
  return key_of(dtype, x) < key_of(dtype, y);
}
bool are_equal(gpumem_dtype dtype, uint64_t x, uint64_t y) { return x == y || (is_nan(dtype, x) && is_nan(dtype, y)); }

// Zeros, ones, infinities, the NaNs next to them, the ends of the range, and random bits near them.
std::vector<uint64_t> elements(gpumem_dtype dtype, gpumem_test::Random& random) {
  const uint64_t all = sign_bit(dtype) | (sign_bit(dtype) - 1);
  const uint64_t infinity = is_floating(dtype) ? infinity_bits(dtype) : 0;
  std::vector<uint64_t> found;
  for (const uint64_t sign : {uint64_t{0}, sign_bit(dtype)}) {
    for (const uint64_t near : {uint64_t{0}, infinity, sign_bit(dtype) - 1, random.bits()}) {
      for (uint64_t step = 0; step < 3; ++step) {
        found.push_back(((near + step) ^ sign) & all);
        found.push_back(((near - step) ^ sign) & all);
      }
    }
  }
  return found;
}

TEST(SortRank, IsTheOrderOfTheKeys) {
  gpumem_test::Random random(1);
  for (gpumem_dtype dtype = 0; dtype < kDtypes; ++dtype) {
    const std::vector<uint64_t> found = elements(dtype, random);
    for_word(dtype, [&]<class Word>() {
      for (const bool descending : {false, true}) {
        const RankOf<Word> rank = rank_of_keys<Word>(dtype, descending);
        EXPECT_EQ(rank(rank.last()), static_cast<Word>(~Word{0})) << dtype;
        for (const uint64_t x : found) {
          const Word of_x = rank(static_cast<Word>(x));
          for (int first = 0; first < 8 * static_cast<int>(sizeof(Word)); first += 8) {
            EXPECT_EQ(rank.digit(static_cast<Word>(x), first, 0xff), of_x >> first & 0xff) << dtype;
          }
          for (const uint64_t y : found) {
            const Word of_y = rank(static_cast<Word>(y));
            EXPECT_EQ(of_x == of_y, are_equal(dtype, x, y)) << dtype << ": " << x << ", " << y;
            if (are_equal(dtype, x, y)) continue;
            EXPECT_EQ(of_x < of_y, comes_before(dtype, x, y) != descending) << dtype << ": " << x << ", " << y;
          }
        }
      }
    });
  }
}

}  // namespace
}  // namespace gpumem
