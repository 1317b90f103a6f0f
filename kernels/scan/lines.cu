// Scans of many lines: the lines of a view along one axis, and segments.
// Moves: reads each element once and writes each result once. The parts of a line that come later need only sums that
//        the warp has.
// Access: long_lines: a warp has a line, and takes 128 elements of it at a time. If the line's elements are not
//         neighbours, a block reads and writes its eight lines together, through shared memory.
//         short_lines: a line of up to 32 elements has as many lanes, rounded up to a power of two.
// The types are values of the launch. A kernel for each pair of types would make the library larger.
// H200, f32: 65,536 rows of 1,024 elements 490 us, 2^20 rows of 64 870 us. At the peak of copies, either would take 130 us.
// A step is read before it is written, so the result may be x.
#include <bit>

#include "kernels/config.hpp"
#include "kernels/enqueue.cuh"
#include "kernels/limits.hpp"
#include "kernels/scan/element.hpp"
#include "kernels/scan/fold.cuh"
#include "kernels/scan/scan.hpp"
#include "kernels/values.hpp"
#include "kernels/words.cuh"

namespace gpumem::kernels {
namespace {

constexpr int kWarps = kScanLinesThreads / 32;
constexpr int kStep = kLeafLanes;  // elements of a line that a warp takes at a time
constexpr int kEach = kStep / 32;
constexpr int kRounds = kScanLinesRounds;
constexpr int kLevels = 50;

struct Arguments {
  ScanParams p;
  int group;    // lanes per line of short_lines
  bool across;  // the elements of neighbouring lines are closer than those of a line
  bool aligned_x;
  bool aligned_result;
  ScanLinesState* state;  // nullptr: nobody wants the status
};

// Not inlined, as few callers have such addresses.
__device__ __noinline__ uint64_t load_bytes(const unsigned char* p, int bytes) {
  uint64_t bits = 0;
  for (int i = 0; i < bytes; ++i) bits |= uint64_t{p[i]} << 8 * i;
  return bits;
}
__device__ __noinline__ void store_bytes(unsigned char* p, uint64_t bits, int bytes) {
  for (int i = 0; i < bytes; ++i) p[i] = static_cast<unsigned char>(bits >> 8 * i);
}
__device__ __forceinline__ uint64_t load_element(const void* p, int bytes, bool aligned) {
  if (!aligned) return load_bytes(static_cast<const unsigned char*>(p), bytes);
  if (bytes == 4) return *static_cast<const uint32_t*>(p);
  if (bytes == 8) return *static_cast<const uint64_t*>(p);
  return bytes == 2 ? *static_cast<const uint16_t*>(p) : *static_cast<const uint8_t*>(p);
}
template <class Word>
__device__ __forceinline__ void store_word(void* p, uint64_t bits) {
  *static_cast<Word*>(p) = static_cast<Word>(bits);
}
__device__ __forceinline__ void store_element(void* p, uint64_t bits, int bytes, bool aligned) {
  if (!aligned) return store_bytes(static_cast<unsigned char*>(p), bits, bytes);
  if (bytes == 4) return store_word<uint32_t>(p, bits);
  if (bytes == 8) return store_word<uint64_t>(p, bits);
  bytes == 2 ? store_word<uint16_t>(p, bits) : store_word<uint8_t>(p, bits);
}

struct Line {
  int64_t x = 0;  // the first element
  int64_t result = 0;
  int64_t n = 0;
  bool sound = true;
};
__device__ __noinline__ Line line_of(const Arguments& a, int64_t index) {
  if (index >= a.p.line_count()) return {};
  if (a.p.offsets != nullptr) {
    const int64_t begin = a.p.offsets[index];
    const int64_t end = a.p.offsets[index + 1];
    if (begin < 0 || begin > end || end > a.p.n) return {.sound = false};
    return {begin, begin, end - begin};
  }
  const LineStart start = start_of_line(a.p.view, index);
  return {start.x, start.result, a.p.view.extents[0]};
}

struct Places {
  const Arguments& a;
  int64_t x_stride;
  int64_t result_stride;
  int x_bytes;
  int result_bytes;

