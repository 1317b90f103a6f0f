// Reductions by index. All of the index is checked before a result is written: the kernels write values to the
// workspace, and commit_kernel() stores them if no index is bad. Others (buckets.cu, rows.cu) write results themselves,
// when all of the index is checked.
// Moves: tables and atomics read x and index once. sorted reads x and index once, and sorts the elements by keys that
//         hold a bin: one pass per 8 bits of a key. Each pass reads and writes keys and elements. The reduction of
//         segments then reads the elements. All write 8 bytes per bin, read them and store them as the result. Rows are
//         sorted by their numbers, and copied once, so that each of their columns is contiguous.
// Access: reads of x and index are contiguous. Bins are combined by atomics in shared memory or in the L2 cache.
// Shapes: tables is for bins that fit shared memory, with enough elements for each bin. Few bins have several tables per
//         block, so that the lanes of a warp seldom meet. atomics is for more bins. Both are for values that are exact in
//         any order. sorted is for all others but few elements (warp_per_bin.cu, block_per_bin.cu, buckets.cu).
#include "kernels/reduce_by_index/reduce_by_index.hpp"

#include <type_traits>
#include <utility>

#include "kernels/division.hpp"
#include "kernels/enqueue.cuh"
#include "kernels/reduce/launch.hpp"
#include "kernels/reduce_by_index/buckets.hpp"
#include "kernels/reduce_by_index/rows.hpp"
#include "kernels/search.cuh"
#include "kernels/sort/radix_sort.hpp"
#include "kernels/words.cuh"

namespace gpumem::kernels {
namespace {

using Value = unsigned long long;

constexpr int kThreads = kByIndexThreads;
constexpr int kEach = kByIndexEach;
// Bins per block that finds offsets. Few bins have many blocks, because the time is that of a search.
constexpr int64_t bins_of_block(int64_t bins) {
  return bins < int64_t{1} << 13 ? 32 : bins < int64_t{1} << 18 ? kThreads : 4 * kThreads;
}

struct ByIndex : ReduceByIndexParams {
  Divisor<uint64_t> by_cols{};
  uint64_t limit = 0;  // of the index
  uint64_t sign = 0;   // the highest bit of signed elements, or 0
  ByIndexHead* head = nullptr;
  Value* results = nullptr;  // before they are stored
  int32_t copies = 1;        // of a block's table
};

// The lowest bad place has the largest complement. No complement is 0.
__device__ __forceinline__ void note_bad(const ByIndex& b, int64_t place) {
  atomicMax(&b.head->bad, ~static_cast<Value>(place));
}

// Ways to combine values, in cells of shared memory and in 64-bit values. Memory of zeros has no elements.
struct Count {
  using Cell = uint32_t;
  static __device__ __forceinline__ uint64_t load(const ByIndex&, int64_t) { return 1; }
  static __device__ __forceinline__ void add(Cell* cell, uint64_t) { atomicAdd(cell, 1u); }
  static __device__ __forceinline__ void add(Value* value, uint64_t v) { atomicAdd(value, v); }
  static __device__ __forceinline__ Value value_of(Cell cell) { return cell; }
};

template <class Element>
__device__ __forceinline__ int64_t element(const ByIndex& b, int64_t i) {
  return static_cast<int64_t>((uint64_t{static_cast<const Element*>(b.x)[i]} ^ b.sign) - b.sign);
}

// Shared memory has no 64-bit additions, but two of 32 bits: the lower one's carry goes to the upper one.
template <class Element>
struct Sum {
  using Cell = uint2;
  static __device__ __forceinline__ uint64_t load(const ByIndex& b, int64_t i) {
    return static_cast<uint64_t>(element<Element>(b, i));
  }
  static __device__ __forceinline__ void add(Cell* cell, uint64_t v) {
    const auto low = static_cast<uint32_t>(v);
    const uint32_t before = atomicAdd(&cell->x, low);
    const uint32_t high = static_cast<uint32_t>(v >> 32) + (before + low < before ? 1 : 0);
    if (high != 0) atomicAdd(&cell->y, high);
  }
  static __device__ __forceinline__ void add(Value* value, uint64_t v) { atomicAdd(value, v); }
  static __device__ __forceinline__ Value value_of(Cell cell) { return Value{cell.y} << 32 | cell.x; }
};

// Most elements are no new extreme, so a read saves most atomics.
template <class Element>
struct Extremum {
  using Cell = Value;
  static __device__ __forceinline__ uint64_t load(const ByIndex& b, int64_t i) {
    return extreme_code(b.op, element<Element>(b, i));
  }
  static __device__ __forceinline__ void add(Value* value, uint64_t v) {
    if (*static_cast<volatile Value*>(value) < v) atomicMax(value, v);
  }
  static __device__ __forceinline__ Value value_of(Cell cell) { return cell; }
};

template <bool kRows>
__device__ __forceinline__ int64_t row_of(const ByIndex& b, int64_t at) {
  return kRows ? static_cast<int64_t>(b.by_cols.quotient(static_cast<uint64_t>(at))) : at;
}

// Gives each element to add(bin and column, value). Notes the first bad index.
template <class How, class Index, int kBlock, bool kRows, class Add>
__device__ __forceinline__ void for_elements_of(const ByIndex& b, const Add& add) {
  const auto* index = static_cast<const Index*>(b.index);
  constexpr int kEach = kRows ? kByIndexEachOfRows : kByIndexEach;
  constexpr int64_t kTile = int64_t{kBlock} * kEach;
  const int64_t n = kRows ? b.elements() : b.n;
  int64_t bad = b.n;
  for (int64_t tile = blockIdx.x * kTile; tile < n; tile += gridDim.x * kTile) {
    const int64_t first = tile + threadIdx.x;
    Index bin[kEach];
    uint64_t v[kEach];
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      const int64_t at = first + k * kBlock;
      if (at >= n) continue;
      const int64_t row = row_of<kRows>(b, at);
      bin[k] = index[row];
      v[k] = How::load(b, kRows ? at + row * (b.ld - b.cols) : at);
    }
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      const int64_t at = first + k * kBlock;
      if (at >= n) continue;
      const int64_t row = row_of<kRows>(b, at);
      if (bin[k] < b.limit) {
        if constexpr (kRows) {
          add(at + (static_cast<int64_t>(bin[k]) - row) * b.cols, v[k]);
        } else {
          add(bin[k], v[k]);
        }
      } else if (row < bad) {
        bad = row;
      }
    }
  }
  if (bad < b.n) note_bad(b, bad);
}

