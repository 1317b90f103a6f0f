// Leaves of the reproducible order, by warps. A leaf is read by 16-byte words: lane positions 4 g .. 4 g + 3 (f32) of
// each row belong to thread g. If x does not begin at such a word, the positions of a leaf are rotated by a constant.
// The fold is the same then, and the first positions begin one row later.
#pragma once

#include <cuda_fp16.h>

#include <type_traits>

#include "kernels/reduce/blocks.cuh"

namespace gpumem::kernels {

template <gpumem_dtype kType>
struct Elements {
  static constexpr int kBytes = element_bytes(kType);
  static constexpr int kPerWord = 16 / kBytes;
  using Raw = std::conditional_t<kBytes == 8, double, std::conditional_t<kBytes == 4, float, uint16_t>>;

  __device__ static double at(const uint4& word, int k) {
    if constexpr (kType == GPUMEM_F64) {
      const uint32_t low = k == 0 ? word.x : word.z;
      const uint32_t high = k == 0 ? word.y : word.w;
      return __hiloint2double(static_cast<int>(high), static_cast<int>(low));
    } else if constexpr (kType == GPUMEM_F32) {
      return __uint_as_float(k == 0 ? word.x : k == 1 ? word.y : k == 2 ? word.z : word.w);
    } else {
      const uint32_t pair = k < 2 ? word.x : k < 4 ? word.y : k < 6 ? word.z : word.w;
      const uint32_t bits = k % 2 == 0 ? pair & 0xffffu : pair >> 16;
      static_assert(kType == GPUMEM_F16 || kType == GPUMEM_BF16);
      if constexpr (kType == GPUMEM_BF16) return __uint_as_float(bits << 16);
      return __half2float(__ushort_as_half(static_cast<unsigned short>(bits)));
    }
  }
  __device__ static uint4 ones() {
    if constexpr (kType == GPUMEM_F64) return {0, 0x3ff00000u, 0, 0x3ff00000u};
    constexpr uint32_t kOne = kType == GPUMEM_F32 ? 0x3f800000u : kType == GPUMEM_F16 ? 0x3c003c00u : 0x3f803f80u;
    return {kOne, kOne, kOne, kOne};
  }
};

// Terms: the effect of an element on its lane.
template <gpumem_reduce_op kOp>
struct PlainTerm {
  using Node = SumNode;
  static constexpr int kInputs = 1;
  __device__ void enter(Node& lane, double x, double) { lane.sum += sum_term(kOp, x); }
};
// Magnitudes, valid elements or ones for them, known at run time. A term of 0 changes no sum. H200, time of 2^27 elements
// without and with a branch: bf16 72 and 66 us; 4096 f32 1.7 and 2.4 us.
template <gpumem_dtype kType>
struct MaskedTerm {
  using Node = SumNode;
  static constexpr int kInputs = 1;
  MaskedSum sum;
  __device__ explicit MaskedTerm(gpumem_reduce_op op) : sum(op) {}
  __device__ void enter(Node& lane, double x, double) {
    if (element_bytes(kType) > 2) {
      lane.sum += sum.term(x);
    } else if (!sum.skips || x == x) {
      lane.sum += sum.masked(x);
    }
  }
  __device__ uint4 missing() const {
    const uint32_t bits = sum.skips ? ~0u : 0;  // NaNs
    return {bits, bits, bits, bits};
  }
};
struct DotTerm {
  using Node = SumNode;
  static constexpr int kInputs = 2;
  __device__ void enter(Node& lane, double x, double y) { lane.sum += x * y; }
};
struct FactorTerm {
  using Node = ProductNode;
  static constexpr int kInputs = 1;
  __device__ void enter(Node& lane, double x, double) { lane.product *= x; }
};
struct CompensatedTerm {
  using Node = CompensatedNode;
  static constexpr int kInputs = 1;
  __device__ void enter(Node& lane, double x, double) { lane = combine(lane, CompensatedNode(x)); }
};
struct NormTerm {
  using Node = NormNode;
  static constexpr int kInputs = 1;
  __device__ void enter(Node& lane, double x, double) { lane = combine(lane, norm_term(x)); }
};
// Only the middle sum of a norm. It records whether an element belongs to another sum.
struct MiddleTerm {
  using Node = SumNode;
  static constexpr int kInputs = 1;
  bool outside = false;
  __device__ void enter(Node& lane, double x, double) {
    const double size = fabs(x);
    outside = outside || size > kNormLarge || (size < kNormSmall && size != 0);
    lane.sum += x * x;
  }
};

template <gpumem_dtype kType>
struct Layout {
  static constexpr int kPerWord = Elements<kType>::kPerWord;
  static constexpr int kWordsPerRow = kLeafLanes / kPerWord;
  static constexpr int kThreads = kWordsPerRow < 32 ? kWordsPerRow : 32;  // per leaf
  static constexpr int kSlots = kWordsPerRow / kThreads;                  // words of a row per thread
  static constexpr int kLeaves = 32 / kThreads;
};

// Folds the lanes of one leaf, for all its threads: a[k] of thread g is position kPerWord * g + k. While a thread has
// several positions, it keeps half and gives the other half away. So the last bits of positions become the threads'
// first bits.
template <int kThreads, int kPerWord, class Node>
__device__ __forceinline__ Node fold_lanes(Node (&a)[kPerWord]) {
  const int g = threadIdx.x % kThreads;
  int distance = kThreads / 2;
#pragma unroll
  for (int kept = kPerWord / 2; kept > 0; kept /= 2, distance /= 2) {
    const bool upper = (g & distance) != 0;
#pragma unroll
    for (int k = 0; k < kept; ++k) {
      const Node given = upper ? a[k] : a[k + kept];
      const Node own = upper ? a[k + kept] : a[k];
      a[k] = combine(own, shuffle_xor(given, distance));
    }
  }
#pragma unroll
  for (; distance > 0; distance /= 2) a[0] = combine(a[0], shuffle_xor(a[0], distance));
  distance = kThreads / 2;
#pragma unroll
  for (int k = kPerWord / 2; k > 0; k /= 2, distance /= 2) a[0] = combine(a[0], shuffle_xor(a[0], distance));
  return a[0];
}

// A line's operand as 16-byte words.
template <gpumem_dtype kType, class Node>
class Words {
  using E = Elements<kType>;

