// Rows of at most 128 elements, many at a time: x is read once and one value a row is written. A row belongs to L neighbouring
// threads, L a power of two; a warp loads four times 32 / L rows before it folds them, so that its loads are in flight
// together. A row is one row of lanes of the reproducible order: only the fold is left of it.
#include "kernels/reduce/bundles.cuh"

namespace gpumem::kernels {
namespace {

constexpr int kBlock = kShortRowThreads;
constexpr int kSets = kShortRowsInFlight;

// kThreads threads have a row of up to kThreads * kSlots bundles: slot s of thread g is bundle s * kThreads + g.
template <class Entry, int kThreads, int kSlots>
struct RowSet {
  using B = Bundle<Entry::kBytes>;
  B bundle[kSlots];
  int64_t there[kSlots];

  __device__ __forceinline__ void load(const char* row, bool exists, int64_t cols, bool words) {
    const int g = threadIdx.x % kThreads;
#pragma unroll
    for (int s = 0; s < kSlots; ++s) {
      const int64_t column = static_cast<int64_t>(s * kThreads + g) * B::kCount;
      there[s] = exists ? cols - column : 0;
      if (words && there[s] >= B::kCount) {
        bundle[s].load_word(row + column * Entry::kBytes);
      } else {
        bundle[s].load_elements(row + column * Entry::kBytes, there[s]);
      }
    }
  }

  // A row that fills all bundles, by whole words.
  __device__ __forceinline__ void load_full(const char* row) {
    const int g = threadIdx.x % kThreads;
#pragma unroll
    for (int s = 0; s < kSlots; ++s) {
      bundle[s].load_word(row + static_cast<int64_t>(s * kThreads + g) * B::kWordBytes);
    }
  }

  // The fold of the row, whole in each of its threads. kFull: the row fills all bundles.
  template <bool kFull>
  __device__ __forceinline__ typename Entry::Node fold(const Entry& entry) const {
    typename Entry::Light light[kSlots * B::kCount];
#pragma unroll
    for (int i = 0; i < kSlots * B::kCount; ++i) {
      light[i] = typename Entry::Light{};
      if (kFull || i % B::kCount < there[i / B::kCount])
        entry.enter(light[i], bundle[i / B::kCount].element[i % B::kCount]);
    }
#pragma unroll
    for (int half = kSlots / 2 * B::kCount; half >= B::kCount; half /= 2) {
#pragma unroll
      for (int i = 0; i < half; ++i) light[i] = added<Entry>(light[i], light[i + half]);
    }
    typename Entry::Node node[B::kCount];
#pragma unroll
    for (int k = 0; k < B::kCount; ++k) node[k] = entry.heavy(light[k]);
    return fold_threads(node);
  }

