#include "support/plain.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "problems/problem.hpp"

namespace bench {
namespace {

Axes transpose(const tool::Problem& p) {
  const int64_t rows = p.number("rows"), cols = p.number("cols");
  Axes axes{.element_bytes = static_cast<int>(p.number("bytes"))};
  axes.add(p.number("batches", 1), rows * cols, rows * cols);
  axes.add(cols, 1, rows);
  axes.add(rows, cols, 1);
  return axes;
}

Axes permutation(const tool::Problem& p) {
  const std::vector<int64_t> extents = p.numbers("extents"), order = p.numbers("order");
  std::vector<int64_t> src(extents.size(), 1), dst(extents.size(), 1);
  const auto at = [](int64_t axis) { return static_cast<std::size_t>(axis); };
  for (std::size_t d = extents.size(); d-- > 1;) {
    src[d - 1] = src[d] * extents[d];
    dst[d - 1] = dst[d] * extents[at(order[d])];
  }
  Axes axes{.element_bytes = static_cast<int>(p.number("bytes"))};
  for (std::size_t d = 0; d < extents.size(); ++d) axes.add(extents[at(order[d])], src[at(order[d])], dst[d]);
  return axes;
}

// Box k begins a multiple of the largest stride after box k - 1.
Axes boxes(const tool::Problem& p) {
  const std::vector<int64_t> extents = p.numbers("extents");
  const auto side = [&](const char* key) {
    std::vector<int64_t> strides = p.numbers(key);
    int64_t step = 1;
    for (std::size_t d = extents.size(); strides.size() < extents.size() && d-- > 0; step *= extents[d])
      strides.insert(strides.begin(), step);
    for (std::size_t d = 0; d < extents.size(); ++d) step = std::max(step, extents[d] * strides[d]);
    strides.insert(strides.begin(), step);
    return strides;
  };
  const std::vector<int64_t> src = side("src_strides"), dst = side("dst_strides");
  Axes axes{.element_bytes = static_cast<int>(p.number("bytes"))};
  axes.add(p.number("count", 1), src[0], dst[0]);
  for (std::size_t d = 0; d < extents.size(); ++d) axes.add(extents[d], src[d + 1], dst[d + 1]);
  return axes;
}

Axes copy(const tool::Problem& p) {
  const int64_t row = p.number("bytes"), rows = p.number("rows", 1), slices = p.number("slices", 1);
  const int64_t src_pitch = p.number("src_pitch", row), dst_pitch = p.number("dst_pitch", row);
  const int64_t src_slice = p.number("src_slice", rows * src_pitch),
                dst_slice = p.number("dst_slice", rows * dst_pitch);
  const auto all = static_cast<uint64_t>(row | src_pitch | dst_pitch | src_slice | dst_slice | 16);
  const int64_t size = int64_t{1} << std::countr_zero(all);
  Axes axes{.element_bytes = static_cast<int>(size)};
  axes.add(slices, src_slice / size, dst_slice / size);
  axes.add(rows, src_pitch / size, dst_pitch / size);
  axes.add(row / size, 1, 1);
  return axes;
}

}  // namespace

Axes axes_of(const tool::Problem& problem) {
  if (problem.family() == "transpose") return transpose(problem);
  if (problem.family() == "copy_boxes") return boxes(problem);
  return problem.family() == "permute" ? permutation(problem) : copy(problem);
}

}  // namespace bench