  __device__ explicit Places(const Arguments& arguments)
      : a(arguments),
        x_stride(a.p.offsets != nullptr ? 1 : a.p.view.x_strides[0]),
        result_stride(a.p.offsets != nullptr ? 1 : a.p.view.result_strides[0]),
        x_bytes(element_bytes(a.p.dtype)),
        result_bytes(element_bytes(a.p.result_type)) {}
  __device__ uint64_t load(const Line& line, int64_t i) const {
    return load_element(static_cast<const char*>(a.p.x) + (line.x + i * x_stride) * x_bytes, x_bytes, a.aligned_x);
  }
  __device__ void store(const Line& line, int64_t i, uint64_t bits) const {
    store_element(static_cast<char*>(a.p.result) + (line.result + i * result_stride) * result_bytes, bits, result_bytes,
                  a.aligned_result);
  }
};

// The bits of a floating-point result.
__device__ __forceinline__ uint64_t bits_of_float(gpumem_dtype type, double v) {
  const double value = gpumem::canonical(v);
  return for_floating_type(type, [&]<gpumem_dtype kType>() -> uint64_t {
    using T = ElementOf<kType>;
    using Bits = std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;
    return std::bit_cast<Bits>(converted<T>(value));
  });
}

// Sums and products of floating-point elements, in the order of kernels/order.hpp.
template <class Op>
struct Ordered {
  using Value = double;
  gpumem_dtype dtype;
  gpumem_dtype result_type;

  __device__ explicit Ordered(const ScanParams& p) : dtype(p.dtype), result_type(p.result_type) {}
  __device__ static Value neutral() { return Op::kNeutral; }
  __device__ Value value(uint64_t bits) const { return to_double(dtype, bits); }
  __device__ uint64_t result(Value v) const { return bits_of_float(result_type, v); }
  static constexpr bool kChecks = false;
  __device__ static bool beyond(Value, Value, Value) { return false; }

  // Of groups of lanes. A lane gets the prefix that ends with it.
  __device__ Value scan_group(Value v, int group, int lane) const {
    Value before = Op::kNeutral;
    Value after = Op::of(Op::kNeutral, v);
    for (int half = group / 2; half > 0; half /= 2) fold_step<Op>(before, after, half, lane);
    return after;
  }

  struct Carry {
    Lanes before = neutral_lanes<Op>();
    int64_t row = 0;
    double* levels;  // the reductions of aligned groups of 2^k blocks
    __device__ Carry(const Ordered&, double* of_warp) : levels(of_warp) {}
  };
  // used: the first segments of 32 elements, which are all that the line has.
  __device__ void scan_step(Carry& carry, const Value (&v)[kEach], Value (&prefix)[kEach], int used, int lane) const {
    Lanes after = carry.before;
#pragma unroll
    for (int k = 0; k < kEach; ++k) after.segment[k] = Op::of(after.segment[k], v[k]);
    row_prefixes<Op>(carry.before, after, prefix, lane, used);
    const double own = __shfl_sync(kAll, prefix[kEach - 1], 31);
    const int64_t block = carry.row / kLeafRows;
    for (int64_t left = block; left != 0; left &= left - 1) {
      const double subtree = carry.levels[__ffsll(left) - 1];
#pragma unroll
      for (double& p : prefix) p = Op::of(subtree, p);
    }
    carry.before = after;
    if (++carry.row % kLeafRows != 0) return;
    carry.before = neutral_lanes<Op>();
    double subtree = own;
    int level = 0;
    for (; (block >> level & 1) != 0; ++level) subtree = Op::of(carry.levels[level], subtree);
    __syncwarp();
    if (lane == 0) carry.levels[level] = subtree;
    __syncwarp();
  }
};

// All others, by words that wrap.
template <ScanKind kKind>
struct Unordered {
  using Value = uint64_t;
  gpumem_dtype dtype;
  gpumem_dtype result_type;
  uint64_t flip;  // of a maximum's words

