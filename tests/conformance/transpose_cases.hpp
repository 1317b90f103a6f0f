// The list of cases of gpumem_transpose.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "conformance/cases.hpp"

namespace gpumem_test {

struct TransposeCase {
  int64_t element_bytes;
  int64_t rows;
  int64_t cols;
  int64_t src_ld;
  int64_t dst_ld;
  size_t src_offset;
  size_t dst_offset;
  gpumem_memory_kind src;
  gpumem_memory_kind dst;
  int64_t batches = 1;
  int64_t src_batch_stride = 0;
  int64_t dst_batch_stride = 0;
};

inline std::vector<TransposeCase> transpose_cases(bool quick) {
  struct Layout {
    size_t src_offset, dst_offset;
    int64_t src_pad, dst_pad;  // elements between rows; -1: up to a multiple of 16 elements
  };
  static constexpr Layout kLayouts[] = {{0, 0, 0, 0},  {0, 0, -1, -1},  {0, 0, 1, 3},   {1, 0, 0, 1},
                                        {0, 1, -1, 0}, {4, 8, -1, -1},  {8, 4, 5, 2},   {3, 5, 1, 1},
                                        {15, 2, 0, 7}, {0, 13, -1, -1}, {12, 0, 0, -1}, {0, 8, -1, -1}};
  const auto padded = [](int64_t width, int64_t pad) { return pad >= 0 ? width + pad : (width + 15) / 16 * 16; };
  static constexpr int64_t kExtents[] = {1, 2, 3, 31, 32, 33, 63, 64, 65, 1000};
  std::vector<TransposeCase> all;
  size_t pair = 0;
  const auto add = [&](int64_t element, int64_t rows, int64_t cols, const Layout& l) {
    all.push_back({element, rows, cols, padded(cols, l.src_pad), padded(rows, l.dst_pad), l.src_offset, l.dst_offset,
                   cases::kind(pair), cases::kind(pair / cases::kKinds)});
    pair += 5;  // prime to 16, so that the pairs drift through the layouts
  };
  // The element, the rows and the columns decide the instance and what is left of its tiles; the layout decides which variants take the
  // case and how they read and write. The layouts that most variants take come with everything. Of the others two come with each pair of
  // extents, in such a turn that each element with each extent, of either side, meets every layout.
  const size_t layouts = std::size(kLayouts);
  for (size_t e = 0; e < 5; ++e) {
    for (size_t i = 0; i < std::size(kExtents); ++i) {
      for (size_t j = 0; j < std::size(kExtents); ++j) {
        const int64_t element = int64_t{1} << e;
        const size_t turn = i + j + 5 * e;
        add(element, kExtents[i], kExtents[j], kLayouts[1]);
        add(element, kExtents[i], kExtents[j], kLayouts[turn % layouts]);
        if (kExtents[i] * kExtents[j] > 100000) continue;  // large ones: only some
        add(element, kExtents[i], kExtents[j], kLayouts[0]);
        add(element, kExtents[i], kExtents[j], kLayouts[(turn + layouts / 2) % layouts]);
      }
    }
  }
  for (const int64_t element : {1, 2, 4, 8, 16}) {
    for (pair = 0; pair < cases::kKinds * cases::kKinds; ++pair) {
      all.push_back({element, 100, 60, 64, 112, 0, 0, cases::kind(pair), cases::kind(pair / cases::kKinds)});
    }
    all.push_back({element, 0, 5, 5, 4, 0, 0, GPUMEM_MEMORY_DEVICE, GPUMEM_MEMORY_DEVICE});
    all.push_back({element, 5, 0, 5, 5, 0, 0, GPUMEM_MEMORY_PAGEABLE, GPUMEM_MEMORY_DEVICE});
  }
  // Every alignment of either side, with what is left of a tile.
  for (const int64_t element : {1, 2, 4, 8, 16}) {
    for (size_t offset = 0; offset < 16; ++offset) {
      const gpumem_memory_kind device = GPUMEM_MEMORY_DEVICE;
      all.push_back({element, 150, 133, 133, 150, offset, offset * 7 % 16, device, device});
      all.push_back({element, 133, 150, 151, 141, 0, offset, device, device});
      all.push_back({element, 3, 700, 700, 3, offset, offset * 5 % 16, device, device});
      all.push_back({element, 700, 5, 7, 701, 0, offset, device, device});
    }
  }
  // Long sides of a prime number of elements, beside less than a tile, and two tiles and a little.
  for (const int64_t element : {1, 2, 4, 8, 16}) {
    for (const int64_t extent : {1, 33, 65}) {
      for (const size_t offset : {size_t{0}, static_cast<size_t>(element)}) {
        const auto kind = extent == 33 ? GPUMEM_MEMORY_PINNED : GPUMEM_MEMORY_DEVICE;
        all.push_back({element, 10007, extent, extent, 10007, offset, 0, kind, kind});
        all.push_back({element, extent, 10007, 10007, extent, 0, offset, kind, kind});
      }
    }
  }
  // Long enough for the host to write around the caches, with rows of dst at cache lines and anywhere.
  for (const int64_t element : {1, 2, 4, 8, 16}) {
    const gpumem_memory_kind heap = GPUMEM_MEMORY_PAGEABLE;
    all.push_back({element, 2048, 700 / element + 3, 700 / element + 3, 2048, 0, 0, heap, heap});
    all.push_back(
        {element, 2901, 3000 / element + 1, 3001 / element + 1, 2903, 0, static_cast<size_t>(element), heap, heap});
  }
  // Batches: side by side, with gaps, and one source for all of them.
  cases::Dealer dealer;
  for (const int64_t element : {1, 2, 4, 8, 16}) {
    for (const int64_t batches : {0, 1, 2, 7}) {
      for (const int64_t extent : {1, 3, 16, 33, 64, 65}) {
        const int64_t rows = dealer.coin() ? extent : dealer.one_of<int64_t>({1, 2, 17, 70});
        const int64_t cols = dealer.coin() ? extent : dealer.one_of<int64_t>({1, 3, 32, 130});
        const int64_t src_ld = cols + dealer.one_of<int64_t>({0, 0, 3, 16});
        const int64_t dst_ld = rows + dealer.one_of<int64_t>({0, 0, 1, 16});
        const int64_t src_tight = rows * src_ld;
        const int64_t src_stride = dealer.one_of<int64_t>({src_tight, src_tight, 0, 1, src_tight + 5, src_tight + 64});
        const int64_t dst_stride = cols * dst_ld + dealer.one_of<int64_t>({0, 0, 3, 64});
        const size_t offset = dealer.coin() ? 0 : static_cast<size_t>(element) * dealer.one_of({1u, 3u});
        all.push_back({element, rows, cols, src_ld, dst_ld, offset, dealer.coin() ? 0 : offset, dealer.kind(),
                       dealer.kind(), batches, src_stride, dst_stride});
      }
    }
    all.push_back({element, 3, 2, 2, 3, 0, 0, GPUMEM_MEMORY_DEVICE, GPUMEM_MEMORY_DEVICE, 65536, 6, 6});
    all.push_back({element, 3, 5, 5, 3, 0, 0, dealer.kind(), dealer.kind(), 5000, 17, 16});
  }
  return thinned(all, quick);
}

// Between host and device, longer than the 8 MiB that go over the link at once: whole rows, with and without gaps; blocks of long rows;
// whole matrices, tight, with gaps and overlapping; several that are longer themselves. The shape and the way it goes decide how it is
// cut, the kind of the host's memory how a piece is moved: each shape goes both ways, and meets either kind. Where nothing `crosses`, the
// shapes alone.
inline std::vector<TransposeCase> transpose_across_cases(bool crosses) {
  struct Shape {
    int64_t element_bytes, rows, cols, src_ld, dst_ld;
    size_t src_offset, dst_offset;
    int64_t batches, src_batch_stride, dst_batch_stride;
  };
  static constexpr Shape kShapes[] = {
      {16, 1100, 1003, 1003, 1100, 0, 0, 1, 0, 0},          {4, 1500, 1401, 1410, 1503, 8, 0, 1, 0, 0},
      {16, 131, 4500, 4501, 131, 0, 16, 1, 0, 0},           {16, 4500, 131, 131, 4500, 3, 0, 1, 0, 0},
      {16, 50, 64, 64, 50, 0, 0, 200, 3200, 3200},          {16, 50, 64, 65, 51, 0, 0, 200, 3300, 3301},
      {16, 150, 400, 400, 150, 0, 0, 10, 16, 60000},        {16, 150, 400, 400, 150, 0, 0, 10, 0, 60000},
      {8, 1100, 960, 960, 1100, 8, 8, 2, 1056001, 1056003},
  };
  constexpr gpumem_memory_kind kHost[] = {GPUMEM_MEMORY_PAGEABLE, GPUMEM_MEMORY_PINNED};
  std::vector<TransposeCase> all;
  for (size_t i = 0; i < std::size(kShapes); ++i) {
    const Shape& s = kShapes[i];
    const auto add = [&](gpumem_memory_kind src, gpumem_memory_kind dst) {
      all.push_back({s.element_bytes, s.rows, s.cols, s.src_ld, s.dst_ld, s.src_offset, s.dst_offset, src, dst,
                     s.batches, s.src_batch_stride, s.dst_batch_stride});
    };
    add(kHost[i % 2], GPUMEM_MEMORY_DEVICE);
    if (crosses) add(GPUMEM_MEMORY_DEVICE, kHost[(i + 1) % 2]);
  }
  return all;
}

// In place: src and dst are one.
inline std::vector<TransposeCase> transpose_in_place_cases(bool quick) {
  std::vector<TransposeCase> all;
  cases::Dealer dealer;
  const auto add = [&](int64_t element, int64_t rows, int64_t cols, int64_t pad, int64_t batches, size_t offset) {
    const int64_t src_ld = cols + pad;
    const int64_t dst_ld = rows + pad;
    const int64_t stride = std::max(rows * src_ld, cols * dst_ld) + dealer.one_of<int64_t>({0, 0, 5});
    const gpumem_memory_kind kind = dealer.kind();
    all.push_back({element, rows, cols, src_ld, dst_ld, offset, offset, kind, kind, batches, stride, stride});
  };
  for (const int64_t element : {1, 2, 4, 8, 16}) {
    for (const int64_t side : {1, 2, 3, 31, 32, 33, 63, 64, 65, 300}) {
      for (const int64_t pad : {0, 1, 16}) {
        add(element, side, side, pad, 1, static_cast<size_t>(element) * dealer.one_of({0u, 1u, 3u}));
        add(element, side, side, pad, dealer.one_of<int64_t>({0, 2, 5}), dealer.one_of<size_t>({0, 1, 7, 15}));
      }
    }
    add(element, 1000, 1000, 0, 1, 0);
    // Sides with and without a common divisor, either way round.
    for (const int64_t rows : {1, 2, 3, 4, 7, 24, 31, 64, 129}) {
      for (const int64_t cols : {2, 3, 5, 8, 36, 63, 64, 300}) {
        if (rows == cols) continue;
        const size_t offset = dealer.coin() ? 0 : static_cast<size_t>(element);
        add(element, rows, cols, 0, 1, dealer.coin() ? offset : offset / 2);
        add(element, cols, rows, 0, dealer.one_of<int64_t>({1, 0, 3}), offset);
      }
    }
    add(element, 3, 2, 0, 5000, 0);
    add(element, 499, 503, 0, 1, 1);
    add(element, 512, 320, 0, 1, 0);
    add(element, 96, 1280, 0, 2, 0);
    // Rows that do not fit into the shared memory of a block.
    const int64_t long_row = 232448 / element + 3;
    if (element >= 4) add(element, 3, long_row, 0, 1, 0);
    if (element >= 8) add(element, long_row, 4, 0, 2, 0);
    // For all of the host's threads.
    if (element == 4) add(element, 5, 70001, 0, 2, 0);
  }
  all = thinned(all, quick);
  // For every variant there is at least one, however few the cases: a square whose rows begin on 16-byte boundaries.
  for (const int64_t element : {4, 8, 16}) {
    all.push_back(
        {element, 100, 100, 104, 104, 0, 0, GPUMEM_MEMORY_DEVICE, GPUMEM_MEMORY_DEVICE, 2, 104 * 100, 104 * 100});
  }
  return all;
}

}  // namespace gpumem_test
