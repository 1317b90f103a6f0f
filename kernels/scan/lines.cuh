// What the kernels that scan many lines share. The types are values of the launch. A kernel for each pair of types would
// make the library larger.
#pragma once

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

constexpr int kLevels = 32;  // a line has less than 2^kLevels blocks of the order

// The status of a launch. nullptr: nobody wants it.
struct Report {
  gpumem_status* status;
  ScanLinesState* state;
};
inline LaunchResult begin_report(const ScanParams& p, const Launch& launch, Report& report) {
  report = {p.status, p.status == nullptr ? nullptr : static_cast<ScanLinesState*>(launch.workspace)};
  return p.status == nullptr ? cudaSuccess : set_bytes(report.state, sizeof *report.state, 0, launch);
}
// Called by all threads of a block. The last block to finish writes the status.
__device__ inline void write_report(const Report& report, gpumem_status found) {
  if (report.state == nullptr) return;
  const bool overflows = __syncthreads_or(found == GPUMEM_OVERFLOW ? 1 : 0) != 0;
  const bool unsound = __syncthreads_or(found == GPUMEM_OUT_OF_RANGE ? 1 : 0) != 0;
  const gpumem_status worst = overflows ? GPUMEM_OVERFLOW : unsound ? GPUMEM_OUT_OF_RANGE : GPUMEM_OK;
  if (threadIdx.x != 0) return;
  if (worst != GPUMEM_OK) atomicMax(&report.state->worst, worst);
  __threadfence();
  if (atomicAdd(&report.state->done, 1u) + 1 != gridDim.x) return;
  __threadfence();
  *report.status = atomicMax(&report.state->worst, GPUMEM_OK);
}

struct Line {
  int64_t x = 0;  // the first element
  int64_t result = 0;
  int64_t n = 0;
  bool sound = true;
};
// The number of lines, and the extents of a view as its divisors.
struct LineNumbers {
  int64_t count;
  Divisor<uint32_t> by[kMaxScanRank];
};
inline LineNumbers line_numbers(const ScanParams& p) {
  LineNumbers numbers{p.line_count(), {}};
  for (int32_t d = 1; d < p.view.rank; ++d) {
    if (p.view.extents[d] <= UINT32_MAX) numbers.by[d] = Divisor(static_cast<uint32_t>(p.view.extents[d]));
  }
  return numbers;
}
__device__ __noinline__ inline LineStart start_of_distant_line(const ScanView& view, int64_t index) {
  return start_of_line(view, index);
}
__device__ __forceinline__ LineStart start_of_line(const ScanView& view, const LineNumbers& numbers, uint32_t index) {
  LineStart start;
#pragma unroll 1
  for (int32_t d = view.rank - 1; d > 0; --d) {
    const Divisor<uint32_t>& by = numbers.by[d];
    const uint32_t quotient = by.quotient(index);
    const int64_t rest = index - quotient * by.value;
    start.x += rest * view.x_strides[d];
    start.result += rest * view.result_strides[d];
    index = quotient;
  }
  return start;
}
__device__ __forceinline__ Line line_of(const ScanParams& p, const LineNumbers& numbers, int64_t index) {
  if (index >= numbers.count) return {};
  if (p.offsets != nullptr) {
    const int64_t begin = p.offsets[index];
    const int64_t end = p.offsets[index + 1];
    if (begin < 0 || begin > end || end > p.n) return {.sound = false};
    return {begin, begin, end - begin};
  }
  const LineStart start = numbers.count <= UINT32_MAX ? start_of_line(p.view, numbers, static_cast<uint32_t>(index))
                                                      : start_of_distant_line(p.view, index);
  return {start.x, start.result, p.view.extents[0]};
}

// Not inlined, as few callers have such addresses.
__device__ __noinline__ inline uint64_t load_bytes(const char* p, int bytes) {
  uint64_t bits = 0;
  for (int i = 0; i < bytes; ++i) bits |= uint64_t{static_cast<unsigned char>(p[i])} << 8 * i;
  return bits;
}
__device__ __noinline__ inline void store_bytes(char* p, uint64_t bits, int bytes) {
  for (int i = 0; i < bytes; ++i) p[i] = static_cast<char>(bits >> 8 * i);
}
template <class F>
__device__ __forceinline__ void for_bytes(int bytes, const F& f) {
  if (bytes == 4) return f.template operator()<uint32_t>();
  if (bytes == 8) return f.template operator()<uint64_t>();
  bytes == 2 ? f.template operator()<uint16_t>() : f.template operator()<uint8_t>();
}

