#include "memory/size_classes.hpp"

#include <gtest/gtest.h>

namespace gpumem {
namespace {

TEST(SizeClasses, EachIsTheSmallestThatHoldsItsSizes) {
  EXPECT_EQ(size_of_class(0), kBlockUnit);
  EXPECT_EQ(size_of_class(kSizeClasses - 1), kLargestClass);
  for (int c = 0; c < kSizeClasses; ++c) {
    EXPECT_EQ(size_class_of(size_of_class(c)), c);
    EXPECT_EQ(size_of_class(c) % kBlockUnit, 0u);
    if (c == 0) continue;
    EXPECT_LT(size_of_class(c - 1), size_of_class(c));
    EXPECT_EQ(size_class_of(size_of_class(c - 1) + 1), c);
  }
  EXPECT_EQ(size_class_of(1), 0);
}

TEST(SizeClasses, WasteAtMostAnEighth) {
  for (int c = 8; c < kSizeClasses; ++c) {
    const size_t smallest = size_of_class(c - 1) + 1;
    EXPECT_LE(size_of_class(c) - smallest, smallest / 8) << c;
  }
}

TEST(SizeClasses, AlignedOnesFollowEachOther) {
  for (size_t alignment = 1; alignment <= kLargestAlignment; alignment *= 2) {
    for (const size_t bytes : {size_t{1}, size_t{255}, size_t{2305}, size_t{70000}, (size_t{3} << 20) + 1}) {
      const size_t size = size_of_class(aligned_class_of(bytes, alignment));
      EXPECT_GE(size, bytes);
      EXPECT_EQ(size % alignment, 0u);
    }
  }
}

TEST(SizeClasses, SlabsAreBounded) {
  for (int c = 0; size_of_class(c) <= kLargestInSlab; ++c) {
    const size_t first = slab_slots(c, 0);
    EXPECT_GE(first, 4u);
    EXPECT_LE(first * size_of_class(c), kLargestSlab);
    EXPECT_LE(slab_slots(c, 1000000) * size_of_class(c), kLargestSlab);
    EXPECT_GT(slab_slots(c, 1000000), kLargestSlab / size_of_class(c) - 1);
  }
  EXPECT_EQ(slab_slots(size_class_of(kLargestInSlab + 1), 100), 1u);
}

}  // namespace
}  // namespace gpumem
