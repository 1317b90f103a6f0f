// Exact integer arithmetic for sums and products, shared by the host's loops and the kernels. All of it is inlined,
// because the host's loops are compiled once per instruction set.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/elements.hpp"

namespace gpumem {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Uint128;

constexpr uint64_t kLowHalf = 0xffffffff;

template <class T>
[[gnu::always_inline]] constexpr bool is_negative(T v) noexcept {
  if constexpr (std::is_signed_v<T>) {
    return v < 0;
  } else {
    return false;
  }
}
// The unsigned type also holds the magnitude of the least number.
template <class T>
[[gnu::always_inline]] constexpr std::make_unsigned_t<T> unsigned_magnitude(T v) noexcept {
  using U = std::make_unsigned_t<T>;
  return is_negative(v) ? static_cast<U>(U{0} - static_cast<U>(v)) : static_cast<U>(v);
}

// The type of an element's square. It has 32 bits if they suffice, so that a vector holds more squares.
template <class T>
using SquareOf = std::conditional_t<sizeof(T) <= 2, uint32_t, std::conditional_t<sizeof(T) == 4, uint64_t, Uint128>>;

// The term of an element in a sum, for all terms but cubes of 64 bits.
template <Addend kAddend, class Word, class T, class Square = SquareOf<T>>
[[gnu::always_inline]] constexpr Word term_of(T v) noexcept {
  if constexpr (kAddend == Addend::element) {
    return static_cast<Word>(v);
  } else if constexpr (kAddend == Addend::magnitude) {
    return static_cast<Word>(unsigned_magnitude(v));
  } else if constexpr (kAddend == Addend::square) {
    const auto a = static_cast<Square>(unsigned_magnitude(v));
    return static_cast<Word>(a * a);
  } else {
    static_assert(kAddend == Addend::cube && sizeof(T) < 8);
    using Factor = std::conditional_t<std::is_signed_v<T>, std::make_signed_t<Square>, Square>;
    const auto a = static_cast<Factor>(v);
    return static_cast<Word>(static_cast<Word>(a * a) * static_cast<Word>(a));
  }
}

[[gnu::always_inline]] constexpr Uint128 square_of(uint64_t a) noexcept { return static_cast<Uint128>(a) * a; }
[[gnu::always_inline]] constexpr Uint128 cube_of_narrow(uint64_t a) noexcept {  // a < 2^32
  return static_cast<Uint128>(a * a) * a;
}
struct Cube {
  Uint128 low;
  uint64_t high;
};
[[gnu::always_inline]] constexpr Cube cube_of(uint64_t a) noexcept {
  const Uint128 square = square_of(a);
  const Uint128 low = static_cast<Uint128>(static_cast<uint64_t>(square)) * a;
  const Uint128 high = (square >> 64) * a + (low >> 64);
  return {static_cast<uint64_t>(low) | high << 64, static_cast<uint64_t>(high >> 64)};
}

// A partial result of any kind as it is stored. Unused words are 0.
struct ReduceNode {
  uint64_t word[4] = {};
};

// An exact sum of integers: two's complement in 256 bits. The largest sum, of 2^36 cubes of 64 bits, needs 229.
struct IntegerNode {
  static constexpr NodeKind kind = NodeKind::integer;
  uint64_t word[4] = {};

  constexpr IntegerNode() noexcept = default;
  [[gnu::always_inline]] constexpr explicit IntegerNode(Int128 v) noexcept
      : word{static_cast<uint64_t>(v), static_cast<uint64_t>(v >> 64), v < 0 ? ~uint64_t{0} : 0,
             v < 0 ? ~uint64_t{0} : 0} {}
  constexpr explicit IntegerNode(const ReduceNode& n) noexcept : word{n.word[0], n.word[1], n.word[2], n.word[3]} {}
  [[gnu::always_inline]] constexpr ReduceNode stored() const noexcept { return {{word[0], word[1], word[2], word[3]}}; }
};

constexpr IntegerNode combine(const IntegerNode& a, const IntegerNode& b) noexcept {
  IntegerNode sum;
  uint64_t carry = 0;
  for (int i = 0; i < 4; ++i) {
    const uint64_t partial = a.word[i] + b.word[i];
    sum.word[i] = partial + carry;
    carry = static_cast<uint64_t>(partial < a.word[i]) + static_cast<uint64_t>(sum.word[i] < carry);
  }
  return sum;
}

constexpr IntegerNode negated(const IntegerNode& a) noexcept {
  IntegerNode complement;
  for (int i = 0; i < 4; ++i) complement.word[i] = ~a.word[i];
  return combine(complement, IntegerNode(Int128{1}));
}

// The term of an integer element, for an operation known at run time. `bits` come from extend().
constexpr IntegerNode integer_term(gpumem_dtype dtype, gpumem_reduce_op op, uint64_t bits) noexcept {
  const bool negative = is_signed_integer(dtype) && static_cast<int64_t>(bits) < 0;
  const uint64_t magnitude = negative ? 0 - bits : bits;
  IntegerNode term;
  static_assert(count_accumulated_in(NodeKind::sum) ==
                7);  // with DOT, SUM_VALID and COUNT_VALID, which integers do not have
  if (op == GPUMEM_SUM || op == GPUMEM_SUM_ABS) {
    term.word[0] = magnitude;
    return negative && op == GPUMEM_SUM ? negated(term) : term;
  }
  if (op == GPUMEM_SUM_SQUARES) {
    const Uint128 square = square_of(magnitude);
    term.word[0] = static_cast<uint64_t>(square);
    term.word[1] = static_cast<uint64_t>(square >> 64);
    return term;
  }
  const Cube cube = cube_of(magnitude);
  term.word[0] = static_cast<uint64_t>(cube.low);
  term.word[1] = static_cast<uint64_t>(cube.low >> 64);
  term.word[2] = cube.high;
  return negative ? negated(term) : term;
}

// A sum of up to 192 bits. Each 64-bit word has its own signed sum, which holds 2^60 terms, so carries wait until the
// end. It is an aggregate, so that an array of them is not initialized.
struct SplitSum {
  Int128 word[3];

