// Shared by the kernels for columns: a thread's columns, its rows, and the combination of its passes.
#pragma once

#include <cuda_pipeline_primitives.h>

#include "kernels/reduce/line_plans.hpp"
#include "kernels/reduce/terms.cuh"
#include "kernels/words.cuh"

namespace gpumem::kernels {

// Neighbouring columns of a thread, read by one load.
template <class Term, int kColumns>
struct Columns {
  static constexpr int kCount = kColumns;
  static constexpr bool kWords = kCount > 1;
  static constexpr int kThreads = kWords ? kColumnThreads : most_column_threads(Term::kBytes, leaf_kind_of<Term>());
  static constexpr int kBlocks = column_blocks(kWords, Term::kBytes, leaf_kind_of<Term>());  // per multiprocessor
  static constexpr int kBytes = kCount * Term::kBytes;
  alignas(kBytes) BitsOf<Term> element[kCount];

  __device__ __forceinline__ void load(const char* p) {
    using Word = WordOf<kBytes>;
    const Word word = __ldcs(reinterpret_cast<const Word*>(p));
    memcpy(element, &word, sizeof(word));
  }
};

// The rows of one column from row 0 on. kRuns: they come in runs.
template <bool kRuns>
struct ColumnRows {
  const char* x;
  int64_t pitch;     // bytes between neighbours in a run
  int64_t jump = 0;  // bytes from the end of a run to the next one
  Divisor<uint32_t> run{};

  __device__ __forceinline__ const char* at(int64_t row) const {
    const char* p = x + row * pitch;
    if constexpr (kRuns) p += jump * static_cast<int64_t>(run.quotient(static_cast<uint32_t>(row)));
    return p;
  }
  // Places of rows first + i * apart.
  __device__ __forceinline__ auto from(int64_t first, int apart) const {
    if constexpr (kRuns) {
      return [this, first, apart](int i) { return at(first + i * apart); };
    } else {
      return [p = at(first), step = apart * pitch](int i) { return p + i * step; };
    }
  }
};

// kRows rows: first, first + apart, ... Rows from n on do not count. place(i) is the place of row first + i * apart.
template <class Term, int kColumns, int kRows>
struct Rows {
  using C = Columns<Term, kColumns>;
  static constexpr int kSums = Term::kOrdered ? kRows : 1;
  // With an array of arrays, nvcc 13.0 sets all rows but the first to zero instead of Partial's initial value.
  struct Nodes {
    typename Term::Partial of[C::kCount];
  };
  Nodes sum[kSums];

  __device__ __forceinline__ static bool full(int first, int apart, int n) { return first + (kRows - 1) * apart < n; }
  template <bool kFull, class Place>
  __device__ __forceinline__ static void load(C (&row)[kRows], const Place& place, int first, int apart, int n) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      if (kFull || first + i * apart < n) row[i].load(place(i));
    }
  }
  template <class Place>
  __device__ __forceinline__ static void copy(C (&row)[kRows][C::kThreads], const Place& place, int first, int apart,
                                              int n) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      if (first + i * apart < n) __pipeline_memcpy_async(&row[i][threadIdx.x], place(i), C::kBytes);
    }
  }
  template <bool kFull>
  __device__ __forceinline__ void add(const Term& term, const C (&row)[kRows], int first, int apart, int n) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      if (!kFull && first + i * apart >= n) continue;
#pragma unroll
      for (int k = 0; k < C::kCount; ++k) {
        if constexpr (!takes_pairs<Term>()) {
          kernels::enter(term, sum[i % kSums].of[k], row[i].element[k], first + i * apart);
        } else if (i % 2 == 0) {
          const bool both = kFull || first + (i + 1) * apart < n;
          term.enter_pair(sum[0].of[k], row[i].element[k], row[both ? i + 1 : i].element[k]);
        }
      }
    }
  }
  template <class Place>
  __device__ __forceinline__ static void load(C (&row)[kRows], const Place& place, int first, int apart, int n) {
    if (full(first, apart, n)) {
      load<true>(row, place, first, apart, n);
    } else {
      load<false>(row, place, first, apart, n);
    }
  }
  __device__ __forceinline__ void add(const Term& term, const C (&row)[kRows], int first, int apart, int n) {
    if (full(first, apart, n)) {
      add<true>(term, row, first, apart, n);
    } else {
      add<false>(term, row, first, apart, n);
    }
  }
  template <bool kFull, class Place>
  __device__ __forceinline__ void enter(const Term& term, const Place& place, int first, int apart, int n) {
    C row[kRows];
    load<kFull>(row, place, first, apart, n);
    add<kFull>(term, row, first, apart, n);
  }
  template <int kHalf = kSums / 2>
  __device__ __forceinline__ void fold() {
    if constexpr (kHalf > 0) {
#pragma unroll
      for (int i = 0; i < kHalf; ++i) {
#pragma unroll
        for (int k = 0; k < C::kCount; ++k) sum[i].of[k] = combine(sum[i].of[k], sum[i + kHalf].of[k]);
      }
      fold<kHalf / 2>();
    }
  }
};

// Combines the results of a thread's passes as a tree. They come in bit-reversed order, so neighbours combine, as in a
// binary counter.
template <class Node, int kCount, int kRows>
struct PassFold {
  static constexpr int kLevels = std::bit_width(static_cast<unsigned>(kLeafLanes / kRows)) - 1;
  Node waiting[kLevels][kCount];

  __device__ __forceinline__ static int place(int pass, int passes) {
    return static_cast<int>(__brev(static_cast<unsigned>(pass)) >> __clz(passes) >> 1);
  }
  // node becomes the result of the subtree that it completes.
  __device__ __forceinline__ void enter(int pass, Node (&node)[kCount]) {
#pragma unroll
    for (int level = 0; level < kLevels; ++level) {
      const bool completes = (pass >> level & 1) != 0;
#pragma unroll
      for (int k = 0; k < kCount; ++k) {
        if (completes) {
          node[k] = combine(waiting[level][k], node[k]);
        } else {
          waiting[level][k] = node[k];
        }
      }
      if (!completes) return;
    }
  }
};

inline Divisor<uint32_t> run_of_rows(const LineLayout& lines) noexcept {
  return Divisor<uint32_t>(lines.jump == 0 ? 1 : static_cast<uint32_t>(lines.run));
}

}  // namespace gpumem::kernels
