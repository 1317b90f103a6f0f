// Floating-point sums and products of neighbouring columns, short rows and segments, in the order of kernels/order.hpp;
// compiled once per instruction set (loops.hpp). Neighbouring columns are neighbouring lanes of vectors, so a row is
// read contiguously.
#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "backend/host/loops/lane_vectors.hpp"
#include "backend/host/loops/loops.hpp"
#include "kernels/order.hpp"

namespace gpumem {
namespace {

// Operands of up to this size stay in a core's caches and are not prefetched.
constexpr int64_t kCached = int64_t{256} << 10;

inline int64_t power_of_two(int64_t n) { return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(n))); }

inline int64_t next_reversed(int64_t i, int64_t half) {
  for (; (i & half) != 0; half /= 2) i ^= half;
  return i | half;
}

// Rows of columns; absent ones are rows of Terms::kMissing, which change nothing.
struct RowsOfColumns {
  const char* x;
  int64_t pitch;
  int64_t rows;
  const char* missing;
};

// The rows of `lanes` lanes that the tree joins with each other: by the bits of their numbers, from the highest on.
[[gnu::noinline]] inline void find_rows(const RowsOfColumns& of, int64_t first, int64_t all, int lanes, int terms,
                                        const char** row) {
  for (int l = 0; l < lanes; ++l) {
    const int64_t lane = first + (l & 1) * (all / 2) + (l >> 1) * (all / 4);
    for (int64_t at = lane; at < lane + int64_t{terms} * kLeafLanes; at += kLeafLanes) {
      *row++ = at < of.rows ? of.x + at * of.pitch : of.missing;
    }
  }
}

template <template <class> class Lane, class Terms>
struct FloatLines : LaneVectors<Lane> {
  using Vectors = LaneVectors<Lane>;
  using typename Vectors::Vector;
  using Vectors::from_planes, Vectors::joined, Vectors::kMembers, Vectors::kPlane, Vectors::kPlaneBytes, Vectors::store,
      Vectors::to_planes;
  using T = typename Terms::T;
  static constexpr int64_t kElement = sizeof(T);
  static constexpr int kGroup = kAccumulators / kMembers;  // vectors that fit the registers
  static constexpr int64_t kLevels = 6;                    // of the tree over pairs of lanes of a 1024-element block
  static_assert(2 << kLevels == kLeafLanes);
  static constexpr int64_t kLevelBytes = kLevels * kStripColumns / kWide * sizeof(Vector);

  static void columns(const char* x, int64_t pitch, int64_t rows, int64_t columns, char* scratch, LineResults results) {
    if (pitch == columns * kElement && columns <= kFewColumns) return few_columns(x, rows, columns, scratch, results);
    if (pitch == kElement && columns >= kWide && rows >= kFewestOfWindow)
      return windows(x, rows, columns, scratch, results);
    static_assert(kLevelBytes + kStripColumns * kElement <= kColumnScratchBytes);
    if (columns >= kWide) return strip(x, pitch, rows, columns, scratch, results);
    // Fewer columns than lanes of a vector, with padding between rows: packed first.
    char* together = scratch + kPlaneBytes;
    static_assert(kPlaneBytes + kElement * kLeafTerms * (kWide - 1) <= kColumnScratchBytes);
    const auto row_bytes = static_cast<size_t>(columns * kElement);
    for (int64_t r = 0; r < rows; ++r) std::memcpy(together + r * columns * kElement, x + r * pitch, row_bytes);
    few_columns(together, rows, columns, scratch, results);
  }

  static void rows(const char* x, int64_t pitch, int64_t rows, int64_t cols, LineResults results) {
    if (pitch == cols * kElement && cols <= kShort && kWide >= 2 * cols) return short_rows(x, rows, cols, results);
    if (cols <= kWide) return whole_rows(x, pitch, rows, cols, results, row_sum<1>);
    whole_rows(x, pitch, rows, cols, results, row_sum_of(cols));
  }

  static void segments(const char* x, const int64_t* offsets, int64_t count, LineResults results) {
    for (int64_t first = 0; first < count; first += kWide) {
      const int64_t rows = std::min<int64_t>(kWide, count - first);
      Vector sums[kWide] = {};
      for (int64_t r = 0; r < rows; ++r) {
        const int64_t at = offsets[first + r];
        const int64_t cols = offsets[first + r + 1] - at;
        const Terms row = terms(x + at * kElement);
        prefetch_ahead(row.x);
        sums[r] = cols <= kFew ? few_sum(row, cols)
                               : row_sum_of(cols)(row, cols, power_of_two(std::min<int64_t>(cols, kLeafLanes)));
      }
      store(Vectors::template members_folded<kWide>(sums), rows, results, first);
    }
  }

