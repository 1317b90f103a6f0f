// Contents of operands: numbers made from their index, equal for equal problems on every machine. Plain arithmetic,
// shared by host and device code.
#pragma once

#include <gpumem.h>

#include <cstdint>

#if defined(__CUDACC__)
#define TOOL_HOST_DEVICE __host__ __device__
#else
#define TOOL_HOST_DEVICE
#endif

namespace tool {

// 64 well mixed bits per index: the finaliser of SplitMix64 (Steele, Lea, Flood 2014).
TOOL_HOST_DEVICE inline uint64_t mixed_bits(uint64_t index) {
  uint64_t z = (index + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

// Bits of a number in [1, 2), so that a single missing element shows in a sum.
TOOL_HOST_DEVICE inline uint64_t number_bits(gpumem_dtype dtype, uint64_t bits) {
  if (dtype == GPUMEM_F16) return 0x3C00 | (bits & 0x3FF);
  if (dtype == GPUMEM_BF16) return 0x3F80 | (bits & 0x7F);
  if (dtype == GPUMEM_F32) return 0x3F800000 | (bits & 0x7FFFFF);
  return 0x3FF0000000000000 | (bits & 0xFFFFFFFFFFFFF);
}

struct Contents {
  enum class Kind { elements, values, rows, offsets, mask };

  Kind kind;
  int bytes;  // per number, least significant byte first
  gpumem_dtype dtype = GPUMEM_U8;
  uint64_t seed = 0;
  uint64_t limit = 0;  // values: integers are in [-limit, limit] or [0, 2 limit]; 0: in all of 32 bits or half of them
  uint64_t count = 0;  // rows, or elements in segments
  uint64_t parts = 0;

  TOOL_HOST_DEVICE uint64_t number(uint64_t i) const {
    if (kind == Kind::rows) return row(i % count);
    if (kind == Kind::offsets) return count / parts * i + (i < count % parts ? i : count % parts);
    const uint64_t bits = mixed_bits(i + (seed << 40));
    if (kind == Kind::mask) return bits & 1;
    return kind == Kind::elements ? element(bits) : value(bits);
  }

 private:
  // A transpose by BLAS multiplies by one, which does not keep NaNs, so 4 and 8 bytes are ordinary numbers.
  TOOL_HOST_DEVICE uint64_t element(uint64_t bits) const {
    if (bytes < 4) return bits;
    return number_bits(bytes == 4 ? GPUMEM_F32 : GPUMEM_F64, bits);
  }
  TOOL_HOST_DEVICE uint64_t value(uint64_t bits) const {
    if (dtype >= GPUMEM_F16) return (bits >> 63) << (8 * bytes - 1) | number_bits(dtype, bits);
    const bool has_sign = dtype % 2 == 0;
    if (limit == 0) return has_sign ? static_cast<uint64_t>(static_cast<int64_t>(bits) >> 32) : bits >> 33;
    const uint64_t in_range = (bits >> 32) % (2 * limit + 1);
    return has_sign ? in_range - limit : in_range;
  }
  // A bijection of the integers below a power of two, repeated until it yields a row.
  TOOL_HOST_DEVICE uint64_t row(uint64_t i) const {
    uint64_t mask = count - 1;
    for (int shift = 1; shift < 64; shift *= 2) mask |= mask >> shift;
    do {
      i = i * 0x9E3779B97F4A7C15ull & mask;
      i ^= i >> 7;
      i = i * 0xD1B54A32D192ED03ull & mask;
      i = (i ^ i >> 9) & mask;
    } while (i >= count);
    return i;
  }
};

inline Contents elements(int64_t bytes, uint64_t seed = 0) {
  const bool whole = bytes == 1 || bytes == 2 || bytes == 4;
  return {.kind = Contents::Kind::elements, .bytes = whole ? static_cast<int>(bytes) : 8, .seed = seed};
}

// Numbers to compute with: floating point of both signs in [1, 2), and integers.
Contents values(gpumem_dtype dtype, uint64_t seed, uint64_t limit = 0);
// No sum of the operation overflows its type.
Contents values_for(gpumem_reduce_op op, gpumem_dtype dtype, uint64_t seed);

// Numbers of rows in a patternless order, each at most once if there are enough.
Contents some_rows(gpumem_dtype type, int64_t rows);

// Bytes that keep half of the rows, in no pattern.
Contents half_mask();

// The starts of segments of n elements, and the end of the last one.
Contents even_offsets(int64_t n, int64_t segments);

// Sixteen different bytes; shorter patterns take the first ones. All are 0 if `uniform`.
struct Pattern {
  unsigned char bytes[16];
};
constexpr Pattern fill_pattern(bool uniform) {
  if (uniform) return {};
  return {{0x3C, 0x11, 0xC7, 0x52, 0x9E, 0x08, 0x6B, 0xD4, 0x27, 0xF1, 0x4D, 0x83, 0xBA, 0x19, 0x70, 0xE5}};
}

inline constexpr unsigned char kSpoiled = 0xA5;

}  // namespace tool