  __device__ explicit Unordered(const ScanParams& p)
      : dtype(p.dtype), result_type(p.result_type), flip(p.op == GPUMEM_MAX ? all_bits(p.dtype) : 0) {}
  __device__ Value neutral() const {
    if constexpr (kKind != ScanKind::range) return kKind == ScanKind::product ? 1 : 0;
    return is_floating(dtype) ? key_of(dtype, infinity_bits(dtype)) : all_bits(dtype);
  }
  __device__ Value value(uint64_t bits) const {
    if constexpr (kKind != ScanKind::range) return extend(dtype, bits);
    const uint64_t key = key_of(dtype, bits);
    return is_nan_key(dtype, key) ? 0 : key ^ flip;
  }
  __device__ uint64_t result(Value v) const {
    if constexpr (kKind != ScanKind::range) return v;
    const bool wide = element_bytes(result_type) > element_bytes(dtype);
    if (is_floating(dtype) && v == 0) return bits_of_float(result_type, std::bit_cast<double>(kCanonicalNan));
    const uint64_t bits = bits_of_key(dtype, v ^ flip);
    if (!wide) return bits;
    return is_floating(dtype) ? std::bit_cast<uint64_t>(to_double(dtype, bits)) : extend(dtype, bits);
  }
  __device__ static Value combine(Value a, Value b) {
    if constexpr (kKind == ScanKind::sum) return a + b;
    if constexpr (kKind == ScanKind::product) return a * b;
    return b < a ? b : a;
  }
  static constexpr bool kChecks = kKind != ScanKind::range;
  // Whether `after` == combine(before, v) does not fit, if `before` does.
  __device__ bool beyond(Value before, Value v, Value after) const {
    if constexpr (kKind == ScanKind::range) return false;
    if (element_bytes(result_type) < 8) return extend(result_type, after & all_bits(result_type)) != after;
    const bool is_signed = is_signed_integer(dtype);
    if constexpr (kKind == ScanKind::sum) {
      return is_signed ? static_cast<int64_t>((before ^ after) & (v ^ after)) < 0 : after < before;
    }
    if (!is_signed) return Uint128{before} * v != after;
    return Int128{static_cast<int64_t>(before)} * static_cast<int64_t>(v) != static_cast<int64_t>(after);
  }
  __device__ Value scan_group(Value v, int group, int lane) const {
    for (int distance = 1; distance < group; distance *= 2) {
      const Value other = __shfl_up_sync(kAll, v, distance);
      if (lane % group >= distance) v = combine(other, v);
    }
    return v;
  }

  struct Carry {
    Value before;
    __device__ Carry(const Unordered& scan, double*) : before(scan.neutral()) {}
  };
  __device__ void scan_step(Carry& carry, const Value (&v)[kEach], Value (&prefix)[kEach], int used, int lane) const {
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      if (k >= used) break;
      prefix[k] = combine(carry.before, scan_group(v[k], 32, lane));
      carry.before = __shfl_sync(kAll, prefix[k], 31);
    }
  }
};

// The last block to finish writes the status.
__device__ void report(const Arguments& a, gpumem_status found) {
  if (a.state == nullptr) return;
  const bool overflows = __syncthreads_or(found == GPUMEM_OVERFLOW ? 1 : 0) != 0;
  const bool unsound = __syncthreads_or(found == GPUMEM_OUT_OF_RANGE ? 1 : 0) != 0;
  const gpumem_status worst = overflows ? GPUMEM_OVERFLOW : unsound ? GPUMEM_OUT_OF_RANGE : GPUMEM_OK;
  if (threadIdx.x != 0) return;
  if (worst != GPUMEM_OK) atomicMax(&a.state->worst, worst);
  __threadfence();
  if (atomicAdd(&a.state->done, 1u) + 1 != gridDim.x) return;
  __threadfence();
  *a.p.status = atomicMax(&a.state->worst, GPUMEM_OK);
}

// Prefixes without their last element, for an exclusive scan.
template <class Scan>
__device__ void shift_step(typename Scan::Value (&prefix)[kEach], typename Scan::Value& last, int lane) {
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const auto end = __shfl_sync(kAll, prefix[k], 31);
    const auto left = __shfl_up_sync(kAll, prefix[k], 1);
    prefix[k] = lane == 0 ? last : left;
    last = end;
  }
}