// The two loops take the same registers, and the branch is uniform.
template <class How, class Index, int kBlock, class Add>
__device__ __forceinline__ void for_elements(const ByIndex& b, const Add& add) {
  if constexpr (!std::is_same_v<How, Count>) {
    if (!b.of_vector()) return for_elements_of<How, Index, kBlock, true>(b, add);
  }
  for_elements_of<How, Index, kBlock, false>(b, add);
}

// A table has the copies of a bin next to each other.
template <class How, class Index>
__global__ void __launch_bounds__(kTableThreads) tables_kernel(const __grid_constant__ ByIndex b) {
  using Cell = typename How::Cell;
  synchronize_and_trigger();
  auto* const cells = dynamic_shared<Cell>();
  const auto bins = static_cast<int>(b.values());
  for (int i = static_cast<int>(threadIdx.x); i < bins * b.copies; i += kTableThreads) cells[i] = Cell{};
  __syncthreads();
  const int copy = static_cast<int>(threadIdx.x) & (b.copies - 1);
  for_elements<How, Index, kTableThreads>(
      b, [&](auto bin, uint64_t v) { How::add(cells + static_cast<int>(bin) * b.copies + copy, v); });
  __syncthreads();
  for (int bin = static_cast<int>(threadIdx.x); bin < bins; bin += kTableThreads) {
    for (int i = 0; i < b.copies; ++i) {
      const Value value = How::value_of(cells[bin * b.copies + i]);
      if (value != 0) How::add(b.results + bin, value);
    }
  }
}

