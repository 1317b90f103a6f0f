// Floating-point sums of many lines at once: neighbouring columns, and short rows, in the order of kernels/order.hpp; compiled once
// for each instruction set (loops.hpp). Neighbouring columns are neighbouring lanes of vectors, so that a row is read as it lies.
#include <cstring>

#include "backend/host/loops/loops.hpp"
#include "backend/host/loops/sums.hpp"
#include "kernels/order.hpp"

namespace gpumem {
namespace {

constexpr int64_t kRowsAhead =
    4;                    // of each of the leaf's rows of lanes: where rows lie far apart, no hardware prefetcher helps
constexpr int kFew = 16;  // elements of a row, up to which a vector takes as many rows as it has lanes

inline int64_t power_of_two(int64_t n) {
  int64_t power = 1;
  while (power < n) power *= 2;
  return power;
}

template <template <class> class Lane, class Terms>
struct FloatLines {
  using T = typename Terms::T;
  using Vector = Lane<F64s>;
  static constexpr int64_t kElement = sizeof(T);

  static void columns(const char* x, int64_t pitch, int64_t rows, int64_t columns, char* scratch, ReduceNode* nodes) {
    auto* lanes = reinterpret_cast<Vector*>(scratch);
    if (columns >= kWide) return strip(x, pitch, rows, columns, lanes, nodes);
    // Fewer than a vector's: zeros beside them.
    char* padded = scratch + kLeafLanes * sizeof(Vector);
    static_assert(kLeafLanes * int64_t{sizeof(Vector)} + int64_t{kLeafTerms} * kWide * kElement <= kColumnScratchBytes);
    std::memset(padded, 0, static_cast<size_t>(rows * kWide * kElement));
    for (int64_t r = 0; r < rows; ++r) {
      std::memcpy(padded + r * kWide * kElement, x + r * pitch, static_cast<size_t>(columns * kElement));
    }
    ReduceNode all[kWide];
    strip(padded, kWide * kElement, rows, kWide, lanes, all);
    for (int64_t c = 0; c < columns; ++c) nodes[c] = all[c];
  }

  static void rows(const char* x, int64_t pitch, int64_t rows, int64_t cols, ReduceNode* nodes) {
    if (cols <= kFew) return few(x, pitch, rows, cols, nodes);
    switch (power_of_two(cols)) {
      case 32:
        return whole<32 / kWide>(x, pitch, rows, cols, nodes);
      case 64:
        return whole<64 / kWide>(x, pitch, rows, cols, nodes);
      default:
        return whole<kLeafLanes / kWide>(x, pitch, rows, cols, nodes);
    }
  }

 private:
  static Terms terms(const char* at) { return {{reinterpret_cast<const T*>(at), nullptr}}; }

  static void store(const Vector& lanes, int64_t count, ReduceNode* nodes) {
    for (int64_t k = 0; k < count; ++k) nodes[k] = stored(Vector::each(lanes, [k](const F64s& v) { return v[k]; }));
  }

  // Folds `count` lanes by halves, each of them `vectors` vectors.
  static void fold(Vector* lanes, int64_t count, int64_t vectors) {
    for (int64_t h = count / 2; h > 0; h /= 2) {
      for (int64_t i = 0; i < h * vectors; ++i) lanes[i].join(lanes[i + h * vectors]);
    }
  }

  // The terms of one lane of every column of a vector.
  template <int kTerms>
  static Vector lane(const char* p, int64_t step, int64_t count) {
    Vector sum{};
    for (int64_t r = 0; r < (kTerms > 0 ? kTerms : count); ++r) sum.take(terms(p + r * step).at(0));
    return sum;
  }

  static void prefetch(const char* row, int64_t pitch, int64_t count, int64_t bytes) {
    const auto from = reinterpret_cast<uintptr_t>(row) + static_cast<uintptr_t>(kRowsAhead * pitch);
    for (int64_t r = 0; r < count; ++r) {
      for (int64_t at = 0; at < bytes; at += kLineBytes) {
        __builtin_prefetch(reinterpret_cast<const void*>(from + static_cast<uintptr_t>(r * kLeafLanes * pitch + at)));
      }
    }
  }

