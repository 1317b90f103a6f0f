// Parameters of a sort, and the order of its keys.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

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
  constexpr uint32_t digit(Word bits, int first_bit, uint32_t mask) const noexcept {
    return static_cast<uint32_t>((*this)(bits) >> first_bit) & mask;
  }
  // The bits of an element whose rank has all bits set.
  constexpr Word last() const noexcept { return static_cast<Word>(~flip); }
};

// Of any type. NaNs have one rank: the highest, or in descending order the lowest.
template <class Unsigned>
struct RankOf {
  using Word = Unsigned;
  Word magnitude;  // of floats: all bits but the sign, which are complemented if it is set
  Word add;        // negative infinity is now 0, and NaNs are above all numbers
  Word most;       // a limit that makes them equal
  Word lift;       // so that the highest rank has all bits set
  Word flip;       // all bits if the order is descending
  Word of_last;

  constexpr Word operator()(Word bits) const noexcept { return ascending(bits) ^ flip; }
  constexpr uint32_t digit(Word bits, int first_bit, uint32_t mask) const noexcept {
    return (static_cast<uint32_t>(ascending(bits) >> first_bit) ^ static_cast<uint32_t>(flip)) & mask;
  }
  constexpr Word last() const noexcept { return of_last; }

 private:
  constexpr Word ascending(Word bits) const noexcept {
    constexpr int kTop = 8 * sizeof(Word) - 1;
    const auto negative = static_cast<Word>(static_cast<std::make_signed_t<Word>>(bits) >> kTop);
    const auto place = static_cast<Word>((bits ^ (negative & magnitude)) + add);
    return static_cast<Word>((place < most ? place : most) + lift);
  }
};

template <class Word>
constexpr RankOf<Word> rank_of_keys(gpumem_dtype dtype, bool descending) noexcept {
  const auto all = static_cast<Word>(~Word{0});
  const auto flip = static_cast<Word>(descending ? all : 0);
  if (!is_floating(dtype)) {
    const auto sign = static_cast<Word>(is_signed_integer(dtype) ? sign_bit(dtype) : 0);
    return {0, sign, all, 0, flip, static_cast<Word>(all ^ sign ^ flip)};
  }
  const auto sign = static_cast<Word>(sign_bit(dtype));
  const auto magnitude = static_cast<Word>(all >> 1);
  const auto infinity = static_cast<Word>(infinity_bits(dtype));
  const auto of_nans = static_cast<Word>(2 * infinity + 2);
  const auto lift = static_cast<Word>(descending ? 0 : all - of_nans);
  const auto last = static_cast<Word>(descending ? sign | infinity : magnitude);
  return {magnitude, static_cast<Word>(infinity + 1), of_nans, lift, flip, last};
}

// Positions are sorted with the keys, in 4 bytes if they fit. Those of an order of 8 bytes are then converted by one more
// kernel, which takes longer than the bytes that it saves if there are few passes and few keys. H200, u8 with order of i64,
// 2^17 27 us with it and 22 without, 2^24 226 and 242. If only keys are sorted, the offsets of CUB have this size: H200, 2^28
// elements, time of 8 bytes over that of 4: u8 1.4, i16 1.01, i32 0.86, i64 1.0.
constexpr int position_bytes(const SortParams& p) noexcept {
  const int bytes = element_bytes(p.dtype);
  if (p.n >= int64_t{1} << 32) return 8;
  if (p.order == nullptr) return bytes <= 2 ? 4 : 8;
  return bytes <= 2 && p.n <= int64_t{1} << 18 ? element_bytes(p.order_type) : 4;
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