 private:
  // With masked loads, up to two vectors of elements take no branch on their number, which is hard to predict.
#if defined(__AVX512F__)
  static constexpr bool kMasks = kElement >= 4 && !std::is_same_v<Terms, Factors<T>>;
#else
  static constexpr bool kMasks = false;
#endif
  static constexpr int64_t kFew = kMasks ? 2 * kWide : kWide;
  static Vector few_sum(const Terms& row, int64_t cols) {
    if constexpr (!kMasks) return row_sum<1>(row, cols, kWide);
    Vector sum{};
    Vector high{};
    sum.take(row.part(0, std::min<int64_t>(cols, kWide)));
    high.take(row.part(kWide, std::clamp<int64_t>(cols - kWide, 0, kWide)));
    sum.join(high);
    return sum;
  }

  static Terms terms(const char* at) { return {{reinterpret_cast<const T*>(at), nullptr}}; }

  // kTerms rows of kLanes lanes each, ordered as the tree joins lanes.
  template <int kLanes, int kTerms>
  struct Block {
    const char* row[kLanes * kTerms];

    template <int... kRow>
    void prefetch(int64_t offset, std::integer_sequence<int, kRow...>) const {
      (__builtin_prefetch(row[kRow] + offset), ...);
    }
    template <int... kLane>
    Vector sum(int64_t offset, std::integer_sequence<int, kLane...>) const {
      Vector lanes[kLanes];
      ((lanes[kLane] = lane(&row[kLane * kTerms], offset, std::make_integer_sequence<int, kTerms>{})), ...);
      if constexpr (kLanes == 4) lanes[2].join(lanes[3]);
      lanes[0].join(lanes[1]);
      if constexpr (kLanes == 4) lanes[0].join(lanes[2]);
      return lanes[0];
    }
    template <int... kTerm>
    static Vector lane(const char* const* rows, int64_t offset, std::integer_sequence<int, kTerm...>) {
      Vector sum{};
      (sum.take(terms(rows[kTerm] + offset).at(0)), ...);
      return sum;
    }
  };

  // Keeps unjoined partial results by level. The last vector overlaps its predecessor if the columns do not fill it.
  template <int kLanes, int kTerms>
  static void strip(const char* x, int64_t pitch, int64_t rows, int64_t columns, char* scratch,
                    const LineResults& results) {
    auto* levels = reinterpret_cast<Vector*>(scratch);
    char* missing = scratch + kLevelBytes;
    for (int64_t c = 0; c < columns; ++c) reinterpret_cast<T*>(missing)[c] = Terms::kMissing;
    const int64_t vectors = (columns + kWide - 1) / kWide;
    const int64_t used = power_of_two(rows < kLeafLanes ? rows : kLeafLanes);
    const int64_t all = used < kLanes ? kLanes : used;
    const int64_t last = all / kLanes - 1;
    const bool far = rows * pitch > kCached;
    Block<kLanes, kTerms> next;
    find_rows({x, pitch, rows, missing}, 0, all, kLanes, kTerms, next.row);
    for (int64_t i = 0, first_lane = 0; i <= last; ++i, first_lane = next_reversed(first_lane, all / kLanes / 2)) {
      const Block<kLanes, kTerms> block = next;
      find_rows({x, pitch, rows, missing}, next_reversed(first_lane, all / kLanes / 2), all, kLanes, kTerms, next.row);
      const int complete = std::countr_one(static_cast<uint64_t>(i));
      for (int64_t v = 0; v < vectors; ++v) {
        const int64_t first = v + 1 < vectors ? v * kWide : columns - kWide;
        if (far && v % (kLineBytes / (kWide * kElement)) == 0)
          next.prefetch(first * kElement, std::make_integer_sequence<int, kLanes * kTerms>{});
        Vector sum = block.sum(first * kElement, std::make_integer_sequence<int, kLanes>{});
        Vector* level = levels + v;
        for (int l = 0; l < complete; ++l, level += vectors) sum = joined(*level, sum);
        if (i < last) {
          *level = sum;
        } else {
          store(sum, kWide, results, first);
        }
      }
    }
  }

  static void strip(const char* x, int64_t pitch, int64_t rows, int64_t columns, char* scratch,
                    const LineResults& results) {
    if (rows <= kLeafLanes) return strip<4, 1>(x, pitch, rows, columns, scratch, results);
    if (rows <= int64_t{2} * kLeafLanes) return strip<4, 2>(x, pitch, rows, columns, scratch, results);
    if (rows <= int64_t{4} * kLeafLanes) return strip<2, 4>(x, pitch, rows, columns, scratch, results);
    return strip<2, kLeafRows>(x, pitch, rows, columns, scratch, results);
  }