// A number of elements that exist, or many.
__device__ __forceinline__ int clamped(int64_t left) { return static_cast<int>(left < 1 << 20 ? left : 1 << 20); }

// The elements of lines, or their results. Distances are in bytes.
struct Elements {
  char* first;
  int64_t step;
  int bytes;
  bool whole;  // aligned to their size

  __device__ char* at(int64_t line, int64_t i) const { return first + line * bytes + i * step; }
  __device__ uint64_t load(const char* p) const {
    uint64_t bits = 0;
    if (!whole) return load_bytes(p, bytes);
    for_bytes(bytes, [&]<class Word>() { bits = *reinterpret_cast<const Word*>(p); });
    return bits;
  }
  __device__ void store(char* p, uint64_t bits) const {
    if (!whole) return store_bytes(p, bits, bytes);
    for_bytes(bytes, [&]<class Word>() { *reinterpret_cast<Word*>(p) = static_cast<Word>(bits); });
  }
  // Elements from p on, of which `left` exist. The others are copies of the last one.
  template <int kCount>
  __device__ __forceinline__ void load(const char* p, int left, uint64_t (&bits)[kCount]) const {
    if (left <= 0) return;
    const int last = min(left, kCount) - 1;
    if (!whole) {
#pragma unroll
      for (int k = 0; k < kCount; ++k) bits[k] = load_bytes(p + min(k, last) * step, bytes);
      return;
    }
    for_bytes(bytes, [&]<class Word>() {
#pragma unroll
      for (int k = 0; k < kCount; ++k) bits[k] = *reinterpret_cast<const Word*>(p + min(k, last) * step);
    });
  }
  template <int kCount>
  __device__ __forceinline__ void store(char* p, int left, const uint64_t (&bits)[kCount]) const {
    if (!whole) {
#pragma unroll
      for (int k = 0; k < kCount; ++k) {
        if (k < left) store_bytes(p + k * step, bits[k], bytes);
      }
      return;
    }
    for_bytes(bytes, [&]<class Word>() {
#pragma unroll
      for (int k = 0; k < kCount; ++k) {
        if (k < left) *reinterpret_cast<Word*>(p + k * step) = static_cast<Word>(bits[k]);
      }
    });
  }
};
__device__ __forceinline__ bool is_aligned(const void* p, int64_t bytes) {
  return (reinterpret_cast<uintptr_t>(p) & static_cast<uintptr_t>(bytes - 1)) == 0;
}
__device__ __forceinline__ Elements elements_of(const ScanParams& p) {
  const int bytes = element_bytes(p.dtype);
  const int64_t stride = p.view.rank > 0 ? p.view.x_strides[0] : 1;
  return {static_cast<char*>(const_cast<void*>(p.x)), stride * bytes, bytes, is_aligned(p.x, bytes)};
}
__device__ __forceinline__ Elements results_of(const ScanParams& p) {
  const int bytes = element_bytes(p.result_type);
  const int64_t stride = p.view.rank > 0 ? p.view.result_strides[0] : 1;
  return {static_cast<char*>(p.result), stride * bytes, bytes, is_aligned(p.result, bytes)};
}

template <class T>
__device__ double as_double(T v) {
  if constexpr (kIsSixteen<T>) return static_cast<double>(float_of(v));
  if constexpr (!kIsSixteen<T>) return static_cast<double>(v);
}

// Sums and products of floating-point elements, in the order of kernels/order.hpp.
template <class Op>
struct Ordered {
  using Value = double;
  static constexpr bool kOrdered = true;
  gpumem_dtype dtype;
  gpumem_dtype result_type;

  __device__ explicit Ordered(const ScanParams& p) : dtype(p.dtype), result_type(p.result_type) {}
  __device__ static Value neutral() { return Op::kNeutral; }
  template <int kCount>
  __device__ __forceinline__ void values(const uint64_t (&bits)[kCount], Value (&v)[kCount]) const {
    for_floating_type(dtype, [&]<gpumem_dtype kType>() {
#pragma unroll
      for (int k = 0; k < kCount; ++k) v[k] = value_of<kType>(bits[k]);
    });
  }
  template <int kCount>
  __device__ __forceinline__ void results(const Value (&v)[kCount], uint64_t (&bits)[kCount]) const {
    for_floating_type(result_type, [&]<gpumem_dtype kType>() {
#pragma unroll
      for (int k = 0; k < kCount; ++k) bits[k] = bits_of<kType>(v[k]);
    });
  }
  __device__ static bool beyond(Value, Value, Value) { return false; }

