// Exact sums of integers, and smallest and largest elements, of many lines at once: neighbouring columns, and short rows; compiled
// once for each instruction set (loops.hpp). A column's value stays in memory while the rows go by; compilers turn a row of
// columns into vectors.
#include <type_traits>

#include "backend/host/loops/loops.hpp"
#include "backend/host/loops/order.hpp"
#include "backend/host/loops/words.hpp"

namespace gpumem {
namespace {

// A value of lines: State begins as State{}, take() adds an element and node() is the end of it.
template <class State>
struct WordLines {
  using T = typename State::T;
  static constexpr int64_t kElement = sizeof(T);

  static void columns(const char* x, int64_t pitch, int64_t rows, int64_t columns, char*, ReduceNode* nodes) {
    typename State::template Many<kStripBytes / sizeof(T)> many;
    many.begin(x, columns);
    for (int64_t r = 0; r < rows; ++r) {
      const char* row = x + r * pitch;
      for (int64_t at = 0; at < columns * kElement; at += kLineBytes) {
        __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(row) +
                                                         static_cast<uintptr_t>(kRowsAhead * pitch + at)));
      }
      many.take(row, columns);
    }
    for (int64_t c = 0; c < columns; ++c) nodes[c] = many.node(c);
  }

  static void rows(const char* x, int64_t pitch, int64_t rows, int64_t cols, ReduceNode* nodes) {
    for (int64_t r = 0; r < rows; ++r) nodes[r] = State::of_row(x + r * pitch, cols);
  }

 private:
  static constexpr int64_t kRowsAhead = 16;
};

// Sums whose Word a leaf's rows of terms can't overflow.
template <class Type, class Word, Word (*kTerm)(Type)>
struct Sums {
  using T = Type;
  template <int64_t kMost>
  struct Many {
    Word sum[kMost];
    void begin(const char*, int64_t columns) {
      for (int64_t c = 0; c < columns; ++c) sum[c] = 0;
    }
    void take(const char* row, int64_t columns) {
      for (int64_t c = 0; c < columns; ++c) {
        sum[c] = static_cast<Word>(sum[c] + kTerm(load_as<T>(row + c * static_cast<int64_t>(sizeof(T)))));
      }
    }
    ReduceNode node(int64_t c) const { return node_of(static_cast<Int128>(sum[c])); }
  };
  static ReduceNode of_row(const char* row, int64_t cols) {
    Word sum = 0;
    for (int64_t c = 0; c < cols; ++c) {
      sum = static_cast<Word>(sum + kTerm(load_as<T>(row + c * static_cast<int64_t>(sizeof(T)))));
    }
    return node_of(static_cast<Int128>(sum));
  }
};

template <class T>
inline Int128 square_of_32(T v) {
  const uint64_t size = magnitude(v);
  const uint64_t square = size * size;
  return static_cast<Int128>(square);
}
template <class T>
inline Int128 cube_of_32(T v) {
  return square_of_32(v) * v;
}

// Squares and cubes of 64 bits, in words of 64 bits that are summed apart.
struct Words192 {
  Int128 word[3] = {};
  void add(Uint128 low, uint64_t high, bool negative) {
    const Int128 sign = negative ? -1 : 1;
    word[0] += sign * static_cast<uint64_t>(low);
    word[1] += sign * static_cast<uint64_t>(low >> 64);
    word[2] += sign * high;
  }
  ReduceNode node() const { return node_of(word[0], word[1], word[2]); }
};

template <class Type, bool kCubes>
struct PowersOf64 {
  using T = Type;
  static void add(Words192& sum, T v) {
    const uint64_t a = magnitude(v);
    const Uint128 square = static_cast<Uint128>(a) * a;
    if constexpr (kCubes) {
      const Uint128 low = static_cast<Uint128>(static_cast<uint64_t>(square)) * a;
      const Uint128 high = (square >> 64) * a + (low >> 64);
      sum.add(static_cast<uint64_t>(low) | high << 64, static_cast<uint64_t>(high >> 64), v < 0);
    } else {
      sum.add(square, 0, false);
    }
  }
  template <int64_t kMost>
  struct Many {
    Words192 sum[kMost];
    void begin(const char*, int64_t) {}
    void take(const char* row, int64_t columns) {
      for (int64_t c = 0; c < columns; ++c) add(sum[c], load_as<T>(row + c * 8));
    }
    ReduceNode node(int64_t c) const { return sum[c].node(); }
  };
  static ReduceNode of_row(const char* row, int64_t cols) {
    Words192 sum;
    for (int64_t c = 0; c < cols; ++c) add(sum, load_as<T>(row + c * 8));
    return sum.node();
  }
};

