// Arrays in boxes as plain data: what the library is told of them, and, written out element by element, what must lie in whose
// memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "gpumem.h"
#include "support/memory.hpp"

namespace gpumem_test {

using Index = std::vector<int64_t>;  // a number an axis

struct Box {
  int64_t member = 0;  // among all
  Index lower;
  Index upper;
  int64_t offset = 0;
  Index strides;

  bool empty() const {
    for (size_t d = 0; d < lower.size(); ++d) {
      if (lower[d] >= upper[d]) return true;
    }
    return false;
  }
  // Where an element lies in the member's memory; also of one round the box.
  int64_t place(const Index& at) const {
    int64_t place = offset;
    for (size_t d = 0; d < at.size(); ++d) place += (at[d] - lower[d]) * strides[d];
    return place;
  }
};

struct Layout {
  int64_t element_bytes = 1;
  Index extents;
  std::vector<Box> boxes;
  bool spelled_out = false;  // members, offsets and strides are given where NULL would say the same
};

// The whole array, row-major.
struct Array {
  int64_t element_bytes = 1;
  Index extents;
  Bytes bytes;

  Array(int64_t element, Index of) : element_bytes(element), extents(std::move(of)) {
    int64_t elements = 1;
    for (const int64_t extent : extents) elements *= extent;
    bytes.resize(static_cast<size_t>(elements * element_bytes));
  }
  int64_t elements() const { return static_cast<int64_t>(bytes.size()) / element_bytes; }
  unsigned char* at(const Index& index) {
    int64_t place = 0;
    for (size_t d = 0; d < extents.size(); ++d) place = place * extents[d] + index[d];
    return bytes.data() + place * element_bytes;
  }
  const unsigned char* at(const Index& index) const { return const_cast<Array*>(this)->at(index); }
};

// f(index) for each index from lower up to, and without, upper; the last axis fastest.
template <class F>
void for_each_index(const Index& lower, const Index& upper, F f) {
  for (size_t d = 0; d < lower.size(); ++d) {
    if (lower[d] >= upper[d]) return;
  }
  Index at = lower;
  for (size_t d = 1; d > 0;) {
    f(std::as_const(at));
    for (d = at.size(); d > 0 && ++at[d - 1] == upper[d - 1]; --d) at[d - 1] = lower[d - 1];
  }
}

// Axis d of the result is axis order[d] of the array.
inline Array permuted(const Array& array, const std::vector<int32_t>& order) {
  const size_t rank = order.size();
  Index extents(rank);
  for (size_t d = 0; d < rank; ++d) extents[d] = array.extents[static_cast<size_t>(order[d])];
  Array result(array.element_bytes, extents);
  Index from(rank);
  for_each_index(Index(rank, 0), extents, [&](const Index& at) {
    for (size_t d = 0; d < rank; ++d) from[static_cast<size_t>(order[d])] = at[d];
    std::memcpy(result.at(at), array.at(from), static_cast<size_t>(array.element_bytes));
  });
  return result;
}

// The elements of a box, into the image of its member's memory.
inline void put_box(const Array& array, const Box& box, unsigned char* image) {
  for_each_index(box.lower, box.upper, [&](const Index& at) {
    std::memcpy(image + box.place(at) * array.element_bytes, array.at(at), static_cast<size_t>(array.element_bytes));
  });
}

struct Halo {
  Index low;
  Index high;
  std::vector<int32_t> periodic;
};

// What lies round a box: of the array where it has an end, of its other end where it is periodic.
inline void put_halo(const Array& array, const Box& box, const Halo& halo, unsigned char* image) {
  if (box.empty()) return;
  const size_t rank = array.extents.size();
  Index first(rank), end(rank), from(rank);
  for (size_t d = 0; d < rank; ++d) {
    first[d] = box.lower[d] - halo.low[d];
    end[d] = box.upper[d] + halo.high[d];
  }
  for_each_index(first, end, [&](const Index& at) {
    bool inside = true;
    for (size_t d = 0; d < rank; ++d) {
      const int64_t extent = array.extents[d];
      const bool past = at[d] < 0 || at[d] >= extent;
      if (past && halo.periodic[d] == 0) return;
      from[d] = ((at[d] % extent) + extent) % extent;
      inside = inside && at[d] >= box.lower[d] && at[d] < box.upper[d];
    }
    if (inside) return;
    std::memcpy(image + box.place(at) * array.element_bytes, array.at(from), static_cast<size_t>(array.element_bytes));
  });
}

inline Index row_major_strides(const Index& extents) {
  Index strides(extents.size(), 1);
  for (size_t d = extents.size(); d-- > 1;) strides[d - 1] = strides[d] * std::max<int64_t>(extents[d], 1);
  return strides;
}

inline Index extents_of(const Box& box) {
  Index extents(box.lower.size());
  for (size_t d = 0; d < extents.size(); ++d) extents[d] = std::max<int64_t>(box.upper[d] - box.lower[d], 0);
  return extents;
}

// The bytes of a member's memory, what lies behind its boxes (a halo's high) included.
inline int64_t bytes_of_member(const Layout& layout, int64_t member, const Index& high = {}) {
  int64_t elements = 0;
  for (const Box& box : layout.boxes) {
    if (box.member != member || box.empty()) continue;
    Index last = box.upper;
    for (size_t d = 0; d < last.size(); ++d) last[d] += (high.empty() ? 0 : high[d]) - 1;
    elements = std::max(elements, box.place(last) + 1);
  }
  return elements * layout.element_bytes;
}

inline bool has_boxes(const Layout& layout, int64_t member) {
  return std::any_of(layout.boxes.begin(), layout.boxes.end(), [&](const Box& box) { return box.member == member; });
}

// A layout as a process tells the library of it: the boxes of members first to first + count - 1. Arrays that would only repeat
// what NULL says are left out, unless they are to be spelled out.
class View {
 public:
  View(const Layout& layout, int64_t first, int64_t count) : extents_(layout.extents) {
    bool numbered = true, natural = true, at_zero = true;
    for (const Box& box : layout.boxes) {
      if (box.member < first || box.member >= first + count) continue;
      numbered = numbered && box.member - first == static_cast<int64_t>(members_.size());
      natural = natural && (box.empty() || box.strides == row_major_strides(extents_of(box)));
      at_zero = at_zero && box.offset == 0;
      members_.push_back(static_cast<int32_t>(box.member - first));
      offsets_.push_back(box.offset);
      lower_.insert(lower_.end(), box.lower.begin(), box.lower.end());
      upper_.insert(upper_.end(), box.upper.begin(), box.upper.end());
      strides_.insert(strides_.end(), box.strides.begin(), box.strides.end());
    }
    EXPECT_TRUE(ok(gpumem_dist_layout_init(&raw, sizeof raw)));
    raw.element_bytes = layout.element_bytes;
    raw.rank = static_cast<int32_t>(layout.extents.size());
    raw.extents = extents_.data();
    raw.boxes = static_cast<int64_t>(members_.size());
    if (raw.boxes == 0) return;
    raw.lower = lower_.data();
    raw.upper = upper_.data();
    raw.members = numbered && !layout.spelled_out ? nullptr : members_.data();
    raw.offsets = at_zero && !layout.spelled_out ? nullptr : offsets_.data();
    raw.strides = natural && !layout.spelled_out ? nullptr : strides_.data();
  }
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  gpumem_dist_layout raw;

