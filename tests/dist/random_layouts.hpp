// Random layouts: boxes, and where each lies in its member's memory.
#pragma once

#include "dist/partitions.hpp"

namespace gpumem_test {

// No two boxes of one member share an element.
inline bool disjoint_on_each_member(const std::vector<Box>& boxes) {
  for (size_t i = 0; i < boxes.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (boxes[i].member != boxes[j].member) continue;
      bool shared = true;
      for (size_t d = 0; d < boxes[i].lower.size(); ++d) {
        shared =
            shared && std::max(boxes[i].lower[d], boxes[j].lower[d]) < std::min(boxes[i].upper[d], boxes[j].upper[d]);
      }
      if (shared) return false;
    }
  }
  return true;
}

namespace placing {

// Row-major without gaps; or the axes in any order, with gaps between the elements and the lines.
inline Index strides(const Index& extents, bool with_gaps, Random& random) {
  if (!with_gaps) return row_major_strides(extents);
  Index strides(extents.size(), 1);
  int64_t stride = random.below(4) == 0 ? 2 : 1;
  int64_t gaps = 2;  // in all, lest they take all memory
  for (const int32_t axis : random_order(extents.size(), random)) {
    const auto d = static_cast<size_t>(axis);
    strides[d] = extents[d] <= 1 ? random.between(1, 1000) : stride;
    const int64_t gap = random.between(0, gaps);
    gaps -= gap;
    stride *= std::max<int64_t>(extents[d], 1) + gap;
  }
  return strides;
}

}  // namespace placing

// Gives each box its place in its member's memory, with room round it for a halo: one behind the other, with or without gaps, or
// where it would lie in an array as large as the whole.
inline void place_boxes(Layout& layout, Random& random, const Halo* halo = nullptr) {
  const size_t rank = layout.extents.size();
  const bool in_whole = halo == nullptr && random.below(4) == 0 && disjoint_on_each_member(layout.boxes);
  const bool with_gaps = !in_whole && random.below(2) == 0;
  layout.spelled_out = random.below(2) == 0;
  Index next;  // the first free element of each member
  for (Box& box : layout.boxes) {
    const auto member = static_cast<size_t>(box.member);
    if (next.size() <= member) next.resize(member + 1, 0);
    Index extents = in_whole ? layout.extents : extents_of(box);
    for (size_t d = 0; d < rank && halo != nullptr; ++d) extents[d] += halo->low[d] + halo->high[d];
    box.strides = placing::strides(extents, with_gaps, random);
    box.offset = next[member] + (with_gaps ? random.between(0, 5) : 0);
    for (size_t d = 0; d < rank; ++d) {
      box.offset += (in_whole ? box.lower[d] : halo != nullptr ? halo->low[d] : 0) * box.strides[d];
    }
    if (box.empty() || in_whole) continue;
    Index last = box.upper;
    for (size_t d = 0; d < rank; ++d) last[d] += (halo == nullptr ? 0 : halo->high[d]) - 1;
    next[member] = box.place(last) + 1;
  }
}

struct Move {
  Layout src;
  Layout dst;
  std::vector<int32_t> order;  // empty: NULL
};

// A range that gets gaps on another member; its last part may be one element.
inline Move spread_out(int64_t n) { return {{8, {n}, {{0, {0}, {n}, 0, {1}}}}, {8, {n}, {{1, {0}, {n}, 0, {2}}}}, {}}; }

// Halves of rows that become halves of columns, or of the columns' rows: pieces of long rows, of as many bytes as are worth a copy of their
// own between two devices.
inline Move halves_exchanged(int64_t rows, int64_t cols, bool transposed) {
  const Layout slabs{
      4, {rows, cols}, {{0, {0, 0}, {rows / 2, cols}, 0, {cols, 1}}, {1, {rows / 2, 0}, {rows, cols}, 0, {cols, 1}}}};
  const int64_t half = cols / 2;
  if (!transposed)
    return {slabs,
            {4, {rows, cols}, {{0, {0, 0}, {rows, half}, 0, {half, 1}}, {1, {0, half}, {rows, cols}, 0, {half, 1}}}},
            {}};
  return {slabs,
          {4, {cols, rows}, {{0, {0, 0}, {half, rows}, 0, {rows, 1}}, {1, {half, 0}, {cols, rows}, 0, {rows, 1}}}},
          {1, 0}};
}

