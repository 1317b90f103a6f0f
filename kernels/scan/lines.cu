// Scans of many lines: the lines of a view along one axis, and segments.
// Moves: reads each element once and writes each result once.
// Access: long_lines: a warp has a line, and takes 128 elements of it at a time, four neighbours per lane. The next ones
//         are on their way while it computes. Sums of floating-point elements are in sums_of_lines.cu.
//         short_lines: a line of up to 32 elements has as many lanes, rounded up to a power of two.
// A step is read before it is written, so the result may be x.
#include "kernels/scan/lines.cuh"

namespace gpumem::kernels {
namespace {

constexpr int kWarps = kScanLinesThreads / 32;
constexpr int kEach = 4;
constexpr int kStep = 32 * kEach;  // elements of a line that a warp takes at a time
constexpr int kRounds = kScanLinesRounds;

struct Arguments {
  ScanParams p;
  int group;  // lanes per line of short_lines
  Report report;
  LineNumbers numbers;
};

// Four elements of a size, in up to 16 bytes.
template <class Word>
struct alignas(kEach * sizeof(Word) < 16 ? kEach * sizeof(Word) : 16) Vector {
  Word word[kEach];
};
// Whether every fourth element of a line begins a vector. p: the first element.
__device__ __forceinline__ bool has_vectors(const Elements& elements, const char* p) {
  return elements.step == elements.bytes && is_aligned(p, min(kEach * elements.bytes, 16));
}
// Neighbouring elements of a line, of which `left` exist.
__device__ __forceinline__ void load_neighbours(const Elements& x, bool vectors, const char* p, int left,
                                                uint64_t (&bits)[kEach]) {
  if (left < kEach || !vectors) return x.load(p, left, bits);
  for_bytes(x.bytes, [&]<class Word>() {
    const auto v = *reinterpret_cast<const Vector<Word>*>(p);
#pragma unroll
    for (int k = 0; k < kEach; ++k) bits[k] = v.word[k];
  });
}
__device__ __forceinline__ void store_neighbours(const Elements& result, bool vectors, char* p, int left,
                                                 const uint64_t (&bits)[kEach]) {
  if (left < kEach || !vectors) return result.store(p, left, bits);
  for_bytes(result.bytes, [&]<class Word>() {
    Vector<Word> v;
#pragma unroll
    for (int k = 0; k < kEach; ++k) v.word[k] = static_cast<Word>(bits[k]);
    *reinterpret_cast<Vector<Word>*>(p) = v;
  });
}

template <class Scan>
__global__ void __launch_bounds__(kScanLinesThreads, resident_blocks(4, kScanLinesThreads))
    long_lines(const __grid_constant__ Arguments a) {
  using Value = typename Scan::Value;
  synchronize_and_trigger();
  const int lane = static_cast<int>(threadIdx.x % 32);
  const Scan scan(a.p);
  const Elements x = elements_of(a.p);
  const Elements result = results_of(a.p);
  const Line line = line_of(a.p, a.numbers, int64_t{blockIdx.x} * kWarps + threadIdx.x / 32);
  Value carry = scan.neutral();
  bool beyond = false;
  const char* from = x.at(line.x, kEach * lane);
  char* to = result.at(line.result, kEach * lane);
  const bool vectors = has_vectors(x, from);
  const bool result_vectors = has_vectors(result, to);
  uint64_t next[kEach] = {};
  load_neighbours(x, vectors, from, clamped(line.n - kEach * lane), next);
#pragma unroll 1
  for (int64_t at = 0; at < line.n; at += kStep) {
    const int left = clamped(line.n - at - kEach * lane);
    from += kStep * x.step;
    Value v[kEach];
    scan.values(next, v);
    load_neighbours(x, vectors, from, left - kStep, next);
#pragma unroll
    for (int k = 0; k < kEach; ++k) v[k] = k < left ? v[k] : scan.neutral();
    Value sum = v[0];
#pragma unroll
    for (int k = 1; k < kEach; ++k) sum = Scan::combine(sum, v[k]);
    const Value inclusive = Scan::combine(carry, Scan::scan_group(sum, 32, lane));
    const Value of_left = __shfl_up_sync(kAll, inclusive, 1);
    Value before = lane == 0 ? carry : of_left;
    carry = __shfl_sync(kAll, inclusive, 31);
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      const Value after = Scan::combine(before, v[k]);
      beyond |= k < left - a.p.exclusive && scan.beyond(before, v[k], after);
      v[k] = a.p.exclusive != 0 ? before : after;
      before = after;
    }
    uint64_t bits[kEach];
    scan.results(v, bits);
    store_neighbours(result, result_vectors, to, left, bits);
    to += kStep * result.step;
  }
  write_report(a.report, !line.sound ? GPUMEM_OUT_OF_RANGE : beyond ? GPUMEM_OVERFLOW : GPUMEM_OK);
}

// A block has kRounds times as many lines as it has groups.
template <class Scan>
__global__ void __launch_bounds__(kScanLinesThreads) short_lines(const __grid_constant__ Arguments a) {
  using Value = typename Scan::Value;
  synchronize_and_trigger();
  const Scan scan(a.p);
  const Elements x = elements_of(a.p);
  const Elements result = results_of(a.p);
  const int i = static_cast<int>(threadIdx.x) % a.group;
  const int64_t first = (int64_t{blockIdx.x} * kScanLinesThreads * kRounds + threadIdx.x) / a.group;
  Line line[kRounds];
  uint64_t bits[kRounds] = {};
#pragma unroll
  for (int k = 0; k < kRounds; ++k) {
    line[k] = line_of(a.p, a.numbers, first + k * kScanLinesThreads / a.group);
    if (i < line[k].n) bits[k] = x.load(x.at(line[k].x, i));
  }
  Value v[kRounds];
  scan.values(bits, v);
  bool beyond = false;
#pragma unroll
  for (int k = 0; k < kRounds; ++k) {
    const Value element = i < line[k].n ? v[k] : scan.neutral();
    const Value prefix = Scan::scan_group(element, a.group, static_cast<int>(threadIdx.x % 32));
    const Value left = __shfl_up_sync(kAll, prefix, 1);
    const Value before = i == 0 ? scan.neutral() : left;
    beyond |= i < line[k].n - a.p.exclusive && scan.beyond(before, element, prefix);
    v[k] = a.p.exclusive != 0 ? before : prefix;
  }
  scan.results(v, bits);
#pragma unroll
  for (int k = 0; k < kRounds; ++k) {
    if (i < line[k].n) result.store(result.at(line[k].result, i), bits[k]);
  }
  write_report(a.report, beyond ? GPUMEM_OVERFLOW : GPUMEM_OK);
}

}  // namespace

LaunchResult scan_lines(const ScanParams& p, const Config& config, const Launch& launch) {
  if (config.own.get<bool>()) return scan_sums_of_lines(p, config, launch);
  Arguments a{p, config.per_thread, {}, line_numbers(p)};
  const LaunchResult error = begin_report(p, launch, a.report);
  if (error != cudaSuccess) return error;
  const auto grid = static_cast<unsigned>(config.grid);
  return for_scan(p, [&]<class Scan>() {
    if (a.group != 0) return enqueue_programmatic(short_lines<Scan>, grid, kScanLinesThreads, launch, a);
    if constexpr (!Scan::kOrdered) return enqueue_programmatic(long_lines<Scan>, grid, kScanLinesThreads, launch, a);
    return cudaErrorInvalidValue;
  });
}

}  // namespace gpumem::kernels
