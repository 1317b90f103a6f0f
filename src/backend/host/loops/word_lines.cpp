// Exact sums and products of integers, and smallest and largest elements, of neighbouring columns and short rows;
// compiled once per instruction set (loops.hpp). Values of columns stay in memory while rows are read.
#include <bit>
#include <new>

#include "backend/host/loops/loops.hpp"
#include "backend/host/loops/order.hpp"
#include "backend/host/loops/words.hpp"
#include "kernels/order.hpp"

namespace gpumem {
namespace {

// Many holds the values of neighbouring columns; join() adds the values of another one. of_row() is the value of a row.
template <class State>
struct WordLines {
  using T = typename State::T;
  static constexpr int64_t kElement = sizeof(T);

  // Several rows of few columns without padding are read as one.
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
    if constexpr (requires { many.number_rows(columns, joined); }) many.number_rows(columns, joined);
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
  static constexpr int64_t kFewColumns = 256;
};

// One starts as One::empty(), take() adds an element's term, and stored() is the result.
template <class One>
struct Folds {
  using T = typename One::T;
  static T element(const char* row, int64_t c) { return load_as<T>(row + c * static_cast<int64_t>(sizeof(T))); }
  template <int64_t kMost>
  struct Many {
    One one[kMost];
    void begin(const char*, int64_t columns) {
      for (int64_t c = 0; c < columns; ++c) one[c] = One::empty();
    }
    void take(const char* row, int64_t columns) {
      for (int64_t c = 0; c < columns; ++c) one[c].take(element(row, c));
    }
    void join(int64_t c, int64_t other) { one[c].join(one[other]); }
    ReduceNode node(int64_t c) const { return one[c].stored(); }
  };
  static ReduceNode of_row(const char* row, int64_t cols) {
    One one = One::empty();
    for (int64_t c = 0; c < cols; ++c) one.take(element(row, c));
    return one.stored();
  }
};

// In a Word that a block's rows of terms cannot overflow.
template <class Type, Addend kAddend, class Word>
struct InWord {
  using T = Type;
  Word sum;
  static InWord empty() { return {}; }
  void take(T v) { sum = static_cast<Word>(sum + term_of<kAddend, Word>(v)); }
  void join(const InWord& other) { sum = static_cast<Word>(sum + other.sum); }
  ReduceNode stored() const { return IntegerNode(static_cast<Int128>(sum)).stored(); }
};

// Of floating-point elements.
template <class Type>
struct Counted {
  using T = typename Type::T;
  int32_t numbers;
  static Counted empty() { return {}; }
  void take(T bits) { numbers += Type::is_number(bits) ? 1 : 0; }
  void join(const Counted& other) { numbers += other.numbers; }
  ReduceNode stored() const { return {{std::bit_cast<uint64_t>(static_cast<double>(numbers)), 0, 0, 0}}; }
};

template <class Type, bool kCubes>
struct PowersOf64 : SplitSum {
  using T = Type;
  static PowersOf64 empty() { return {}; }
  void take(T v) {
    const uint64_t a = unsigned_magnitude(v);
    if constexpr (kCubes) {
      const Cube cube = cube_of(a);
      add(cube.low, cube.high, is_negative(v));
    } else {
      add_square(square_of(a));
    }
  }
};

// Storage for many values is not initialised.
template <class Type>
struct ProductOf {
  using T = Type;
  uint64_t word[2];
  static ProductOf empty() { return std::bit_cast<ProductOf>(IntegerProductNode()); }
  void take(T v) { multiply({unsigned_magnitude(v), is_negative(v)}); }
  void join(const ProductOf& other) { multiply(other.node()); }
  ReduceNode stored() const { return node().stored(); }