template <class How, class Index>
__global__ void __launch_bounds__(kThreads) atomics_kernel(const __grid_constant__ ByIndex b) {
  synchronize_and_trigger();
  for_elements<How, Index, kThreads>(b, [&](auto bin, uint64_t v) { How::add(b.results + bin, v); });
}

// Keys of the elements. A bad index has the key 0: its elements are sorted, and the result is not stored.
template <class Index, class Word>
__global__ void __launch_bounds__(kThreads) keys_kernel(const __grid_constant__ ByIndex b, Word* keys) {
  synchronize_and_trigger();
  const auto* index = static_cast<const Index*>(b.index);
  const int64_t step = int64_t{gridDim.x} * kByIndexTile;
  for (int64_t tile = blockIdx.x * kByIndexTile; tile < b.n; tile += step) {
    const int64_t first = tile + threadIdx.x;
    Index bin[kEach];
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      const int64_t at = first + k * kThreads;
      bin[k] = at < b.n ? index[at] : 0;
    }
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      const int64_t at = first + k * kThreads;
      if (bin[k] >= b.limit) note_bad(b, at);
      if (at < b.n) keys[at] = bin[k] < b.limit ? static_cast<Word>(bin[k]) : Word{0};
    }
  }
}

// Elements in words of another size, or from any address.
template <class From, class To>
__global__ void __launch_bounds__(kThreads) resize_words_kernel(const void* from, To* to, int64_t n) {
  synchronize_and_trigger();
  const int64_t step = int64_t{gridDim.x} * kByIndexTile;
  for (int64_t tile = blockIdx.x * kByIndexTile; tile < n; tile += step) {
    const int64_t first = tile + threadIdx.x;
    From in[kEach];
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      const int64_t at = first + k * kThreads;
      if (at < n) in[k] = Bytewise::load(static_cast<const From*>(from) + at);
    }
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      const int64_t at = first + k * kThreads;
      if (at < n) to[at] = static_cast<To>(in[k]);
    }
  }
}

// The numbers of all rows.
template <class Row>
__global__ void __launch_bounds__(kThreads) rows_kernel(Row* to, int64_t n) {
  synchronize_and_trigger();
  const int64_t step = int64_t{gridDim.x} * kThreads;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < n; i += step) to[i] = static_cast<Row>(i);
}

// The columns of sorted rows, one after the other. Neighbouring threads take neighbouring rows, and each has kEach
// columns. The other columns of up to kThreads rows come next, while their sectors are in the caches.
template <class Element, class Row>
__global__ void __launch_bounds__(kThreads)
    columns_kernel(const __grid_constant__ ByIndex b, const Row* rows, Element* to) {
  synchronize_and_trigger();
  const int64_t tile_rows = b.n < kThreads ? b.n : kThreads;
  const int64_t groups = ceil_div(b.cols, int64_t{kEach});
  const int64_t all = ceil_div(b.n, tile_rows) * groups * tile_rows;
  const int64_t step = int64_t{gridDim.x} * kThreads;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < all; i += step) {
    const Quotient tile(i, tile_rows);
    const Quotient group(tile.quotient, groups);
    const int64_t row = group.quotient * tile_rows + tile.rest;
    if (row >= b.n) continue;
    const int64_t first = group.rest * kEach;
    const int64_t cols = b.cols - first < kEach ? b.cols - first : kEach;
    const auto* from = static_cast<const Element*>(b.x) + static_cast<int64_t>(rows[row]) * b.ld + first;
    Element in[kEach];
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      if (k < cols) in[k] = Bytewise::load(from + k);
    }
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      if (k < cols) to[(first + k) * b.n + row] = in[k];
    }
  }
}

