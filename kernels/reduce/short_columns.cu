// Columns of at most 128 elements, each in the reproducible order: a thread has a few neighbouring columns, whose elements of a row are
// one word, or a single column where they are not. A column is one row of lanes: only the fold is left of the order. Grid: blocks
// of columns, matrix after matrix.
#include "kernels/reduce/bundles.cuh"

namespace gpumem::kernels {
namespace {

constexpr int kBlock = kShortColumnThreads;
constexpr int kAtOnce = 8;  // rows that a thread has in flight

template <class Entry, bool kWords>
struct Sums {
  static constexpr int kCount = kWords ? Bundle<Entry::kBytes>::kCount : 1;
  typename Entry::Light light[kCount];

  __device__ __forceinline__ void enter(const Entry& entry, const Bundle<Entry::kBytes>& bundle) {
#pragma unroll
    for (int k = 0; k < kCount; ++k) entry.enter(light[k], bundle.element[k]);
  }
  __device__ __forceinline__ void add(const Sums& other) {
#pragma unroll
    for (int k = 0; k < kCount; ++k) light[k] = added<Entry>(light[k], other.light[k]);
  }
};

// Where a thread's columns begin.
struct Place {
  const char* x;
  int64_t pitch;  // bytes
  int rows;
};

// Rows first, first + step, ...
template <class Entry, bool kWords>
struct Set {
  Bundle<Entry::kBytes> bundle[kAtOnce];

  __device__ __forceinline__ void load(const Place& place, int first, int step) {
#pragma unroll
    for (int m = 0; m < kAtOnce; ++m) {
      const int row = first + m * step;
      if (row >= place.rows) continue;
      const char* p = place.x + row * place.pitch;
      if constexpr (kWords) {
        bundle[m].load_word(p);
      } else {
        bundle[m].element[0] = __ldcs(reinterpret_cast<const typename Bundle<Entry::kBytes>::Element*>(p));
      }
    }
  }
};

// Lanes k, k + kSets, ..., folded: the farthest apart first.
template <class Entry, bool kWords, int kSets>
__device__ __forceinline__ Sums<Entry, kWords> fold(const Entry& entry, const Place& place, int k) {
  Set<Entry, kWords> set;
  set.load(place, k, kSets);
  constexpr int kPairs = kAtOnce / 2;
  Sums<Entry, kWords> sums[kPairs];
#pragma unroll
  for (int m = 0; m < kPairs; ++m) {
    Sums<Entry, kWords> other;
    if (k + m * kSets < place.rows) sums[m].enter(entry, set.bundle[m]);
    if (k + (m + kPairs) * kSets < place.rows) other.enter(entry, set.bundle[m + kPairs]);
    sums[m].add(other);
  }
#pragma unroll
  for (int half = kPairs / 2; half > 0; half /= 2) {
#pragma unroll
    for (int m = 0; m < half; ++m) sums[m].add(sums[m + half]);
  }
  return sums[0];
}

__host__ __device__ constexpr int reversed(int set, int sets) {
  int bits = 0;
  for (int bit = 1; bit < sets; bit *= 2) bits = 2 * bits + ((set & bit) != 0 ? 1 : 0);
  return bits;
}

// Up to kAtOnce * kSets rows: lane k and those kSets apart from it are a set. The sets come in the order of their reversed bits, so that
// those to be added are neighbours: a binary counter.
template <class Entry, bool kWords, int kSets>
__device__ __forceinline__ Sums<Entry, kWords> ordered_sum(const Entry& entry, const Place& place) {
  constexpr int kLevels = kSets == 16 ? 4 : 3;
  static_assert(kSets == 1 << kLevels);
  Sums<Entry, kWords> waiting[kLevels];
  Sums<Entry, kWords> sum;
#pragma unroll
  for (int set = 0; set < kSets; ++set) {
    sum = Sums<Entry, kWords>{};
    const int k = reversed(set, kSets);
    if (k < place.rows) sum = fold<Entry, kWords, kSets>(entry, place, k);
#pragma unroll
    for (int level = 0; level < kLevels; ++level) {
      if ((set >> level & 1) == 0) {
        waiting[level] = sum;
        break;
      }
      waiting[level].add(sum);
      sum = waiting[level];
    }
  }
  return sum;
}

template <class Entry, bool kWords>
__device__ __forceinline__ Sums<Entry, kWords> plain_sum(const Entry& entry, const Place& place) {
  Sums<Entry, kWords> sum;
#pragma unroll 1
  for (int first = 0; first < place.rows; first += kAtOnce) {
    Set<Entry, kWords> set;
    set.load(place, first, 1);
#pragma unroll
    for (int m = 0; m < kAtOnce; ++m) {
      if (first + m < place.rows) sum.enter(entry, set.bundle[m]);
    }
  }
  return sum;
}

template <class Entry, bool kWords>
__global__ void __launch_bounds__(kBlock, 2) short_columns_kernel(const __grid_constant__ ReduceLaunch launch) {
  constexpr int kCount = Sums<Entry, kWords>::kCount;
  const Entry entry(launch);
  const LineLayout& lines = launch.lines;
  const int64_t across = (lines.per_batch + kBlock * kCount - 1) / (kBlock * kCount);
  const int64_t batch = blockIdx.x / across;
  const int64_t column = ((blockIdx.x - batch * across) * kBlock + threadIdx.x) * kCount;
  if (column >= lines.per_batch) return;
  const Place place{static_cast<const char*>(launch.x) + (batch * lines.batch_stride + column) * Entry::kBytes,
                    lines.stride * Entry::kBytes, static_cast<int>(lines.length)};
  Sums<Entry, kWords> sum;
  if constexpr (is_ordered<Entry>) {
    sum = place.rows <= kLeafLanes / 2 ? ordered_sum<Entry, kWords, 8>(entry, place)
                                       : ordered_sum<Entry, kWords, 16>(entry, place);
  } else {
    sum = plain_sum<Entry, kWords>(entry, place);
  }
#pragma unroll
  for (int k = 0; k < kCount; ++k) {
    finish_sound_line(launch, batch * lines.per_batch + column + k, lines.length, entry.heavy(sum.light[k]));
  }
}

template <class Entry, bool kWords>
cudaError_t start(const ReduceLaunch& launch, Stream stream) {
  constexpr int64_t kWidth = int64_t{kBlock} * Sums<Entry, kWords>::kCount;
  const int64_t across = (launch.lines.per_batch + kWidth - 1) / kWidth;
  const int64_t batches = launch.lines.count / launch.lines.per_batch;
  return enqueue(short_columns_kernel<Entry, kWords>, static_cast<unsigned>(across * batches), kBlock, stream, launch);
}

}  // namespace

cudaError_t reduce_short_columns(const ReduceLaunch& launch, Stream stream) {
  return for_entry(launch.dtype, launch.op, [&]<class Entry>() {
    using B = Bundle<Entry::kBytes>;
    const auto whole = [](int64_t bytes) { return bytes % B::kWordBytes == 0; };
    const LineLayout& lines = launch.lines;
    const bool words = whole(static_cast<int64_t>(reinterpret_cast<uintptr_t>(launch.x))) &&
                       whole(lines.stride * Entry::kBytes) && whole(lines.batch_stride * Entry::kBytes) &&
                       lines.per_batch % B::kCount == 0;
    return words ? start<Entry, true>(launch, stream) : start<Entry, false>(launch, stream);
  });
}

}  // namespace gpumem::kernels
