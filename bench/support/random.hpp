// Values by index: the data that inputs are filled with, and that outputs are compared with without reading the input again.
// Plain arithmetic, so that the same function serves host and device code.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__CUDACC__)
#define BENCH_HOST_DEVICE __host__ __device__
#else
#define BENCH_HOST_DEVICE
#endif

namespace bench {

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): each index gets 64 well mixed bits.
BENCH_HOST_DEVICE inline uint64_t random_bits(uint64_t index) {
  uint64_t z = (index + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

// Uniform in [-limit, limit] for limit < 2^31 - 1; the whole range of int32_t for a limit of 0.
BENCH_HOST_DEVICE inline int32_t random_i32(uint64_t index, uint32_t limit) {
  const uint64_t bits = random_bits(index);
  if (limit == 0) return static_cast<int32_t>(static_cast<uint32_t>(bits));
  const uint64_t span = 2ull * limit + 1;
  return static_cast<int32_t>(static_cast<int64_t>(((bits >> 32) * span) >> 32) - static_cast<int64_t>(limit));
}

// One element of a matrix of T: ordinary floating-point numbers in [1, 2) for 4 and 8 bytes, since a BLAS peer multiplies
// them by one (the bits of a NaN or a subnormal might not survive that); any bits otherwise.
template <class T>
BENCH_HOST_DEVICE inline T random_element(uint64_t index) {
  const uint64_t bits = random_bits(index);
  if constexpr (sizeof(T) == 4) {
    return static_cast<T>(0x3F800000u | static_cast<uint32_t>(bits & 0x007FFFFFu));
  } else if constexpr (sizeof(T) == 8) {
    return static_cast<T>(0x3FF0000000000000ull | (bits & 0x000FFFFFFFFFFFFFull));
  } else {
    return static_cast<T>(bits);
  }
}

// One number to reduce. Integers: uniform in [-limit, limit], or for a limit of 0 in the whole range of up to 32 bits, so that
// 2^31 of them sum to 64 bits. Floating point: positive and negative in [1, 2), so that one missing element shows in a sum.
template <class T>
BENCH_HOST_DEVICE inline T random_value(uint64_t index, uint32_t limit) {
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    const Bits sign = static_cast<Bits>(random_bits(index) >> 63) << (8 * sizeof(T) - 1);
    const Bits bits = random_element<Bits>(index) | sign;
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  } else {
    return static_cast<T>(random_i32(index, limit));
  }
}

// Sixteen bytes that compare as one element.
struct Pair64 {
  uint64_t low, high;
  BENCH_HOST_DEVICE bool operator==(const Pair64& o) const { return low == o.low && high == o.high; }
};

template <>
BENCH_HOST_DEVICE inline Pair64 random_element<Pair64>(uint64_t index) {
  return {random_bits(2 * index), random_bits(2 * index + 1)};
}

// What fills write. Sixteen different bytes; shorter patterns take the first of them.
inline constexpr unsigned char kPattern[16] = {0x3C, 0x11, 0xC7, 0x52, 0x9E, 0x08, 0x6B, 0xD4,
                                               0x27, 0xF1, 0x4D, 0x83, 0xBA, 0x19, 0x70, 0xE5};

// The byte that outputs are spoiled with before a sample.
inline constexpr int kPoison = 0xA5;

}  // namespace bench