// The first place in [low, high) with a key of at least `bin`, or high.
template <class Word>
__device__ __forceinline__ int64_t first_place(const Word* keys, int64_t low, int64_t high, int64_t bin) {
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (keys[middle] < static_cast<uint64_t>(bin)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// Offsets of the bins in the sorted elements, for one column after the other. The bins of a block usually have few
// elements, whose keys fit shared memory.
template <class Word>
__global__ void __launch_bounds__(kThreads)
    offsets_kernel(const Word* keys, int64_t n, int64_t* offsets, int64_t bins, int64_t cols, int64_t tile) {
  constexpr int64_t kStaged = 16384 / sizeof(Word);
  __shared__ Word staged[kStaged];
  __shared__ int64_t ends[2];
  synchronize_and_trigger();
  for (int64_t first = blockIdx.x * tile; first <= bins; first += gridDim.x * tile) {
    const int64_t last = first + tile < bins ? first + tile : bins;
    const unsigned warp = threadIdx.x / 32;
    if (warp < 2) {
      const auto sought = static_cast<uint64_t>(warp == 0 ? first : last);
      const int64_t place = first_by_warp(0, n, [&](int64_t at) { return keys[at] < sought; });
      if (threadIdx.x % 32 == 0) ends[warp] = place;
    }
    __syncthreads();
    const int64_t begin = ends[0];
    const int64_t count = ends[1] - begin;
    const bool fits = count <= kStaged;
    for (int64_t i = threadIdx.x; fits && i < count; i += kThreads) staged[i] = keys[begin + i];
    __syncthreads();
    const Word* const those = fits ? staged : keys + begin;
    for (int64_t bin = first + threadIdx.x; bin <= last; bin += kThreads) {
      const int64_t place = begin + first_place(those, 0, count, bin);
#pragma unroll 1
      for (int64_t c = 0; c < cols; ++c) offsets[c * bins + bin] = c * n + place;
    }
    __syncthreads();
  }
}

// The place of word i of the result, if the values of each column follow each other.
__device__ __forceinline__ int64_t place_by_columns(const ByIndex& b, int64_t i) {
  const int pair = value_words(b.op) - 1;
  const int64_t value = i >> pair;
  const int64_t bin = row_of<true>(b, value);
  return (((value - bin * b.cols) * b.bins + bin) << pair) + (i & pair);
}

// Stores the values unless an index is bad. The last block reports.
__global__ void __launch_bounds__(kThreads)
    commit_kernel(const __grid_constant__ ByIndex b, int64_t words, bool codes, bool by_columns) {
  synchronize_and_trigger();
  const Value bad = b.head->bad;
  bool empty = false;
  const int64_t step = int64_t{gridDim.x} * kThreads;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; bad == 0 && i < words; i += step) {
    const Value value = b.results[by_columns ? place_by_columns(b, i) : i];
    if (codes && value == 0) empty = true;
    static_cast<Value*>(b.result)[i] = codes && value != 0 ? value_of_code(b.op, value) : value;
  }
  if (__syncthreads_or(empty ? 1 : 0) != 0 && threadIdx.x == 0) atomicMax(&b.head->status, GPUMEM_EMPTY);
  if (threadIdx.x != 0) return;
  __threadfence();
  if (atomicInc(&b.head->done, gridDim.x - 1) != gridDim.x - 1) return;
  __threadfence();
  const gpumem_status status = bad != 0 ? GPUMEM_OUT_OF_RANGE : atomicMax(&b.head->status, GPUMEM_OK);
  if (b.status != nullptr) *b.status = status;
  if (b.report == nullptr) return;
  const auto at = static_cast<int64_t>(~bad);  // -1 for 0
  b.report->at = at;
  b.report->bits = bad == 0                           ? static_cast<uint64_t>(status)
                   : element_bytes(b.index_type) == 4 ? static_cast<const uint32_t*>(b.index)[at]
                                                      : static_cast<const uint64_t*>(b.index)[at];
}

unsigned blocks_for(int64_t n, int64_t tile) {
  const int64_t blocks = ceil_div(n, tile);
  return static_cast<unsigned>(blocks < kMaxGrid ? blocks : kMaxGrid);
}

// words: of values that are stored.
cudaError_t commit(const ByIndex& b, int64_t words, bool codes, bool by_columns, Stream stream) {
  constexpr int64_t kMostBlocks = 2048;  // each ends with an atomic on one address
  const unsigned blocks = blocks_for(words + 1, int64_t{kThreads} * 4);
  return enqueue_programmatic(commit_kernel, blocks < kMostBlocks ? blocks : kMostBlocks, kThreads, stream, b, words,
                              codes, by_columns);
}

template <class F>
cudaError_t for_index(const ReduceByIndexParams& p, const F& f) {
  return element_bytes(p.index_type) == 4 ? f.template operator()<uint32_t>() : f.template operator()<uint64_t>();
}
template <class F>
cudaError_t for_element_word(gpumem_dtype dtype, const F& f) {
  switch (element_bytes(dtype)) {
    case 1:
      return f.template operator()<uint8_t>();
    case 2:
      return f.template operator()<uint16_t>();
    default:
      return f.template operator()<uint32_t>();
  }
}

ByIndex by_index(const ReduceByIndexParams& params, const Config& config, const Launch& launch, int64_t values) {
  ByIndex b{params};
  b.by_cols = Divisor(static_cast<uint64_t>(params.cols));
  b.limit = params.limit();
  b.sign = is_signed_integer(params.dtype) ? sign_bit(params.dtype) : 0;
  b.head = static_cast<ByIndexHead*>(launch.workspace);
  b.results = reinterpret_cast<Value*>(static_cast<char*>(launch.workspace) + values);
  b.copies = config.per_thread;
  return b;
}

// run: starts the kernel of one way and one type of index. The values begin as zeros.
template <class Run>
LaunchResult start(const ReduceByIndexParams& params, const Config& config, const Launch& launch, const Run& run) {
  const ByIndex b = by_index(params, config, launch, sizeof(ByIndexHead));
  LaunchResult error = set_bytes(launch.workspace, config.workspace_bytes, 0, launch);
  if (error != cudaSuccess) return error;
  error = for_index(params, [&]<class Index>() {
    if (params.x == nullptr) return run.template operator()<Count, Index>(b);
    return for_element_word(params.dtype, [&]<class Element>() {
      return params.op == GPUMEM_SUM ? run.template operator()<Sum<Element>, Index>(b)
                                     : run.template operator()<Extremum<Element>, Index>(b);
    });
  });
  return error != cudaSuccess ? error : commit(b, b.values(), params.x != nullptr && params.extremes(), false, launch);
}

// Sorts keys and elements, and finds the offsets of the bins.
template <class Word, class Packed>
class SortRun {
 public:
  SortRun(const ByIndex& b, const Config& config, const Launch& launch)
      : b_(b), blocks_(static_cast<unsigned>(config.grid)), launch_(launch), at_(config.own.get<ByIndexSort>()) {}

  // sorted: the elements by bins, of their own size; the numbers of the rows if there are to be no columns.
  cudaError_t run(const void*& sorted) {
    RadixSort<Word, Packed> sort{.n = b_.n,
                                 .overwrites = at_.packed >= 0,
                                 .rank = rank_of_keys<Word>(GPUMEM_U64, false),
                                 .bits = key_bits(b_.bins),
                                 .scratch = at<char>(at_.cub),
                                 .scratch_bytes = at_.cub_bytes};
    sort.keys = {at<Word>(at_.keys), at<Word>(at_.sorted_keys)};
    sort.positions = {at_.packed >= 0 ? at<Packed>(at_.packed) : static_cast<Packed*>(const_cast<void*>(b_.x)),
                      at<Packed>(at_.sorted)};
    cudaError_t error = for_index(b_, [&]<class Index>() {
      return enqueue_programmatic(keys_kernel<Index, Word>, blocks_, kThreads, launch_, b_, sort.keys.from);
    });
    if (error == cudaSuccess && at_.packed >= 0) error = pack(sort.positions.from);
    if (error == cudaSuccess) error = static_cast<cudaError_t>(radix_sort(sort, launch_));
    if (error == cudaSuccess) {
      const int64_t tile = bins_of_block(b_.bins);
      error = enqueue_programmatic(offsets_kernel<Word>, blocks_for(b_.bins + 1, tile), kThreads, launch_, sort.keys.to,
                                   b_.n, at<int64_t>(at_.offsets), b_.bins, at_.columns < 0 ? 1 : b_.cols, tile);
    }
    sorted = sort.positions.to;
    if (error != cudaSuccess) return error;
    if (!b_.of_vector()) {
      if (at_.columns < 0) return cudaSuccess;
      sorted = at<void>(at_.columns);
      return gather(sort.positions.to, at<void>(at_.columns));
    }
    if (sizeof(Packed) == static_cast<size_t>(element_bytes(b_.dtype))) return cudaSuccess;
    sorted = sort.positions.from;
    return unpack(sort.positions.to, sort.positions.from);
  }

 private:
  template <class T>
  T* at(int64_t offset) const {
    return reinterpret_cast<T*>(static_cast<char*>(launch_.workspace) + offset);
  }
  cudaError_t pack(Packed* to) const {
    if (!b_.of_vector()) return enqueue_programmatic(rows_kernel<Packed>, blocks_, kThreads, launch_, to, b_.n);
    return for_word(b_.dtype, [&]<class Element>() {
      if constexpr (sizeof(Element) > sizeof(Packed)) {
        return cudaErrorInvalidValue;  // planned otherwise than launched
      } else {
        return enqueue_programmatic(resize_words_kernel<Element, Packed>, blocks_, kThreads, launch_, b_.x, to, b_.n);
      }
    });
  }
  cudaError_t gather(const Packed* rows, void* to) const {
    const unsigned blocks = blocks_for(b_.n * ceil_div(b_.cols, kEach), kThreads);
    return for_word(b_.dtype, [&]<class Element>() {
      return enqueue_programmatic(columns_kernel<Element, Packed>, blocks, kThreads, launch_, b_, rows,
                                  static_cast<Element*>(to));
    });
  }
  cudaError_t unpack(const Packed* from, void* to) const {
    return for_word(b_.dtype, [&]<class Element>() {
      if constexpr (sizeof(Element) >= sizeof(Packed)) {
        return cudaErrorInvalidValue;
      } else {
        return enqueue_programmatic(resize_words_kernel<Packed, Element>, blocks_, kThreads, launch_, from,
                                    static_cast<Element*>(to), b_.n);
      }
    });
  }

  const ByIndex& b_;
  const unsigned blocks_;
  const Launch& launch_;
  const ByIndexSort at_;
};

template <class Word>
cudaError_t sort_by_bins(const ByIndex& b, const Config& config, const Launch& launch, const void*& sorted) {
  return packed_bytes(b) == 4 ? SortRun<Word, uint32_t>(b, config, launch).run(sorted)
                              : SortRun<Word, uint64_t>(b, config, launch).run(sorted);
}
cudaError_t sort_by_bins(const ByIndex& b, const Config& config, const Launch& launch, const void*& sorted) {
  switch (key_bytes(b.bins)) {
    case 1:
      return sort_by_bins<uint8_t>(b, config, launch, sorted);
    case 2:
      return sort_by_bins<uint16_t>(b, config, launch, sorted);
    case 4:
      return sort_by_bins<uint32_t>(b, config, launch, sorted);
    default:
      return sort_by_bins<uint64_t>(b, config, launch, sorted);
  }
}

}  // namespace

