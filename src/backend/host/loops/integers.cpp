// Exact sums of integers; compiled once for each instruction set (loops.hpp). Terms are added up in words that a block
// of them can't overflow, block by block, and the blocks in 128 bits, or 256 for squares and cubes of 64-bit elements. Where no
// vectors are written, compilers make them.
#include <cstring>
#include <type_traits>

#include "backend/host/loops/common.hpp"
#include "backend/host/loops/loops.hpp"
#include "backend/host/loops/words.hpp"

namespace gpumem {
namespace {

constexpr uint64_t kLow = 0xffffffff;

// The sum of block(x, count) over all blocks.
template <class T, class Block>
inline Int128 over_all(const void* x, int64_t n, const Block& block) {
  Int128 total = 0;
  over_blocks(static_cast<const T*>(x), n, [&](const T* v, int64_t count) { total += block(v, count); });
  return total;
}

// Terms of at most kBits are added up in words, as many as can't overflow one.
template <class T, class Word, int kBits, Word (*kTerm)(T)>
ReduceNode sum_terms(const void* x, const void*, int64_t n) {
  constexpr int kWordBits = 8 * sizeof(Word) - (std::is_signed_v<Word> ? 1 : 0);
  constexpr int64_t kSafe = int64_t{1} << (kWordBits - kBits);
  return node_of(over_all<T>(x, n, [](const T* v, int64_t count) {
    Int128 total = 0;
    for (int64_t at = 0; at < count; at += kSafe) {
      const int64_t end = count - at < kSafe ? count : at + kSafe;
      Word part = 0;
      for (int64_t i = at; i < end; ++i) part = static_cast<Word>(part + kTerm(v[i]));
      total += part;
    }
    return total;
  }));
}

// A square of 64 bits: its halves are summed apart.
template <class T>
ReduceNode squares_of_32(const void* x, const void*, int64_t n) {
  return node_of(over_all<T>(x, n, [](const T* v, int64_t count) {
    Words low{};
    Words high{};
    const auto add = [&](const Words& square) {
      low += square & kLow;
      high += square >> 32;
    };
    over_pairs(v, count, [&](const Words& pairs) {
      const Words odd = pairs >> 32;
      const Words first = products<T>(pairs, pairs);
      const Words second = products<T>(odd, odd);
      if constexpr (std::is_signed_v<T>) {
        add(first + second);  // at most 2^62 each
      } else {
        add(first);
        add(second);
      }
    });
    return sum_of_lanes<uint64_t>(low) + (sum_of_lanes<uint64_t>(high) << 32);
  }));
}

constexpr uint64_t kPart = (uint64_t{1} << 21) - 1;

// Sums of a times squares, which are cut into three parts of 21, 21 and 22 bits: the products have at most 54, so that a block of
// them can't overflow. T is a's type.
template <class T>
struct TripleProducts {
  Words part[3] = {};
  void add(const Words& a, const Words& square) {
    const Words parts[3] = {square & kPart, square >> 21 & kPart, square >> 42};
    for (int i = 0; i < 3; ++i) part[i] += products<T>(a, parts[i]);
  }
  // Multiplied, not shifted: the sums may be negative.
  Int128 sum() const {
    using Word = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
    return sum_of_lanes<Word>(part[0]) + sum_of_lanes<Word>(part[1]) * (Int128{1} << 21) +
           sum_of_lanes<Word>(part[2]) * (Int128{1} << 42);
  }
};

template <class T>
ReduceNode cubes_of_32(const void* x, const void*, int64_t n) {
  return node_of(over_all<T>(x, n, [](const T* v, int64_t count) {
    TripleProducts<T> cubes;
    over_pairs(v, count, [&](const Words& pairs) {
      const Words odd = pairs >> 32;
      cubes.add(pairs, products<T>(pairs, pairs));
      cubes.add(odd, products<T>(odd, odd));
    });
    return cubes.sum();
  }));
}

// Halves of 32 bits, summed apart. A signed element is moved up by 2^63 first, and the sum down again.
template <class T, bool kAbsolute>
ReduceNode sum_of_64(const void* x, const void*, int64_t n) {
  constexpr bool kMoved = std::is_signed_v<T> && !kAbsolute;
  const Int128 total = over_all<T>(x, n, [](const T* v, int64_t count) {
    uint64_t low = 0;
    uint64_t high = 0;
    for (int64_t i = 0; i < count; ++i) {
      auto a = static_cast<uint64_t>(v[i]);
      if constexpr (kAbsolute) a = unsigned_magnitude(v[i]);
      if constexpr (kMoved) a ^= uint64_t{1} << 63;
      low += a & kLow;
      high += a >> 32;
    }
    return static_cast<Int128>(low) + (static_cast<Int128>(high) << 32);
  });
  return node_of(kMoved ? total - (static_cast<Int128>(n) << 63) : total);
}

template <class T>
ReduceNode squares_of_64(const void* x, const void*, int64_t n) {
  using Wide = std::conditional_t<std::is_signed_v<T>, Int128, Uint128>;
  Int128 word0 = 0;
  Int128 word1 = 0;
  over_blocks(static_cast<const T*>(x), n, [&](const T* v, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      const auto square = static_cast<Uint128>(static_cast<Wide>(v[i]) * v[i]);
      word0 += static_cast<uint64_t>(square);
      word1 += static_cast<uint64_t>(square >> 64);
    }
  });
  return node_of(word0, word1, 0);
}

// With x = a + 2^32 b, where b has the sign: a^3 + 3 a^2 b 2^32 + 3 a b^2 2^64 + b^3 2^96.
template <class B>
struct CubesOf64 {
  Int128 aaa = 0;
  Int128 aab = 0;
  Int128 abb = 0;
  Int128 bbb = 0;

