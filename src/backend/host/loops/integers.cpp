// Exact sums and products of integers (kernels/accumulators.hpp); compiled once per instruction set (loops.hpp). A
// block of terms is summed in words that it cannot overflow. Blocks are summed in 128 bits, or in 256 for squares and
// cubes of 64-bit elements. Loops without explicit vectors are vectorised by the compiler.
#include <cstring>
#include <type_traits>

#include "backend/host/loops/common.hpp"
#include "backend/host/loops/loops.hpp"
#include "backend/host/loops/words.hpp"

namespace gpumem {
namespace {

template <class T, class Block>
inline Int128 over_all(const void* x, int64_t n, const Block& block) {
  Int128 total = 0;
  over_blocks(static_cast<const T*>(x), n, [&](const T* v, int64_t count) { total += block(v, count); });
  return total;
}

// Terms of at most kBits, in words. A block holds as many as cannot overflow one.
template <class T, Addend kAddend, class Word, int kBits>
ReduceNode sum_terms(const void* x, const void*, int64_t n) {
  constexpr int kWordBits = 8 * sizeof(Word) - (std::is_signed_v<Word> ? 1 : 0);
  constexpr int64_t kSafe = int64_t{1} << (kWordBits - kBits);
  const Int128 sum = over_all<T>(x, n, [](const T* v, int64_t count) {
    Int128 total = 0;
    for (int64_t at = 0; at < count; at += kSafe) {
      const int64_t end = count - at < kSafe ? count : at + kSafe;
      Word part = 0;
      for (int64_t i = at; i < end; ++i) part = static_cast<Word>(part + term_of<kAddend, Word>(v[i]));
      total += part;
    }
    return total;
  });
  return IntegerNode(sum).stored();
}

template <class T>
ReduceNode squares_of_32(const void* x, const void*, int64_t n) {
  const Int128 sum = over_all<T>(x, n, [](const T* v, int64_t count) {
    HalfSums<Words> squares;
    over_pairs(v, count, [&](const Words& pairs) {
      const Words odd = pairs >> 32;
      const Words first = products<T>(pairs, pairs);
      const Words second = products<T>(odd, odd);
      if constexpr (std::is_signed_v<T>) {
        squares.add(first + second);  // at most 2^62 each
      } else {
        squares.add(first);
        squares.add(second);
      }
    });
    return joined_halves(sum_of_lanes<uint64_t>(squares.low), sum_of_lanes<uint64_t>(squares.high));
  });
  return IntegerNode(sum).stored();
}

constexpr uint64_t kPart = (uint64_t{1} << 21) - 1;

// Sums of a times squares. The squares are cut into parts of 21, 21 and 22 bits, so products have at most 54 bits and a
// block cannot overflow. T is the type of a.
template <class T>
struct TripleProducts {
  Words part[3] = {};
  void add(const Words& a, const Words& square) {
    const Words parts[3] = {square & kPart, square >> 21 & kPart, square >> 42};
    for (int i = 0; i < 3; ++i) part[i] += products<T>(a, parts[i]);
  }
  // Multiplied, not shifted, because the sums may be negative.
  Int128 sum() const {
    using Word = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
    return sum_of_lanes<Word>(part[0]) + sum_of_lanes<Word>(part[1]) * (Int128{1} << 21) +
           sum_of_lanes<Word>(part[2]) * (Int128{1} << 42);
  }
};

template <class T>
ReduceNode cubes_of_32(const void* x, const void*, int64_t n) {
  const Int128 sum = over_all<T>(x, n, [](const T* v, int64_t count) {
    TripleProducts<T> cubes;
    over_pairs(v, count, [&](const Words& pairs) {
      const Words odd = pairs >> 32;
      cubes.add(pairs, products<T>(pairs, pairs));
      cubes.add(odd, products<T>(odd, odd));
    });
    return cubes.sum();
  });
  return IntegerNode(sum).stored();
}

// Halves of 32 bits, summed separately. 2^63 is added to each signed element first, and subtracted from the sum.
template <class T, bool kAbsolute>
ReduceNode sum_of_64(const void* x, const void*, int64_t n) {
  constexpr bool kMoved = std::is_signed_v<T> && !kAbsolute;
  const Int128 total = over_all<T>(x, n, [](const T* v, int64_t count) {
    HalfSums<uint64_t> halves;
    for (int64_t i = 0; i < count; ++i) {
      auto a = static_cast<uint64_t>(v[i]);
      if constexpr (kAbsolute) a = unsigned_magnitude(v[i]);
      if constexpr (kMoved) a ^= uint64_t{1} << 63;
      halves.add(a);
    }
    return joined_halves(halves.low, halves.high);
  });
  return IntegerNode(kMoved ? total - (static_cast<Int128>(n) << 63) : total).stored();
}

template <class T>
ReduceNode squares_of_64(const void* x, const void*, int64_t n) {
  using Wide = std::conditional_t<std::is_signed_v<T>, Int128, Uint128>;
  SplitSum sum{};
  over_blocks(static_cast<const T*>(x), n, [&](const T* v, int64_t count) {
    for (int64_t i = 0; i < count; ++i) sum.add_square(static_cast<Uint128>(static_cast<Wide>(v[i]) * v[i]));
  });
  return sum.stored();
}

// x = a + 2^32 b, where b is signed: a^3 + 3 a^2 b 2^32 + 3 a b^2 2^64 + b^3 2^96.
template <class B>
struct CubesOf64 {
  Int128 aaa = 0;
  Int128 aab = 0;
  Int128 abb = 0;
  Int128 bbb = 0;