constexpr int kPitch = kStep + 2;  // neither way of access to a stage meets a bank twice

// Calls f with elements of the block's lines in the order of the memory: the line, the element, and its word.
template <class F>
__device__ __forceinline__ void across_warps(const Line* lines, uint64_t* stage, int64_t at, const F& f) {
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const int flat = k * kScanLinesThreads + static_cast<int>(threadIdx.x);
    const Line& line = lines[flat % kWarps];
    const int64_t i = at + flat / kWarps;
    if (i < line.n) f(line, i, stage[flat % kWarps * kPitch + flat / kWarps]);
  }
}

// The words of a step of the warp's line. own: the line's stage, unless its elements are neighbours.
template <class Scan, bool kAcross>
__device__ __forceinline__ void load_step(const Scan& scan, const Places& places, const Line& line, int64_t at,
                                          const uint64_t* own, typename Scan::Value (&v)[kEach], int lane) {
  uint64_t bits[kEach];
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const int64_t i = at + 32 * k + lane;
    if (i < line.n) bits[k] = kAcross ? own[32 * k + lane] : places.load(line, i);
  }
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    v[k] = at + 32 * k + lane < line.n ? scan.value(bits[k]) : scan.neutral();
  }
}

template <class Scan, bool kAcross>
__global__ void __launch_bounds__(kScanLinesThreads, resident_blocks(3, kScanLinesThreads))
    long_lines(const __grid_constant__ Arguments a) {
  using Value = typename Scan::Value;
  __shared__ uint64_t stage[kAcross ? kWarps * kPitch : 1];
  __shared__ Line line_of_warp[kAcross ? kWarps : 1];
  __shared__ double levels[kWarps][kLevels];
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int warp = static_cast<int>(threadIdx.x / 32);
  const Scan scan(a.p);
  const Places places(a);
  const Line line = line_of(a, int64_t{blockIdx.x} * kWarps + warp);
  if (kAcross && lane == 0) line_of_warp[warp] = line;
  if (kAcross) __syncthreads();
  const int64_t end = kAcross ? a.p.view.extents[0] : line.n;
  uint64_t* const own = stage + (kAcross ? warp * kPitch : 0);
  typename Scan::Carry carry(scan, levels[warp]);
  Value last = scan.neutral();
  bool beyond = false;
  for (int64_t at = 0; at < end; at += kStep) {
    if constexpr (kAcross) {
      across_warps(line_of_warp, stage, at,
                   [&](const Line& other, int64_t i, uint64_t& word) { word = places.load(other, i); });
      __syncthreads();
    }
    Value v[kEach];
    Value prefix[kEach] = {};
    load_step<Scan, kAcross>(scan, places, line, at, own, v, lane);
    const int64_t left = line.n - at;
    scan.scan_step(carry, v, prefix, left < kStep ? static_cast<int>(left + 31) / 32 : kEach, lane);
    Value shifted[kEach] = {};
    if (Scan::kChecks || a.p.exclusive != 0) {
#pragma unroll
      for (int k = 0; k < kEach; ++k) shifted[k] = prefix[k];
      shift_step<Scan>(shifted, last, lane);
    }
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      const int64_t i = at + 32 * k + lane;
      if (i >= line.n) continue;
      beyond |= i < line.n - a.p.exclusive && scan.beyond(shifted[k], v[k], prefix[k]);
      const uint64_t found = scan.result(a.p.exclusive != 0 ? shifted[k] : prefix[k]);
      if constexpr (kAcross) {
        own[32 * k + lane] = found;
      } else {
        places.store(line, i, found);
      }
    }
    if constexpr (kAcross) {
      __syncthreads();
      across_warps(line_of_warp, stage, at,
                   [&](const Line& other, int64_t i, uint64_t& word) { places.store(other, i, word); });
      __syncthreads();
    }
  }
  report(a, !line.sound ? GPUMEM_OUT_OF_RANGE : beyond ? GPUMEM_OVERFLOW : GPUMEM_OK);
}

