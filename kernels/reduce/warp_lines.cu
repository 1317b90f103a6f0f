// Reductions of contiguous lines: rows of matrices and segments of vectors.
// Moves: reads x once, writes one value per line.
// Access: lane l of the lanes that share a line takes elements l, l + lanes, l + 2 lanes, ... The first steps of the
//         reproducible order need no other lane, and a line needs only the alignment of its elements.
//         short_kernel: 1 to 32 lanes share one line of at most kLongest units. Each warp has several lines in flight,
//           and one exchange combines two.
//         long_kernel: each warp has one line, or 2^k aligned 1024-element blocks of it (a run).
// Shapes: a whole warp takes a segment that is longer than its lanes' share. A second launch takes the runs of segments
//         longer than a run.
// H200, sums of rows of 2^27 f32: 3,300 to 3,600 GB/s at 8 to 32 elements, 4,060 or more from 256 on.
#include "kernels/reduce/line_plans.hpp"
#include "kernels/reduce/terms.cuh"

namespace gpumem::kernels {
namespace {

// Combines kLines values per group of lanes. While a lane has several values, it keeps half and gives the other half
// away. Afterwards v[i] is the value of line(i), in the one lane of the group whose line(i) is not -1.
template <int kLanes, int kLines>
struct GroupFold {
  static constexpr int kSteps = kLines < kLanes ? kLines : kLanes;
  static constexpr int kLeft = kLines / kSteps;

  template <class Node>
  __device__ __forceinline__ static void fold(Node (&v)[kLines]) {
    int kept = kLines;
#pragma unroll
    for (int distance = kLanes / 2; distance > 0; distance /= 2) {
      if (kept == 1) {
        v[0] = combine(v[0], shuffle_xor(v[0], distance));
        continue;
      }
      kept /= 2;
      const bool upper = (threadIdx.x & distance) != 0;
#pragma unroll
      for (int i = 0; i < kept; ++i) {
        const Node given = upper ? v[i] : v[i + kept];
        const Node own = upper ? v[i + kept] : v[i];
        v[i] = combine(own, shuffle_xor(given, distance));
      }
    }
  }
  __device__ __forceinline__ static int line(int i) {
    constexpr int kAlike = kLanes / kSteps;  // lanes with the same values
    const int g = threadIdx.x % kLanes;
    return g % kAlike == 0 ? g / kAlike * kLeft + i : -1;
  }
};

// Small elements whose order does not matter are read as words. At most kFoldTerms of them have an exact sum.
template <class Term>
constexpr bool kByWords = Term::kBytes <= 2 && !Term::kOrdered && !kSearches<Term>;
template <class Term>
constexpr int kFoldTerms = kByWords<Term> || kSearches<Term> ? 8 * kLeafTerms : kLeafTerms;

// Combines the lanes' partial results. Every lane has the result.
template <class Term>
__device__ __forceinline__ typename Term::Node fold_warp(typename Term::Partial (&a)[4], int64_t first = 0) {
  auto node = fold_own(a);
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) node = combine(node, shuffle_xor(node, distance));
  return node_from<Term>(node, first);
}

// The partial result of n <= kFoldTerms elements from p on. p is place `first` of its line. Every lane has the result.
template <class Term>
__device__ __forceinline__ typename Term::Node leaf_node(const Term& term, const char* p, int n, int64_t first) {
  constexpr int kAtOnce = 16;
  constexpr int kStep = 32 * Term::kBytes;
  const int lane = threadIdx.x % 32;
  p += lane * Term::kBytes;
  typename Term::Partial a[4];
  BitsOf<Term> element[kAtOnce];
  int at = 0;
  for (; at + 32 * kAtOnce <= n; at += 32 * kAtOnce, p += kAtOnce * kStep) {
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) element[i] = load_element<Term>(p + i * kStep);
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) enter(term, a[i % 4], element[i], at + 32 * i + lane);
  }
  if (at < n) {
    const int left = n - at - lane;
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      if (i % 4 == 0 && at + 32 * i >= n) break;
      if (32 * i < left) element[i] = load_element<Term>(p + i * kStep);
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      if (i % 4 == 0 && at + 32 * i >= n) break;
      if (32 * i < left) enter(term, a[i % 4], element[i], at + 32 * i + lane);
    }
  }
  return fold_warp<Term>(a, first);
}

