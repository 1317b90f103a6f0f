// What the other tests of this folder stand on: that random layouts are what they are said to be, and that the references are right.
#include <gtest/gtest.h>

#include "dist/random_layouts.hpp"

namespace gpumem_test {
namespace {

Array numbered(const Index& extents) {
  Array array(1, extents);
  for (size_t i = 0; i < array.bytes.size(); ++i) array.bytes[i] = static_cast<unsigned char>(i);
  return array;
}

TEST(Layouts, IndicesRunInOrder) {
  std::vector<Index> seen;
  for_each_index({0, 2}, {2, 4}, [&](const Index& at) { seen.push_back(at); });
  EXPECT_EQ(seen, (std::vector<Index>{{0, 2}, {0, 3}, {1, 2}, {1, 3}}));
  for_each_index({0, 2}, {2, 2}, [](const Index&) { FAIL(); });
}

TEST(Layouts, AKnownArrayIsPermuted) {
  const Array dst = permuted(numbered({2, 3}), {1, 0});
  EXPECT_EQ(dst.extents, (Index{3, 2}));
  EXPECT_EQ(dst.bytes, (Bytes{0, 3, 1, 4, 2, 5}));
  // 2 x 3 x 4, the last axis first.
  const Array turned = permuted(numbered({2, 3, 4}), {2, 0, 1});
  EXPECT_EQ(turned.extents, (Index{4, 2, 3}));
  EXPECT_EQ(*turned.at({3, 1, 2}), 23);
  EXPECT_EQ(*turned.at({1, 0, 2}), 9);
}

TEST(Layouts, AKnownBoxIsPut) {
  Bytes image(9, 99);
  put_box(numbered({3, 4}), {0, {1, 1}, {3, 3}, 1, {1, 4}}, image.data());
  EXPECT_EQ(image, (Bytes{99, 5, 9, 99, 99, 6, 10, 99, 99}));
}

TEST(Layouts, AKnownHaloIsPut) {
  // 3 x 4 with the box of the middle row's last two; wrapped along the last axis, ended along the first.
  const Box box{0, {1, 2}, {2, 4}, 5, {4, 1}};
  Bytes image(12, 99);
  put_halo(numbered({3, 4}), box, {{1, 1}, {1, 1}, {0, 1}}, image.data());
  EXPECT_EQ(image, (Bytes{1, 2, 3, 0, 5, 99, 99, 4, 9, 10, 11, 8}));
  image.assign(12, 99);
  put_halo(numbered({1, 2}), {0, {0, 0}, {1, 2}, 5, {4, 1}}, {{1, 1}, {1, 1}, {0, 1}}, image.data());
  EXPECT_EQ(image, (Bytes{99, 99, 99, 99, 1, 99, 99, 0, 99, 99, 99, 99}));
  // Wider than the array: it comes round more than once.
  image.assign(9, 99);
  put_halo(numbered({2}), {0, {0}, {2}, 3, {1}}, {{3}, {4}, {1}}, image.data());
  EXPECT_EQ(image, (Bytes{1, 0, 1, 99, 99, 0, 1, 0, 1}));
}

// How often each element is in a box.
std::vector<int> coverage(const Layout& layout) {
  Array counted(1, layout.extents);
  for (const Box& box : layout.boxes) for_each_index(box.lower, box.upper, [&](const Index& at) { ++*counted.at(at); });
  return {counted.bytes.begin(), counted.bytes.end()};
}

// No two elements of a member share a place, halos counted in, and all lie within its bytes.
void expect_places(const Layout& layout, int64_t members, const Halo* halo) {
  for (int64_t member = 0; member < members; ++member) {
    const int64_t bytes = bytes_of_member(layout, member, halo == nullptr ? Index{} : halo->high);
    std::vector<bool> taken(static_cast<size_t>(bytes / layout.element_bytes));
    for (const Box& box : layout.boxes) {
      if (box.member != member || box.empty()) continue;
      Index first = box.lower, end = box.upper;
      for (size_t d = 0; d < first.size() && halo != nullptr; ++d) {
        first[d] -= halo->low[d];
        end[d] += halo->high[d];
      }
      for_each_index(first, end, [&](const Index& at) {
        const auto place = static_cast<size_t>(box.place(at));
        ASSERT_LT(place, taken.size()) << describe(layout);
        ASSERT_FALSE(taken[place]) << describe(layout);
        taken[place] = true;
      });
    }
  }
}

TEST(Layouts, RandomOnesAreWhatTheyAreSaidToBe) {
  Random random(0x1A);
  int empty = 0, shared = 0, asked_for_less = 0, high_ranks = 0;
  for (int i = 0; i < 1000 && !HasFailure(); ++i) {
    const int64_t members = random.between(1, 7);
    const Move move = random_move(members, 5000, random);
    SCOPED_TRACE(describe(move));
    for (const Layout* layout : {&move.src, &move.dst}) {
      for (const Box& box : layout->boxes) {
        ASSERT_TRUE(box.member >= 0 && box.member < members);
        ASSERT_GE(box.offset, 0);
        for (size_t d = 0; d < layout->extents.size(); ++d) {
          ASSERT_TRUE(0 <= box.lower[d] && box.lower[d] <= box.upper[d] && box.upper[d] <= layout->extents[d]);
          ASSERT_GE(box.strides[d], 1);
        }
        empty += box.empty() ? 1 : 0;
      }
      expect_places(*layout, members, nullptr);
    }
    const std::vector<int> from = coverage(move.src), to = coverage(move.dst);
    const int most = from.empty() ? 0 : *std::max_element(from.begin(), from.end());
    ASSERT_LE(most, 1) << "the boxes of src are disjoint";
    Array source(1, move.src.extents);
    for (size_t at = 0; at < from.size(); ++at) source.bytes[at] = static_cast<unsigned char>(from[at]);
    const Array there = move.order.empty() ? source : permuted(source, move.order);
    for (size_t at = 0; at < to.size(); ++at) ASSERT_TRUE(to[at] == 0 || there.bytes[at] == 1) << "asked for in vain";
    shared += std::any_of(to.begin(), to.end(), [](int times) { return times > 1; }) ? 1 : 0;
    asked_for_less += std::any_of(from.begin(), from.end(), [](int times) { return times == 0; }) ? 1 : 0;
    high_ranks += move.src.extents.size() > 4 ? 1 : 0;
  }
  EXPECT_GT(empty, 50);
  EXPECT_GT(shared, 20);
  EXPECT_GT(asked_for_less, 10);
  EXPECT_GT(high_ranks, 30);
}

TEST(Layouts, RandomHalosHaveRoom) {
  Random random(0x1B);
  for (int i = 0; i < 200 && !HasFailure(); ++i) {
    const int64_t members = random.between(1, 7);
    Halo halo;
    const Layout layout = random_halo_layout(members, 1000, halo, random);
    for (const int times : coverage(layout)) ASSERT_EQ(times, 1);
    expect_places(layout, members, &halo);
  }
}

}  // namespace
}  // namespace gpumem_test