  // Of groups of lanes. A lane gets the prefix that ends with it.
  __device__ static Value scan_group(Value v, int group, int lane) {
    Value before = Op::kNeutral;
    Value after = Op::of(Op::kNeutral, v);
    for (int half = group / 2; half > 0; half /= 2) fold_step<Op>(before, after, half, lane);
    return after;
  }

 private:
  template <gpumem_dtype kType>
  using BitsOf = std::conditional_t<element_bytes(kType) == 2, uint16_t,
                                    std::conditional_t<element_bytes(kType) == 4, uint32_t, uint64_t>>;
  template <gpumem_dtype kType>
  __device__ static double value_of(uint64_t bits) {
    return as_double(std::bit_cast<ElementOf<kType>>(static_cast<BitsOf<kType>>(bits)));
  }
  template <gpumem_dtype kType>
  __device__ static uint64_t bits_of(Value v) {
    return std::bit_cast<BitsOf<kType>>(converted<ElementOf<kType>>(gpumem::canonical(v)));
  }
};

// All others, by words that wrap.
template <ScanKind kKind>
struct Unordered {
  using Value = uint64_t;
  static constexpr bool kOrdered = false;
  gpumem_dtype dtype;
  gpumem_dtype result_type;
  uint64_t flip;  // of a maximum's words

  __device__ explicit Unordered(const ScanParams& p)
      : dtype(p.dtype), result_type(p.result_type), flip(p.op == GPUMEM_MAX ? all_bits(p.dtype) : 0) {}
  __device__ Value neutral() const {
    if constexpr (kKind != ScanKind::range) return kKind == ScanKind::product ? 1 : 0;
    return is_floating(dtype) ? key_of(dtype, infinity_bits(dtype)) : all_bits(dtype);
  }
  template <int kCount>
  __device__ __forceinline__ void values(const uint64_t (&bits)[kCount], Value (&v)[kCount]) const {
#pragma unroll
    for (int k = 0; k < kCount; ++k) v[k] = value(bits[k]);
  }
  template <int kCount>
  __device__ __forceinline__ void results(const Value (&v)[kCount], uint64_t (&bits)[kCount]) const {
#pragma unroll
    for (int k = 0; k < kCount; ++k) bits[k] = result(v[k]);
  }
  __device__ static Value combine(Value a, Value b) {
    if constexpr (kKind == ScanKind::sum) return a + b;
    if constexpr (kKind == ScanKind::product) return a * b;
    return b < a ? b : a;
  }
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
  __device__ static Value scan_group(Value v, int group, int lane) {
    for (int distance = 1; distance < group; distance *= 2) {
      const Value other = __shfl_up_sync(kAll, v, distance);
      if (lane % group >= distance) v = combine(other, v);
    }
    return v;
  }

 private:
  __device__ static uint64_t nan_bits(gpumem_dtype type) {
    const uint64_t infinity = infinity_bits(type);
    return infinity | (infinity & (0 - infinity)) >> 1;
  }
  __device__ Value value(uint64_t bits) const {
    if constexpr (kKind != ScanKind::range) return extend(dtype, bits);
    const uint64_t key = key_of(dtype, bits);
    return is_nan_key(dtype, key) ? 0 : key ^ flip;
  }
  __device__ uint64_t result(Value v) const {
    if constexpr (kKind != ScanKind::range) return v;
    const bool wide = element_bytes(result_type) > element_bytes(dtype);
    if (is_floating(dtype) && v == 0) return nan_bits(result_type);
    const uint64_t bits = bits_of_key(dtype, v ^ flip);
    if (!wide) return bits;
    return is_floating(dtype) ? std::bit_cast<uint64_t>(to_double(dtype, bits)) : extend(dtype, bits);
  }
};

template <class F>
cudaError_t for_scan(const ScanParams& p, const F& f) {
  if (is_ordered(p)) {
    return p.op == GPUMEM_SUM ? f.template operator()<Ordered<Add>>() : f.template operator()<Ordered<Multiply>>();
  }
  if (p.op == GPUMEM_SUM) return f.template operator()<Unordered<ScanKind::sum>>();
  if (p.op == GPUMEM_PROD) return f.template operator()<Unordered<ScanKind::product>>();
  return f.template operator()<Unordered<ScanKind::range>>();
}

}  // namespace
}  // namespace gpumem::kernels
