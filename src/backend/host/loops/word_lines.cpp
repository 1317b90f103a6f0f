// Exact sums of integers, and smallest and largest elements, of many lines at once: neighbouring columns, and short rows; compiled
// once for each instruction set (loops.hpp). A column's value stays in memory while the rows go by; compilers turn a row of
// columns into vectors.
#include <new>

#include "backend/host/loops/loops.hpp"
#include "backend/host/loops/order.hpp"
#include "backend/host/loops/words.hpp"
#include "kernels/order.hpp"

namespace gpumem {
namespace {

// Many is the values of neighbouring columns, of which join() adds another's to one; of_row() is the value of a row.
template <class State>
struct WordLines {
  using T = typename State::T;
  static constexpr int64_t kElement = sizeof(T);

  // Rows of few columns without gaps are taken several as one.
  static void columns(const char* x, int64_t pitch, int64_t rows, int64_t columns, char* scratch, LineResults results) {
    using Many = typename State::template Many<kStripColumns>;
    static_assert(sizeof(Many) <= kColumnScratchBytes);
    Many& many = *new (scratch) Many;
    int64_t joined = 1;
    if (pitch == columns * kElement) {
      while (2 * joined * columns <= kFewColumns && 2 * joined <= rows) joined *= 2;
    }
    const int64_t step = joined * pitch;
    many.begin(x, joined * columns);
    for (int64_t r = 0; r < rows; r += joined) {
      const char* row = x + r * pitch;
      const int64_t width = (rows - r < joined ? rows - r : joined) * columns;
      for (int64_t at = 0; at < width * kElement; at += kLineBytes) {
        __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(row) +
                                                         static_cast<uintptr_t>(kRowsAhead * step + at)));
      }
      many.take(row, width);
    }
    for (int64_t half = joined / 2 * columns; half >= columns; half /= 2) {
      for (int64_t c = 0; c < half; ++c) many.join(c, half + c);
    }
    for (int64_t c = 0; c < columns; ++c) results.nodes[c] = many.node(c);
  }

  static void rows(const char* x, int64_t pitch, int64_t rows, int64_t cols, LineResults results) {
    for (int64_t r = 0; r < rows; ++r) results.nodes[r] = State::of_row(x + r * pitch, cols);
  }

 private:
  static constexpr int64_t kRowsAhead = 16;
  static constexpr int64_t kFewColumns = 256;  // of all rows that are taken as one
};

// Sums: One begins as One{}, take() adds an element's term and node() is the end of it.
template <class One>
struct Sums {
  using T = typename One::T;
  static T element(const char* row, int64_t c) { return load_as<T>(row + c * static_cast<int64_t>(sizeof(T))); }
  template <int64_t kMost>
  struct Many {
    One sum[kMost];
    void begin(const char*, int64_t columns) {
      for (int64_t c = 0; c < columns; ++c) sum[c] = One{};
    }
    void take(const char* row, int64_t columns) {
      for (int64_t c = 0; c < columns; ++c) sum[c].take(element(row, c));
    }
    void join(int64_t c, int64_t other) { sum[c].join(sum[other]); }
    ReduceNode node(int64_t c) const { return sum[c].node(); }
  };
  static ReduceNode of_row(const char* row, int64_t cols) {
    One sum{};
    for (int64_t c = 0; c < cols; ++c) sum.take(element(row, c));
    return sum.node();
  }
};

// In a Word that a leaf's rows of terms can't overflow.
template <class Type, class Word, Word (*kTerm)(Type)>
struct InWord {
  using T = Type;
  Word sum;
  void take(T v) { sum = static_cast<Word>(sum + kTerm(v)); }
  void join(const InWord& other) { sum = static_cast<Word>(sum + other.sum); }
  ReduceNode node() const { return node_of(static_cast<Int128>(sum)); }
};

template <class T>
inline Int128 square_of_32(T v) {
  const uint64_t size = unsigned_magnitude(v);
  const uint64_t square = size * size;
  return static_cast<Int128>(square);
}
template <class T>
inline Int128 cube_of_32(T v) {
  return square_of_32(v) * v;
}