 public:
  __device__ explicit Words(const LeafSpan& span) : span_(span) {}

  __device__ const LeafSpan& span() const { return span_; }
  __device__ int rotation() const { return span_.rotation; }
  __device__ const uint4* at(int64_t word) const { return reinterpret_cast<const uint4*>(span_.words) + word; }
  __device__ uint4 whole(int64_t word) const { return __ldcs(at(word)); }
  __device__ bool inside(int64_t word) const {
    const int64_t first = word * E::kPerWord - span_.rotation;
    return first >= 0 && first + E::kPerWord <= span_.n;
  }
  __device__ bool outside(int64_t word) const {
    const int64_t first = word * E::kPerWord - span_.rotation;
    return first + E::kPerWord <= 0 || first >= span_.n;
  }
  // Elements that do not change a Node.
  template <class Term>
  __device__ static uint4 missing(const Term& term) {
    if constexpr (requires { term.missing(); }) return term.missing();
    if constexpr (Node::kind == NodeKind::product) return E::ones();
    return {};
  }
  __device__ uint4 gathered(int64_t first, const uint4& missing) const {
    const auto* x = reinterpret_cast<const typename E::Raw*>(span_.words) + span_.rotation;
    union {
      uint4 word;
      typename E::Raw element[E::kPerWord];
    } gathered;
    gathered.word = missing;
#pragma unroll
    for (int k = 0; k < E::kPerWord; ++k) {
      const bool there = first + k >= 0 && first + k < span_.n;
      if (there) gathered.element[k] = x[first + k];
    }
    return gathered.word;
  }

 private:
  const LeafSpan& span_;
};

// Leaf q of a line. Its threads enter the terms in order.
template <gpumem_dtype kType, class Term>
class Leaf {
  using E = Elements<kType>;
  using L = Layout<kType>;
  using Node = typename Term::Node;
  static constexpr int kPositions = L::kSlots * L::kPerWord;     // of a row per thread
  static constexpr int kRows = 8 / (L::kSlots * Term::kInputs);  // at a time: eight words in flight

