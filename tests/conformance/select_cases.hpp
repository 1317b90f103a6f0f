// The cases of selections: sizes of rows x numbers of them x pitches x alignment x masks x room x kinds of memory.
#pragma once

#include <vector>

#include "conformance/cases.hpp"

namespace gpumem_test {

enum class Mask { nothing, everything, few, half, most, runs };
enum class Room { for_all, for_more, for_kept, for_half, for_nothing };

struct SelectCase {
  int64_t row_bytes;  // of places: of a number
  int64_t n;
  int64_t src_pitch;
  int64_t dst_pitch;
  size_t src_offset;
  size_t mask_offset;
  size_t dst_offset;
  Mask mask;
  Room room;
  gpumem_memory_kind src;
  gpumem_memory_kind mask_kind;
  gpumem_memory_kind dst;
  gpumem_memory_kind kept;
  bool places = false;
  gpumem_dtype index_type = GPUMEM_I64;
};

inline std::vector<SelectCase> select_cases(bool quick) {
  struct Layout {
    size_t src_offset, dst_offset;
    int64_t src_pad, dst_pad;  // bytes between rows; negative: up to a multiple of as many
  };
  static constexpr Layout kLayouts[] = {{0, 0, 0, 0}, {0, 0, -16, -16}, {4, 8, -4, -4}, {1, 3, 0, 0},
                                        {0, 0, 3, 5}, {8, 8, -8, -8},   {2, 4, -2, -2}, {0, 0, 16, 0}};
  std::vector<SelectCase> all;
  cases::Dealer dealer;
  size_t pair = 0;
  const auto padded = [](int64_t bytes, int64_t pad) {
    return pad >= 0 ? bytes + pad : (bytes - pad - 1) / -pad * -pad;
  };
  const auto add = [&](int64_t row_bytes, int64_t n, const Layout& l) {
    const gpumem_memory_kind src = cases::kind(pair);
    const gpumem_memory_kind dst = cases::kind(pair / cases::kKinds);
    pair += 5;  // prime to 16, so that the pairs drift through the layouts
    all.push_back({row_bytes, n, padded(row_bytes, l.src_pad), padded(row_bytes, l.dst_pad), l.src_offset,
                   dealer.one_of<size_t>({0, 0, 1, 7, 15}), l.dst_offset,
                   dealer.one_of({Mask::nothing, Mask::everything, Mask::few, Mask::half, Mask::most, Mask::runs}),
                   dealer.one_of({Room::for_all, Room::for_all, Room::for_more, Room::for_kept, Room::for_half,
                                  Room::for_nothing}),
                   src, dealer.kind(), dst, dealer.kind()});
  };
  for (const int64_t row_bytes : {1, 2, 3, 4, 7, 8, 12, 15, 16, 17, 31, 32, 48, 64, 100, 255, 1000, 4100}) {
    for (const int64_t n : {1, 2, 33, 257}) {
      for (const Layout& l : kLayouts) add(row_bytes, n, l);
    }
  }
  for (const int64_t row_bytes : {1, 2, 4, 6, 8, 16, 36}) {
    for (const int64_t n : {4096, 5000, 20011}) {
      for (const Layout& l : kLayouts) add(row_bytes, n, l);
    }
  }
  add(8, 150001, kLayouts[0]);
  add(1, 300001, kLayouts[3]);
  for (const Layout& l : kLayouts) add(700001, 3, l);  // few and long, so that the host cuts them
  const auto add_places = [&](int64_t n, gpumem_dtype type) {
    add(type < GPUMEM_I64 ? 4 : 8, n, kLayouts[0]);
    all.back().places = true;
    all.back().index_type = type;
    all.back().dst_offset = dealer.coin() ? 8 : 0;
  };
  for (const gpumem_dtype type : {GPUMEM_I32, GPUMEM_U32, GPUMEM_I64, GPUMEM_U64}) {
    for (const int64_t n : {0, 1, 2, 31, 64, 65, 1000, 4095, 4097, 100003}) {
      for (int round = 0; round < 3; ++round) add_places(n, type);
    }
  }
  for (pair = 0; pair < cases::kKinds * cases::kKinds;) {  // every pair of kinds
    const size_t at = pair;
    add(24, 100, kLayouts[7]);
    pair = at + 1;
  }
  add(4, 0, kLayouts[0]);
  // So many that a block of the count has several tiles.
  if (!quick) {
    add_places(3000001, GPUMEM_U32);
    all.back().mask = Mask::half;
    all.back().room = Room::for_all;
    all.back().mask_kind = all.back().dst = all.back().kept = GPUMEM_MEMORY_DEVICE;
  }
  return thinned(all, quick);
}

}  // namespace gpumem_test