// Squares and cubes of 64 bits, in words of 64 bits that are summed apart.
template <class Type, bool kCubes>
struct PowersOf64 {
  using T = Type;
  Int128 word[3];
  void take(T v) {
    const uint64_t a = unsigned_magnitude(v);
    const Uint128 square = static_cast<Uint128>(a) * a;
    if constexpr (kCubes) {
      const Uint128 low = static_cast<Uint128>(static_cast<uint64_t>(square)) * a;
      const Uint128 high = (square >> 64) * a + (low >> 64);
      add(static_cast<uint64_t>(low) | high << 64, static_cast<uint64_t>(high >> 64), v < 0);
    } else {
      add(square, 0, false);
    }
  }
  void join(const PowersOf64& other) {
    for (int i = 0; i < 3; ++i) word[i] += other.word[i];
  }
  void add(Uint128 low, uint64_t high, bool negative) {
    const Int128 sign = negative ? -1 : 1;
    word[0] += sign * static_cast<uint64_t>(low);
    word[1] += sign * static_cast<uint64_t>(low >> 64);
    word[2] += sign * high;
  }
  ReduceNode node() const { return node_of(word[0], word[1], word[2]); }
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
    void join(int64_t c, int64_t other) {
      low[c] = low[other] < low[c] ? low[other] : low[c];
      high[c] = high[other] > high[c] ? high[other] : high[c];
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
constexpr LineLoop kLines = {WordLines<State>::columns, WordLines<State>::rows, kLeafLanes};
template <class T, class Word, Word (*kTerm)(T)>
constexpr LineLoop kSum = kLines<Sums<InWord<T, Word, kTerm>>>;

// By the words of the four sums.
template <class T, class S, class A, class Q, class C>
constexpr SumLoops<LineLoop> kShort = {kSum<T, S, itself<T, S>>, kSum<T, A, kAbsolute<T, A>>, kSum<T, Q, square<T, Q>>,
                                       kSum<T, C, cube<T, C>>};

template <class T, class S>
constexpr SumLoops<LineLoop> kOf32 = {kSum<T, S, itself<T, S>>, kSum<T, uint64_t, kAbsolute<T, uint64_t>>,
                                      kSum<T, Int128, square_of_32<T>>, kSum<T, Int128, cube_of_32<T>>};

template <class T>
constexpr SumLoops<LineLoop> kOf64 = {kSum<T, Int128, itself<T, Int128>>, kSum<T, Int128, kAbsolute<T, Int128>>,
                                      kLines<Sums<PowersOf64<T, false>>>, kLines<Sums<PowersOf64<T, true>>>};

constexpr auto sums_of_type = []<gpumem_dtype kType>() -> SumLoops<LineLoop> {
  if constexpr (kType == GPUMEM_I8) return kShort<int8_t, int32_t, uint32_t, uint32_t, int32_t>;
  if constexpr (kType == GPUMEM_U8) return kShort<uint8_t, uint32_t, uint32_t, uint32_t, uint64_t>;
  if constexpr (kType == GPUMEM_I16) return kShort<int16_t, int32_t, uint32_t, uint64_t, int64_t>;
  if constexpr (kType == GPUMEM_U16) return kShort<uint16_t, uint32_t, uint32_t, uint64_t, uint64_t>;
  if constexpr (kType == GPUMEM_I32) return kOf32<int32_t, int64_t>;
  if constexpr (kType == GPUMEM_U32) return kOf32<uint32_t, uint64_t>;
  if constexpr (kType == GPUMEM_I64) return kOf64<int64_t>;
  if constexpr (kType == GPUMEM_U64) return kOf64<uint64_t>;
  return {};
};

}  // namespace

namespace GPUMEM_LOOPS {
const WordLineLoops word_lines = {
    by_type<SumLoops<LineLoop>>(sums_of_type),
    by_type<LineLoop>([]<gpumem_dtype kType>() { return kLines<Ranges<Ordered<kType>>>; })};
}  // namespace GPUMEM_LOOPS

}  // namespace gpumem