// The same for n <= kFoldTerms elements by words. A lane has one or two of each 128. Elements before the first word and
// after the last 128 are loaded one by one, before the others.
template <class Term>
__device__ __forceinline__ typename Term::Node words_node(const Term& term, const char* p, int n) {
  constexpr int kCount = 4 / Term::kBytes;
  constexpr int kAtOnce = 16;
  const int lane = threadIdx.x % 32;
  typename Term::Partial a[4];
  BitsOf<Term> first = 0;
  const int head = min(n, static_cast<int>(-reinterpret_cast<uintptr_t>(p) & 3) / Term::kBytes);
  if (lane < head) first = load_element<Term>(p + lane * Term::kBytes);
  p += head * Term::kBytes;
  n -= head;
  const int whole = n & ~127;
  BitsOf<Term> rest[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (whole + 32 * i + lane < n) rest[i] = load_element<Term>(p + (whole + 32 * i + lane) * Term::kBytes);
  }
  const auto* x = reinterpret_cast<const uint32_t*>(p) + lane;
  const auto take = [&](int words) {
    const auto is_beyond = [&](int i) { return i % Term::kBytes == 0 && i >= words; };
    uint32_t word[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      if (is_beyond(i)) break;
      word[i] = __ldcs(x + 32 * i);
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      if (is_beyond(i)) break;
      enter_word(term, a[2 * i % 4], a[(2 * i + 1) % 4], word[i]);
    }
  };
  int words = whole / (32 * kCount);
  for (; words >= kAtOnce; words -= kAtOnce, x += 32 * kAtOnce) take(kAtOnce);
  if (words > 0) take(words);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (whole + 32 * i + lane < n) term.enter(a[i], rest[i]);
  }
  if (lane < head) term.enter(a[0], first);
  return fold_warp<Term>(a);
}

// n >= 1. x is place `at` of its line.
template <class Term>
__device__ __forceinline__ typename Term::Node run_node(const Term& term, const char* x, int64_t n, int64_t at = 0) {
  constexpr int kTerms = kFoldTerms<Term>;
  WarpStack<typename Term::Node> stack;
  for (bool first = true;; first = false) {
    const auto of_leaf = static_cast<int>(n < kTerms ? n : kTerms);
    typename Term::Node node;
    if constexpr (kByWords<Term>) {
      node = words_node(term, x, of_leaf);
    } else {
      node = leaf_node(term, x, of_leaf, at);
    }
    n -= of_leaf;
    if (first && n == 0) return node;
    stack.push(node);
    if (n == 0) return stack.whole();
    x += of_leaf * Term::kBytes;
    at += of_leaf;
  }
}

// A run of a very long segment: run `place - first` of `runs`. runs == 0: the run does not exist.
struct LongRun {
  int64_t line;
  int32_t first;
  int32_t runs;
};

__device__ __forceinline__ LongRun* long_runs(const ReduceLaunch& launch) {
  return reinterpret_cast<LongRun*>(static_cast<char*>(launch.scratch.nodes) + kMostLongRuns * sizeof(ReduceNode));
}

// A whole warp notes the runs of a very long segment. False: no room is left. Only decreasing offsets cause that,
// because they can name the same elements many times.
__device__ __forceinline__ bool note_runs(const ReduceLaunch& launch, int64_t index, int64_t n) {
  unsigned* noted = launch.scratch.counters + kLongRunCounter;
  const auto runs = static_cast<int>((n + launch.tile - 1) / launch.tile);
  int first = kMostLongRuns;
  if (threadIdx.x % 32 == 0 && __ldcg(noted) < kMostLongRuns) first = static_cast<int>(atomicAdd(noted, runs));
  first = __shfl_sync(kWholeWarp, first, 0);
  const bool fits = first + runs <= kMostLongRuns;
  for (int i = first + static_cast<int>(threadIdx.x % 32); i < min(first + runs, static_cast<int>(kMostLongRuns));
       i += 32) {
    long_runs(launch)[i] = {index, first, fits ? runs : 0};
  }
  return fits;
}

