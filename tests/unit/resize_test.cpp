// The coordinates of a resize by definition, for extents of any size, in words of any length.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "kernels/resize/coordinates.hpp"
#include "select/select.hpp"
#include "tests/fixtures/devices.hpp"
#include "tests/unit/decisions.hpp"

namespace gpumem {
namespace {

__extension__ typedef __int128 Wide;

// floor(weight + 1/2) with weight in units of 2^-kBits, straight from the definition. centre / whole may take 96 bits, so the
// fraction alone is scaled.
template <int kBits>
ResizeTap defined(int64_t src, int64_t dst, int64_t i) {
  const Wide centre = (2 * Wide{i} + 1) * src - dst;
  const Wide whole = 2 * Wide{dst};
  if (centre < 0) return {0, 0};
  Wide index = centre / whole;
  Wide weight = ((centre % whole << kBits) + dst) / whole;
  if (weight == Wide{1} << kBits) {
    ++index;
    weight = 0;
  }
  if (index >= src - 1) return {src - 1, 0};
  return {static_cast<int64_t>(index), static_cast<uint32_t>(weight)};
}

template <int kBits>
void expect_defined(const ResizeAxis& axis, int64_t i) {
  const ResizeTap got = resize_tap<kBits>(axis, i);
  const ResizeTap expected = defined<kBits>(axis.src, axis.dst, i);
  EXPECT_EQ(got.index, expected.index) << axis.src << " to " << axis.dst << ", " << i << ", " << axis.bits << " bits";
  EXPECT_EQ(got.weight, expected.weight) << axis.src << " to " << axis.dst << ", " << i << ", " << axis.bits << " bits";
}

void expect_all_defined(const ResizeAxis& axis, int64_t i) {
  expect_defined<8>(axis, i);
  expect_defined<12>(axis, i);
  expect_defined<16>(axis, i);
  expect_defined<24>(axis, i);
  const auto centre = static_cast<int64_t>((2 * Wide{i} + 1) * axis.src / (2 * Wide{axis.dst}));
  EXPECT_EQ(resize_nearest(axis, i), centre) << axis.src << " to " << axis.dst << ", " << i;
}

TEST(ResizeCoordinates, AreThoseOfTheDefinitionInWordsOfAnyLength) {
  for (int64_t src = 1; src <= 40; ++src) {
    for (int64_t dst = 1; dst <= 40; ++dst) {
      EXPECT_EQ(resize_axis(src, dst).bits, 32);
      for (int64_t i = 0; i < dst; ++i) {
        for (const int32_t bits : {32, 64, 128}) {
          ResizeAxis axis = resize_axis(src, dst);
          axis.bits = bits;
          expect_all_defined(axis, i);
        }
      }
    }
  }
}

TEST(ResizeCoordinates, OfExtentsOfAnySize) {
  std::mt19937_64 random(7);
  int of_bits[3] = {};
  for (int round = 0; round < 20000; ++round) {
    const auto extent = [&] { return 1 + static_cast<int64_t>(random() >> (2 + random() % 62)); };
    const ResizeAxis axis = resize_axis(extent(), extent());
    ++of_bits[axis.bits == 32 ? 0 : axis.bits == 64 ? 1 : 2];
    for (const int64_t i : {int64_t{0}, axis.dst / 2, axis.dst - 1, static_cast<int64_t>(random() % axis.dst)}) {
      expect_all_defined(axis, i);
    }
  }
  for (const int count : of_bits) EXPECT_GT(count, 1000);
}

TEST(ResizeCoordinates, TakeTheShortestWordsThatHoldThem) {
  EXPECT_EQ(resize_bits(4096, 524287), 32);  // 2 dst src < 2^32, 2 dst < 2^20
  EXPECT_EQ(resize_bits(4097, 524287), 64);  // 2 dst src leaves 32 bits
  EXPECT_EQ(resize_bits(1, 524288), 64);     // a fraction's step does
  EXPECT_EQ(resize_bits(4096, (int64_t{1} << 51) - 1), 64);
  EXPECT_EQ(resize_bits(4097, (int64_t{1} << 51) - 1), 128);
  EXPECT_EQ(resize_bits(1, int64_t{1} << 51), 128);
  EXPECT_EQ(resize_bits(INT64_MAX, 1), 64);
  EXPECT_EQ(resize_bits(INT64_MAX, INT64_MAX), 128);
}

// The largest pixels by every weight: no word overflows.
TEST(ResizeBlend, StaysInItsWords) {
  for (uint32_t w = 0; w < 4096; ++w) {
    EXPECT_EQ(ResizeBlend<uint8_t>::across(255, 255, w), 255u << 12);
    EXPECT_EQ(ResizeBlend<uint8_t>::across(255, 0, w), 255u * (4096 - w));
    EXPECT_EQ(ResizeBlend<uint8_t>::down(255u << 12, 255u << 12, w), 255);
    EXPECT_EQ(ResizeBlend<uint8_t>::down(255u << 12, 0, w), (255u * (4096 - w) * 2 + 4096) / 8192);
  }
  for (const uint32_t w : {0u, 1u, 32767u, 32768u, 65535u}) {
    EXPECT_EQ(ResizeBlend<uint16_t>::across(65535, 65535, w), 65535u << 16);
    EXPECT_EQ(ResizeBlend<uint16_t>::across(65535, 0, w), 65535u * (65536 - w));
    EXPECT_EQ(ResizeBlend<uint16_t>::down(65535u << 16, 65535u << 16, w << 8), 65535);
  }
  EXPECT_EQ(ResizeBlend<float>::across(1, 3, 1 << 23), 2);
}

using fixtures::made_up_address;

ResizeParams textured() {
  return {.filter = GPUMEM_FILTER_BILINEAR,
          .dtype = GPUMEM_U8,
          .channels = 4,
          .src = made_up_address(0, 1),
          .src_rows = 1000,
          .src_cols = 1000,
          .src_pitch = 4000,
          .dst = made_up_address(0, 0),
          .dst_rows = 500,
          .dst_cols = 500,
          .dst_pitch = 2000};
}

TEST(ResizeTable, TakesTexturesOnlyWhereTheyFitAndNeverByItself) {
  const DeviceProps h200 = fixtures::find_device("h200")->props;
  const auto& names = family_names(GPUMEM_FAMILY_RESIZE);
  const Override texture{find_variant(names, "texture"), ChosenBy::program};
  const auto taken = [&](const DeviceProps& props, ResizeParams p) {
    return select<ResizeFamily>(props, p, texture, {}).row >= 0;
  };
  EXPECT_TRUE(taken(h200, textured()));
  EXPECT_NE(select<ResizeFamily>(h200, textured(), {}, {}).row, texture.row);
  const auto refused = [&](auto change) {
    ResizeParams p = textured();
    change(p);
    return !taken(h200, p);
  };
  EXPECT_TRUE(refused([](ResizeParams& p) { p.channels = 3; }));
  EXPECT_TRUE(refused([](ResizeParams& p) { p.src = made_up_address(256, 1); }));
  EXPECT_TRUE(refused([](ResizeParams& p) { p.src_pitch = 4016; }));
  EXPECT_TRUE(refused([](ResizeParams& p) { p.src_pitch = 2097152; }));
  EXPECT_TRUE(refused([](ResizeParams& p) { p.src_rows = 32769; }));
  EXPECT_TRUE(refused([](ResizeParams& p) {
    p.src_cols = 32769;
    p.src_pitch = 131104;
  }));
  EXPECT_FALSE(refused([](ResizeParams& p) {
    p.src_cols = 32768;
    p.src_pitch = 131072;
  }));
  DeviceProps without = h200;
  without.texture_alignment = 0;
  EXPECT_FALSE(taken(without, textured()));
  std::mt19937_64 random(8);
  for (int i = 0; i < 20000; ++i) {
    ResizeParams p = textured();
    p.dtype = i % 2 == 0 ? GPUMEM_U16 : GPUMEM_F32;
    p.src_pitch = 16000 + static_cast<int64_t>(random() % 64);
    p.dst_pitch = 16000 + static_cast<int64_t>(random() % 8);
    p.src = made_up_address(static_cast<int64_t>(random() % 4096), 1);
    p.dst = made_up_address(static_cast<int64_t>(random() % 16), 0);
    EXPECT_NE(select<ResizeFamily>(h200, p, {}, {}).row, texture.row);
  }
}

// Every pixel of dst belongs to one thread, whatever the shape of the image.
TEST(ResizeTable, BlocksCoverTheImage) {
  std::mt19937_64 random(9);
  const DeviceProps h200 = fixtures::find_device("h200")->props;
  std::map<std::string_view, int> planned;
  for (int i = 0; i < 5000; ++i) {
    ResizeParams p = textured();
    p.channels = static_cast<int32_t>(1 + random() % 4);
    p.dst_rows = 1 + static_cast<int64_t>(random() >> (40 + random() % 24));
    p.dst_cols = 1 + static_cast<int64_t>(random() >> (40 + random() % 24));
    for (const auto& row : ResizeFamily::table()) {
      if (row.space != ExecutionSpace::cuda) continue;
      Config s;
      if (row.plan(h200, p, s) != nullptr) continue;
      ++planned[row.name];
      const int64_t groups = (p.dst_cols + s.per_thread - 1) / s.per_thread;
      const int64_t steps = (p.dst_rows + s.tile - 1) / s.tile;
      const int lanes = row.name == std::string_view("words") ? 32 : resize_lanes(groups, steps);
      ASSERT_EQ(kResizeThreads % lanes, 0);
      const int64_t across = (groups + lanes - 1) / lanes;
      const int64_t rows = kResizeThreads / lanes * s.tile;
      const int64_t down = (p.dst_rows + rows - 1) / rows;
      EXPECT_EQ(s.grid, std::min<int64_t>(across * down, 0x7fffffff)) << row.name;
    }
  }
  for (const char* name : {"words", "global", "texture", "bytes"}) EXPECT_GT(planned[name], 500) << name;
}

}  // namespace
}  // namespace gpumem
