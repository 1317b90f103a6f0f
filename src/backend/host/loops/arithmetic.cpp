// z = a0 x0 + a1 x1 + ..., and z = x0 x1, along rows; compiled once per instruction set (loops.hpp). Reads each operand
// once and writes z once. The loops are memory-bound, so they prefetch and write around the caches.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "backend/host/loops/common.hpp"
#include "backend/host/loops/loops.hpp"
#include "backend/host/stream_stores.hpp"

namespace gpumem {
namespace {

template <class T>
inline T from_bits(uint64_t wide) {
  const auto bits = static_cast<std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>(wide);
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// 0x7fc00000 and 0x7ff8000000000000.
template <class T>
constexpr T kNan = std::numeric_limits<T>::quiet_NaN();

// p is a multiple of the vector's size.
template <class Vector>
inline void stream_store(char* p, const Vector& v) {
#if defined(__AVX512F__)
  _mm512_stream_si512(reinterpret_cast<__m512i*>(p), reinterpret_cast<__m512i>(v));
#elif defined(__AVX2__)
  _mm256_stream_si256(reinterpret_cast<__m256i*>(p), reinterpret_cast<__m256i>(v));
#elif defined(__x86_64__)
  _mm_stream_si128(reinterpret_cast<__m128i*>(p), reinterpret_cast<__m128i>(v));
#else
  std::memcpy(p, &v, sizeof v);
#endif
}

constexpr int kMostRepeating = 3;  // terms; repeated elements of more are read one by one, which saves code

// A repeated element of each source fills a vector.
template <int kTerms>
struct Repeated {
  alignas(kVectorBytes) char of[std::max(kTerms, 1)][kVectorBytes];
};

// Contiguous rows; the formula serves T and vectors of T. kRepeats: some sources repeat an element.
template <class T, int kTerms, bool kProduct, bool kRepeats>
class Row {
 public:
  Row(const ArithmeticRow& row, Repeated<kTerms>& repeated) : z_(row.z), n_(row.n), stream_(row.stream), nan_(kNan<T>) {
    for (int k = 0; k < kTerms; ++k) {
      x_[k] = row.x[k];
      factor_[k] = from_bits<T>(row.factor[k]);
      // Neighbours in a row of a stencil share their lines, so only one of them is prefetched.
      ahead_[k] = row.ahead && (k == 0 || std::abs(row.x[k] - row.x[0]) > kLineBytes);
      moves_[k] = -1;
      if (!kRepeats || row.step[k] != 0) continue;
      for (int64_t at = 0; at < kVectorBytes; at += kSize) std::memcpy(repeated.of[k] + at, row.x[k], kSize);
      x_[k] = repeated.of[k];
      ahead_[k] = false;
      moves_[k] = 0;
    }
  }

  void all() const {
    const int64_t n = n_;
    const int64_t head = stream_ ? elements_to_line() : n;
    if (head >= n) return cached(0, n);
    const int64_t lines = (n - head) / kInLine * kInLine;
    cached(0, head);
    streamed(head, head + lines);
    cached(head + lines, n);
    stream_fence();
  }

 private:
  using Vector [[gnu::vector_size(kVectorBytes)]] = T;
  static constexpr int64_t kSize = sizeof(T);
  static constexpr int64_t kInVector = kVectorBytes / kSize;
  static constexpr int64_t kInLine = kLineBytes / kSize;
  static constexpr int64_t kInBlock = kBlock<T>;

  // n if no element begins at a line boundary.
  int64_t elements_to_line() const {
    const auto past = static_cast<int64_t>(reinterpret_cast<uintptr_t>(z_) % kLineBytes);
    const int64_t bytes = (kLineBytes - past) % kLineBytes;
    return bytes % kSize == 0 ? bytes / kSize : n_;
  }

  void cached(int64_t from, int64_t to) const {
    over_blocks(from, to, [this](int64_t first, int64_t last) {
      const Row row = *this;  // a copy in registers, since a store through z could alias the original
      int64_t i = first;
      for (; i + kInVector <= last; i += kInVector) {
        const Vector z = row.template at<Vector>(i);
        std::memcpy(row.z_ + i * kSize, &z, sizeof z);
      }
      for (; i < last; ++i) {
        const T z = row.template at<T>(i);
        std::memcpy(row.z_ + i * kSize, &z, sizeof z);
      }
    });
  }

  void streamed(int64_t from, int64_t to) const {
    over_blocks(from, to, [this](int64_t first, int64_t last) {
      const Row row = *this;
      for (int64_t i = first; i < last; i += kInVector) stream_store(row.z_ + i * kSize, row.template at<Vector>(i));
    });
  }

  template <class F>
  void over_blocks(int64_t from, int64_t to, const F& f) const {
    for (int64_t i = from; i < to; i += kInBlock) {
#pragma GCC unroll 8
      for (int k = 0; k < kTerms; ++k) {
        if (ahead_[k]) prefetch_block_ahead(reinterpret_cast<const T*>(x_[k] + i * kSize));
      }
      f(i, to - i < kInBlock ? to : i + kInBlock);
    }
  }

  template <class V>
  V at(int64_t i) const {
    V z{};
#pragma GCC unroll 8
    for (int k = 0; k < kTerms; ++k) {
      const V x = load_as<V>(x_[k] + (kRepeats ? (i * kSize) & moves_[k] : i * kSize));
      if constexpr (kProduct) {
        z = k == 0 ? x : z * x;
      } else {
        z = k == 0 ? factor_[k] * x : z + factor_[k] * x;
      }
    }
    return z == z ? z : nan_ + V{};  // NOLINT(misc-redundant-expression): a NaN differs from itself
  }

  static constexpr int kRoom = std::max(kTerms, 1);
  const char* x_[kRoom] = {};
  T factor_[kRoom] = {};
  bool ahead_[kRoom] = {};
  int64_t moves_[kRoom];  // all bits, or none for a repeated element
  char* z_;
  int64_t n_;
  bool stream_;
  T nan_;
};

// Elements of x are `step` bytes apart.
template <class T, class F>
inline void with_each(T* z, const char* x, int64_t step, int64_t n, const F& f) {
  constexpr int64_t kSize = sizeof(T);
  if (step == kSize) {
    for (int64_t i = 0; i < n; ++i) z[i] = f(z[i], load_as<T>(x + i * kSize));
  } else {
    for (int64_t i = 0; i < n; ++i) z[i] = f(z[i], load_as<T>(x + i * step));
  }
}

template <class T, int kTerms, bool kProduct>
void strided(const ArithmeticRow& row) {
  constexpr int kRoom = std::max(kTerms, 1);
  const char* x[kRoom] = {};
  int64_t step[kRoom] = {};
  T factor[kRoom] = {};
  for (int k = 0; k < kTerms; ++k) {
    x[k] = row.x[k];
    step[k] = row.step[k];
    factor[k] = from_bits<T>(row.factor[k]);
  }
  const int64_t z_step = row.z_step;
  char* out = row.z;
  for (int64_t i = 0; i < row.n; ++i) {
    T z{};
#pragma GCC unroll 8
    for (int k = 0; k < kTerms; ++k) {
      const T v = load_as<T>(x[k] + i * step[k]);
      if constexpr (kProduct) {
        z = k == 0 ? v : z * v;
      } else {
        z = k == 0 ? factor[k] * v : z + factor[k] * v;
      }
    }
    if (__builtin_isnan(z)) z = kNan<T>;
    std::memcpy(out + i * z_step, &z, sizeof z);
  }
}

template <class T, int kTerms, bool kProduct>
void of_terms(const ArithmeticRow& row) {
  bool side_by_side = row.z_step == sizeof(T);
  bool repeats = false;
  for (int k = 0; k < kTerms; ++k) {
    side_by_side = side_by_side && (row.step[k] == sizeof(T) || row.step[k] == 0);
    repeats = repeats || row.step[k] == 0;
  }
  if (!side_by_side || (repeats && kTerms > kMostRepeating)) return strided<T, kTerms, kProduct>(row);
  Repeated<kTerms> repeated;
  if (!repeats) return Row<T, kTerms, kProduct, false>(row, repeated).all();
  if constexpr (kTerms > 0 && kTerms <= kMostRepeating) Row<T, kTerms, kProduct, true>(row, repeated).all();
}

template <class T>
void arithmetic_of(const ArithmeticRow& row) {
  if (row.product) return of_terms<T, 2, true>(row);
  [&]<int... kTerms>(std::integer_sequence<int, kTerms...>) {
    static_cast<void>(((row.terms == kTerms && (of_terms<T, kTerms, false>(row), true)) || ...));
  }
  (std::make_integer_sequence<int, ArithmeticRow::kMost + 1>{});
}

}  // namespace

namespace GPUMEM_LOOPS {
const ArithmeticLoops arithmetic = {arithmetic_of<float>, arithmetic_of<double>};
}  // namespace GPUMEM_LOOPS

}  // namespace gpumem
