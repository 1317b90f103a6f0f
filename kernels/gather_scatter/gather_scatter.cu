// Gathers and scatters of rows.
// Moves: reads the index twice, first to check it, and reads and writes each row once: 2 * n * (index bytes + row
//         bytes). Each block checks all of a short index. A row that is named twice may still be cached.
// Access: neighbouring threads take the words of all rows in order. Short rows share a warp, and a long row spans
//         several warps, so no lane is idle. One access serves the index for all threads of a row. Each thread keeps
//         up to kGatherScatterWords words in flight and loads the first before the check has ended.
// Shapes: vec16, vec8 and words move words of 16, 8 and 4 bytes, for rows with that alignment on both sides. bytes is
//         for any address. The last word of a row may be incomplete.
#include <algorithm>

#include "kernels/division.hpp"
#include "kernels/enqueue.cuh"
#include "kernels/gather_scatter/gather_scatter.hpp"
#include "kernels/limits.hpp"
#include "kernels/row_words.cuh"
#include "kernels/words.cuh"

namespace gpumem::kernels {
namespace {

constexpr int kThreads = kGatherScatterThreads;
constexpr int kWords = kGatherScatterWords;

constexpr int kCheckLoads = 8;
constexpr int64_t kCheckTile = int64_t{kThreads} * kCheckLoads;
constexpr int64_t kCheckBlocks = 1024;
// If so few blocks each check so few numbers, that is faster than a second kernel. H200: 500 rows of 64 bytes take 1.9
// us instead of 4.0; 2001 rows of 128 bytes in a graph take 2.8 instead of 3.3.
constexpr int64_t kCheckedByEach = 4096;
constexpr int64_t kFewBlocks = 512;

// found: the complement of the first bad place, or 0.
template <class Index>
__device__ void hand_over(unsigned long long found, const GatherScatterScratch& scratch, gpumem_status* status,
                          const Index* index) {
  *scratch.verdict = found;
  if (status != nullptr) *status = found == 0 ? GPUMEM_OK : GPUMEM_OUT_OF_RANGE;
  if (scratch.report == nullptr) return;
  const auto at = static_cast<int64_t>(~found);  // -1 for 0
  scratch.report->at = at;
  scratch.report->bits = found == 0 ? 0 : static_cast<uint64_t>(index[at]);
}

// The lowest bad place has the largest complement. No complement is 0.
template <class Index>
__global__ void __launch_bounds__(kThreads)
    check_kernel(const __grid_constant__ GatherScatterParams params, uint64_t limit,
                 const __grid_constant__ GatherScatterScratch scratch) {
  grid_dependency_synchronize();
  trigger_programmatic_launch();
  const auto* index = static_cast<const Index*>(params.index);
  const int64_t step = int64_t{gridDim.x} * kCheckTile;
  int64_t first = params.n;
  for (int64_t base = blockIdx.x * kCheckTile + threadIdx.x; base < params.n && first == params.n; base += step) {
    Index in[kCheckLoads];
#pragma unroll
    for (int k = 0; k < kCheckLoads; ++k) {
      const int64_t at = base + k * kThreads;
      in[k] = index[at < params.n ? at : base];
    }
#pragma unroll
    for (int k = kCheckLoads - 1; k >= 0; --k) {
      const int64_t at = base + k * kThreads;
      if (at < params.n && in[k] >= limit) first = at;
    }
  }
  if (first < params.n) {
    atomicMax(scratch.pending, ~static_cast<unsigned long long>(first));
    __threadfence();
  }
  if (__syncthreads_or(first < params.n) != 0) __threadfence();
  if (threadIdx.x != 0) return;
  if (atomicInc(scratch.done, gridDim.x - 1) != gridDim.x - 1) return;
  __threadfence();
  hand_over(atomicExch(scratch.pending, 0), scratch, params.status, index);
}

struct Place {
  int64_t row;
  int64_t word;
  __device__ Place(int64_t number, int64_t words) {
    const Quotient q(number, words);
    row = q.quotient;
    word = q.rest;
  }
};

struct Rows : GatherScatterParams {
  int64_t words = 0;       // per row
  int64_t total = 0;       // words
  int32_t per_thread = 0;  // words
  int64_t tile = 0;        // words per block
  int64_t tiles = 0;
  int64_t step_rows = 0;  // kThreads words, as whole rows and remaining words
  int64_t step_words = 0;
  uint64_t limit = 0;   // of the index
  bool checks = false;  // no earlier kernel checks the index
  GatherScatterScratch scratch{};
};

// Each block checks all of a short index. The first block reports the result.
template <class Index>
__device__ __forceinline__ bool all_good(const Rows& r, const Index* index) {
  __shared__ unsigned long long found;
  if (threadIdx.x == 0) found = 0;
  int64_t first = r.n;
#pragma unroll 4
  for (int64_t i = threadIdx.x; i < r.n; i += kThreads) {
    if (index[i] >= r.limit && i < first) first = i;
  }
  __syncthreads();
  if (first < r.n) atomicMax(&found, ~static_cast<unsigned long long>(first));
  __syncthreads();
  if (blockIdx.x == 0 && threadIdx.x == 0) hand_over(found, r.scratch, r.status, index);
  return found == 0;
}

// With five blocks per multiprocessor, words of up to 4 bytes spill no registers. H200: 2684354 rows of 100 bytes take
// 254 us instead of 289.
template <class Word>
constexpr int kBlocks = resident_blocks(sizeof(Word) <= 4 ? 5 : 1, kThreads);

template <class Word, class Index, bool kGathers>
__global__ void __launch_bounds__(kThreads, kBlocks<Word>) move_kernel(const __grid_constant__ Rows r) {
  constexpr auto kBytes = static_cast<int64_t>(sizeof(Word));
  const auto* index = static_cast<const Index*>(r.index);
  const auto* src = static_cast<const char*>(r.src);
  auto* dst = static_cast<char*>(r.dst);
  if (r.checks) synchronize_and_trigger();
  for (int64_t tile = blockIdx.x; tile < r.tiles; tile += gridDim.x) {
    const int64_t first = tile * r.tile + threadIdx.x;
    Place place(first, r.words);
    uint64_t from[kWords];  // byte offsets
    uint64_t to[kWords];
    int left[kWords];  // bytes of the word; 0 past the last row or for a bad index
#pragma unroll
    for (int k = 0; k < kWords; ++k) {
      const bool there = k < r.per_thread && first + k * kThreads < r.total;
      const int64_t at = place.word * kBytes;
      const auto named = there ? static_cast<uint64_t>(index[place.row]) : 0;
      const auto row = static_cast<uint64_t>(place.row);
      from[k] = (kGathers ? named : row) * static_cast<uint64_t>(r.src_pitch) + static_cast<uint64_t>(at);
      to[k] = (kGathers ? row : named) * static_cast<uint64_t>(r.dst_pitch) + static_cast<uint64_t>(at);
      left[k] = there && named < r.limit ? static_cast<int>(min(r.row_bytes - at, kBytes)) : 0;
      place.row += r.step_rows;
      place.word += r.step_words;
      if (place.word >= r.words) {
        place.word -= r.words;
        ++place.row;
      }
    }
    Word in[kWords];
#pragma unroll
    for (int k = 0; k < kWords; ++k) {
      if (left[k] == kBytes) in[k] = *reinterpret_cast<const Word*>(src + from[k]);
    }
    if (r.checks) {
      if (!all_good(r, index)) return;
    } else {
      synchronize_and_trigger();  // waits for the check, which waited for all other work
      if (*r.scratch.verdict != 0) return;
    }
#pragma unroll
    for (int k = 0; k < kWords; ++k) {
      if (left[k] == kBytes) {
        *reinterpret_cast<Word*>(dst + to[k]) = in[k];
      } else if (kBytes > 1 && left[k] > 0) {
        move_tail<Word>(src + from[k], dst + to[k], left[k]);
      }
    }
  }
}

template <class Word, bool kGathers, class Index>
LaunchResult start(const GatherScatterParams& params, const Config& config, const GatherScatterScratch& scratch,
                   const Launch& launch) {
  constexpr auto kBytes = static_cast<int64_t>(sizeof(Word));
  const uint64_t limit = params.limit(kGathers ? params.src_rows : params.dst_rows);
  const bool checked_by_each = params.n <= kCheckedByEach && config.grid <= kFewBlocks;
  if (!checked_by_each) {
    const auto blocks = static_cast<unsigned>(std::min(params.n / kCheckTile + 1, kCheckBlocks));
    const cudaError_t error =
        enqueue_programmatic(check_kernel<Index>, blocks, kThreads, launch, params, limit, scratch);
    if (error != cudaSuccess) return error;
  }
  Rows r{params};
  r.words = ceil_div(params.row_bytes, kBytes);
  r.total = params.n * r.words;
  r.per_thread = config.per_thread;
  r.tile = int64_t{kThreads} * r.per_thread;
  r.tiles = ceil_div(r.total, r.tile);
  r.step_rows = kThreads / r.words;
  r.step_words = kThreads % r.words;
  r.limit = limit;
  r.checks = checked_by_each;
  r.scratch = scratch;
  return enqueue_programmatic(move_kernel<Word, Index, kGathers>, static_cast<unsigned>(config.grid), kThreads, launch,
                              r);
}

template <class Word, bool kGathers>
LaunchResult start(const GatherScatterParams& params, const Config& config, const GatherScatterScratch& scratch,
                   const Launch& launch) {
  return element_bytes(params.index_type) == 4 ? start<Word, kGathers, uint32_t>(params, config, scratch, launch)
                                               : start<Word, kGathers, uint64_t>(params, config, scratch, launch);
}

}  // namespace

LaunchResult gather_vec16(const GatherScatterParams& params, const Config& config, const GatherScatterScratch& scratch,
                          const Launch& launch) {
  return start<uint4, true>(params, config, scratch, launch);
}
LaunchResult gather_vec8(const GatherScatterParams& params, const Config& config, const GatherScatterScratch& scratch,
                         const Launch& launch) {
  return start<uint2, true>(params, config, scratch, launch);
}
LaunchResult gather_words(const GatherScatterParams& params, const Config& config, const GatherScatterScratch& scratch,
                          const Launch& launch) {
  return start<uint32_t, true>(params, config, scratch, launch);
}
LaunchResult gather_bytes(const GatherScatterParams& params, const Config& config, const GatherScatterScratch& scratch,
                          const Launch& launch) {
  return start<unsigned char, true>(params, config, scratch, launch);
}
LaunchResult scatter_vec16(const GatherScatterParams& params, const Config& config, const GatherScatterScratch& scratch,
                           const Launch& launch) {
  return start<uint4, false>(params, config, scratch, launch);
}
LaunchResult scatter_vec8(const GatherScatterParams& params, const Config& config, const GatherScatterScratch& scratch,
                          const Launch& launch) {
  return start<uint2, false>(params, config, scratch, launch);
}
LaunchResult scatter_words(const GatherScatterParams& params, const Config& config, const GatherScatterScratch& scratch,
                           const Launch& launch) {
  return start<uint32_t, false>(params, config, scratch, launch);
}
LaunchResult scatter_bytes(const GatherScatterParams& params, const Config& config, const GatherScatterScratch& scratch,
                           const Launch& launch) {
  return start<unsigned char, false>(params, config, scratch, launch);
}

LaunchResult gather_scatter_preload() { return preload(check_kernel<uint32_t>); }

}  // namespace gpumem::kernels