template <class Type>
struct Ranges {
  using T = typename Type::T;
  static T ordered(const char* row, int64_t c) {
    return Type::order(load_as<T>(row + c * static_cast<int64_t>(sizeof(T))));
  }
  template <int64_t kMost>
  struct Many {
    T low[kMost];
    T high[kMost];
    void begin(const char* row, int64_t columns) {
      for (int64_t c = 0; c < columns; ++c) low[c] = high[c] = ordered(row, c);
    }
    void take(const char* row, int64_t columns) {
      for (int64_t c = 0; c < columns; ++c) {
        const T v = ordered(row, c);
        low[c] = v < low[c] ? v : low[c];
        high[c] = v > high[c] ? v : high[c];
      }
    }
    ReduceNode node(int64_t c) const { return {{key(low[c]), key(high[c]), 0, 0}}; }
  };
  static ReduceNode of_row(const char* row, int64_t cols) {
    T low = ordered(row, 0);
    T high = low;
    for (int64_t c = 1; c < cols; ++c) {
      const T v = ordered(row, c);
      low = v < low ? v : low;
      high = v > high ? v : high;
    }
    return {{key(low), key(high), 0, 0}};
  }
};

template <class State>
constexpr LineLoop kLines = {WordLines<State>::columns, WordLines<State>::rows};
template <class T, class Word>
constexpr LineLoop kSum = kLines<Sums<T, Word, itself<T, Word>>>;
template <class T, class Word>
constexpr LineLoop kSumAbs = kLines<Sums<T, Word, absolute<T, Word>>>;
template <class T, class Word>
constexpr LineLoop kSumSquares = kLines<Sums<T, Word, square<T, Word>>>;
template <class T, class Word>
constexpr LineLoop kSumCubes = kLines<Sums<T, Word, cube<T, Word>>>;

constexpr auto sums_of_type = []<gpumem_dtype kType>() -> SumLoops<LineLoop> {
  if constexpr (kType == GPUMEM_I8) {
    return {kSum<int8_t, int32_t>, kSumAbs<int8_t, uint32_t>, kSumSquares<int8_t, uint32_t>,
            kSumCubes<int8_t, int32_t>};
  } else if constexpr (kType == GPUMEM_U8) {
    return {kSum<uint8_t, uint32_t>, kSum<uint8_t, uint32_t>, kSumSquares<uint8_t, uint32_t>,
            kSumCubes<uint8_t, uint64_t>};
  } else if constexpr (kType == GPUMEM_I16) {
    return {kSum<int16_t, int32_t>, kSumAbs<int16_t, uint32_t>, kSumSquares<int16_t, uint64_t>,
            kSumCubes<int16_t, int64_t>};
  } else if constexpr (kType == GPUMEM_U16) {
    return {kSum<uint16_t, uint32_t>, kSum<uint16_t, uint32_t>, kSumSquares<uint16_t, uint64_t>,
            kSumCubes<uint16_t, uint64_t>};
  } else if constexpr (kType == GPUMEM_I32) {
    return {kSum<int32_t, int64_t>, kSumAbs<int32_t, uint64_t>, kLines<Sums<int32_t, Int128, square_of_32<int32_t>>>,
            kLines<Sums<int32_t, Int128, cube_of_32<int32_t>>>};
  } else if constexpr (kType == GPUMEM_U32) {
    return {kSum<uint32_t, uint64_t>, kSum<uint32_t, uint64_t>, kLines<Sums<uint32_t, Int128, square_of_32<uint32_t>>>,
            kLines<Sums<uint32_t, Int128, cube_of_32<uint32_t>>>};
  } else if constexpr (kType == GPUMEM_I64) {
    return {kSum<int64_t, Int128>, kSumAbs<int64_t, Int128>, kLines<PowersOf64<int64_t, false>>,
            kLines<PowersOf64<int64_t, true>>};
  } else if constexpr (kType == GPUMEM_U64) {
    return {kSum<uint64_t, Int128>, kSum<uint64_t, Int128>, kLines<PowersOf64<uint64_t, false>>,
            kLines<PowersOf64<uint64_t, true>>};
  } else {
    static_assert(is_floating(kType));
    return {};
  }
};

}  // namespace

namespace GPUMEM_LOOPS {
const WordLineLoops word_lines = {
    by_type<SumLoops<LineLoop>>(sums_of_type),
    by_type<LineLoop>([]<gpumem_dtype kType>() { return kLines<Ranges<Ordered<kType>>>; })};
}  // namespace GPUMEM_LOOPS

}  // namespace gpumem
