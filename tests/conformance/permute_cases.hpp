// The list of cases of gpumem_permute: shapes in the manner of the benchmarks of tensor transpositions (ranks 2 to 6, with and
// without a fastest axis that moves, whole arrays of about 2^26 elements), which tests take scaled down, and the cases that
// look at one rule each. Plain data, so that benchmarks can take the shapes at full size.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

#include "conformance/cases.hpp"
#include "support/random.hpp"

namespace gpumem_test {

struct PermuteCase {
  int64_t element_bytes;
  std::vector<int64_t> extents;  // of src
  std::vector<int32_t> order;
  std::vector<int64_t> src_strides;  // empty: NULL
  std::vector<int64_t> dst_strides;
  size_t src_offset;  // bytes from a multiple of 16
  size_t dst_offset;
  gpumem_memory_kind src;
  gpumem_memory_kind dst;
};

struct PermuteShape {
  int32_t rank;
  int64_t extents[6];  // of src, the last axis fastest
  int32_t order[6];    // as of NumPy's transpose(axes)

  bool fastest_moves() const { return order[rank - 1] != rank - 1; }
};

inline constexpr PermuteShape kPermuteShapes[] = {
    {2, {8192, 8192}, {1, 0}},
    {2, {54307, 1237}, {1, 0}},
    {2, {1237, 54307}, {1, 0}},
    {3, {409, 411, 399}, {0, 2, 1}},
    {3, {409, 411, 399}, {1, 0, 2}},
    {3, {409, 411, 399}, {2, 1, 0}},
    {3, {409, 411, 399}, {1, 2, 0}},
    {3, {409, 411, 399}, {2, 0, 1}},
    {3, {37, 1871, 971}, {1, 0, 2}},
    {3, {1871, 971, 37}, {2, 1, 0}},
    {3, {971, 1871, 37}, {1, 0, 2}},
    {4, {91, 93, 87, 90}, {0, 2, 1, 3}},
    {4, {91, 93, 87, 90}, {1, 0, 3, 2}},
    {4, {91, 93, 87, 90}, {3, 2, 1, 0}},
    {4, {91, 93, 87, 90}, {2, 1, 0, 3}},
    {4, {23, 411, 17, 399}, {1, 3, 0, 2}},
    {4, {399, 17, 411, 23}, {0, 3, 2, 1}},
    {4, {3, 2711, 7, 1201}, {2, 0, 1, 3}},
    {5, {37, 38, 35, 36, 39}, {4, 3, 2, 1, 0}},
    {5, {37, 38, 35, 36, 39}, {1, 3, 0, 2, 4}},
    {5, {37, 38, 35, 36, 39}, {0, 4, 2, 1, 3}},
    {5, {5, 211, 6, 97, 101}, {3, 1, 4, 0, 2}},
    {5, {101, 6, 97, 211, 5}, {2, 1, 3, 0, 4}},
    {6, {20, 21, 19, 22, 18, 20}, {5, 4, 3, 2, 1, 0}},
    {6, {20, 21, 19, 22, 18, 20}, {3, 0, 4, 1, 2, 5}},
    {6, {20, 21, 19, 22, 18, 20}, {0, 3, 2, 5, 4, 1}},
    {6, {3, 67, 5, 71, 7, 131}, {4, 2, 0, 5, 3, 1}},
    {6, {131, 7, 71, 5, 67, 3}, {2, 4, 1, 3, 0, 5}},
};

// The shape with its longest axes cut by halves until the array takes fewer than `bytes`.
inline PermuteShape scaled_down(PermuteShape shape, int64_t element_bytes, int64_t bytes) {
  const auto elements = [&] {
    int64_t product = 1;
    for (int32_t d = 0; d < shape.rank; ++d) product *= shape.extents[d];
    return product;
  };
  while (elements() * element_bytes >= bytes) {
    int32_t longest = 0;
    for (int32_t d = 1; d < shape.rank; ++d) longest = shape.extents[d] > shape.extents[longest] ? d : longest;
    shape.extents[longest] = (shape.extents[longest] + 1) / 2;
  }
  return shape;
}

namespace cases {

// Strides of axes that lie in memory in the order of `outermost_first`, with some elements between the lines of each.
inline std::vector<int64_t> strides_in(const std::vector<int64_t>& extents, const std::vector<int32_t>& outermost_first,
                                       const std::vector<int64_t>& gaps) {
  std::vector<int64_t> strides(extents.size());
  int64_t stride = 1;
  for (size_t i = extents.size(); i-- > 0;) {
    const auto axis = static_cast<size_t>(outermost_first[i]);
    strides[axis] = stride + (i + 1 == extents.size() ? gaps[axis] / 2 : 0);
    stride = strides[axis] * extents[axis] + gaps[axis];
  }
  return strides;
}

inline std::vector<int64_t> in_order(const std::vector<int64_t>& extents, const std::vector<int32_t>& order) {
  std::vector<int64_t> out;
  for (const int32_t axis : order) out.push_back(extents[static_cast<size_t>(axis)]);
  return out;
}

inline std::vector<int32_t> shuffled(size_t count, Random& random) {
  std::vector<int32_t> axes(count);
  std::iota(axes.begin(), axes.end(), 0);
  for (size_t i = count; i > 1; --i) std::swap(axes[i - 1], axes[random.below(i)]);
  return axes;
}

}  // namespace cases

// Any rank, extents, order, strides, element size and offsets, of at most about 4000 elements.
inline PermuteCase random_permutation(Random& random) {
  PermuteCase c;
  c.element_bytes = int64_t{1} << random.below(5);
  const auto rank = static_cast<size_t>(random.below(9));
  int64_t room = 4000;
  for (size_t d = 0; d < rank; ++d) {
    const int64_t most = random.below(4) == 0 ? room : std::min<int64_t>(room, 9);
    c.extents.push_back(random.below(5) == 0 ? 1 : random.between(1, std::max<int64_t>(most, 1)));
    room /= c.extents.back();
  }
  if (rank > 0 && random.below(40) == 0) c.extents[random.below(rank)] = 0;
  for (size_t i = rank; i > 1; --i) std::swap(c.extents[i - 1], c.extents[random.below(i)]);
  c.order = cases::shuffled(rank, random);
  // Often the fastest axis stays where it is.
  if (rank > 0 && random.below(3) == 0) std::swap(*std::find(c.order.begin(), c.order.end(), rank - 1), c.order.back());
  const auto strides = [&](const std::vector<int64_t>& extents) {
    std::vector<int64_t> gaps(rank);
    for (int64_t& gap : gaps) gap = random.below(3) == 0 ? random.between(1, 16) : 0;
    std::vector<int32_t> axes(rank);
    std::iota(axes.begin(), axes.end(), 0);
    return cases::strides_in(extents, random.below(3) == 0 ? cases::shuffled(rank, random) : axes, gaps);
  };
  if (random.below(2) == 0) c.src_strides = strides(c.extents);
  if (random.below(2) == 0) c.dst_strides = strides(cases::in_order(c.extents, c.order));
  for (int64_t& stride : c.src_strides) {
    if (random.below(6) == 0) stride = static_cast<int64_t>(random.below(3));  // repeats, or windows that overlap
  }
  const auto offset = [&] {
    const auto aligned = static_cast<size_t>(c.element_bytes) * random.below(16);
    return random.below(4) == 0 ? random.below(16) : aligned % 16;
  };
  c.src_offset = offset();
  c.dst_offset = offset();
  c.src = cases::kind(random.below(4));
  c.dst = random.below(2) == 0 ? c.src : cases::kind(random.below(4));
  return c;
}

// Runs, strides and addresses on both sides of what lets a run move as wider elements.
inline std::vector<PermuteCase> widening_cases(bool quick) {
  std::vector<PermuteCase> all;
  cases::Dealer dealer;
  for (const int64_t element : {1, 2, 4, 8}) {
    for (const int64_t run_bytes : {2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 80}) {
      if (run_bytes % element != 0) continue;
      for (const int64_t pad_bytes : {0, 1, 2, 4, 8, 16}) {
        if (pad_bytes % element != 0) continue;
        for (const size_t offset : {0, 1, 2, 4, 8}) {
          const int64_t run = run_bytes / element;
          const int64_t pitch = run + pad_bytes / element;
          const bool pad_src = dealer.coin();
          const auto with_pad = [&](int64_t outer) { return std::vector<int64_t>{outer * pitch, pitch, 1}; };
          all.push_back({element,
                         {9, 10, run},
                         {1, 0, 2},
                         pad_src ? with_pad(10) : std::vector<int64_t>{},
                         pad_src ? std::vector<int64_t>{} : with_pad(9),
                         dealer.coin() ? offset : 0,
                         dealer.coin() ? offset : 0,
                         dealer.kind(),
                         dealer.kind()});
        }
      }
    }
  }
  return thinned(all, quick);
}

// Arrays of several boxes (kernels/permute_box.hpp) along several axes: extents that no box divides, lines that begin between sectors
// or end in the middle of a box, gaps and short axes on either side.
inline std::vector<PermuteCase> box_cases(bool quick) {
  struct Shape {
    std::vector<int64_t> extents;
    std::vector<int32_t> order;
    int64_t gap;  // after the lines of src
  };
  const Shape shapes[] = {
      {{419, 307}, {1, 0}, 0},
      {{416, 304}, {1, 0}, 0},
      {{416, 304}, {1, 0}, 5},
      {{3, 40009}, {1, 0}, 0},
      {{40009, 3}, {1, 0}, 0},
      {{4, 61, 503}, {1, 2, 0}, 0},
      {{41, 37, 53}, {2, 1, 0}, 0},
      {{41, 37, 53}, {1, 2, 0}, 3},
      {{41, 37, 53}, {0, 2, 1}, 0},
      {{7, 311, 5, 13}, {2, 1, 3, 0}, 0},
      {{5, 101, 6, 19, 3}, {3, 1, 4, 0, 2}, 0},
      {{6, 10, 9, 7, 8, 5}, {5, 4, 3, 2, 1, 0}, 0},
      {{6, 10, 9, 7, 8, 5}, {0, 3, 1, 4, 2, 5}, 1},
      {{31, 29, 129}, {1, 0, 2}, 0},
      {{31, 29, 130}, {1, 0, 2}, 7},
      {{3, 5, 1031}, {1, 0, 2}, 0},
      {{3, 2, 9001}, {1, 0, 2}, 1},
  };
  std::vector<PermuteCase> all;
  cases::Dealer dealer;
  for (const int64_t element : {4, 8, 1, 2, 16}) {
    for (const Shape& shape : shapes) {
      std::vector<int64_t> strides(shape.extents.size(), 1);
      for (size_t d = strides.size(); d-- > 1;) {
        strides[d - 1] = strides[d] * shape.extents[d] + (d + 1 == strides.size() ? shape.gap : 0);
      }
      const auto bytes = static_cast<size_t>(element);
      all.push_back({element, shape.extents, shape.order, strides, std::vector<int64_t>{},
                     bytes * dealer.one_of({0u, 1u, 3u}) % 16, bytes * dealer.one_of({0u, 0u, 1u, 5u}) % 16,
                     GPUMEM_MEMORY_DEVICE, GPUMEM_MEMORY_DEVICE});
    }
  }
  if (quick) all.resize(std::size(shapes));
  return all;
}

inline std::vector<PermuteCase> permute_cases(bool quick) {
  std::vector<PermuteCase> all;
  cases::Dealer dealer;
  const auto add = [&](int64_t element, const std::vector<int64_t>& extents, const std::vector<int32_t>& order,
                       const std::vector<int64_t>& src_strides = {}, const std::vector<int64_t>& dst_strides = {}) {
    const auto bytes = static_cast<size_t>(element);
    all.push_back({element, extents, order, src_strides, dst_strides, bytes * dealer.one_of({0u, 0u, 1u, 3u}) % 16,
                   bytes * dealer.one_of({0u, 0u, 1u, 5u}) % 16, dealer.kind(), dealer.kind()});
  };
  for (const int64_t element : {1, 2, 4, 8, 16}) {
    std::vector<int32_t> order = {0, 1, 2, 3};
    do {
      add(element, {3, 13, 34, 9}, order);
    } while (std::next_permutation(order.begin(), order.end()));
    for (const PermuteShape& shape : kPermuteShapes) {
      const PermuteShape small = scaled_down(shape, element, 65536);
      add(element, {small.extents, small.extents + small.rank}, {small.order, small.order + small.rank});
    }
    // A single element, by rank and by extents; nothing at all.
    add(element, {}, {});
    add(element, {1, 1, 1, 1, 1, 1, 1, 1}, {7, 6, 5, 4, 3, 2, 1, 0});
    add(element, {3, 0, 5}, {2, 0, 1});
    // Extents of 1 between others, whose strides say nothing.
    add(element, {1, 40, 1, 50, 1}, {3, 4, 1, 0, 2});
    add(element, {1, 40, 1, 50, 1}, {3, 4, 1, 0, 2}, {0, 53, INT64_MAX, 1, 7}, {41, 99, 1, INT64_MAX, 0});
    // One long run; one that a gap cuts; one whose elements lie apart on one side or both.
    add(element, {100, 41}, {0, 1});
    add(element, {100, 41}, {0, 1}, {42, 1}, {});
    add(element, {3000}, {0}, {2}, {});
    add(element, {3000}, {0}, {}, {3});
    add(element, {70, 60}, {1, 0}, {121, 2}, {});
    add(element, {70, 60}, {1, 0}, {}, {145, 2});
    // Repeated elements, lines and windows.
    add(element, {70, 60}, {1, 0}, {0, 1}, {});
    add(element, {70, 60}, {1, 0}, {1, 0}, {});
    add(element, {70, 60}, {0, 1}, {0, 0}, {});
    add(element, {70, 60}, {1, 0}, {1, 1}, {});
    add(element, {70, 60}, {1, 0}, {2, 1}, {});
    // Mostly gaps.
    add(element, {9, 11, 10}, {2, 0, 1}, {3000, 200, 17}, {});
    add(element, {9, 11, 10}, {0, 2, 1}, {3000, 200, 1}, {400, 1, 30});
    // A short axis on either side, and one that is a little longer than a tile.
    for (const int64_t shorter : {2, 3, 7, 8, 9, 31, 33, 65}) {
      add(element, {4, 130, shorter}, {0, 2, 1});
      add(element, {4, shorter, 130}, {0, 2, 1});
    }
  }
  // Every pair of kinds for a run, a plane and a general case.
  for (size_t pair = 0; pair < cases::kKinds * cases::kKinds; ++pair) {
    for (const int32_t form : {0, 1, 2}) {
      all.push_back({4,
                     {10, 20, 30},
                     form == 0 ? std::vector<int32_t>{1, 0, 2} : std::vector<int32_t>{2, 1, 0},
                     form == 2 ? std::vector<int64_t>{1900, 90, 3} : std::vector<int64_t>{},
                     {},
                     0,
                     0,
                     cases::kind(pair),
                     cases::kind(pair / cases::kKinds)});
    }
  }
  all = thinned(all, quick);
  // For every variant there is at least one, however few the cases: long lines, planes, and planes counted by a third axis.
  const auto device = static_cast<gpumem_memory_kind>(GPUMEM_MEMORY_DEVICE);
  for (const int64_t element : {4, 2}) {
    all.push_back({element, {6, 10, 512}, {1, 0, 2}, {}, {}, 0, 0, device, device});
    all.push_back({element, {70, 90}, {1, 0}, {}, {}, 0, 0, device, device});
    all.push_back({element, {70, 3, 90}, {2, 1, 0}, {}, {}, 0, 0, device, device});
    all.push_back({element, {3, 64, 96}, {0, 2, 1}, {}, {}, 0, 0, device, device});
  }
  return all;
}

}  // namespace gpumem_test
