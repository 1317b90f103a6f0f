// Scans whose result does not depend on the order: integers, minima and maxima.
// Moves: reads n elements and writes n.
// Access: a thread has vectors of 16 bytes of the result, a warp a contiguous part of the tile. A tile publishes its
//         reduction, then the reduction up to its end, which it finds from the tiles before (D. Merrill and M. Garland,
//         Single-pass Parallel Prefix Scan with Decoupled Look-back, NVIDIA, 2016).
// A block reads its tile before it writes it, so the result may be x.
#include <bit>
#include <type_traits>

#include "kernels/config.hpp"
#include "kernels/scan/element.hpp"
#include "kernels/scan/scan.hpp"
#include "kernels/scan/tile_words.cuh"
#include "kernels/words.cuh"

namespace gpumem::kernels {
namespace {

constexpr int kThreads = kScanThreads;
constexpr int kWarps = kThreads / 32;
constexpr unsigned kAll = 0xffffffff;
// Tags of a published word.
enum Tag : uint32_t { kNothing = 0, kTile = 1, kPrefix = 2 };

struct Arguments {
  ScanParams p;
  int shift;     // elements of the first tile before x
  bool vectors;  // x has its vectors at the same places as the result, and elements are aligned
  bool aligned;  // elements of x and of the result
  unsigned tiles;
  ScanHead* head;
};

template <class Word>
__device__ void publish(ScanState* state, Tag tag, Word word) {
  const uint64_t tagged = uint64_t{tag} << 32;
  write_word(&state->low, tagged | static_cast<uint32_t>(word));
  if constexpr (sizeof(Word) == 8) write_word(&state->high, tagged | word >> 32);
}

// Waits for the word. Its halves are of the same kind.
template <class Word>
__device__ Tag await(const ScanState* state, Word& word) {
  for (;;) {
    const uint64_t low = read_word(&state->low);
    const uint64_t high = sizeof(Word) == 8 ? read_word(&state->high) : low;
    const auto tag = static_cast<Tag>(low >> 32);
    if (tag == kNothing || high >> 32 != tag) continue;
    word = static_cast<Word>(low & kLowHalf);
    if constexpr (sizeof(Word) == 8) word |= high << 32;
    return tag;
  }
}

template <class Scan, class Word>
__device__ Word warp_reduction(Word word) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    word = Scan::combine(word, __shfl_xor_sync(kAll, word, distance));
  }
  return word;
}

// The reduction of all tiles before this one, whose own is `own`. Called by a warp.
template <class Scan, class Word>
__device__ Word look_back(const TileWords& words, unsigned tile, unsigned tiles, Word own, int lane) {
  auto* const states = reinterpret_cast<ScanState*>(words.own());
  if (lane == 0) publish(states + tile, tile == 0 ? kPrefix : kTile, own);
  words.clear_before(tile, tiles, lane);
  if (tile == 0) return Scan::identity();
  Word before = Scan::identity();
  for (int64_t nearest = int64_t{tile} - 1;; nearest -= 32) {
    const int64_t at = nearest - lane;
    Word word = Scan::identity();
    const Tag tag = at < 0 ? kPrefix : await(states + at, word);
    const unsigned prefixes = __ballot_sync(kAll, tag == kPrefix);
    const int last = prefixes == 0 ? 31 : __ffs(static_cast<int>(prefixes)) - 1;
    before = Scan::combine(before, warp_reduction<Scan>(lane > last ? Scan::identity() : word));
    if (prefixes != 0) break;
  }
  if (lane == 0) publish(states + tile, kPrefix, Scan::combine(before, own));
  if (tile + 1 == tiles && lane == 0) words.end_turn(2 * tiles);
  return before;
}

template <class Scan, int kEach>
__device__ void load_vector(const Arguments& a, const Scan& scan, int64_t at, typename Scan::T (&x)[kEach]) {
  using T = typename Scan::T;
  struct alignas(kEach * sizeof(T)) Vector {
    T element[kEach];
  };
  const auto* from = static_cast<const T*>(a.p.x) + at;
  const int64_t end = a.p.n - a.p.exclusive;  // an exclusive scan has no use for the last element
  if (a.vectors && at >= 0 && at + kEach <= end) {
    const auto v = std::bit_cast<Vector>(*reinterpret_cast<const WordOf<kEach * sizeof(T)>*>(from));
#pragma unroll
    for (int e = 0; e < kEach; ++e) x[e] = v.element[e];
    return;
  }
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    x[e] = scan.neutral();
    if (at + e >= 0 && at + e < end) x[e] = a.aligned ? Aligned::load(from + e) : Bytewise::load(from + e);
  }
}

template <class Result, int kEach>
__device__ void store_vector(const Arguments& a, int64_t at, const Result (&values)[kEach]) {
  struct alignas(16) Vector {
    Result element[kEach];
  };
  auto* to = static_cast<Result*>(a.p.result) + at;
  if (a.aligned && at >= 0 && at + kEach <= a.p.n) {
    Vector v;
#pragma unroll
    for (int e = 0; e < kEach; ++e) v.element[e] = values[e];
    *reinterpret_cast<uint4*>(to) = std::bit_cast<uint4>(v);
    return;
  }
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    if (at + e < 0 || at + e >= a.p.n) continue;
    a.aligned ? Aligned::store(to + e, values[e]) : Bytewise::store(to + e, values[e]);
  }
}

// A word for each vector of a warp. A lane that has kRows neighbouring ones does not meet others in a bank.
template <class Word, int kRows>
struct VectorWords {
  Word words[32 * (kRows + 1)];

