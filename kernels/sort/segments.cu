// Sorts of segments: a sort of all keys with their positions, and then a stable sort of the positions by segment.
// Moves: the sort of n keys of b bytes reads and writes keys and positions of p bytes b times. The sort by segment reads
//        and writes numbers and positions once per 8 bits of a number. Two gathers read n numbers and n keys.
// Access: as sort.cu. The gathers read single elements, which are neighbours only within a short segment.
// Shapes: any lengths. The time depends on the number of keys and hardly on the lengths.
#include "kernels/enqueue.cuh"
#include "kernels/sort/radix_sort.hpp"
#include "kernels/sort/sort.hpp"
#include "kernels/words.cuh"

namespace gpumem::kernels {
namespace {

constexpr int64_t kTile = int64_t{kSortThreads} * kSortPositions;

// The number of offsets in [low, high) up to `position`, plus low.
__device__ __forceinline__ int64_t offsets_up_to(const int64_t* offsets, int64_t low, int64_t high, int64_t position) {
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (offsets[middle] <= position) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// Checks the offsets, and writes each key's position and segment. Bad offsets give some numbers, which are not used.
template <class Position>
__global__ void __launch_bounds__(kSortThreads)
    number_kernel(const __grid_constant__ SortParams p, SegmentsHead* head, Position* segments, Position* positions) {
  __shared__ int64_t ends[2];
  synchronize_and_trigger();
  const int64_t step = int64_t{gridDim.x} * kSortThreads;
  for (int64_t s = int64_t{blockIdx.x} * kSortThreads + threadIdx.x; s <= p.segments; s += step) {
    const int64_t offset = p.offsets[s];
    if (offset < (s == 0 ? 0 : p.offsets[s - 1]) || offset > p.n) atomicMax(&head->bad, 1);
  }
  for (int64_t tile = blockIdx.x * kTile; tile < p.n; tile += gridDim.x * kTile) {
    if (threadIdx.x < 2) {
      ends[threadIdx.x] = offsets_up_to(p.offsets, 0, p.segments + 1, threadIdx.x == 0 ? tile : tile + kTile - 1);
    }
    __syncthreads();
    for (int64_t i = tile + threadIdx.x; i < p.n && i < tile + kTile; i += kSortThreads) {
      const int64_t number = offsets_up_to(p.offsets, ends[0], ends[1], i);
      segments[i] = static_cast<Position>(numbers_by_position(p) && number > 0 ? p.offsets[number - 1] + 1 : number);
      positions[i] = static_cast<Position>(i);
    }
    __syncthreads();
  }
}

template <class Position>
__global__ void __launch_bounds__(kSortThreads)
    gather_segments_kernel(const Position* segments, const Position* positions, Position* to, int64_t n) {
  synchronize_and_trigger();
  const int64_t step = int64_t{gridDim.x} * kSortThreads;
#pragma unroll 1
  for (int64_t i = int64_t{blockIdx.x} * kSortThreads + threadIdx.x; i < n; i += step) to[i] = segments[positions[i]];
}

// Writes the outputs between the first and the last offset.
template <class Position>
__global__ void __launch_bounds__(kSortThreads)
    store_kernel(const __grid_constant__ SortParams p, const SegmentsHead* head, const void* keys,
                 const Position* positions) {
  synchronize_and_trigger();
  const bool bad = head->bad != 0;
  if (p.status != nullptr && blockIdx.x == 0 && threadIdx.x == 0) *p.status = bad ? GPUMEM_OUT_OF_RANGE : GPUMEM_OK;
  if (bad) return;
  const int64_t last = p.offsets[p.segments];
  const bool whole = reinterpret_cast<uintptr_t>(p.sorted) % static_cast<unsigned>(element_bytes(p.dtype)) == 0;
  const int64_t step = int64_t{gridDim.x} * kSortThreads;
#pragma unroll 1
  for (int64_t i = p.offsets[0] + int64_t{blockIdx.x} * kSortThreads + threadIdx.x; i < last; i += step) {
    const Position position = positions[i];
    if (p.sorted != nullptr) {
      for_word(p.dtype, [&]<class Word>() {
        Word* const to = static_cast<Word*>(p.sorted) + i;
        const Word key = static_cast<const Word*>(keys)[position];
        whole ? Aligned::store(to, key) : Bytewise::store(to, key);
      });
    }
    if (p.order == nullptr) continue;
    if (element_bytes(p.order_type) == 4) {
      static_cast<uint32_t*>(p.order)[i] = static_cast<uint32_t>(position);
    } else {
      static_cast<uint64_t*>(p.order)[i] = position;
    }
  }
}

template <class Word, class Position>
class SegmentsRun {
 public:
  SegmentsRun(const SortParams& p, const Config& config, const Launch& launch)
      : p_(p),
        launch_(launch),
        blocks_(static_cast<unsigned>(config.grid)),
        at_(config.own.get<SegmentsScratch>()),
        head_(static_cast<SegmentsHead*>(launch.workspace)),
        segments_(at<Position>(at_.segments)),
        positions_{at<Position>(at_.positions[0]), at<Position>(at_.positions[1])} {}

  cudaError_t run() {
    const auto rank = rank_of_keys<Word>(p_.dtype, p_.descending != 0);
    SortBuffers<Word> keys{at<Word>(at_.keys[0]), at<Word>(at_.keys[1])};
    auto error = static_cast<cudaError_t>(set_bytes(head_, sizeof *head_, 0, launch_));
    if (error == cudaSuccess) error = copy_keys(keys.from);
    if (error == cudaSuccess) {
      error = enqueue_programmatic(number_kernel<Position>, blocks_, kSortThreads, launch_, p_, head_, segments_,
                                   positions_.from);
    }
    if (error == cudaSuccess) error = sort(keys, rank, 8 * sizeof(Word));
    SortBuffers<Position> numbers{at<Position>(at_.sorted_segments[0]), at<Position>(at_.sorted_segments[1])};
    if (error == cudaSuccess) {
      error = enqueue_programmatic(gather_segments_kernel<Position>, blocks_, kSortThreads, launch_, segments_,
                                   positions_.from, numbers.from, p_.n);
    }
    if (error == cudaSuccess) error = sort(numbers, rank_of_keys<Position>(GPUMEM_U64, false), segment_bits(p_));
    // The sort has overwritten the copy of the keys.
    const bool copies = overwrites_keys(p_);
    if (error == cudaSuccess && copies) error = copy_keys(keys.from);
    if (error != cudaSuccess) return error;
    return enqueue_programmatic(store_kernel<Position>, blocks_, kSortThreads, launch_, p_, head_,
                                copies ? keys.from : p_.keys, positions_.from);
  }

 private:
  template <class T>
  T* at(int64_t offset) const {
    return reinterpret_cast<T*>(static_cast<char*>(launch_.workspace) + offset);
  }
  cudaError_t copy_keys(Word* to) const {
    const auto bytes = static_cast<size_t>(p_.n) * sizeof(Word);
    return cudaMemcpyAsync(to, p_.keys, bytes, cudaMemcpyDeviceToDevice, launch_);
  }
  // Sorts words with positions_, which are then in `from` again.
  template <class Key>
  cudaError_t sort(SortBuffers<Key>& keys, const RankOf<Key>& rank, int bits) {
    RadixSort<Key, Position> sort{.keys = keys,
                                  .positions = positions_,
                                  .n = p_.n,
                                  .overwrites = true,
                                  .rank = rank,
                                  .bits = bits,
                                  .scratch = at<char>(at_.cub),
                                  .scratch_bytes = at_.cub_bytes};
    const auto error = static_cast<cudaError_t>(radix_sort(sort, launch_));
    positions_ = {sort.positions.to, sort.positions.from};
    return error;
  }

  const SortParams& p_;
  const Launch& launch_;
  const unsigned blocks_;
  const SegmentsScratch at_;
  SegmentsHead* const head_;
  Position* const segments_;
  SortBuffers<Position> positions_;
};

}  // namespace

LaunchResult sort_segments(const SortParams& params, const Config& config, const Launch& launch) {
  return for_word(params.dtype, [&]<class Word>() {
    return positions_are_wide(params) ? SegmentsRun<Word, uint64_t>(params, config, launch).run()
                                      : SegmentsRun<Word, uint32_t>(params, config, launch).run();
  });
}

LaunchResult sort_segments_preload() { return preload(number_kernel<uint32_t>); }

}  // namespace gpumem::kernels