 private:
  Index extents_, lower_, upper_, offsets_, strides_;
  std::vector<int32_t> members_;
};

inline std::string listed(const Index& numbers) {
  std::string text = "(";
  for (size_t i = 0; i < numbers.size(); ++i) text += (i == 0 ? "" : " ") + std::to_string(numbers[i]);
  return text + ")";
}

inline std::string describe(const Layout& layout) {
  std::string text = listed(layout.extents) + " of " + std::to_string(layout.element_bytes) + " bytes";
  for (const Box& box : layout.boxes) {
    text += "; member " + std::to_string(box.member) + ' ' + listed(box.lower) + ".." + listed(box.upper) + " at " +
            std::to_string(box.offset) + " strides " + listed(box.strides);
    if (text.size() > 2000) return text + " ...";
  }
  return text;
}

// Two blocks side by side along the fastest axis, with room for two elements at each end: faces of short runs, enough of them to
// be packed between devices.
inline Layout halves_along_the_fastest_axis() {
  const Index strides{128 * 8, 8, 1};
  return {8, {1032, 128, 8}, {{0, {0, 0, 0}, {1032, 128, 4}, 2, strides}, {1, {0, 0, 4}, {1032, 128, 8}, 2, strides}}};
}

// Four boxes of one member, a quarter each of one array with room for a border of one element.
inline Layout quarters_of_one_array() {
  Layout layout{4, {8, 6}, {}};
  for (const int64_t row : {0, 4}) {
    for (const int64_t col : {0, 3}) {
      layout.boxes.push_back({0, {row, col}, {row + 4, col + 3}, (row + 1) * 8 + col + 1, {8, 1}});
    }
  }
  return layout;
}

}  // namespace gpumem_test