LaunchResult reduce_by_index_tables(const ReduceByIndexParams& params, const Config& config, const Launch& launch) {
  const SharedBytes shared{static_cast<int>(config.shared_bytes), config.own.get<int32_t>()};
  return start(params, config, launch, [&]<class How, class Index>(const ByIndex& b) {
    return enqueue_shared(tables_kernel<How, Index>, static_cast<unsigned>(config.grid), kTableThreads, shared, launch,
                          b);
  });
}

LaunchResult reduce_by_index_atomics(const ReduceByIndexParams& params, const Config& config, const Launch& launch) {
  return start(params, config, launch, [&]<class How, class Index>(const ByIndex& b) {
    return enqueue_programmatic(atomics_kernel<How, Index>, static_cast<unsigned>(config.grid), kThreads, launch, b);
  });
}

LaunchResult reduce_by_index_sorted(const ReduceByIndexParams& params, const Config& config, const Launch& launch) {
  const auto at = config.own.get<ByIndexSort>();
  char* const workspace = static_cast<char*>(launch.workspace);
  const ByIndex b = by_index(params, config, launch, at.values);
  // The head, and the reduction's counters after it.
  LaunchResult error = set_bytes(workspace, at.nodes, 0, launch);
  const void* sorted = nullptr;
  if (error == cudaSuccess) error = sort_by_bins(b, config, launch, sorted);
  if (error != cudaSuccess) return error;
  ReduceLaunch segments{.dtype = params.dtype, .op = params.op, .x = sorted, .result = b.results};
  segments.tile = at.segments_tile;
  segments.lines = {.count = params.values(),
                    .length = params.elements(),
                    .per_batch = params.values(),
                    .offsets = reinterpret_cast<const int64_t*>(workspace + at.offsets)};
  segments.scratch = {workspace + at.nodes, reinterpret_cast<unsigned*>(workspace + at.counters), &b.head->status};
  segments.blocks_per_line = 1;
  segments.grid = at.segments_grid;
  segments.prepares = segments.grid <= kFewBlocks;
  segments.rest_grid = kLongSegmentBlocks;
  segments.block = at.segments_block;
  segments.config = &at.lines;
  const LaunchResult reduced = reduce_warp_lines(segments, launch);
  return reduced != cudaSuccess ? reduced
                                : commit(b, b.values() * value_words(b.op), false, !params.of_vector(), launch);
}