// As across_warps(). line: of the thread's elements. staged: the word of an element of a line.
template <class Staged, class F>
__device__ __forceinline__ void across_lines(const Line (&line)[kRounds], int lines, const Staged& staged, const F& f) {
#pragma unroll
  for (int k = 0; k < kRounds; ++k) {
    const int flat = k * kScanLinesThreads + static_cast<int>(threadIdx.x);
    if (flat / lines < line[k].n) f(line[k], flat / lines, staged(flat % lines, flat / lines));
  }
}

// A block has kRounds times as many lines as it has groups.
template <class Scan>
__global__ void __launch_bounds__(kScanLinesThreads) short_lines(const __grid_constant__ Arguments a) {
  using Value = typename Scan::Value;
  constexpr int kElements = kScanLinesThreads * kRounds;
  __shared__ uint64_t stage[kElements + kElements / 16];
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  const Scan scan(a.p);
  const Places places(a);
  const int lines = kElements / a.group;
  const int64_t first = int64_t{blockIdx.x} * lines;
  // The place of element i of a line in the stage.
  const auto staged = [&](int of, int i) -> uint64_t& {
    const int flat = of * a.group + i;
    return stage[flat + flat / 16];
  };
  Line line[kRounds];  // whose elements the thread loads and stores
#pragma unroll
  for (int k = 0; k < kRounds; ++k) {
    const int flat = k * kScanLinesThreads + thread;
    line[k] = line_of(a, first + (a.across ? flat % lines : flat / a.group));
  }
  if (a.across) {
    across_lines(line, lines, staged, [&](const Line& of, int i, uint64_t& word) { word = places.load(of, i); });
    __syncthreads();
  }
  uint64_t bits[kRounds];
  const int i = thread % a.group;
  const int64_t length = a.p.view.extents[0];
#pragma unroll
  for (int k = 0; k < kRounds; ++k) {
    if (i < length) bits[k] = a.across ? staged((k * kScanLinesThreads + thread) / a.group, i) : 0;
    if (!a.across && i < line[k].n) bits[k] = places.load(line[k], i);
  }
  bool beyond = false;
#pragma unroll
  for (int k = 0; k < kRounds; ++k) {
    const int of = (k * kScanLinesThreads + thread) / a.group;
    const bool there = i < length && first + of < a.p.line_count();
    const Value v = there ? scan.value(bits[k]) : scan.neutral();
    const Value prefix = scan.scan_group(v, a.group, lane);
    const Value left = __shfl_up_sync(kAll, prefix, 1);
    const Value before = i == 0 ? scan.neutral() : left;
    if (!there) continue;
    beyond |= i < length - a.p.exclusive && scan.beyond(before, v, prefix);
    const uint64_t found = scan.result(a.p.exclusive != 0 ? before : prefix);
    if (a.across) {
      staged(of, i) = found;
    } else {
      places.store(line[k], i, found);
    }
  }
  if (a.across) {
    __syncthreads();
    across_lines(line, lines, staged, [&](const Line& to, int at, uint64_t& word) { places.store(to, at, word); });
  }
  report(a, beyond ? GPUMEM_OVERFLOW : GPUMEM_OK);
}

template <class F>
cudaError_t for_scan(const ScanParams& p, const F& f) {
  if (is_ordered(p)) {
    return p.op == GPUMEM_SUM ? f.template operator()<Ordered<Add>>() : f.template operator()<Ordered<Multiply>>();
  }
  if (p.op == GPUMEM_SUM) return f.template operator()<Unordered<ScanKind::sum>>();
  if (p.op == GPUMEM_PROD) return f.template operator()<Unordered<ScanKind::product>>();
  return f.template operator()<Unordered<ScanKind::range>>();
}

// The elements of a line, a thread each.
__global__ void __launch_bounds__(kScanLinesThreads)
    copy_line(const char* from, int64_t from_step, char* to, int64_t to_step, int64_t n, int bytes, bool aligned) {
  const int64_t all = int64_t{gridDim.x} * kScanLinesThreads;
  for (int64_t i = int64_t{blockIdx.x} * kScanLinesThreads + threadIdx.x; i < n; i += all) {
    store_element(to + i * to_step, load_element(from + i * from_step, bytes, aligned), bytes, aligned);
  }
}

