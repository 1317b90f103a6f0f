// The cases of gathers and scatters: sizes of rows x numbers of them x pitches x alignment x index type x kinds of memory.
#pragma once

#include <vector>

#include "conformance/cases.hpp"

namespace gpumem_test {

enum class Named {
  in_order,   // 0, 1, 2, ...
  shuffled,   // each at most once
  at_random,  // gathers alone: any, again and again
};

struct RowsCase {
  int64_t row_bytes;
  int64_t n;
  int64_t rows;  // of the matrix that the index names
  int64_t src_pitch;
  int64_t dst_pitch;
  size_t src_offset;
  size_t dst_offset;
  gpumem_dtype index_type;
  Named named;
  gpumem_memory_kind src;
  gpumem_memory_kind index;
  gpumem_memory_kind dst;
  gpumem_memory_kind status;
};

inline std::vector<RowsCase> rows_cases(bool quick) {
  static constexpr gpumem_dtype kTypes[] = {GPUMEM_I32, GPUMEM_U32, GPUMEM_I64, GPUMEM_U64};
  struct Layout {
    size_t src_offset, dst_offset;
    int64_t src_pad, dst_pad;  // bytes between rows; negative: up to a multiple of as many
  };
  static constexpr Layout kLayouts[] = {{0, 0, 0, 0},    {0, 0, -16, -16}, {4, 8, -4, -4}, {1, 3, 0, 0}, {0, 0, 3, 5},
                                        {12, 0, 0, -16}, {0, 2, -16, -16}, {8, 8, 8, 24},  {0, 0, 16, 0}};
  std::vector<RowsCase> all;
  cases::Dealer dealer;
  size_t pair = 0;
  const auto padded = [](int64_t bytes, int64_t pad) {
    return pad >= 0 ? bytes + pad : (bytes - pad - 1) / -pad * -pad;
  };
  const auto add = [&](int64_t row_bytes, int64_t n, int64_t rows, const Layout& l) {
    const gpumem_memory_kind src = cases::kind(pair);
    const gpumem_memory_kind dst = cases::kind(pair / cases::kKinds);
    pair += 5;  // prime to 16, so that the pairs drift through the layouts
    const auto named = dealer.one_of({Named::in_order, Named::shuffled, Named::shuffled, Named::at_random});
    const gpumem_dtype type = kTypes[all.size() % 4];
    all.push_back({row_bytes, n, rows, padded(row_bytes, l.src_pad), padded(row_bytes, l.dst_pad), l.src_offset,
                   l.dst_offset, type, named, src, dealer.kind(), dst, dealer.kind()});
  };
  for (const int64_t row_bytes : {1, 2, 3, 4, 7, 8, 12, 15, 16, 17, 31, 32, 48, 64, 100, 128, 255, 1000, 1040, 4100}) {
    for (const int64_t n : {1, 2, 33, 257}) {
      for (const Layout& l : kLayouts) add(row_bytes, n, n + dealer.one_of<int64_t>({0, 1, 7, 100}), l);
    }
  }
  for (const int64_t row_bytes : {1, 4, 6, 16, 36}) {
    for (const Layout& l : kLayouts) add(row_bytes, 5000, dealer.one_of<int64_t>({5000, 7000}), l);
  }
  // Many, so that the index is checked by several tasks and blocks; few and long, so that the host cuts them.
  add(8, 150001, 150001, kLayouts[0]);
  add(1, 150001, 200000, kLayouts[3]);
  for (const Layout& l : kLayouts) add(700001, 3, 4, l);
  add(600000, 1, 1, kLayouts[0]);
  for (pair = 0; pair < cases::kKinds * cases::kKinds;) {  // every pair of kinds
    const size_t at = pair;
    add(24, 100, 120, kLayouts[7]);
    pair = at + 1;
  }
  for (const gpumem_dtype type : kTypes) {  // nothing to do
    all.push_back({4, 0, 5, 4, 4, 0, 0, type, Named::in_order, GPUMEM_MEMORY_DEVICE, GPUMEM_MEMORY_PAGEABLE,
                   GPUMEM_MEMORY_DEVICE, GPUMEM_MEMORY_PINNED});
  }
  return thinned(all, quick);
}

}  // namespace gpumem_test
