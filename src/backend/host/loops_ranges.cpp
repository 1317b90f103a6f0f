// Smallest and largest elements, and the first of them; compiled once for each instruction set (loops.hpp). Elements are
// compared as integers of their own width whose order is that of the keys of kernels/elements.hpp; the loops are written so
// that compilers turn them into vectors.
#include <type_traits>

#include "backend/host/loops.hpp"
#include "backend/host/loops_common.hpp"

namespace gpumem {
namespace {

// The elements' memory, whatever their own type is.
template <class T>
using Bits [[gnu::may_alias]] = T;

template <class T>
struct Range {
  T low;
  T high;
};

// Elements are read as T, and order() makes of them what is compared.
template <class Type>
struct Integer {
  using T = Type;
  static T order(T x) { return x; }
  static bool is_nan(T) { return false; }

  static Range<T> range(const Bits<T>* x, int64_t n) {
    T low = x[0];
    T high = x[0];
    for (int64_t i = 0; i < n; ++i) {
      const T v = x[i];
      low = v < low ? v : low;
      high = v > high ? v : high;
    }
    return {low, high};
  }
};

template <class Type, Type kInfinity>
struct Floating {
  using T = Type;
  using U = std::make_unsigned_t<T>;
  // A negative number's magnitude is turned round; and back again.
  static T order(T bits) { return static_cast<T>(bits < 0 ? bits ^ static_cast<U>(-1) >> 1 : bits); }
  static bool is_nan(T x) { return x > kInfinity || x < static_cast<T>(-kInfinity - 1); }

  // As unsigned numbers, bits with a sign are the highest, and go down as the elements go up.
  static Range<T> range(const Bits<T>* x, int64_t n) {
    T most = x[0];
    auto lowest = static_cast<U>(x[0]);
    U highest = lowest;
    for (int64_t i = 0; i < n; ++i) {
      const T v = x[i];
      const auto u = static_cast<U>(v);
      most = v > most ? v : most;
      lowest = u < lowest ? u : lowest;
      highest = u > highest ? u : highest;
    }
    const bool any_negative = static_cast<T>(highest) < 0;
    const bool all_negative = static_cast<T>(lowest) < 0;
    return {order(static_cast<T>(any_negative ? highest : lowest)),
            order(all_negative ? static_cast<T>(lowest) : most)};
  }
};

// As key_of(): unsigned, the sign bit turned where there is one.
template <class T>
inline uint64_t key(T v) {
  using U = std::make_unsigned_t<T>;
  constexpr U kSign = std::is_signed_v<T> ? static_cast<U>(U{1} << (8 * sizeof(T) - 1)) : U{0};
  return static_cast<U>(static_cast<U>(v) ^ kSign);
}

template <class Type>
ReduceNode range(const void* x, const void*, int64_t n) {
  const auto* first = static_cast<const Bits<typename Type::T>*>(x);
  auto low = Type::order(first[0]);
  auto high = low;
  over_blocks(first, n, [&](const Bits<typename Type::T>* v, int64_t count) {
    const auto here = Type::range(v, count);
    low = here.low < low ? here.low : low;
    high = here.high > high ? here.high : high;
  });
  return {{key(low), key(high), 0, 0}};
}

// The first element that is looked for, which is there: a value, or any NaN. In steps, each without a branch but at its end.
template <class Type, class T = typename Type::T>
int64_t first_of(const Bits<typename Type::T>* x, int64_t n, T value, bool nan) {
  constexpr int64_t kStep = 64;
  int64_t at = 0;
  const auto sought = [&](T v) { return nan ? Type::is_nan(v) : v == value; };
  for (; at + kStep <= n; at += kStep) {
    const Range<T> here = Type::range(x + at, kStep);
    if (nan ? Type::is_nan(here.low) || Type::is_nan(here.high) : here.low == value || here.high == value) break;
  }
  while (!sought(Type::order(x[at]))) ++at;
  return at;
}

// Only the best one is looked into.
template <class Type, bool kMaximum>
ReduceNode first(const void* data, const void*, int64_t n) {
  using T = typename Type::T;
  const auto* x = static_cast<const Bits<typename Type::T>*>(data);
  T best{};
  int64_t block = -1;
  bool nan = false;
  for (int64_t at = 0; at < n && !nan; at += kBlock<T>) {
    prefetch_block_ahead(x + at);
    const Range<T> here = Type::range(x + at, n - at < kBlock<T> ? n - at : kBlock<T>);
    nan = Type::is_nan(here.low) || Type::is_nan(here.high);
    const T candidate = kMaximum ? here.high : here.low;
    if (nan || block < 0 || (kMaximum ? candidate > best : candidate < best)) {
      best = candidate;
      block = at;
    }
  }
  const int64_t index = block + first_of<Type>(x + block, n - block < kBlock<T> ? n - block : kBlock<T>, best, nan);
  const uint64_t rank = nan ? 0 : kMaximum ? key(best) ^ static_cast<std::make_unsigned_t<T>>(-1) : key(best);
  return {{rank, static_cast<uint64_t>(index), 0, 0}};
}

using F16 = Floating<int16_t, 0x7c00>;
using Bf16 = Floating<int16_t, 0x7f80>;
using F32 = Floating<int32_t, 0x7f800000>;
using F64 = Floating<int64_t, 0x7ff0000000000000>;

}  // namespace

namespace GPUMEM_LOOPS {
const RangeLoops ranges = {
    {range<Integer<int8_t>>, range<Integer<uint8_t>>, range<Integer<int16_t>>, range<Integer<uint16_t>>,
     range<Integer<int32_t>>, range<Integer<uint32_t>>, range<Integer<int64_t>>, range<Integer<uint64_t>>, range<F16>,
     range<Bf16>, range<F32>, range<F64>},
    {first<Integer<int8_t>, false>, first<Integer<uint8_t>, false>, first<Integer<int16_t>, false>,
     first<Integer<uint16_t>, false>, first<Integer<int32_t>, false>, first<Integer<uint32_t>, false>,
     first<Integer<int64_t>, false>, first<Integer<uint64_t>, false>, first<F16, false>, first<Bf16, false>,
     first<F32, false>, first<F64, false>},
    {first<Integer<int8_t>, true>, first<Integer<uint8_t>, true>, first<Integer<int16_t>, true>,
     first<Integer<uint16_t>, true>, first<Integer<int32_t>, true>, first<Integer<uint32_t>, true>,
     first<Integer<int64_t>, true>, first<Integer<uint64_t>, true>, first<F16, true>, first<Bf16, true>,
     first<F32, true>, first<F64, true>}};
}  // namespace GPUMEM_LOOPS

}  // namespace gpumem