 public:
  __device__ Leaf(const LeafSpan& x, const LeafSpan& y) : x_(x), y_(Term::kInputs == 2 ? y : x) {}

  template <bool kFull>
  __device__ __forceinline__ Node sum(int q, Term& term) const {
    Node a[kPositions];
    enter_rows<kFull>(a, q, term);
    return fold(a);
  }

  // The same for a whole leaf that begins at a word in every operand.
  __device__ __forceinline__ Node sum_of_words(int q, Term& term) const {
    Node a[kPositions];
#pragma unroll
    for (int batch = 0; batch < kLeafRows / kRows; ++batch) {
      uint4 x[kRows * L::kSlots];
      uint4 y[kRows * L::kSlots];
      load(x, x_, q, batch);
      if constexpr (Term::kInputs == 2) load(y, y_, q, batch);
      enter_words(a, x, Term::kInputs == 2 ? y : x, term);
    }
    return fold(a);
  }

 private:
  __device__ static __forceinline__ Node fold(Node (&a)[kPositions]) {
    Node lanes[L::kPerWord];
#pragma unroll
    for (int k = 0; k < L::kPerWord; ++k)
      lanes[k] = L::kSlots == 2 ? combine(a[k], a[k + kPositions - L::kPerWord]) : a[k];
    return fold_lanes<L::kThreads, L::kPerWord>(lanes);
  }
  __device__ static __forceinline__ void load(uint4 (&x)[kRows * L::kSlots], const Words<kType, Node>& words, int q,
                                              int batch) {
    const int64_t first = static_cast<int64_t>(q) * (kLeafTerms / L::kPerWord) + batch * kRows * L::kWordsPerRow +
                          threadIdx.x % L::kThreads;
#pragma unroll
    for (int i = 0; i < kRows * L::kSlots; ++i) x[i] = words.whole(first + i * L::kThreads);
  }
  __device__ static __forceinline__ void enter_words(Node (&a)[kPositions], const uint4 (&x)[kRows * L::kSlots],
                                                     const uint4 (&y)[kRows * L::kSlots], Term& term) {
#pragma unroll
    for (int i = 0; i < kRows * L::kSlots; ++i) {
#pragma unroll
      for (int k = 0; k < L::kPerWord; ++k) {
        term.enter(a[i % L::kSlots * L::kPerWord + k], E::at(x[i], k), E::at(y[i], k));
      }
    }
  }
  template <bool kFull>
  __device__ __forceinline__ void enter_rows(Node (&a)[kPositions], int q, Term& term) const {
    const int g = threadIdx.x % L::kThreads;
    const int64_t first = static_cast<int64_t>(q) * (kLeafTerms / L::kPerWord) + g;
#pragma unroll
    for (int r0 = 0; r0 < kLeafRows; r0 += kRows) {
      uint4 x[kRows * L::kSlots];
      uint4 y[kRows * L::kSlots];
#pragma unroll
      for (int i = 0; i < kRows * L::kSlots; ++i) {
        const int64_t word = first + r0 * L::kWordsPerRow + i * L::kThreads;
        x[i] = kFull || x_.inside(word) ? x_.whole(word) : x_.missing(term);
        if constexpr (Term::kInputs == 2) y[i] = word_of_y<kFull>(word, term);
      }
      if constexpr (!kFull) {
#pragma unroll
        for (int i = 0; i < kRows * L::kSlots; ++i) {
          const int64_t word = first + r0 * L::kWordsPerRow + i * L::kThreads;
          if (!x_.inside(word) && !x_.outside(word)) x[i] = gathered(x_, word, term);
        }
      }
#pragma unroll
      for (int i = 0; i < kRows * L::kSlots; ++i) {
        const int slot = i % L::kSlots;
        const bool first_word = r0 + i == 0 && g == 0;
#pragma unroll
        for (int k = 0; k < L::kPerWord; ++k) {
          const bool of_leaf_before = first_word && k < x_.rotation();
          if (!of_leaf_before)
            term.enter(a[slot * L::kPerWord + k], E::at(x[i], k), E::at(Term::kInputs == 2 ? y[i] : x[i], k));
        }
      }
    }
    if (x_.rotation() > 0 && g == 0) enter_last_row<kFull>(a, first + kLeafRows * L::kWordsPerRow, term);
  }