  // The last vector overlaps the one before it where the columns do not fill it.
  static void strip(const char* x, int64_t pitch, int64_t rows, int64_t columns, Vector* lanes, ReduceNode* nodes) {
    const int64_t vectors = (columns + kWide - 1) / kWide;
    const auto first_of = [&](int64_t v) { return (v + 1 < vectors ? v * kWide : columns - kWide); };
    const int64_t used = rows < kLeafLanes ? rows : kLeafLanes;
    for (int64_t j = 0; j < used; ++j) {
      const char* row = x + j * pitch;
      const int64_t count = (rows - j + kLeafLanes - 1) / kLeafLanes;
      prefetch(row, pitch, count, columns * kElement);
      for (int64_t v = 0; v < vectors; ++v) {
        const char* at = row + first_of(v) * kElement;
        lanes[j * vectors + v] = count == kLeafRows ? lane<kLeafRows>(at, kLeafLanes * pitch, count)
                                                    : lane<0>(at, kLeafLanes * pitch, count);
      }
    }
    const int64_t all = power_of_two(used);
    for (int64_t i = used * vectors; i < all * vectors; ++i) lanes[i] = Vector{};
    fold(lanes, all, vectors);
    for (int64_t v = 0; v < vectors; ++v) store(lanes[v], kWide, nodes + first_of(v));
  }

  // A row at a time, in kVectors vectors; one that does not fill them is copied between zeros.
  template <int kVectors>
  static void whole(const char* x, int64_t pitch, int64_t rows, int64_t cols, ReduceNode* nodes) {
    alignas(64) T padded[kVectors * kWide] = {};
    const bool fills = cols == int64_t{kVectors} * kWide;
    for (int64_t r = 0; r < rows; ++r) {
      const char* row = x + r * pitch;
      if (!fills) std::memcpy(padded, row, static_cast<size_t>(cols * kElement));
      const Terms from = terms(fills ? row : reinterpret_cast<const char*>(padded));
      Vector lanes[kVectors] = {};
      for (int v = 0; v < kVectors; ++v) lanes[v].take(from.at(v * kWide));
      nodes[r] = stored(folded(lanes, std::make_integer_sequence<int, kVectors / 2>{}));
    }
  }

  // As many rows as a vector has lanes; what is missing is +0.
  static void few(const char* x, int64_t pitch, int64_t rows, int64_t cols, ReduceNode* nodes) {
    alignas(64) T transposed[kFew * kWide] = {};
    const int64_t all = power_of_two(cols);
    for (int64_t first = 0; first < rows; first += kWide) {
      const int64_t count = rows - first < kWide ? rows - first : kWide;
      for (int64_t k = 0; k < count; ++k) {
        const char* row = x + (first + k) * pitch;
        for (int64_t j = 0; j < cols; ++j) std::memcpy(&transposed[j * kWide + k], row + j * kElement, sizeof(T));
      }
      Vector lanes[kFew];
      for (int64_t j = 0; j < all; ++j) {
        lanes[j] = Vector{};
        lanes[j].take(terms(reinterpret_cast<const char*>(&transposed[j * kWide])).at(0));
      }
      fold(lanes, all, 1);
      store(lanes[0], count, nodes + first);
    }
  }
};

template <template <class> class Lane, class Terms>
constexpr LineLoop kLines = {FloatLines<Lane, Terms>::columns, FloatLines<Lane, Terms>::rows};

constexpr auto sums_of_type = []<gpumem_dtype kType>() -> SumLoops<LineLoop> {
  if constexpr (is_floating(kType)) {
    using T = FloatingElement<kType>;
    return {kLines<Sum, Plain<T>>, kLines<Sum, Magnitudes<T>>, kLines<Sum, Squares<T>>, kLines<Sum, Cubes<T>>};
  } else {
    return {};
  }
};

}  // namespace

namespace GPUMEM_LOOPS {
const FloatLineLoops float_lines = {by_type<SumLoops<LineLoop>>(sums_of_type), kLines<Compensated, Plain<double>>};
}  // namespace GPUMEM_LOOPS

}  // namespace gpumem