  [[gnu::always_inline]] constexpr void add(Uint128 low, uint64_t high, bool negative) noexcept {
    const Int128 sign = negative ? -1 : 1;
    word[0] += sign * static_cast<uint64_t>(low);
    word[1] += sign * static_cast<uint64_t>(low >> 64);
    word[2] += sign * high;
  }
  [[gnu::always_inline]] constexpr void add_square(Uint128 square) noexcept {
    word[0] += static_cast<uint64_t>(square);
    word[1] += static_cast<uint64_t>(square >> 64);
  }
  [[gnu::always_inline]] constexpr void join(const SplitSum& other) noexcept {
    for (int i = 0; i < 3; ++i) word[i] += other.word[i];
  }
  [[gnu::always_inline]] constexpr ReduceNode stored() const noexcept {
    const Int128 second = word[1] + (word[0] >> 64);
    const Int128 third = word[2] + (second >> 64);
    return {{static_cast<uint64_t>(word[0]), static_cast<uint64_t>(second), static_cast<uint64_t>(third),
             static_cast<uint64_t>(third >> 64)}};
  }
};

// A sum of up to 2^32 terms of 64 bits, by halves. Word is uint64_t or a vector of uint64_t.
template <class Word>
struct HalfSums {
  Word low{};
  Word high{};
  [[gnu::always_inline]] constexpr void add(const Word& term) noexcept {
    low += term & kLowHalf;
    high += term >> 32;
  }
};
[[gnu::always_inline]] constexpr Int128 joined_halves(Int128 low, Int128 high) noexcept { return low + (high << 32); }

// A sum of cubes of 32-bit elements: v^3 = (square's low half * v) + (square's high half * v) * 2^32. The low 32 bits
// of the first product have their own sum. The rest, below 2^63 in size, is summed in two words.
struct CubeSums {
  uint64_t low = 0;     // sum of the low 32 bits
  uint64_t middle = 0;  // sum of the rest, modulo 2^64
  int64_t high = 0;     // carries of `middle`

  [[gnu::always_inline]] constexpr void add(uint32_t magnitude, bool negative) noexcept {
    const uint64_t square = static_cast<uint64_t>(magnitude) * magnitude;
    const uint64_t first = static_cast<uint64_t>(static_cast<uint32_t>(square)) * magnitude;
    const uint64_t rest = static_cast<uint64_t>(static_cast<uint32_t>(square >> 32)) * magnitude + (first >> 32);
    // -(rest * 2^32 + f) = ~rest * 2^32 + (2^32 - f)
    const uint64_t term = negative ? ~rest : rest;
    low += negative ? (uint64_t{1} << 32) - static_cast<uint32_t>(first) : static_cast<uint32_t>(first);
    middle += term;
    high += static_cast<int64_t>(middle < term) - static_cast<int64_t>(negative);
  }
  [[gnu::always_inline]] constexpr Int128 total() const noexcept {
    const auto above = static_cast<Uint128>(middle) + (static_cast<Uint128>(static_cast<uint64_t>(high)) << 64);
    return static_cast<Int128>((above << 32) + low);
  }
};

// An exact product of integers, or the fact that it exceeds 64 bits. A factor 0 makes it 0 again.
struct IntegerProductNode {
  static constexpr NodeKind kind = NodeKind::integer_product;
  uint64_t magnitude = 1;  // all ones if it has overflowed
  uint32_t negative = 0;
  uint32_t overflowed = 0;

  constexpr IntegerProductNode() noexcept = default;
  [[gnu::always_inline]] constexpr IntegerProductNode(uint64_t size, bool is_negative) noexcept
      : magnitude(size), negative(is_negative ? 1 : 0) {}
  constexpr explicit IntegerProductNode(const ReduceNode& n) noexcept
      : magnitude(n.word[0]), negative(n.word[1] & 1), overflowed(n.word[1] >> 1 & 1) {}
  [[gnu::always_inline]] constexpr ReduceNode stored() const noexcept {
    return {{magnitude, negative | uint64_t{overflowed} << 1, 0, 0}};
  }
  [[gnu::always_inline]] constexpr void multiply(const IntegerProductNode& by) noexcept {
    const Uint128 product = static_cast<Uint128>(magnitude) * by.magnitude;
    const bool zero = magnitude == 0 || by.magnitude == 0;
    const bool beyond = !zero && ((overflowed | by.overflowed) != 0 || product >> 64 != 0);
    magnitude = beyond ? ~uint64_t{0} : static_cast<uint64_t>(product);
    negative ^= by.negative;
    overflowed = beyond ? 1 : 0;
  }
};
constexpr IntegerProductNode combine(IntegerProductNode a, const IntegerProductNode& b) noexcept {
  a.multiply(b);
  return a;
}

// `bits` come from extend().
constexpr IntegerProductNode integer_factor(gpumem_dtype dtype, uint64_t bits) noexcept {
  const bool negative = is_signed_integer(dtype) && static_cast<int64_t>(bits) < 0;
  return {negative ? 0 - bits : bits, negative};
}

}  // namespace gpumem