// One whole warp reduces the segment or notes its runs. Not inlined, because few segments come here.
template <class Term>
__device__ __noinline__ void take_segment(const ReduceLaunch& launch, int64_t index) {
  const Line line = line_of(launch, index, Term::kBytes);
  if (line.n > launch.tile && note_runs(launch, index, line.n)) return;
  const Term term(launch.dtype, launch.op);
  typename Term::Node node;
  if (line.n > 0) node = run_node(term, line.x, line.n);
  if (threadIdx.x % 32 == 0) finish<Term, true>(launch, index, line, node);
}

// True in the last of the warps that share one line. That warp has the whole.
template <class Node>
__device__ __forceinline__ bool fold_runs(const Node& node, Node* nodes, int run, int runs, unsigned* counter,
                                          Whole<Node>& whole) {
  unsigned before = 0;
  if (threadIdx.x % 32 == 0) {
    store_node(nodes + run, node);
    before = count_block(counter, runs - 1);
  }
  __syncwarp();  // all lanes see the partial results that lane 0 has seen
  if (static_cast<int>(__shfl_sync(kWholeWarp, before, 0)) != runs - 1) return false;
  const auto load = [&](int64_t i) { return as_whole(load_node(nodes + i)); };
  whole = warp_tree(run_of<Whole<Node>>(load, threadIdx.x % 32, 32, runs));
  return true;
}

// The same if the warps of a line are a block.
template <class Node>
__device__ __forceinline__ bool fold_block(const Node& node, Whole<Node>& whole) {
  __shared__ Node nodes[kWarpLineThreads / 32];
  const int warp = threadIdx.x / 32;
  if (threadIdx.x % 32 == 0) nodes[warp] = node;
  __syncthreads();
  if (warp != 0) return false;
  const auto load = [&](int64_t i) { return as_whole(nodes[i]); };
  whole = warp_tree(run_of<Whole<Node>>(load, threadIdx.x % 32, 32, static_cast<int>(blockDim.x / 32)));
  return true;
}

// Strides are in bytes.
struct Matrix {
  int64_t pitch;
  int64_t batch_stride;
  Divisor<uint32_t> per_batch;
  bool evenly;  // one pitch separates all rows, across matrices too

  __device__ __forceinline__ const char* row(const ReduceLaunch& launch, int64_t index) const {
    const char* x = static_cast<const char*>(launch.x);
    if (evenly) return x + index * pitch;
    const uint32_t batch = per_batch.quotient(static_cast<uint32_t>(index));
    return x + batch * batch_stride + (static_cast<uint32_t>(index) - batch * per_batch.value) * pitch;
  }
};

// An element that does not change a sum.
template <class Term>
__device__ __forceinline__ BitsOf<Term> missing_of(const Term& term) {
  if constexpr (requires { term.missing(); }) {
    return term.missing();
  } else {
    return 0;
  }
}

// Units that a lane loads.
template <class Term>
struct OneElement {
  using Type = BitsOf<Term>;
  static constexpr int kBytes = Term::kBytes;
  __device__ __forceinline__ static Type load(const char* p) { return load_element<Term>(p); }
  __device__ __forceinline__ static void enter(const Term& term, typename Term::Partial& node, Type bits, int place) {
    kernels::enter(term, node, bits, place);
  }
};
template <class Term>
struct OneWord {
  using Type = uint32_t;
  static constexpr int kBytes = 4;
  __device__ __forceinline__ static Type load(const char* p) { return __ldcs(reinterpret_cast<const uint32_t*>(p)); }
  __device__ __forceinline__ static void enter(const Term& term, typename Term::Partial& node, Type bits, int) {
    enter_word(term, node, node, bits);
  }
};

// The lines that one warp reduces at once. kLongest is in units. Functions are static and take arrays by reference,
// because members would be spilled.
template <class Term, class Unit, int kLongest, bool kSegments>
struct ShortLines {
  using Node = typename Term::Partial;
  static constexpr LineCut kCut =
      kSegments ? segment_cut(kLongest) : row_cut(kLongest, Unit::kBytes, leaf_kind_of<Term>());
  static constexpr bool kPairs = takes_pairs<Term>() && Unit::kBytes < 4;
  static constexpr int kLanes = kCut.lanes;
  static constexpr int kEach = kCut.each;
  static constexpr int kLines = kCut.lines;
  static constexpr int kAtOnce = kCut.at_once();  // lines per warp
  static constexpr int kGroups = 32 / kLanes;
  static constexpr int kOwn = !Term::kOrdered ? 1 : kEach < 4 ? kEach : 4;
  using Fold = GroupFold<kLanes, kLines>;
  using Elements = typename Unit::Type[kLines][kEach];
  // With an array of arrays, nvcc 13.0 leaves all rows but the first zero instead of Node's initial value.
  struct Own {
    Node of[kOwn];
  };
  struct Lane {
    int g = threadIdx.x % kLanes;
    int group = threadIdx.x % 32 / kLanes;
    // Elements that x skips in advance. In ordered sums of f32, that spills at 256 elements: 150 us from 124 (H200).
    int ahead = Term::kOrdered && Term::kBytes > 2 ? 0 : g;
  };

