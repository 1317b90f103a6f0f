// The terms of the i32 reductions and the types that hold them without loss. A thread gathers terms in an Acc; a block adds up
// Wide values; blocks are folded in 128 bits. Bounds: a thread takes fewer than 2^31 terms, a block fewer than 2^32.
#pragma once

#include <cstdint>

#include "gpumem.h"

namespace gpumem::kernels {

__extension__ typedef __int128 Int128;

// |INT32_MIN| fits the unsigned type.
__device__ __forceinline__ uint32_t magnitude(int32_t v) {
  return v < 0 ? 0u - static_cast<uint32_t>(v) : static_cast<uint32_t>(v);
}

template <int kOp>
struct Term;

template <>
struct Term<GPUMEM_SUM> {
  using Wide = int64_t;
  int64_t acc = 0;
  __device__ void take(int32_t v) { acc += v; }
  __device__ Wide wide() const { return acc; }
};

template <>
struct Term<GPUMEM_SUM_ABS> {
  using Wide = int64_t;
  int64_t acc = 0;
  __device__ void take(int32_t v) { acc += magnitude(v); }
  __device__ Wide wide() const { return acc; }
};

// A square has 62 bits: its halves are summed apart.
template <>
struct Term<GPUMEM_SUM_SQUARES> {
  using Wide = Int128;
  uint64_t low = 0;
  uint64_t high = 0;
  __device__ void take(int32_t v) {
    const uint64_t a = magnitude(v);
    const uint64_t square = a * a;
    low += static_cast<uint32_t>(square);
    high += square >> 32;
  }
  __device__ Wide wide() const { return static_cast<Int128>(low) + (static_cast<Int128>(high) << 32); }
};

// A cube has 93 bits and a sign: three words of its magnitude are summed apart under the sign. Fewer than 2^29 terms a thread.
template <>
struct Term<GPUMEM_SUM_CUBES> {
  using Wide = Int128;
  int64_t word0 = 0;
  int64_t word1 = 0;
  int64_t word2 = 0;
  __device__ void take(int32_t v) {
    const uint64_t a = magnitude(v);
    const int64_t sign = static_cast<int64_t>(v) >> 63;
    const uint64_t square = a * a;
    const uint64_t p = a * static_cast<uint32_t>(square);
    const uint64_t q = a * (square >> 32);
    const auto t0 = static_cast<int64_t>(p & 0xffffffffu);
    const auto t1 = static_cast<int64_t>((p >> 32) + (q & 0xffffffffu));
    const auto t2 = static_cast<int64_t>(q >> 32);
    word0 += (t0 ^ sign) - sign;
    word1 += (t1 ^ sign) - sign;
    word2 += (t2 ^ sign) - sign;
  }
  __device__ Wide wide() const {
    return word0 + static_cast<Int128>(word1) * (static_cast<Int128>(1) << 32) +
           static_cast<Int128>(word2) * (static_cast<Int128>(1) << 64);
  }
};

template <>
struct Term<GPUMEM_MIN> {
  using Wide = int64_t;
  int32_t acc = INT32_MAX;
  __device__ void take(int32_t v) { acc = v < acc ? v : acc; }
  __device__ Wide wide() const { return acc; }
};

template <>
struct Term<GPUMEM_MAX> {
  using Wide = int64_t;
  int32_t acc = INT32_MIN;
  __device__ void take(int32_t v) { acc = v > acc ? v : acc; }
  __device__ Wide wide() const { return acc; }
};

template <>
struct Term<GPUMEM_MAX_ABS> {
  using Wide = int64_t;
  uint32_t acc = 0;
  __device__ void take(int32_t v) {
    const uint32_t a = magnitude(v);
    acc = a > acc ? a : acc;
  }
  __device__ Wide wide() const { return acc; }
};

template <int kOp, class Wide>
__device__ __forceinline__ Wide combine(Wide a, Wide b) {
  if constexpr (kOp == GPUMEM_MIN) {
    return b < a ? b : a;
  } else if constexpr (kOp == GPUMEM_MAX || kOp == GPUMEM_MAX_ABS) {
    return b > a ? b : a;
  } else {
    return a + b;
  }
}

// What combine() leaves unchanged.
template <int kOp, class Wide>
__device__ __forceinline__ Wide neutral() {
  return static_cast<Wide>(Term<kOp>{}.wide());
}

}  // namespace gpumem::kernels