  // 512 terms of 54 bits fit a lane's word, and 2^24 of 96 bits fit the sums here.
  static constexpr int64_t kChunk = int64_t{512} * kWords;
  static constexpr int64_t kMost = int64_t{1} << 24;

  void add(const char* x, int64_t count) {
    TripleProducts<uint32_t> aaas;
    TripleProducts<B> aabs;
    TripleProducts<uint32_t> abbs;
    TripleProducts<B> bbbs;
    for (int64_t at = 0; at < count; at += kWords) {
      Words a{};
      const int64_t left = count - at;
      if (left >= kWords) {
        std::memcpy(&a, x + at * 8, sizeof a);
      } else {
        std::memcpy(&a, x + at * 8, static_cast<size_t>(left) * 8);
      }
      prefetch_ahead(x + at * 8);
      const Words b = a >> 32;
      const Words aa = products<uint32_t>(a, a);
      const Words bb = products<B>(b, b);
      aaas.add(a, aa);
      aabs.add(b, aa);
      abbs.add(a, bb);
      bbbs.add(b, bb);
    }
    aaa += aaas.sum();
    aab += aabs.sum();
    abb += abbs.sum();
    bbb += bbbs.sum();
  }
};

template <class T>
ReduceNode cubes_of_64(const void* data, const void*, int64_t n) {
  using Cubes = CubesOf64<std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>>;
  const char* x = static_cast<const char*>(data);
  SplitSum sum{};
  for (int64_t first = 0; first < n; first += Cubes::kMost) {
    const int64_t last = n - first < Cubes::kMost ? n : first + Cubes::kMost;
    Cubes cubes;
    for (int64_t at = first; at < last; at += Cubes::kChunk) {
      cubes.add(x + at * 8, last - at < Cubes::kChunk ? last - at : Cubes::kChunk);
    }
    // The middle terms by halves, because a word begins in their middle.
    sum.word[0] += static_cast<uint64_t>(cubes.aaa);
    sum.word[1] += cubes.aaa >> 64;
    sum.word[0] += static_cast<Int128>(3 * (static_cast<uint64_t>(cubes.aab) & kLowHalf)) << 32;
    sum.word[1] += 3 * (cubes.aab >> 32);
    sum.word[1] += static_cast<uint64_t>(3 * cubes.abb);
    sum.word[2] += 3 * cubes.abb >> 64;
    sum.word[1] += static_cast<Int128>(static_cast<uint64_t>(cubes.bbb) & kLowHalf) << 32;
    sum.word[2] += cubes.bbb >> 32;
  }
  return sum.stored();
}

// The sign bit of `signs` tells whether the product is negative.
template <class T>
struct BlockFactors {
  T zero = 0;
  T other = 0;
  T signs = 0;
  void take(const T* v, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      zero = static_cast<T>(zero | (v[i] == 0 ? 1 : 0));
      other = static_cast<T>(other | (unsigned_magnitude(v[i]) > 1 ? 1 : 0));
      signs = static_cast<T>(signs ^ v[i]);
    }
  }
};

// A product that fits 64 bits has at most 63 factors other than 1 and -1, so few blocks are multiplied element by
// element. After an overflow, only signs and zeros matter.
template <class T>
ReduceNode product_of(const void* data, const void*, int64_t n) {
  const auto* x = static_cast<const T*>(data);
  IntegerProductNode product;
  for (int64_t at = 0; at < n; at += kBlock<T>) {
    const int64_t count = n - at < kBlock<T> ? n - at : kBlock<T>;
    prefetch_block_ahead(x + at);
    BlockFactors<T> factors;
    factors.take(x + at, count);
    if (factors.zero != 0) return IntegerProductNode(0, false).stored();
    if (factors.other == 0 || product.overflowed != 0) {
      product.negative ^= is_negative(factors.signs) ? 1 : 0;
      continue;
    }
    for (int64_t i = at; i < at + count; ++i) product.multiply({unsigned_magnitude(x[i]), is_negative(x[i])});
  }
  return product.stored();
}

// In the order of Addend. Per sum of short elements: a word that a block cannot overflow, and the bits of a term.
template <class T, class S, int kSum, class A, int kAbs, class Q, int kSquare, class C, int kCube>
constexpr LoopsByAddend<ReduceLoop> kShort = {
    {sum_terms<T, Addend::element, S, kSum>, sum_terms<T, kAbsolute<T>, A, kAbs>,
     sum_terms<T, Addend::square, Q, kSquare>, sum_terms<T, Addend::cube, C, kCube>, nullptr, product_of<T>}};

template <class T, class S, int kSum, class A, int kAbs>
constexpr LoopsByAddend<ReduceLoop> kOf32 = {{sum_terms<T, Addend::element, S, kSum>,
                                              sum_terms<T, kAbsolute<T>, A, kAbs>, squares_of_32<T>, cubes_of_32<T>,
                                              nullptr, product_of<T>}};

template <class T>
constexpr LoopsByAddend<ReduceLoop> kOf64 = {
    {sum_of_64<T, false>, sum_of_64<T, std::is_signed_v<T>>, squares_of_64<T>, cubes_of_64<T>, nullptr, product_of<T>}};

constexpr auto loops_of_type = []<gpumem_dtype kType>() -> LoopsByAddend<ReduceLoop> {
  if constexpr (kType == GPUMEM_I8) return kShort<int8_t, int32_t, 7, uint32_t, 8, uint32_t, 16, int32_t, 21>;
  if constexpr (kType == GPUMEM_U8) return kShort<uint8_t, uint32_t, 8, uint32_t, 8, uint32_t, 16, uint32_t, 24>;
  if constexpr (kType == GPUMEM_I16) return kShort<int16_t, int32_t, 15, uint32_t, 16, uint64_t, 32, int64_t, 45>;
  if constexpr (kType == GPUMEM_U16) return kShort<uint16_t, uint32_t, 16, uint32_t, 16, uint64_t, 32, uint64_t, 48>;
  if constexpr (kType == GPUMEM_I32) return kOf32<int32_t, int64_t, 31, uint64_t, 32>;
  if constexpr (kType == GPUMEM_U32) return kOf32<uint32_t, uint64_t, 32, uint64_t, 32>;
  if constexpr (kType == GPUMEM_I64) return kOf64<int64_t>;
  if constexpr (kType == GPUMEM_U64) return kOf64<uint64_t>;
  return {};
};

}  // namespace

namespace GPUMEM_LOOPS {
const IntegerLoops integers = by_type<LoopsByAddend<ReduceLoop>>(loops_of_type);
}  // namespace GPUMEM_LOOPS

}  // namespace gpumem