  // Bit r of the result: line r is too long for the group.
  __device__ __forceinline__ static unsigned find(const ReduceLaunch& launch, const Matrix& matrix, const Lane& lane,
                                                  int64_t of_warp, int here, const char* (&x)[kLines],
                                                  int (&n)[kLines]) {
    const char* const first = kSegments || !matrix.evenly ? nullptr : matrix.row(launch, of_warp);
    unsigned left = 0;
#pragma unroll
    for (int r = 0; r < kLines; ++r) {
      const bool is_here = lane.group + r * kGroups < here;
      const int place = is_here ? lane.group + r * kGroups : 0;
      if (kSegments) {
        const Line line = line_of(launch, of_warp + place, Term::kBytes);
        x[r] = line.x;
        n[r] = line.n <= kLongest ? static_cast<int>(line.n) : 0;
        if (is_here && line.n > kLongest) left |= 1u << r;
      } else {
        x[r] = matrix.evenly ? first + place * matrix.pitch : matrix.row(launch, of_warp + place);
        n[r] = static_cast<int>(launch.lines.length) * Term::kBytes / Unit::kBytes;
      }
      x[r] += lane.ahead * Unit::kBytes;
      n[r] -= lane.ahead;
    }
    return left;
  }
  // Rows have one length, so elements past it are skipped for all.
  __device__ __forceinline__ static bool is_beyond(int k, const int (&n)[kLines], const Lane& lane) {
    return !kSegments && k > 0 && k * kLanes >= n[0] + lane.ahead;
  }
  __device__ __forceinline__ static void load(const Term& term, const char* const (&x)[kLines], const int (&n)[kLines],
                                              const Lane& lane, Elements& element) {
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      if (is_beyond(k, n, lane)) break;
#pragma unroll
      for (int r = 0; r < kLines; ++r) {
        const char* const own = x[r] + (lane.g - lane.ahead) * Unit::kBytes;
        element[r][k] = missing_of(term);
        if (lane.g - lane.ahead + k * kLanes < n[r]) element[r][k] = Unit::load(own + k * kLanes * Unit::kBytes);
      }
    }
  }
  // a[r]: the lane's share of line r.
  __device__ __forceinline__ static void enter(const Term& term, const Elements& element, const int (&n)[kLines],
                                               const Lane& lane, Own (&a)[kLines]) {
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      if (is_beyond(k, n, lane)) break;
#pragma unroll
      for (int r = 0; r < kLines; ++r) {
        if (!has_empty_value(Node::kind) && k * kLanes >= n[r]) continue;
        if constexpr (!kPairs) {
          Unit::enter(term, a[r].of[k % kOwn], element[r][k], lane.g + k * kLanes);
        } else if (k % 2 == 0) {
          const bool both = (k + 1) * kLanes < n[r];
          term.enter_pair(a[r].of[0], element[r][k], both ? element[r][k + 1] : element[r][k]);
        }
      }
    }
  }
};

// Blocks per multiprocessor; 0: no bound. Without it, 256 f32 use 86 registers, too many for three blocks. With it, 64
// f32 would use 37 instead of 32. H200, 1000000 rows of 64: 82 us instead of 62.
template <class Term, int kLongest>
constexpr int kShortBlocks = Term::kOrdered&& Term::kBytes == 4 && kLongest > 128 ? 3 : 0;

