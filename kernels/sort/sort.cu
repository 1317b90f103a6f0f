// Sorts with CUB's radix sort, one pass per byte of a key.
// Moves: n elements of b bytes are read once for the histograms of all digits, and read and written b times. Positions
//        of p bytes are written once, and moved in each pass too. If order has 8 bytes and p is 4, n more are converted.
// Access: reads are contiguous, writes are runs of a block's elements with one digit.
#include <utility>

#include "kernels/enqueue.cuh"
#include "kernels/sort/radix_sort.hpp"
#include "kernels/sort/sort.hpp"
#include "kernels/words.cuh"

namespace gpumem::kernels {
namespace {

// from: nullptr writes the positions in order.
template <class To>
__global__ void __launch_bounds__(kSortThreads) positions_kernel(To* to, const uint32_t* from, int64_t n) {
  synchronize_and_trigger();
  constexpr int64_t kTile = int64_t{kSortThreads} * kSortPositions;
  for (int64_t tile = blockIdx.x * kTile; tile < n; tile += gridDim.x * kTile) {
#pragma unroll
    for (int k = 0; k < kSortPositions; ++k) {
      const int64_t i = tile + k * kSortThreads + threadIdx.x;
      if (i < n) to[i] = from == nullptr ? static_cast<To>(i) : from[i];
    }
  }
}

cudaError_t copy_elements(void* to, const void* from, int64_t bytes, Stream stream) {
  return cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), cudaMemcpyDeviceToDevice, stream);
}

struct Run {
  const SortParams& p;
  const Config& config;
  const Launch& launch;
  SortScratch scratch = config.own.get<SortScratch>();

  void* at(int64_t offset) const { return static_cast<char*>(launch.workspace) + offset; }
  unsigned blocks() const { return static_cast<unsigned>(config.grid); }
};

// Until the result is in `to`, whose memory is not order if its elements have another size.
template <class Position>
cudaError_t store_order(const Run& run, SortBuffers<Position> positions) {
  void* const order = run.p.order;
  const int64_t bytes = run.p.n * static_cast<int64_t>(sizeof(Position));
  if (sizeof(Position) == static_cast<size_t>(element_bytes(run.p.order_type))) {
    return positions.to == order ? cudaSuccess : copy_elements(order, positions.to, bytes, run.launch);
  }
  if constexpr (sizeof(Position) == 4) {
    if (positions.to == order) {
      std::swap(positions.from, positions.to);
      const cudaError_t error = copy_elements(positions.to, positions.from, bytes, run.launch);
      if (error != cudaSuccess) return error;
    }
    return enqueue(positions_kernel<uint64_t>, run.blocks(), kSortThreads, run.launch, static_cast<uint64_t*>(order),
                   positions.to, run.p.n);
  }
  return cudaErrorUnknown;
}

template <class Word, class Position>
cudaError_t sort_words(const Run& run) {
  const SortParams& p = run.p;
  const int64_t bytes = p.n * static_cast<int64_t>(sizeof(Word));
  RadixSort<Word, Position> sort{.n = p.n,
                                 .overwrites = overwrites_keys(p),
                                 .rank = rank_of_keys<Word>(p.dtype, p.descending != 0),
                                 .scratch = run.at(run.scratch.cub),
                                 .scratch_bytes = run.scratch.cub_bytes};
  sort.keys.from = static_cast<Word*>(run.scratch.keys >= 0 ? run.at(run.scratch.keys) : const_cast<void*>(p.keys));
  sort.keys.to = static_cast<Word*>(run.scratch.sorted >= 0 ? run.at(run.scratch.sorted) : p.sorted);
  cudaError_t error = cudaSuccess;
  if (sort.keys.from != p.keys) error = copy_elements(sort.keys.from, p.keys, bytes, run.launch);
  if (p.order != nullptr && error == cudaSuccess) {
    sort.positions = {static_cast<Position*>(run.at(run.scratch.positions)), static_cast<Position*>(p.order)};
    // An overwriting sort with an even number of passes ends where it began.
    const bool to_order = sizeof(Position) == static_cast<size_t>(element_bytes(p.order_type));
    const bool begins_there = sort.overwrites && sizeof(Word) > 1;
    if (to_order == begins_there) std::swap(sort.positions.from, sort.positions.to);
    error = enqueue_programmatic(positions_kernel<Position>, run.blocks(), kSortThreads, run.launch,
                                 sort.positions.from, nullptr, p.n);
  }
  if (error == cudaSuccess) error = static_cast<cudaError_t>(radix_sort(sort, run.launch));
  if (error == cudaSuccess && p.sorted != nullptr && sort.keys.to != p.sorted) {
    error = copy_elements(p.sorted, sort.keys.to, bytes, run.launch);
  }
  if (error == cudaSuccess && p.order != nullptr) error = store_order(run, sort.positions);
  return error;
}

}  // namespace

LaunchResult sort_radix(const SortParams& params, const Config& config, const Launch& launch) {
  const Run run{params, config, launch};
  return for_word(params.dtype, [&]<class Word>() {
    return position_bytes(params) == 4 ? sort_words<Word, uint32_t>(run) : sort_words<Word, uint64_t>(run);
  });
}

LaunchResult sort_preload() { return preload(positions_kernel<uint32_t>); }

}  // namespace gpumem::kernels