LaunchResult reduce_by_index_rows(const ReduceByIndexParams& params, const Config& config, const Launch& launch) {
  const auto at = config.own.get<ByIndexSort>();
  char* const workspace = static_cast<char*>(launch.workspace);
  const ByIndex b = by_index(params, config, launch, 0);
  LaunchResult error = set_bytes(workspace, sizeof(ByIndexHead), 0, launch);
  const void* rows = nullptr;
  if (error == cudaSuccess) error = sort_by_bins(b, config, launch, rows);
  if (error != cudaSuccess) return error;
  RowSums sums{.dtype = b.dtype, .x = b.x, .cols = b.cols, .ld = b.ld, .bins = b.bins, .by_cols = b.by_cols};
  sums.rows = static_cast<const uint32_t*>(rows);
  sums.offsets = reinterpret_cast<const int64_t*>(workspace + at.offsets);
  sums.head = b.head;
  sums.blocks = reinterpret_cast<RowBlock*>(workspace + at.blocks);
  sums.sums = reinterpret_cast<double*>(workspace + at.nodes);
  sums.result = static_cast<double*>(b.result);
  const LaunchResult summed = sum_rows(sums, launch);
  return summed != cudaSuccess ? summed : commit(b, 0, false, false, launch);
}

LaunchResult reduce_by_index_buckets(const ReduceByIndexParams& params, const Config& config, const Launch& launch) {
  const auto at = config.own.get<ByIndexBuckets>();
  char* const workspace = static_cast<char*>(launch.workspace);
  const ByIndex b = by_index(params, config, launch, 0);
  const LaunchResult error = set_bytes(workspace, at.numbers, 0, launch);  // the head and the counts
  if (error != cudaSuccess) return error;
  const auto words = [&](int64_t offset) { return reinterpret_cast<uint32_t*>(workspace + offset); };
  BucketSums sums{.dtype = b.dtype, .x = b.x, .wide = element_bytes(b.index_type) == 8, .index = b.index};
  sums.n = static_cast<uint32_t>(b.n);
  sums.limit = b.limit;
  sums.bins = static_cast<uint32_t>(b.bins);
  sums.head = b.head;
  sums.counts = words(at.counts);
  sums.numbers = words(at.numbers);
  sums.offsets = words(at.offsets);
  sums.places = words(at.places);
  sums.many = words(at.many);
  sums.huge = words(at.huge);
  sums.result = static_cast<double*>(b.result);
  sums.grid = config.grid;
  const LaunchResult summed = sum_buckets(sums, at, launch);
  return summed != cudaSuccess ? summed : commit(b, 0, false, false, launch);
}

LaunchResult reduce_by_index_preload() { return preload(commit_kernel); }

}  // namespace gpumem::kernels