template <class Term, class Unit, int kLongest, bool kSegments>
__global__ void __launch_bounds__(kWarpLineThreads, kShortBlocks<Term, kLongest>)
    short_kernel(const __grid_constant__ Matrix matrix, const __grid_constant__ ReduceLaunch launch) {
  using Lines = ShortLines<Term, Unit, kLongest, kSegments>;
  using Node = typename Lines::Node;
  using Fold = typename Lines::Fold;
  constexpr int kLines = Lines::kLines;
  begin_lines(launch);
  const Term term(launch.dtype, launch.op);
  const typename Lines::Lane lane;
  const int64_t step = int64_t{gridDim.x} * (blockDim.x / 32) * Lines::kAtOnce;
  int64_t of_warp = (int64_t{blockIdx.x} * (blockDim.x / 32) + threadIdx.x / 32) * Lines::kAtOnce;
  for (; of_warp < launch.lines.count; of_warp += step) {
    const auto here = static_cast<int>(min(launch.lines.count - of_warp, int64_t{Lines::kAtOnce}));
    const char* x[kLines];
    int n[kLines];
    const unsigned left = Lines::find(launch, matrix, lane, of_warp, here, x, n);
    typename Lines::Elements element;
    Lines::load(term, x, n, lane, element);
    typename Lines::Own a[kLines];
    Lines::enter(term, element, n, lane, a);
    Node v[kLines];
#pragma unroll
    for (int r = 0; r < kLines; ++r) v[r] = fold_own(a[r].of);
    Fold::fold(v);
#pragma unroll
    for (int i = 0; i < Fold::kLeft; ++i) {
      const int r = Fold::line(i);
      if (r < 0 || lane.group + r * Lines::kGroups >= here || (left >> r & 1) != 0) continue;
      const int64_t index = of_warp + lane.group + r * Lines::kGroups;
      Line own{nullptr, nullptr, launch.lines.length, true};
      if (kSegments) own = line_of(launch, index, Term::kBytes);
      finish<Term, kSegments>(launch, index, own, node_from<Term>(v[i]));
    }
    if constexpr (kSegments) {
#pragma unroll 1
      for (int r = 0; r < kLines; ++r) {
        for (unsigned of = __ballot_sync(kWholeWarp, lane.g == 0 && (left >> r & 1) != 0); of != 0; of &= of - 1) {
          take_segment<Term>(launch, of_warp + (__ffs(static_cast<int>(of)) - 1) / Lines::kLanes + r * Lines::kGroups);
        }
      }
    }
  }
}

// noted: takes the runs that note_runs() noted.
template <class Term, bool kSegments>
__global__ void __launch_bounds__(kWarpLineThreads)
    long_kernel(const __grid_constant__ Matrix matrix, const __grid_constant__ ReduceLaunch launch, bool noted) {
  begin_lines(launch);
  const int64_t warps = int64_t{gridDim.x} * (blockDim.x / 32);
  int64_t unit = int64_t{blockIdx.x} * (blockDim.x / 32) + threadIdx.x / 32;
  if (kSegments && !noted) {
    for (; unit < launch.lines.count; unit += warps) take_segment<Term>(launch, unit);
    return;
  }
  const Term term(launch.dtype, launch.op);
  const auto runs = static_cast<int>(launch.blocks_per_line);
  const int64_t units = kSegments ? min(int64_t{__ldcg(launch.scratch.counters + kLongRunCounter)}, kMostLongRuns)
                                  : launch.lines.count * runs;
  for (; unit < units; unit += warps) {
    LongRun run{unit, static_cast<int32_t>(unit), 1};
    if (kSegments) {
      run = long_runs(launch)[unit];
      if (run.runs == 0) continue;
    } else if (runs > 1) {
      run.line =
          static_cast<int64_t>(static_cast<uint32_t>(unit) / static_cast<uint32_t>(runs));  // few share scratch memory
      run.first = static_cast<int32_t>(run.line) * runs;
      run.runs = runs;
    }
    const Line line = kSegments ? line_of(launch, run.line, Term::kBytes)
                                : Line{matrix.row(launch, run.line), nullptr, launch.lines.length, true};
    const int64_t at = run.runs == 1 ? 0 : (unit - run.first) * launch.tile;
    const int64_t n = run.runs == 1 || line.n - at < launch.tile ? line.n - at : launch.tile;
    const typename Term::Node node = run_node(term, line.x + at * Term::kBytes, n, at);
    if (run.runs == 1) {
      if (threadIdx.x % 32 == 0) finish<Term, false>(launch, run.line, line, node);
      continue;
    }
    Whole<typename Term::Node> whole;
    if (!kSegments && run.runs * 32 == static_cast<int>(blockDim.x)) {
      if (fold_block(node, whole) && threadIdx.x == 0) finish<Term, false>(launch, run.line, line, whole);
      return;
    }
    const bool last = fold_runs(node, static_cast<typename Term::Node*>(launch.scratch.nodes) + run.first,
                                static_cast<int>(unit - run.first), run.runs,
                                launch.scratch.counters + (kSegments ? run.first : run.line), whole);
    if (last && threadIdx.x % 32 == 0) finish<Term, false>(launch, run.line, line, whole);
  }
}