  // Columns without padding are contiguous, and so are the lanes of all of them.
  static void few_columns(const char* x, int64_t rows, int64_t columns, char* scratch, const LineResults& results) {
    auto* planes = reinterpret_cast<double*>(scratch);
    const Terms all = terms(x);
    const int64_t n = rows * columns;
    const int64_t used = rows < kLeafLanes ? rows : kLeafLanes;
    int64_t lanes = power_of_two(used);
    for (int64_t e = 0; e < lanes * columns; e += kWide) {
      Vector sum{};
      for (int64_t at = e; at < n && e < used * columns; at += kLeafLanes * columns) {
        prefetch_ahead(all.x + at);
        sum.take(at + kWide <= n ? all.at(at) : all.part(at, n - at));
      }
      to_planes(planes, e, sum);
    }
    while (lanes > 1) {
      lanes /= 2;
      for (int64_t e = 0; e < lanes * columns; e += kWide) {
        to_planes(planes, e, joined(from_planes(planes, e), from_planes(planes, e + lanes * columns)));
      }
    }
    for (int64_t c = 0; c < columns; c += kWide) {
      store(from_planes(planes, c), columns - c < kWide ? columns - c : kWide, results, c);
    }
  }

  // Columns that begin one element apart: windows over one vector. A lane of one window equals the previous lane of the
  // next window.
  static constexpr int64_t kFewestOfWindow = 4;
  static constexpr int64_t kWindows = 1024;  // per pass; their partial results stay in L1
  static void windows(const char* x, int64_t rows, int64_t columns, char* scratch, const LineResults& results) {
    static_assert(kWindows + kLeafLanes + int64_t{2} * kWide <= kPlane && 2 * kPlaneBytes <= kColumnScratchBytes);
    auto* few = reinterpret_cast<double*>(scratch);
    auto* more = reinterpret_cast<double*>(scratch + kPlaneBytes);
    for (int64_t first = 0; first < columns; first += kWindows) {
      const int64_t count = std::min(kWindows, columns - first);
      const Terms all = terms(x + first * kElement);
      const int64_t n = count + rows - 1;
      const auto take = [&](Vector& sum, int64_t at) {
        if (at < n) sum.take(at + kWide <= n ? all.at(at) : all.part(at, n - at));
      };
      for (int64_t e = 0; e < count + kLeafLanes + kWide; e += kWide) {
        Vector sum{};
        int64_t row = 0;
        for (; row + kLeafLanes <= rows; row += kLeafLanes) take(sum, e + row);
        to_planes(few, e, sum);
        if (row < rows) take(sum, e + row);
        to_planes(more, e, sum);
      }
      Vectors::fold_windows(few, more, rows, count, results, first);
    }
  }

  // Takes a row per lane of a vector, and repeats the last row for absent ones. A row's lanes take a power of two of
  // vectors.
  using RowSum = Vector (*)(const Terms& row, int64_t cols, int64_t lanes);
  template <class Sum>
  static void whole_rows(const char* x, int64_t pitch, int64_t rows, int64_t cols, const LineResults& results,
                         Sum sum) {
    const int64_t lanes = power_of_two(std::min<int64_t>(cols, kLeafLanes));
    for (int64_t first = 0; first < rows; first += kWide) {
      Vector sums[kWide];
      for (int64_t r = first; r < first + kWide; ++r) {
        sums[r - first] = sum(terms(x + (r < rows ? r : rows - 1) * pitch), cols, lanes);
      }
      store(Vectors::template members_folded<kWide>(sums), rows - first < kWide ? rows - first : kWide, results, first);
    }
  }

  static RowSum row_sum_of(int64_t cols) {
    constexpr RowSum kSums[] = {row_sum_apart<2>, row_sum_apart<4>, row_sum_apart<8>, row_sum_apart<16>};
    const int64_t vectors = power_of_two((std::min<int64_t>(cols, kLeafLanes) + kWide - 1) / kWide);
    return vectors <= kGroup ? kSums[std::countr_zero(static_cast<uint64_t>(vectors)) - 1] : sum_of_groups;
  }

  template <int kVectors>
  static Vector row_sum(const Terms& row, int64_t cols, int64_t lanes) {
    Vector sums[kVectors];
    lane_sums(row, 0, cols, std::max<int64_t>(lanes, kWide), sums, std::make_integer_sequence<int, kVectors>{});
    return vectors_folded(sums, std::make_integer_sequence<int, kVectors / 2>{});
  }
  template <int kVectors>
  [[gnu::noinline]] static Vector row_sum_apart(const Terms& row, int64_t cols, int64_t lanes) {
    return row_sum<std::min(kVectors, kGroup)>(row, cols, lanes);
  }
  [[gnu::noinline]] static Vector sum_of_groups(const Terms& row, int64_t cols, int64_t lanes) {
    constexpr auto kOfGroup = std::make_integer_sequence<int, kGroup>{};
    constexpr int kGroups = kLeafLanes / kWide / kGroup;
    Vector groups[kGroups][kGroup];
    int64_t count = lanes / kGroup / kWide;
    for (int64_t g = 0; g < count; ++g) lane_sums(row, g * kGroup * kWide, cols, lanes, groups[g], kOfGroup);
    if constexpr (kGroups > 1) {
      while (count > 1) {
        count /= 2;
        for (int64_t g = 0; g < count; ++g) {
          for (int v = 0; v < kGroup; ++v) groups[g][v].join(groups[g + count][v]);
        }
      }
    }
    return vectors_folded(groups[0], std::make_integer_sequence<int, kGroup / 2>{});
  }

