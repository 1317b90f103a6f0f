// The cases of gpumem_resize_2d: shapes x pixels x filters, with layouts and kinds of memory dealt out over them.
#pragma once

#include <vector>

#include "conformance/cases.hpp"

namespace gpumem_test {

struct ResizeCase {
  gpumem_filter filter;
  gpumem_dtype dtype;
  int32_t channels;
  int64_t src_rows;
  int64_t src_cols;
  int64_t dst_rows;
  int64_t dst_cols;
  int64_t src_pad;  // bytes between rows; -1: up to a multiple of 32, and src at a multiple of 512, as textures want it
  int64_t dst_pad;
  size_t src_offset;
  size_t dst_offset;
  gpumem_memory_kind src;
  gpumem_memory_kind dst;
  bool any_bits;  // f32: NaN, infinities and subnormals among the pixels
};

namespace cases {

struct ResizeShape {
  int64_t src_rows, src_cols, dst_rows, dst_cols;
};

inline constexpr gpumem_dtype kPixelTypes[] = {GPUMEM_U8, GPUMEM_U16, GPUMEM_F32};
inline constexpr gpumem_filter kFilters[] = {GPUMEM_FILTER_NEAREST, GPUMEM_FILTER_BILINEAR};

}  // namespace cases

inline std::vector<ResizeCase> resize_cases(bool quick) {
  using cases::ResizeShape;
  static constexpr ResizeShape kSmall[] = {
      {1, 1, 1, 1},     {1, 1, 5, 7},      {5, 7, 1, 1},     {2, 2, 3, 3},   {3, 3, 2, 2},     {4, 4, 8, 8},
      {8, 8, 4, 4},     {16, 33, 16, 33},  {7, 5, 13, 40},   {13, 40, 7, 5}, {31, 64, 17, 65}, {50, 60, 49, 61},
      {1, 300, 1, 100}, {1, 100, 3, 301},  {300, 1, 100, 1}, {2, 2, 64, 1},  {90, 70, 3, 2},   {3, 2, 90, 70},
      {0, 3, 0, 5},     {4, 4, 5, 0},      {1, 1, 9, 32},    {2, 1, 3, 131}, {1, 2, 70, 258},  {700, 900, 2, 33},
      {9, 31, 65, 127}, {33, 200, 17, 100}};
  static constexpr ResizeShape kLarge[] = {{3, 5000, 2, 7001},    {5000, 3, 7001, 2}, {200, 300, 411, 1030},
                                           {411, 1030, 200, 300}, {1, 1, 70, 2500},   {300, 515, 150, 257},
                                           {150, 257, 300, 514}};
  std::vector<ResizeCase> all;
  cases::Dealer dealer;
  const auto add = [&](const ResizeShape& s, gpumem_filter filter, gpumem_dtype dtype, int32_t channels, bool aligned) {
    const int64_t element = dtype == GPUMEM_U8 ? 1 : dtype == GPUMEM_U16 ? 2 : 4;
    const auto pad = [&] {
      return dealer.coin() ? dealer.one_of<int64_t>({0, 1, 3, 7}) : element * dealer.one_of<int64_t>({0, 1, 4, 5});
    };
    const auto offset = [&] {
      return dealer.coin() ? dealer.one_of<size_t>({0, 1, 3, 5})
                           : static_cast<size_t>(element) * dealer.one_of<size_t>({0, 1, 2, 3});
    };
    ResizeCase c{filter, dtype, channels, s.src_rows, s.src_cols,    s.dst_rows,    s.dst_cols,
                 pad(),  pad(), offset(), offset(),   dealer.kind(), dealer.kind(), dealer.coin()};
    if (aligned) {
      c.src_pad = -1;
      c.src_offset = 0;
      c.dst_pad = c.dst_pad / element * element;
      c.dst_offset = c.dst_offset / static_cast<size_t>(element) * static_cast<size_t>(element);
      c.src = dealer.coin() ? GPUMEM_MEMORY_DEVICE : c.src;
      c.dst = dealer.coin() ? GPUMEM_MEMORY_DEVICE : c.dst;
    }
    all.push_back(c);
  };
  for (const gpumem_filter filter : cases::kFilters) {
    for (const gpumem_dtype dtype : cases::kPixelTypes) {
      for (int32_t channels = 1; channels <= 4; ++channels) {
        for (const ResizeShape& s : kSmall) {
          for (int round = 0; round < 4; ++round) add(s, filter, dtype, channels, round == 0);
        }
        for (const ResizeShape& s : kLarge) add(s, filter, dtype, channels, dealer.coin());
      }
    }
  }
  // Every pair of kinds.
  for (size_t pair = 0; pair < cases::kKinds * cases::kKinds; ++pair) {
    for (const gpumem_filter filter : cases::kFilters) {
      all.push_back({filter, GPUMEM_U8, 3, 20, 30, 40, 37, 2, 5, 1, 2, cases::kind(pair),
                     cases::kind(pair / cases::kKinds), false});
    }
  }
  return thinned(all, quick);
}

}  // namespace gpumem_test