template <class Term, class Unit, bool kSegments, int kLongest, int... kLonger>
cudaError_t start_short_of(const ReduceLaunch& launch, const Matrix& matrix, Stream stream) {
  if (launch.config->longest != kLongest) {
    if constexpr (sizeof...(kLonger) > 0) {
      return start_short_of<Term, Unit, kSegments, kLonger...>(launch, matrix, stream);
    }
    return cudaErrorInvalidValue;  // planned otherwise than launched
  }
  return enqueue_programmatic(short_kernel<Term, Unit, kLongest, kSegments>, static_cast<unsigned>(launch.grid),
                              launch.block, stream, matrix, launch);
}

template <class Term>
constexpr bool kHasMiddleSegments = false;
template <gpumem_dtype kType, gpumem_reduce_op kOp>
constexpr bool kHasMiddleSegments<FloatElement<kType, kOp>> = has_middle_segments(kType, kOp);

template <class Term, bool kSegments>
cudaError_t start_short(const ReduceLaunch& launch, const Matrix& matrix, Stream stream) {
  constexpr LeafKind kKind = leaf_kind_of<Term>();
  using Element = OneElement<Term>;
  if constexpr (kSegments && kHasMiddleSegments<Term>) {
    return start_short_of<Term, Element, true, 8, 32, 128>(launch, matrix, stream);
  }
  if constexpr (kSegments) return start_short_of<Term, Element, true, 8, 32>(launch, matrix, stream);
  if constexpr (by_words(Term::kBytes, kKind)) {
    if (launch.config->words) {
      return start_short_of<Term, OneWord<Term>, false, 8, 16, 32, 64, 128, 256, 512, 1024>(launch, matrix, stream);
    }
    return start_short_of<Term, Element, false, 8, 32, 128, 256>(launch, matrix, stream);
  } else if constexpr (longest_of_elements(Term::kBytes, kKind) == 512) {
    return start_short_of<Term, Element, false, 8, 16, 32, 64, 128, 256, 512>(launch, matrix, stream);
  } else {
    return start_short_of<Term, Element, false, 8, 16, 32, 64, 128, 256>(launch, matrix, stream);
  }
}

template <class Term>
constexpr bool kByWholeWarps = std::is_same_v<Term, PowerElement> || is_product(Term::Node::kind);

template <class Term, bool kSegments>
cudaError_t start(const ReduceLaunch& launch, const Matrix& matrix, Stream stream) {
  if constexpr (!kByWholeWarps<Term>) {
    if (launch.config->longest != 0) return start_short<Term, kSegments>(launch, matrix, stream);
  }
  return enqueue_programmatic(long_kernel<Term, kSegments>, static_cast<unsigned>(launch.grid), launch.block, stream,
                              matrix, launch, false);
}

}  // namespace

LaunchResult reduce_warp_lines(const ReduceLaunch& launch, Stream stream) {
  return for_line_element(launch.dtype, launch.op, [&]<class Term>() {
    const LineLayout& lines = launch.lines;
    if (lines.offsets == nullptr) {
      const Matrix matrix{lines.pitch * Term::kBytes, lines.batch_stride * Term::kBytes,
                          Divisor<uint32_t>(static_cast<uint32_t>(lines.per_batch)), lines.per_batch == lines.count};
      return start<Term, false>(launch, matrix, stream);
    }
    if constexpr (kSearches<Term>) {
      return cudaErrorInvalidValue;  // no search of segments
    } else {
      const cudaError_t error = start<Term, true>(launch, {}, stream);
      if (error != cudaSuccess || lines.length <= launch.tile) return error;
      return enqueue(long_kernel<Term, true>, static_cast<unsigned>(launch.rest_grid), kWarpLineThreads, stream,
                     Matrix{}, launch, true);
    }
  });
}

}  // namespace gpumem::kernels