  // 512 terms of 54 bits fit a lane's word, and 2^24 of 96 bits the sums here.
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
  Int128 word0 = 0;
  Int128 word1 = 0;
  Int128 word2 = 0;
  for (int64_t first = 0; first < n; first += Cubes::kMost) {
    const int64_t last = n - first < Cubes::kMost ? n : first + Cubes::kMost;
    Cubes cubes;
    for (int64_t at = first; at < last; at += Cubes::kChunk) {
      cubes.add(x + at * 8, last - at < Cubes::kChunk ? last - at : Cubes::kChunk);
    }
    // The middle terms by halves, since a word begins in their middle.
    word0 += static_cast<uint64_t>(cubes.aaa);
    word1 += cubes.aaa >> 64;
    word0 += static_cast<Int128>(3 * (static_cast<uint64_t>(cubes.aab) & kLow)) << 32;
    word1 += 3 * (cubes.aab >> 32);
    word1 += static_cast<uint64_t>(3 * cubes.abb);
    word2 += 3 * cubes.abb >> 64;
    word1 += static_cast<Int128>(static_cast<uint64_t>(cubes.bbb) & kLow) << 32;
    word2 += cubes.bbb >> 32;
  }
  return node_of(word0, word1, word2);
}

// Of elements of 8 and 16 bits: for each sum the word that a block of its terms can't overflow, and the bits of a term.
template <class T, class S, int kSum, class A, int kAbs, class Q, int kSquare, class C, int kCube>
constexpr SumLoops<ReduceLoop> kShort = {sum_terms<T, S, kSum, itself<T, S>>, sum_terms<T, A, kAbs, kAbsolute<T, A>>,
                                         sum_terms<T, Q, kSquare, square<T, Q>>, sum_terms<T, C, kCube, cube<T, C>>};

template <class T, class S, int kSum, class A, int kAbs>
constexpr SumLoops<ReduceLoop> kOf32 = {sum_terms<T, S, kSum, itself<T, S>>, sum_terms<T, A, kAbs, kAbsolute<T, A>>,
                                        squares_of_32<T>, cubes_of_32<T>};

template <class T>
constexpr SumLoops<ReduceLoop> kOf64 = {sum_of_64<T, false>, sum_of_64<T, std::is_signed_v<T>>, squares_of_64<T>,
                                        cubes_of_64<T>};

constexpr auto sums_of_type = []<gpumem_dtype kType>() -> SumLoops<ReduceLoop> {
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
const IntegerLoops integers = by_type<SumLoops<ReduceLoop>>(sums_of_type);
}  // namespace GPUMEM_LOOPS

}  // namespace gpumem