  // Of neighbouring vectors of lanes, from element `at` on.
  template <int... kIndex>
  static void lane_sums(const Terms& row, int64_t at, int64_t cols, int64_t lanes, Vector* sums,
                        std::integer_sequence<int, kIndex...>) {
    constexpr int64_t kWhole = sizeof...(kIndex) * kWide;
    Vector sum[sizeof...(kIndex)];
    ((sum[kIndex] = Vector{}), ...);
    for (; at + kWhole <= cols; at += lanes) {
      (prefetch<kElement * kIndex * kWide>(row.x + at), ...);
      (sum[kIndex].take(row.at(at + int64_t{kIndex} * kWide)), ...);
    }
    if constexpr (sizeof...(kIndex) <= 4) {
      if (at < cols) (take_rest(sum[kIndex], row, at + int64_t{kIndex} * kWide, cols), ...);
      at = cols;
    }
    ((sums[kIndex] = sum[kIndex]), ...);
    for (; at < cols; at += kWide) {
      prefetch_ahead(row.x + at);
      (sums++)->take(at + kWide <= cols ? row.at(at) : row.part(at, cols - at));
    }
  }
  template <int64_t kOffset>
  static void prefetch(const T* x) {
    if constexpr (kOffset % kLineBytes == 0) prefetch_ahead(reinterpret_cast<const char*>(x) + kOffset);
  }
  static void take_rest(Vector& lanes, const Terms& row, int64_t at, int64_t cols) {
    if (at + kWide <= cols) {
      lanes.take(row.at(at));
    } else if (at < cols) {
      lanes.take(row.part(at, cols - at));
    }
  }

  static constexpr int kShort = 4;
  static void short_rows(const char* x, int64_t rows, int64_t cols, const LineResults& results) {
    if constexpr (kWide >= 2)
      if (cols == 1) return short_rows_of<1>(x, rows, results);
    if constexpr (kWide >= 4)
      if (cols == 2) return short_rows_of<2>(x, rows, results);
    if constexpr (kWide >= 8)
      if (cols == 3) return short_rows_of<3>(x, rows, results);
    if constexpr (kWide >= 8) return short_rows_of<4>(x, rows, results);
  }
  template <int kCols>
  static void short_rows_of(const char* x, int64_t rows, const LineResults& results) {
    constexpr int kLanes = kCols + (kCols == 3 ? 1 : 0);
    constexpr int kOfVector = kWide / kLanes * kCols;
    const Terms all = terms(x);
    for (int64_t first = 0; first < rows; first += kWide) {
      prefetch_ahead(all.x + first * kCols);
      Vector lines[kLanes];
      for (int v = 0; v < kLanes; ++v) {
        const int64_t at = first * kCols + int64_t{v} * kOfVector;
        const int64_t left = rows * kCols - at;
        const F64s v8 = left >= kWide ? all.at(at) : all.part(at, std::max<int64_t>(left, 0));
        lines[v] = Vector{};
        lines[v].take(kCols == 3 ? spread(v8) : v8);
      }
      store(Vectors::template members_folded<kLanes>(lines), rows - first < kWide ? rows - first : kWide, results,
            first);
    }
  }
  static F64s spread(const F64s& v) {
#if defined(__AVX512F__)
    constexpr double kNothing = std::is_same_v<Terms, Factors<T>> ? 1 : 0;
    return __builtin_shufflevector(v, F64s{} + kNothing, 0, 1, 2, 8, 3, 4, 5, 8);
#else
    return v;
#endif
  }
};

template <template <class> class Lane, class Terms>
constexpr LineLoop kLines = {FloatLines<Lane, Terms>::columns, FloatLines<Lane, Terms>::rows, kLeafTerms,
                             FloatLines<Lane, Terms>::segments};

}  // namespace

namespace GPUMEM_LOOPS {
const FloatLineLoops float_lines = {floating_loops<LineLoop>([]<template <class> class Lane, class Terms>() {
                                      if constexpr (std::is_same_v<Terms, Products<typename Terms::T>>) {
                                        return LineLoop{};
                                      } else {
                                        return kLines<Lane, Terms>;
                                      }
                                    }),
                                    kLines<Compensated, Plain<double>>};
}  // namespace GPUMEM_LOOPS

}  // namespace gpumem