  __device__ Word& at(int vector) { return words[vector + vector / kRows]; }
};

// Replaces the word of each vector by the reduction of those before it. Returns the reduction of all.
template <class Scan, class Word, int kRows>
__device__ Word scan_vectors(VectorWords<Word, kRows>& vectors, int lane) {
  __syncwarp();
  Word each[kRows];
  Word sum = Scan::identity();
#pragma unroll
  for (int k = 0; k < kRows; ++k) {
    each[k] = vectors.at(kRows * lane + k);
    sum = Scan::combine(sum, each[k]);
  }
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const Word other = __shfl_up_sync(kAll, sum, distance);
    if (lane >= distance) sum = Scan::combine(other, sum);
  }
  const Word left = __shfl_up_sync(kAll, sum, 1);
  Word before = lane == 0 ? Scan::identity() : left;
#pragma unroll
  for (int k = 0; k < kRows; ++k) {
    vectors.at(kRows * lane + k) = before;
    before = Scan::combine(before, each[k]);
  }
  __syncwarp();
  return __shfl_sync(kAll, sum, 31);
}

// The last tile to finish writes the status. Called by all threads.
template <class Scan>
__device__ void report(const Arguments& a, unsigned tile, bool beyond) {
  if (a.p.status == nullptr) return;
  if constexpr (!Scan::kChecks) {
    if (tile == 0 && threadIdx.x == 0) *a.p.status = GPUMEM_OK;
  } else {
    const bool fits = __syncthreads_or(beyond ? 1 : 0) == 0;
    if (threadIdx.x != 0) return;
    if (a.head == nullptr) {
      *a.p.status = fits ? GPUMEM_OK : GPUMEM_OVERFLOW;
      return;
    }
    if (!fits) atomicExch(&a.head->beyond, 1u);
    __threadfence();
    if (atomicInc(&a.head->done, a.tiles - 1) != a.tiles - 1) return;
    __threadfence();
    *a.p.status = atomicExch(&a.head->beyond, 0u) == 0 ? GPUMEM_OK : GPUMEM_OVERFLOW;
  }
}

template <class Scan>
__global__ void __launch_bounds__(kThreads, resident_blocks(sizeof(typename Scan::Result) == 4 ? 5 : 4, kThreads))
    words_kernel(const __grid_constant__ Arguments a) {
  using Word = typename Scan::Word;
  constexpr int kEach = scan_vector(Scan::kResultType);
  constexpr int kRows = scan_rows(Scan::kResultType);
  __shared__ VectorWords<Word, kRows> before[kWarps];
  __shared__ Word of_warp[kWarps];
  __shared__ Word before_tile;
  synchronize_and_trigger();
  const unsigned tile = block_number();
  const TileWords words(a.head);
  const Scan scan(a.p.op);
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int64_t first = ((int64_t{tile} * kWarps + warp) * kRows * 32 + lane) * kEach - a.shift;
  typename Scan::T x[kRows][kEach];
#pragma unroll
  for (int r = 0; r < kRows; ++r) load_vector(a, scan, first + r * 32 * kEach, x[r]);
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    Word sum = scan.word(x[r][0]);
#pragma unroll
    for (int e = 1; e < kEach; ++e) sum = Scan::combine(sum, scan.word(x[r][e]));
    before[warp].at(32 * r + lane) = sum;
  }
  const Word all = scan_vectors<Scan>(before[warp], lane);
  if (lane == 0) of_warp[warp] = all;
  __syncthreads();
  if (warp == 0) {
    const Word own = warp_reduction<Scan>(lane < kWarps ? of_warp[lane] : Scan::identity());
    const Word found = a.head == nullptr ? Scan::identity() : look_back<Scan>(words, tile, a.tiles, own, lane);
    if (lane == 0) before_tile = found;
  }
  __syncthreads();
  Word left = before_tile;
  for (int w = 0; w < warp; ++w) left = Scan::combine(left, of_warp[w]);
  bool beyond = false;
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    Word word = Scan::combine(left, before[warp].at(32 * r + lane));
    typename Scan::Result values[kEach];
#pragma unroll
    for (int e = 0; e < kEach; ++e) {
      const Word term = scan.word(x[r][e]);
      const Word after = Scan::combine(word, term);
      beyond |= Scan::overflows(word, term, after);
      values[e] = scan.value(a.p.exclusive != 0 ? word : after);
      word = after;
    }
    store_vector(a, first + r * 32 * kEach, values);
  }
  report<Scan>(a, tile, beyond);
}

}  // namespace

LaunchResult scan_look_back(const ScanParams& p, const Config& config, const Launch& launch) {
  Arguments a{};
  a.p = p;
  a.shift = scan_shift(p.result, p.result_type);
  const int64_t vector_bytes = int64_t{scan_vector(p.result_type)} * element_bytes(p.dtype);
  a.aligned = aligned(p.x, element_bytes(p.dtype)) && aligned(p.result, element_bytes(p.result_type));
  a.vectors = a.aligned && aligned(static_cast<const char*>(p.x) - a.shift * element_bytes(p.dtype), vector_bytes);
  a.tiles = static_cast<unsigned>(config.grid);
  const LaunchResult error = tile_words(config, launch, a.head);
  if (error != cudaSuccess) return error;
  void (*kernel)(Arguments) = nullptr;
  for_scan_types(p, [&]<gpumem_dtype kType, gpumem_dtype kResult>() {
    for_kind<kType, kResult>(p.op, [&]<class Scan>() { kernel = words_kernel<Scan>; });
  });
  return enqueue_programmatic(kernel, a.tiles, kThreads, launch, a);
}

}  // namespace gpumem::kernels