__global__ void report_worst(const gpumem_status* statuses, int64_t lines, gpumem_status* status) {
  gpumem_status worst = GPUMEM_OK;
  for (int64_t l = 0; l < lines; ++l) worst = max(worst, statuses[l]);
  *status = worst;
}

// One line of the view of p, with its elements and results copied to scratch memory if they are not neighbours.
cudaError_t scan_one_line(const ScanParams& p, int64_t index, const ScanEachLine& each, const Launch& launch) {
  char* const scratch = static_cast<char*>(launch.workspace);
  const ScanView& view = p.view;
  const int bytes[] = {element_bytes(p.dtype), element_bytes(p.result_type)};
  ScanParams line = p;
  line.view = {};
  line.n = view.extents[0];
  line.status = p.status == nullptr ? nullptr : reinterpret_cast<gpumem_status*>(scratch) + index;
  const LineStart start = start_of_line(view, index);
  const char* const x = static_cast<const char*>(p.x) + start.x * bytes[0];
  char* const result = static_cast<char*>(p.result) + start.result * bytes[1];
  const auto copy = [&](const char* from, int64_t from_stride, char* to, int64_t to_stride, int size) {
    const auto grid = static_cast<unsigned>(each.grid < kFewBlocks ? kFewBlocks : each.grid);
    return enqueue(copy_line, grid, kScanLinesThreads, launch, from, from_stride * size, to, to_stride * size, line.n,
                   size, aligned(from, size) && aligned(to, size));
  };
  line.x = x;
  line.result = result;
  cudaError_t error = cudaSuccess;
  if (each.x >= 0) {
    line.x = scratch + each.x;
    error = copy(x, view.x_strides[0], scratch + each.x, 1, bytes[0]);
  }
  if (each.result >= 0) line.result = scratch + each.result;
  Config config{each.grid};
  config.shared_bytes = each.shared_bytes;
  config.workspace_bytes = each.scan_bytes;
  Launch own = launch;
  own.workspace = scratch + scan_statuses_bytes(p.line_count());
  if (error == cudaSuccess) {
    error =
        static_cast<cudaError_t>(is_ordered(p) ? scan_ordered(line, config, own) : scan_look_back(line, config, own));
  }
  if (error != cudaSuccess || each.result < 0) return error;
  return copy(scratch + each.result, 1, result, view.result_strides[0], bytes[1]);
}

}  // namespace

LaunchResult scan_each_line(const ScanParams& p, const Config& config, const Launch& launch) {
  const auto each = config.own.get<ScanEachLine>();
  for (int64_t l = 0; l < p.line_count(); ++l) {
    const cudaError_t error = scan_one_line(p, l, each, launch);
    if (error != cudaSuccess) return error;
  }
  if (p.status == nullptr) return cudaSuccess;
  return enqueue(report_worst, 1, 1, launch, static_cast<const gpumem_status*>(launch.workspace), p.line_count(),
                 p.status);
}

LaunchResult scan_lines(const ScanParams& p, const Config& config, const Launch& launch) {
  Arguments a{};
  a.p = p;
  a.group = config.per_thread;
  a.across = config.own.get<bool>();
  a.aligned_x = aligned(p.x, element_bytes(p.dtype));
  a.aligned_result = aligned(p.result, element_bytes(p.result_type));
  if (p.status != nullptr) {
    a.state = static_cast<ScanLinesState*>(launch.workspace);
    const cudaError_t error = cudaMemsetAsync(a.state, 0, sizeof *a.state, launch);
    if (error != cudaSuccess) return error;
  }
  const auto grid = static_cast<unsigned>(config.grid);
  return for_scan(p, [&]<class Scan>() {
    if (a.group != 0) return enqueue(short_lines<Scan>, grid, kScanLinesThreads, launch, a);
    return enqueue(a.across ? long_lines<Scan, true> : long_lines<Scan, false>, grid, kScanLinesThreads, launch, a);
  });
}

}  // namespace gpumem::kernels
