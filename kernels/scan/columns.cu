// Scans of many lines whose neighbours are closer than the elements of a line, such as the columns of a matrix.
// Moves: reads each element once and writes each result once.
// Access: a thread has a line, and takes 8 or 16 elements of it at a time. Neighbouring threads access neighbours. The
//         next elements are on their way while a thread computes.
// Shapes: thousands of lines. A floating-point sum keeps the sums of the fold (kernels/order.hpp) from prefix to prefix.
//         A new element changes one sum per step of the fold. The sums of the last five steps are in registers. Those of
//         the lanes are in shared memory, where each thread has its own.
// A step is read before it is written, so the result may be x.
#include "kernels/scan/lines.cuh"

namespace gpumem::kernels {
namespace {

template <class Scan>
constexpr int kBatch = Scan::kOrdered ? 16 : 8;

struct Arguments {
  ScanParams p;
  Report report;
  LineNumbers numbers;
};

// Replaces elements by their prefixes.
template <class Scan, int kLanes>
class Column {
 public:
  __device__ Column(const Scan& scan, double*) : before_(scan.neutral()) {}
  __device__ uint64_t before() const { return before_; }
  __device__ void replace(int64_t, uint64_t (&v)[kBatch<Scan>]) {
#pragma unroll
    for (uint64_t& prefix : v) prefix = before_ = Scan::combine(before_, prefix);
  }

 private:
  uint64_t before_;
};

template <class Op, int kLanes>
class Column<Ordered<Op>, kLanes> {
  static constexpr int kStep = kBatch<Ordered<Op>>;

 public:
  // levels: not a member, because its subscripts would keep all members in memory.
  __device__ Column(const Ordered<Op>&, double* levels) : levels_(levels) {}
  __device__ double before() const { return before_; }
  __device__ void replace(int64_t at, double (&v)[kStep]) {
    const int first = static_cast<int>(at % kLeafTerms);
    if (first == 0) {
#pragma unroll
      for (double& sum : sums_) sum = Op::kNeutral;
#pragma unroll 16
      for (int lane = 0; lane < kLanes; ++lane) of_lane(lane) = Op::kNeutral;
    }
#pragma unroll
    for (int j = 0; j < kStep; ++j) v[j] = prefix(first + j, j, v[j]);
    const int64_t block = at / kLeafTerms;
    for (int64_t left = block; left != 0; left &= left - 1) {
      const double subtree = levels_[__ffsll(left) - 1];
#pragma unroll
      for (double& p : v) p = Op::of(subtree, p);
    }
    before_ = v[kStep - 1];
    if (first + kStep < kLeafTerms) return;
    double subtree = sums_[1];
    int level = 0;
    for (; (block >> level & 1) != 0; ++level) subtree = Op::of(levels_[level], subtree);
    levels_[level] = subtree;
  }

 private:
  __device__ static double& of_lane(int lane) {
    return dynamic_shared<double>()[lane * kScanColumnsThreads + static_cast<int>(threadIdx.x)];
  }
  // The prefix of the block that ends with element i. j: i % kStep.
  __device__ __forceinline__ double prefix(int i, int j, double element) {
    constexpr int kSlots = kLanes / kStep;
    const int slot = i % kLanes / kStep;
    const double own = Op::of(of_lane(i % kLanes), element);
    double v[kSlots];  // the lanes that the first steps of the fold add to this one
#pragma unroll
    for (int k = 0; k < kSlots; ++k) v[k] = k == slot ? own : of_lane(kStep * k + j);
    of_lane(i % kLanes) = own;
#pragma unroll
    for (int half = kSlots / 2; half > 0; half /= 2) {
#pragma unroll
      for (int k = 0; k < half; ++k) v[k] = Op::of(v[k], v[k + half]);
    }
    sums_[kStep + j] = v[0];
#pragma unroll
    for (int m = kStep / 2; m > 0; m /= 2) sums_[m + j % m] = Op::of(sums_[2 * m + j % m], sums_[3 * m + j % m]);
    return sums_[1];
  }

  double before_ = Op::kNeutral;
  double sums_[2 * kStep];  // those of the step that has m sums are numbered from m on
  double* const levels_;    // the reductions of aligned groups of 2^k blocks
};

template <class Scan, int kLanes>
__global__ void __launch_bounds__(kScanColumnsThreads, resident_blocks(Scan::kOrdered ? 6 : 12, kScanColumnsThreads))
    columns(const __grid_constant__ Arguments a) {
  using Value = typename Scan::Value;
  constexpr int kStep = kBatch<Scan>;
  synchronize_and_trigger();
  const Scan scan(a.p);
  const Elements x = elements_of(a.p);
  const Elements result = results_of(a.p);
  const Line line = line_of(a.p, a.numbers, int64_t{blockIdx.x} * kScanColumnsThreads + threadIdx.x);
  double levels[Scan::kOrdered ? kLevels : 1];
  Column<Scan, kLanes> column(scan, levels);
  bool beyond = false;
  const char* from = x.at(line.x, 0);
  char* to = result.at(line.result, 0);
  uint64_t next[kStep] = {};
  x.load(from, clamped(line.n), next);
#pragma unroll 1
  for (int64_t at = 0; at < line.n; at += kStep) {
    const int left = clamped(line.n - at);
    from += kStep * x.step;
    Value v[kStep];
    scan.values(next, v);
    x.load(from, left - kStep, next);
    Value prefix[kStep];
#pragma unroll
    for (int j = 0; j < kStep; ++j) prefix[j] = v[j];
    Value before = column.before();
    column.replace(at, prefix);
#pragma unroll
    for (int j = 0; j < kStep; ++j) {
      const Value after = prefix[j];
      beyond |= j < left - a.p.exclusive && scan.beyond(before, v[j], after);
      prefix[j] = a.p.exclusive != 0 ? before : after;
      before = after;
    }
    uint64_t found[kStep];
    scan.results(prefix, found);
    result.store(to, left, found);
    to += kStep * result.step;
  }
  write_report(a.report, !line.sound ? GPUMEM_OUT_OF_RANGE : beyond ? GPUMEM_OVERFLOW : GPUMEM_OK);
}

}  // namespace

LaunchResult scan_columns(const ScanParams& p, const Config& config, const Launch& launch) {
  Arguments a{p, {}, line_numbers(p)};
  const LaunchResult error = begin_report(p, launch, a.report);
  if (error != cudaSuccess) return error;
  const auto bytes = static_cast<int>(config.shared_bytes);
  return for_scan(p, [&]<class Scan>() {
    auto* kernel = columns<Scan, kLeafLanes>;
    if constexpr (std::is_same_v<Scan, Ordered<Add>>) {
      if (config.per_thread != kLeafLanes) kernel = columns<Scan, kScanColumnsFewLanes>;
    }
    return enqueue_shared(kernel, static_cast<unsigned>(config.grid), kScanColumnsThreads, {bytes, bytes}, launch, a);
  });
}

}  // namespace gpumem::kernels