  // Row 8 of the positions that began with row 1.
  template <bool kFull>
  __device__ __forceinline__ void enter_last_row(Node (&a)[kPositions], int64_t word, Term& term) const {
    const uint4 x = kFull ? x_.whole(word) : gathered(x_, word, term);
    const uint4 y = Term::kInputs == 2 ? word_of_y<kFull>(word, term) : x;
#pragma unroll
    for (int k = 0; k < L::kPerWord; ++k) {
      if (k < x_.rotation()) term.enter(a[k], E::at(x, k), E::at(y, k));
    }
  }

  // The elements of an operand that correspond to a word of x.
  __device__ __forceinline__ uint4 gathered(const Words<kType, Node>& words, int64_t word, const Term& term) const {
    return words.gathered(word * L::kPerWord - x_.rotation(), words.missing(term));
  }
  template <bool kFull>
  __device__ __forceinline__ uint4 word_of_y(int64_t word, const Term& term) const {
    const bool alike = x_.rotation() == y_.rotation();
    if (alike && (kFull || y_.inside(word))) return y_.whole(word);
    return gathered(y_, word, term);
  }

  Words<kType, Node> x_;
  Words<kType, Node> y_;
};

// The operands of a line. Passed by value: for calls that are not inlined, a reference would keep them in local memory.
struct Operands {
  LeafSpan x;
  LeafSpan y;
  gpumem_reduce_op op;
};

template <class Term>
__device__ __forceinline__ Term make_term(gpumem_reduce_op op) {
  if constexpr (std::is_default_constructible_v<Term>) {
    return {};
  } else {
    return Term(op);
  }
}

// Whether a leaf shares words with its surroundings: perhaps; no; no, and it begins at a word in every operand.
enum class Fill { part, full, words };

template <gpumem_dtype kType, class Term, Fill kFill>
__device__ __forceinline__ typename Term::Node sum_of(const Operands& line, int q, Term& term) {
  const Leaf<kType, Term> leaf(line.x, line.y);
  if constexpr (kFill == Fill::words) {
    return leaf.sum_of_words(q, term);
  } else {
    return leaf.template sum<kFill == Fill::full>(q, term);
  }
}

// All sums of a leaf's norm. Not inlined, because it needs more registers than the middle sum.
template <gpumem_dtype kType, Fill kFill>
__device__ __noinline__ NormNode whole_norm_of(Operands line, int q) {
  NormTerm term;
  return sum_of<kType, NormTerm, kFill>(line, q, term);
}

// A norm takes only the middle sum of a leaf. If that is not sufficient, it takes all sums in a second pass.
template <gpumem_dtype kType, class Term, Fill kFill>
__device__ __forceinline__ typename Term::Node node_of(const Operands& line, int q) {
  if constexpr (std::is_same_v<Term, NormTerm>) {
    MiddleTerm middle;
    const SumNode sum = sum_of<kType, MiddleTerm, kFill>(line, q, middle);
    if (__any_sync(kWholeWarp, middle.outside) == 0) return {0, sum.sum, 0};
    return whole_norm_of<kType, kFill>(line, q);
  } else {
    auto term = make_term<Term>(line.op);
    return sum_of<kType, Term, kFill>(line, q, term);
  }
}

// Leaves that share words with a line's surroundings. Not inlined, because they need other registers.
template <gpumem_dtype kType, class Term>
__device__ __noinline__ typename Term::Node leaf_at_end(Operands line, int q) {
  return node_of<kType, Term, Fill::part>(line, q);
}

template <class Term>
__device__ __forceinline__ bool begin_with_words(const Operands& line) {
  return line.x.rotation == 0 && (Term::kInputs == 1 || line.y.rotation == 0);
}

}  // namespace gpumem::kernels