 private:
  IntegerProductNode node() const { return std::bit_cast<IntegerProductNode>(*this); }
  void multiply(const IntegerProductNode& by) {
    IntegerProductNode product = node();
    product.multiply(by);
    *this = std::bit_cast<ProductOf>(product);
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

// The lowest rank and its first row. It has at least 16 bits, enough for the rows too.
template <class Type, gpumem_reduce_op kOp>
struct Places {
  using T = typename Type::T;
  using Rank = std::conditional_t<sizeof(T) == 1, uint16_t, std::make_unsigned_t<T>>;
  static Rank rank_at(const char* row, int64_t c) {
    return rank<Type, kOp>(Type::order(load_as<T>(row + c * static_cast<int64_t>(sizeof(T)))));
  }
  template <int64_t kMost>
  struct Many {
    Rank lowest[kMost];
    Rank place[kMost];
    Rank taken;
    void begin(const char* row, int64_t columns) {
      taken = 0;
      for (int64_t c = 0; c < columns; ++c) {
        lowest[c] = rank_at(row, c);
        place[c] = 0;
      }
    }
    void take(const char* row, int64_t columns) {
      for (int64_t c = 0; c < columns; ++c) {
        const Rank here = rank_at(row, c);
        const bool lower = here < lowest[c];
        lowest[c] = lower ? here : lowest[c];
        place[c] = lower ? taken : place[c];
      }
      ++taken;
    }
    // `joined` rows were taken at a time. Numbers of such rows become those of single rows.
    void number_rows(int64_t columns, int64_t joined) {
      for (int64_t i = 0; i < joined; ++i) {
        for (int64_t c = i * columns; c < (i + 1) * columns; ++c) place[c] = static_cast<Rank>(place[c] * joined + i);
      }
    }
    void join(int64_t c, int64_t other) {
      if (lowest[other] > lowest[c] || (lowest[other] == lowest[c] && place[other] > place[c])) return;
      lowest[c] = lowest[other];
      place[c] = place[other];
    }
    ReduceNode node(int64_t c) const { return {{lowest[c], place[c], 0, 0}}; }
  };
  static ReduceNode of_row(const char* row, int64_t cols) {
    Rank lowest = rank_at(row, 0);
    int64_t place = 0;
    for (int64_t c = 1; c < cols; ++c) {
      const Rank here = rank_at(row, c);
      if (here >= lowest) continue;
      lowest = here;
      place = c;
    }
    return {{lowest, static_cast<uint64_t>(place), 0, 0}};
  }
};

template <class State>
constexpr LineLoop kLines = {WordLines<State>::columns, WordLines<State>::rows, kLeafLanes};
template <class T, Addend kAddend, class Word>
constexpr LineLoop kSum = kLines<Folds<InWord<T, kAddend, Word>>>;
template <class T>
constexpr LineLoop kProduct = kLines<Folds<ProductOf<T>>>;

// In the order of Addend, by the words of the four sums.
template <class T, class S, class A, class Q, class C>
constexpr LoopsByAddend<LineLoop> kInWords = {{kSum<T, Addend::element, S>, kSum<T, kAbsolute<T>, A>,
                                               kSum<T, Addend::square, Q>, kSum<T, Addend::cube, C>, LineLoop{},
                                               kProduct<T>}};

template <class T>
constexpr LoopsByAddend<LineLoop> kOf64 = {{kSum<T, Addend::element, Int128>, kSum<T, kAbsolute<T>, Int128>,
                                            kLines<Folds<PowersOf64<T, false>>>, kLines<Folds<PowersOf64<T, true>>>,
                                            LineLoop{}, kProduct<T>}};

constexpr auto loops_of_type = []<gpumem_dtype kType>() -> LoopsByAddend<LineLoop> {
  if constexpr (kType == GPUMEM_I8) return kInWords<int8_t, int32_t, uint32_t, uint32_t, int32_t>;
  if constexpr (kType == GPUMEM_U8) return kInWords<uint8_t, uint32_t, uint32_t, uint32_t, uint64_t>;
  if constexpr (kType == GPUMEM_I16) return kInWords<int16_t, int32_t, uint32_t, uint64_t, int64_t>;
  if constexpr (kType == GPUMEM_U16) return kInWords<uint16_t, uint32_t, uint32_t, uint64_t, uint64_t>;
  if constexpr (kType == GPUMEM_I32) return kInWords<int32_t, int64_t, uint64_t, Int128, Int128>;
  if constexpr (kType == GPUMEM_U32) return kInWords<uint32_t, uint64_t, uint64_t, Int128, Int128>;
  if constexpr (kType == GPUMEM_I64) return kOf64<int64_t>;
  if constexpr (kType == GPUMEM_U64) return kOf64<uint64_t>;
  return {};
};

// Longer rows are searched one by one (ranges.cpp), which vectorises.
constexpr int64_t kShortSearch = 16;
constexpr ByType<LineLoop> kCount = by_type<LineLoop>([]<gpumem_dtype kType>() -> LineLoop {
  if constexpr (is_floating(kType)) return kLines<Folds<Counted<Ordered<kType>>>>;
  return {};
});
template <gpumem_reduce_op kOp>
constexpr ByType<LineLoop> kRange = by_type<LineLoop>([]<gpumem_dtype kType>() -> LineLoop {
  if constexpr (!has_loop(kType, kOp)) {
    return {};
  } else {
    return kLines<Ranges<OrderedFor<kType, kOp>>>;
  }
});
template <gpumem_reduce_op kOp>
constexpr ByType<LineLoop> kSearch = by_type<LineLoop>([]<gpumem_dtype kType>() -> LineLoop {
  if constexpr (!has_loop(kType, kOp)) {
    return {};
  } else {
    using Lines = WordLines<Places<OrderedFor<kType, kOp>, kOp>>;
    return {Lines::columns, Lines::rows, kShortSearch};
  }
});

}  // namespace

namespace GPUMEM_LOOPS {
const WordLineLoops word_lines = {by_type<LoopsByAddend<LineLoop>>(loops_of_type),
                                  {kRange<GPUMEM_MIN_MAX>, kRange<GPUMEM_MIN_VALID>, kRange<GPUMEM_MAX_VALID>, kCount,
                                   kSearch<GPUMEM_ARG_MIN>, kSearch<GPUMEM_ARG_MAX>, kSearch<GPUMEM_ARG_MAX_ABS>,
                                   kSearch<GPUMEM_ARG_MIN_VALID>, kSearch<GPUMEM_ARG_MAX_VALID>}};
}  // namespace GPUMEM_LOOPS

}  // namespace gpumem