 private:
  // As the lanes of a leaf are folded: a thread keeps half of its positions while it has several.
  __device__ __forceinline__ static typename Entry::Node fold_threads(typename Entry::Node (&a)[B::kCount]) {
    const int g = threadIdx.x % kThreads;
    int kept = B::kCount;
#pragma unroll
    for (int distance = kThreads / 2; distance > 0; distance /= 2) {
      if (kept > 1) {
        kept /= 2;
        const bool upper = (g & distance) != 0;
#pragma unroll
        for (int k = 0; k < kept; ++k) {
          const auto given = upper ? a[k] : a[k + kept];
          const auto own = upper ? a[k + kept] : a[k];
          a[k] = combine(own, shuffle_xor(given, distance));
        }
      } else {
        a[0] = combine(a[0], shuffle_xor(a[0], distance));
      }
    }
    // What the threads' first bits stand for now, then what is still side by side.
    int spread = B::kCount / kept;
#pragma unroll
    for (int distance = kThreads / 2; spread > 1; spread /= 2, distance /= 2) {
#pragma unroll
      for (int k = 0; k < kept; ++k) a[k] = combine(a[k], shuffle_xor(a[k], distance));
    }
#pragma unroll
    for (int half = kept / 2; half > 0; half /= 2) {
#pragma unroll
      for (int k = 0; k < half; ++k) a[k] = combine(a[k], a[k + half]);
    }
    return a[0];
  }
};

template <class Entry, int kThreads, int kSlots>
__global__ void __launch_bounds__(kBlock, 2) short_rows_kernel(const __grid_constant__ ReduceLaunch launch) {
  constexpr int kRows = 32 / kThreads;  // of a warp, at a time
  const Entry entry(launch);
  const int64_t warps = int64_t{gridDim.x} * (kBlock / 32);
  const int64_t warp = int64_t{blockIdx.x} * (kBlock / 32) + threadIdx.x / 32;
  const int64_t cols = launch.lines.length;
  constexpr int kWord = Bundle<Entry::kBytes>::kWordBytes;
  const bool words = reinterpret_cast<uintptr_t>(launch.x) % kWord == 0 &&
                     launch.lines.pitch * Entry::kBytes % kWord == 0 &&
                     launch.lines.batch_stride * Entry::kBytes % kWord == 0;
  // One matrix whose rows fill their bundles is loaded without a question.
  const bool full = words && launch.lines.per_batch == launch.lines.count &&
                    cols == kThreads * kSlots * Bundle<Entry::kBytes>::kCount;
  const auto* x = static_cast<const char*>(launch.x);
  const int64_t pitch = launch.lines.pitch * Entry::kBytes;
  for (int64_t first = warp * kRows * kSets; first < launch.lines.count; first += warps * kRows * kSets) {
    RowSet<Entry, kThreads, kSlots> rows[kSets];
    typename Entry::Node node[kSets];
    if (full && first + kSets * kRows <= launch.lines.count) {
#pragma unroll
      for (int i = 0; i < kSets; ++i) rows[i].load_full(x + (first + i * kRows + threadIdx.x % 32 / kThreads) * pitch);
#pragma unroll
      for (int i = 0; i < kSets; ++i) node[i] = rows[i].template fold<true>(entry);
    } else {
#pragma unroll
      for (int i = 0; i < kSets; ++i) {
        const int64_t index = first + i * kRows + threadIdx.x % 32 / kThreads;
        const bool exists = index < launch.lines.count;
        const Line line = line_of(launch, exists ? index : 0, Entry::kBytes);
        rows[i].load(line.x, exists, cols, words);
      }
#pragma unroll
      for (int i = 0; i < kSets; ++i) node[i] = rows[i].template fold<false>(entry);
    }
    // Set i is finished by thread i of its row, where a row has as many.
    constexpr int kEach = kThreads < kSets ? kSets / kThreads : 1;
    const int g = threadIdx.x % kThreads;
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      const int set = g * kEach + j;
      const int64_t index = first + set * kRows + threadIdx.x % 32 / kThreads;
      typename Entry::Node mine = node[0];
#pragma unroll
      for (int i = 1; i < kSets; ++i) mine = set == i ? node[i] : mine;
      if (set < kSets && index < launch.lines.count) {
        finish_sound_line(launch, index, cols, mine);
      }
    }
  }
}

// kThreads is what short_row_sharers() says.
template <class Entry, int kThreads, int kSlots>
cudaError_t start(const ReduceLaunch& launch, Stream stream) {
  constexpr int64_t kRowsABlock = int64_t{kBlock} / kThreads * kSets;
  const int64_t blocks = (launch.lines.count + kRowsABlock - 1) / kRowsABlock;
  const auto grid = static_cast<unsigned>(blocks < kMaxGrid ? blocks : kMaxGrid);
  return enqueue(short_rows_kernel<Entry, kThreads, kSlots>, grid, kBlock, stream, launch);
}

}  // namespace

cudaError_t reduce_short_rows(const ReduceLaunch& launch, Stream stream) {
  return for_entry(launch.dtype, launch.op, [&]<class Entry>() {
    constexpr int kCount = Bundle<Entry::kBytes>::kCount;
    const int64_t cols = launch.lines.length;
    const int sharers = short_row_sharers(launch.dtype, launch.op, cols);
    if (sharers == 1) return start<Entry, 1, 2>(launch, stream);
    if constexpr (std::is_same_v<typename Entry::Node, SumNode>) {
      if (cols <= 16 * kCount) return start<Entry, 8, 2>(launch, stream);
    }
    return start<Entry, kLeafLanes / kCount / 4, 4>(launch, stream);
  });
}

}  // namespace gpumem::kernels
