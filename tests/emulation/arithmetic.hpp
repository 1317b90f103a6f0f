// CUDA's arithmetic functions that C++ has under no such name. CUDA Math API and CUDA C++ Programming Guide; those on halves and
// bytes of a word are written out by their definition.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

// ---------------------------------------------------------------------------------------------------- min and max

#define GPUMEM_EMULATION_MIN_MAX(type)                         \
  constexpr type min(type a, type b) { return b < a ? b : a; } \
  constexpr type max(type a, type b) { return a < b ? b : a; }
GPUMEM_EMULATION_MIN_MAX(int)
GPUMEM_EMULATION_MIN_MAX(unsigned)
GPUMEM_EMULATION_MIN_MAX(long)
GPUMEM_EMULATION_MIN_MAX(unsigned long)
GPUMEM_EMULATION_MIN_MAX(long long)
GPUMEM_EMULATION_MIN_MAX(unsigned long long)
#undef GPUMEM_EMULATION_MIN_MAX
// One of them a NaN: the other one.
inline float min(float a, float b) { return std::fmin(a, b); }
inline float max(float a, float b) { return std::fmax(a, b); }
inline double min(double a, double b) { return std::fmin(a, b); }
inline double max(double a, double b) { return std::fmax(a, b); }

// ----------------------------------------------------------------------------------------------------------- bits

inline float __uint_as_float(unsigned v) { return std::bit_cast<float>(v); }
inline float __int_as_float(int v) { return std::bit_cast<float>(v); }
inline unsigned __float_as_uint(float v) { return std::bit_cast<unsigned>(v); }
inline int __float_as_int(float v) { return std::bit_cast<int>(v); }
inline double __longlong_as_double(long long v) { return std::bit_cast<double>(v); }
inline long long __double_as_longlong(double v) { return std::bit_cast<long long>(v); }
inline double __hiloint2double(int high, int low) {
  return std::bit_cast<double>(uint64_t{static_cast<uint32_t>(high)} << 32 | static_cast<uint32_t>(low));
}
inline int __double2hiint(double v) { return static_cast<int>(std::bit_cast<uint64_t>(v) >> 32); }
inline int __double2loint(double v) { return static_cast<int>(std::bit_cast<uint64_t>(v)); }

inline int __popc(unsigned v) { return std::popcount(v); }
inline int __popcll(unsigned long long v) { return std::popcount(v); }
inline int __clz(int v) { return std::countl_zero(static_cast<unsigned>(v)); }
inline int __clzll(long long v) { return std::countl_zero(static_cast<unsigned long long>(v)); }
inline unsigned __brev(unsigned v) {
  unsigned reversed = 0;
  for (int i = 0; i < 32; ++i) reversed |= (v >> i & 1) << (31 - i);
  return reversed;
}
inline int __ffs(int v) { return v == 0 ? 0 : std::countr_zero(static_cast<unsigned>(v)) + 1; }
inline int __ffsll(long long v) { return v == 0 ? 0 : std::countr_zero(static_cast<unsigned long long>(v)) + 1; }