// Long enough for two devices to have ways of their own, where it is asked for; else a few elements on the same ways of others.
inline std::vector<Move> moves_of_long_rows(bool long_enough) {
  return {halves_exchanged(1024, 4096, false), halves_exchanged(long_enough ? 8192 : 128, 8192, true),
          halves_exchanged(long_enough ? 7001 : 71, 8200, true), spread_out(long_enough ? 8388609 : 1025)};
}

// Takes away the boxes of src of which nothing is asked for.
inline void keep_what_is_asked_for(Move& move) {
  std::erase_if(move.src.boxes, [&](const Box& from) {
    return std::none_of(move.dst.boxes.begin(), move.dst.boxes.end(), [&](const Box& to) {
      for (size_t d = 0; d < to.lower.size(); ++d) {
        const size_t axis = move.order.empty() ? d : static_cast<size_t>(move.order[d]);
        if (std::max(from.lower[axis], to.lower[d]) >= std::min(from.upper[axis], to.upper[d])) return false;
      }
      return true;
    });
  });
}

inline Move random_move(int64_t members, int64_t elements, Random& random) {
  Move move;
  const size_t rank = random_rank(random);
  move.src.element_bytes = move.dst.element_bytes = random_element_bytes(random);
  move.src.extents = move.dst.extents = random_extents(rank, elements, random);
  if (random.below(3) != 0) {
    move.order = random_order(rank, random);
    for (size_t d = 0; d < rank; ++d) move.dst.extents[d] = move.src.extents[static_cast<size_t>(move.order[d])];
  }
  move.src.boxes = random_partition(move.src.extents, members, random);
  move.dst.boxes = random_targets(move.dst.extents, members, random);
  if (random.below(2) == 0) keep_what_is_asked_for(move);
  place_boxes(move.src, random);
  place_boxes(move.dst, random);
  return move;
}

inline std::string describe(const Move& move) {
  return "src " + describe(move.src) + "\ndst " + describe(move.dst) + "\norder " +
         listed(Index(move.order.begin(), move.order.end()));
}

// Margins of up to three axes: a few elements wide, or, of one axis, wider than the array.
inline Halo random_halo(const Index& extents, Random& random) {
  Halo halo;
  const size_t widest = random.below(4) == 0 ? random.below(extents.size()) : extents.size();
  int64_t more = 3;
  for (size_t d = 0; d < extents.size(); ++d) {
    const int64_t most = more == 0 ? 0 : d == widest && extents[d] < 40 ? 2 * extents[d] + 1 : 3;
    halo.low.push_back(random.between(0, most));
    halo.high.push_back(random.between(0, most));
    halo.periodic.push_back(random.below(2) == 0 ? 1 : 0);
    if (halo.low[d] + halo.high[d] > 0) --more;
  }
  return halo;
}

inline Layout random_halo_layout(int64_t members, int64_t elements, Halo& halo, Random& random) {
  Layout layout;
  layout.element_bytes = random_element_bytes(random);
  layout.extents = random_extents(random_rank(random), elements, random);
  layout.boxes = random_partition(layout.extents, members, random);
  halo = random_halo(layout.extents, random);
  place_boxes(layout, random, &halo);
  return layout;
}

inline std::string describe(const Layout& layout, const Halo& halo) {
  return describe(layout) + "\nlow " + listed(halo.low) + " high " + listed(halo.high) + " periodic " +
         listed(Index(halo.periodic.begin(), halo.periodic.end()));
}

}  // namespace gpumem_test
