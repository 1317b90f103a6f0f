// Parameters of a sort, and the order of its keys.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/alignment.hpp"
#include "kernels/elements.hpp"

namespace gpumem {

struct SortParams {
  gpumem_dtype dtype = GPUMEM_F32;
  const void* keys = nullptr;
  int64_t n = 0;
  int32_t descending = 0;
  void* sorted = nullptr;  // or nullptr
  void* order = nullptr;   // or nullptr
  gpumem_dtype order_type = GPUMEM_I64;
  const int64_t* offsets = nullptr;  // of segments
  int64_t segments = -1;             // -1: the keys are one sequence
  gpumem_status* status = nullptr;   // of segments; may be nullptr

  constexpr int64_t elements() const noexcept { return n; }
  constexpr bool in_segments() const noexcept { return segments != -1; }
};

// The unsigned type of an element's size.
template <class F>
constexpr auto for_word(gpumem_dtype dtype, const F& f) {
  switch (element_bytes(dtype)) {
    case 1:
      return f.template operator()<uint8_t>();
    case 2:
      return f.template operator()<uint16_t>();
    case 4:
      return f.template operator()<uint32_t>();
    default:
      return f.template operator()<uint64_t>();
  }
}

// Maps the bits of an element to its rank, an unsigned number. A stable sort by rank is the sort. The maps have no
// branches, because a radix sort computes them in each pass instead of storing ranks.
template <class Unsigned>
struct IntegerRank {
  using Word = Unsigned;
  Word flip;

  constexpr Word operator()(Word bits) const noexcept { return bits ^ flip; }
  // The bits of an element whose rank has all bits set.
  constexpr Word last() const noexcept { return static_cast<Word>(~flip); }
};

// Of any type. NaNs have one rank: the highest, or in descending order the lowest.
template <class Unsigned>
struct RankOf {
  using Word = Unsigned;
  Word flip;           // in every element
  Word flip_negative;  // also in elements with the highest bit set
  Word add;            // NaNs are now above all numbers, or below
  Word least;          // then clamps to these make them equal
  Word most;
  Word lift;  // so that the highest rank has all bits set
  Word of_last;

  constexpr Word operator()(Word bits) const noexcept {
    constexpr int kTop = 8 * sizeof(Word) - 1;
    const Word negative = static_cast<Word>(0) - static_cast<Word>(bits >> kTop);
    auto place = static_cast<Word>((bits ^ flip ^ (negative & flip_negative)) + add);
    place = place < least ? least : place;
    return static_cast<Word>((place < most ? place : most) + lift);
  }
  constexpr Word last() const noexcept { return of_last; }
};

// Ascending floats: negative ones are complemented, others get the sign bit. Descending ones: the complement of that.
template <class Word>
constexpr RankOf<Word> rank_of_keys(gpumem_dtype dtype, bool descending) noexcept {
  const auto all = static_cast<Word>(~Word{0});
  const auto sign = static_cast<Word>(is_floating(dtype) || is_signed_integer(dtype) ? sign_bit(dtype) : 0);
  const auto flip = static_cast<Word>(descending ? all ^ sign : sign);
  if (!is_floating(dtype)) return {flip, 0, 0, 0, all, 0, static_cast<Word>(~flip)};
  const auto magnitude = static_cast<Word>(all >> 1);
  const auto infinity = static_cast<Word>(infinity_bits(dtype));
  const auto nans = static_cast<Word>(magnitude - infinity);  // of each sign
  if (descending) {
    const auto of_nans = static_cast<Word>(2 * nans - 1);
    return {flip, magnitude, nans, of_nans, all, 0, static_cast<Word>(sign | infinity)};
  }
  const auto of_nans = static_cast<Word>(all - 2 * nans + 1);
  return {flip, magnitude, static_cast<Word>(0 - nans), 0, of_nans, static_cast<Word>(all - of_nans), magnitude};
}

// Positions are sorted with the keys, in 4 bytes if they fit. If only keys are sorted, the offsets of CUB have this size:
// H200, 2^28 elements, time of 8 bytes over that of 4: u8 1.4, i16 1.01, i32 0.86, i64 1.0.
constexpr int position_bytes(const SortParams& p) noexcept {
  const bool narrow = p.order != nullptr || element_bytes(p.dtype) <= 2;
  return narrow && p.n < int64_t{1} << 32 ? 4 : 8;
}
// Whether the radix sort may overwrite the array that it reads: keys itself if it is sorted in place, or a copy.
inline bool overwrites_keys(const SortParams& p) noexcept {
  return p.keys == p.sorted || !aligned(p.keys, element_bytes(p.dtype));
}

// The device's workspace, as offsets; -1: not needed.
struct SortScratch {
  int64_t keys = -1;       // an aligned copy
  int64_t sorted = -1;     // where the keys are sorted to if it is not the output
  int64_t positions = -1;  // the second array of positions
  int64_t cub = 0;
  int64_t cub_bytes = 0;
};
// The same of a sort in segments. The first bytes are SegmentsHead.
struct SegmentsScratch {
  int64_t keys[2];
  int64_t positions[2];
  int64_t segments;  // of each key: the number of its segment
  int64_t sorted_segments[2];
  int64_t cub;
  int64_t cub_bytes;
};
struct SegmentsHead {
  int32_t bad;  // not 0: the offsets are not in order, or exceed n
};
// Numbers of segments have the size of positions, and are less than 2^bits. If there are fewer keys than segments, a
// segment is numbered by its first position. The keys before all segments have the number 0.
constexpr bool positions_are_wide(const SortParams& p) noexcept { return p.n >= int64_t{1} << 32; }
constexpr bool numbers_by_position(const SortParams& p) noexcept { return p.segments >= p.n; }
constexpr int segment_bits(const SortParams& p) noexcept {
  return static_cast<int>(std::bit_width(static_cast<uint64_t>(numbers_by_position(p) ? p.n : p.segments + 1)));
}
constexpr int kSortBlock = 2048;  // elements that one block sorts
constexpr int kSortThreads = 256;
constexpr int kSortPositions = 4;  // per thread, of the kernels that write positions

}  // namespace gpumem