// Byte i of the result is byte s & 7 of y:x, s the selector's nibble i; its bit 3 spreads that byte's sign instead.
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const uint64_t both = uint64_t{y} << 32 | x;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned nibble = selector >> (4 * i) & 0xf;
    unsigned byte = static_cast<unsigned>(both >> (8 * (nibble & 7))) & 0xff;
    if ((nibble & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
    result |= byte << (8 * i);
  }
  return result;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((uint64_t{high} << 32 | low) << (shift & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((uint64_t{high} << 32 | low) >> (shift & 31));
}

// ------------------------------------------------------------------------------------------------ halves and bytes

namespace gpumem_emulation {

// f on each of the words' parts of kBits bits.
template <int kBits, class F>
constexpr unsigned by_parts(unsigned a, unsigned b, const F& f) {
  constexpr unsigned kMask = (1u << kBits) - 1;
  unsigned result = 0;
  for (int at = 0; at < 32; at += kBits) result |= (f(a >> at & kMask, b >> at & kMask) & kMask) << at;
  return result;
}

template <int kBits>
constexpr int signed_part(unsigned part) {
  return static_cast<int>(part << (32 - kBits)) >> (32 - kBits);
}

// The most negative number stays as it is, as in __vabs2 and __vabs4.
template <int kBits>
constexpr unsigned absolute_parts(unsigned a) {
  return by_parts<kBits>(a, 0, [](unsigned part, unsigned) {
    const int v = signed_part<kBits>(part);
    return static_cast<unsigned>(v < 0 ? -v : v);
  });
}

template <class T>
constexpr int64_t byte_of(T word, int i) {
  const auto byte = static_cast<uint32_t>(word) >> (8 * i) & 0xff;
  return std::is_signed_v<T> ? static_cast<int8_t>(byte) : static_cast<int64_t>(byte);
}
template <class T>
constexpr int64_t half_of(T word, int i) {
  const auto half = static_cast<uint32_t>(word) >> (16 * i) & 0xffff;
  return std::is_signed_v<T> ? static_cast<int16_t>(half) : static_cast<int64_t>(half);
}

template <class T>
constexpr T dot4(T a, T b, T c) {
  uint32_t sum = static_cast<uint32_t>(c);
  for (int i = 0; i < 4; ++i) sum += static_cast<uint32_t>(byte_of(a, i) * byte_of(b, i));
  return static_cast<T>(sum);
}
template <class T>
constexpr T dot2(T a, T b, T c, int first) {
  uint32_t sum = static_cast<uint32_t>(c);
  for (int i = 0; i < 2; ++i) sum += static_cast<uint32_t>(half_of(a, i) * byte_of(b, first + i));
  return static_cast<T>(sum);
}

}  // namespace gpumem_emulation

inline unsigned __vminu2(unsigned a, unsigned b) {
  return gpumem_emulation::by_parts<16>(a, b, [](unsigned x, unsigned y) { return x < y ? x : y; });
}
inline unsigned __vmaxu2(unsigned a, unsigned b) {
  return gpumem_emulation::by_parts<16>(a, b, [](unsigned x, unsigned y) { return x > y ? x : y; });
}
inline unsigned __vadd2(unsigned a, unsigned b) {
  return gpumem_emulation::by_parts<16>(a, b, [](unsigned x, unsigned y) { return x + y; });
}
inline unsigned __viaddmin_u16x2(unsigned a, unsigned b, unsigned c) { return __vminu2(__vadd2(a, b), c); }
inline unsigned __viaddmax_u16x2(unsigned a, unsigned b, unsigned c) { return __vmaxu2(__vadd2(a, b), c); }
inline unsigned __vminu4(unsigned a, unsigned b) {
  return gpumem_emulation::by_parts<8>(a, b, [](unsigned x, unsigned y) { return x < y ? x : y; });
}
inline unsigned __vmaxu4(unsigned a, unsigned b) {
  return gpumem_emulation::by_parts<8>(a, b, [](unsigned x, unsigned y) { return x > y ? x : y; });
}
inline unsigned __vabs2(unsigned a) { return gpumem_emulation::absolute_parts<16>(a); }
inline unsigned __vabs4(unsigned a) { return gpumem_emulation::absolute_parts<8>(a); }

// Four products of bytes, or two of halves with the low or the high two bytes, added to c.
inline int __dp4a(int a, int b, int c) { return gpumem_emulation::dot4(a, b, c); }
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) { return gpumem_emulation::dot4(a, b, c); }
inline int __dp2a_lo(int a, int b, int c) { return gpumem_emulation::dot2(a, b, c, 0); }
inline unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) { return gpumem_emulation::dot2(a, b, c, 0); }
inline int __dp2a_hi(int a, int b, int c) { return gpumem_emulation::dot2(a, b, c, 2); }
inline unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) { return gpumem_emulation::dot2(a, b, c, 2); }

// ------------------------------------------------------------------------------------------ products and rounding

inline unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>(uint64_t{a} * b >> 32); }
inline int __mulhi(int a, int b) { return static_cast<int>(int64_t{a} * b >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<unsigned long long>(Wide{a} * b >> 64);
}

inline unsigned __float2uint_rn(float v) { return static_cast<unsigned>(std::nearbyint(v)); }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
