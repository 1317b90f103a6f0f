// Scans of many lines whose neighbours are closer than the elements of a line, such as the columns of a matrix.
// Moves: reads each element once and writes each result once.
// Access: a thread has a line, and takes 8 or 16 elements of it at a time. Neighbouring threads access neighbours. The
//         next elements are on their way while a thread computes.
// Shapes: thousands of lines. A floating-point sum keeps the sums of the fold (kernels/order.hpp) from prefix to prefix.
//         A new element changes one sum per step of the fold. The sums of the last five steps are in registers. Those of
//         the lanes are in shared memory, where each thread has its own. That is slower than memory, so sums of elements
//         of up to 32 bits are first tried without it: if no sum of a line's elements can round, as is usual, any order
//         of additions has the bits. Blocks with other lines are scanned again. That needs a result apart from x.
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
  uint32_t* again;  // for each block: whether it is scanned again; nullptr: all are scanned once
};

// Sums that do not round.
struct Exact : Ordered<Add> {
  using Ordered<Add>::Ordered;
};
template <class Scan>
constexpr bool kIsExact = std::is_same_v<Scan, Exact>;

// The reductions of aligned groups of 2^k blocks of a line.
class Levels {
 public:
  // levels: not a member, because its subscripts would keep all members in memory.
  explicit __device__ Levels(double* levels) : levels_(levels) {}
  template <class Op, int kStep>
  __device__ __forceinline__ void put_before(int64_t block, double (&v)[kStep]) const {
    for (int64_t left = block; left != 0; left &= left - 1) {
      const double subtree = levels_[__ffsll(left) - 1];
#pragma unroll
      for (double& p : v) p = Op::of(subtree, p);
    }
  }
  template <class Op>
  __device__ __forceinline__ void add(int64_t block, double sum) {
    int level = 0;
    for (; (block >> level & 1) != 0; ++level) sum = Op::of(levels_[level], sum);
    levels_[level] = sum;
  }

 private:
  double* const levels_;
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
    levels_.put_before<Op>(block, v);
    before_ = v[kStep - 1];
    if (first + kStep == kLeafTerms) levels_.add<Op>(block, sums_[1]);
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
  Levels levels_;
};

template <int kLanes>
class Column<Exact, kLanes> {
  static constexpr int kStep = kBatch<Exact>;

 public:
  __device__ Column(const Exact&, double* levels) : levels_(levels) {}
  __device__ double before() const { return before_; }
  // Elements past the end are copies of the last one, and change nothing.
  __device__ void replace(int64_t at, double (&v)[kStep]) {
    if (at % kLeafTerms == 0) {
      sum_ = 0;
      greatest_ = 0;
      least_less_one_ = ~0u;
    }
#pragma unroll
    for (double& p : v) {
      const uint32_t magnitude = static_cast<uint32_t>(__double2hiint(p)) & 0x7fffffff;
      greatest_ = max(greatest_, magnitude);
      least_less_one_ = min(least_less_one_, magnitude - 1);
      p = sum_ = Add::of(sum_, p);
    }
    const int64_t block = at / kLeafTerms;
    levels_.put_before<Add>(block, v);
    before_ = v[kStep - 1];
    if (at % kLeafTerms + kStep == kLeafTerms) levels_.add<Add>(block, sum_);
  }
  // Whether a sum of elements of the block can round. They have at most 24 significant bits. With these exponents, they
  // are multiples of 2^(low - 23), and less than 2^(high + 1).
  __device__ bool rounds() const {
    constexpr uint32_t kBits = 24 + 10;  // of a sum of 1024 elements with one exponent
    static_assert(kLeafTerms == 1 << 10);
    const uint32_t high = greatest_ >> 20;
    const uint32_t low = (least_less_one_ + 1) >> 20;
    return high == 0x7ff || high - low > 53 - kBits;
  }

 private:
  double before_ = 0;
  double sum_ = 0;  // of the block
  // The upper halves of the greatest magnitude, and of the least one of an element that is not 0.
  uint32_t greatest_ = 0;
  uint32_t least_less_one_ = ~0u;
  Levels levels_;
};

template <class Scan, int kLanes>
__global__ void __launch_bounds__(kScanColumnsThreads,
                                  resident_blocks(Scan::kOrdered && !kIsExact<Scan> ? 6 : 12, kScanColumnsThreads))
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
  const bool skips = !kIsExact<Scan> && a.again != nullptr && a.again[blockIdx.x] == 0;
  const int64_t n = skips ? 0 : line.n;
  uint64_t next[kStep] = {};
  x.load(from, clamped(n), next);
#pragma unroll 1
  for (int64_t at = 0; at < n; at += kStep) {
    const int left = clamped(n - at);
    from += kStep * x.step;
    Value v[kStep];
    scan.values(next, v);
    x.load(from, left - kStep, next);
    Value prefix[kStep];
#pragma unroll
    for (int j = 0; j < kStep; ++j) prefix[j] = v[j];
    Value before = column.before();
    column.replace(at, prefix);
    if constexpr (kIsExact<Scan>) {
      if (column.rounds()) {
        a.again[blockIdx.x] = 1;
        break;
      }
    }
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
  Arguments a{p, {}, line_numbers(p), nullptr};
  LaunchResult error = cudaSuccess;
  if (config.own.get<bool>()) {
    a.again = reinterpret_cast<uint32_t*>(static_cast<char*>(launch.workspace) + kScanColumnsAgain);
    error = set_bytes(a.again, 4 * config.grid, 0, launch);
    if (error != cudaSuccess) return error;
    error = enqueue_programmatic(columns<Exact, kLeafLanes>, static_cast<unsigned>(config.grid), kScanColumnsThreads,
                                 launch, a);
    if (error != cudaSuccess) return error;
  }
  error = begin_report(p, launch, a.report);
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
