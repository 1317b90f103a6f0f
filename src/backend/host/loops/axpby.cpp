// z = alpha x + beta y; compiled once for each instruction set (loops.hpp). Reads each operand once and writes z once. Memory
// bounds the loops, so they prefetch what they read and write around the caches.
#include <cstring>

#include "backend/host/loops/common.hpp"
#include "backend/host/loops/loops.hpp"
#include "backend/host/stream_stores.hpp"

namespace gpumem {
namespace {

template <class T>
struct Type;
template <>
struct Type<float> {
  using Bits = uint32_t;
  using Vector = float __attribute__((vector_size(kVectorBytes)));
  static constexpr Bits kNan = 0x7fc00000;
};
template <>
struct Type<double> {
  using Bits = uint64_t;
  using Vector = double __attribute__((vector_size(kVectorBytes)));
  static constexpr Bits kNan = 0x7ff8000000000000;
};

template <class T>
inline T from_bits(uint64_t wide) {
  const auto bits = static_cast<typename Type<T>::Bits>(wide);
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// One vector around the caches, to a multiple of its size.
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

// The formula, for T itself and for vectors of it.
template <class T, bool kReadsX, bool kReadsY>
class Axpby {
 public:
  explicit Axpby(const AxpbyRun& run)
      : run_(run), alpha_(from_bits<T>(run.alpha)), beta_(from_bits<T>(run.beta)), nan_(from_bits<T>(Type<T>::kNan)) {}

  void all() const {
    const int64_t n = run_.n;
    const int64_t head = run_.stream ? elements_to_line() : n;
    if (head >= n) return cached(0, n);
    const int64_t lines = (n - head) / kInLine * kInLine;
    cached(0, head);
    streamed(head, head + lines);
    cached(head + lines, n);
    stream_fence();
  }

 private:
  using Vector = typename Type<T>::Vector;
  static constexpr int64_t kSize = sizeof(T);
  static constexpr int64_t kInVector = kVectorBytes / kSize;
  static constexpr int64_t kInLine = kLineBytes / kSize;
  static constexpr int64_t kInBlock = kBlock<T>;

  // n where no element begins at a line's boundary.
  int64_t elements_to_line() const {
    const auto past = static_cast<int64_t>(reinterpret_cast<uintptr_t>(run_.z) % kLineBytes);
    const int64_t bytes = (kLineBytes - past) % kLineBytes;
    return bytes % kSize == 0 ? bytes / kSize : run_.n;
  }

  void cached(int64_t from, int64_t to) const {
    over_blocks(from, to, [this](int64_t first, int64_t last) {
      int64_t i = first;
      for (; i + kInVector <= last; i += kInVector) {
        const Vector z = at<Vector>(i);
        std::memcpy(run_.z + i * kSize, &z, sizeof z);
      }
      for (; i < last; ++i) {
        const T z = at<T>(i);
        std::memcpy(run_.z + i * kSize, &z, sizeof z);
      }
    });
  }

  void streamed(int64_t from, int64_t to) const {
    over_blocks(from, to, [this](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; i += kInVector) stream_store(run_.z + i * kSize, at<Vector>(i));
    });
  }

  template <class F>
  void over_blocks(int64_t from, int64_t to, const F& f) const {
    for (int64_t i = from; i < to; i += kInBlock) {
      if constexpr (kReadsX) prefetch(run_.x + i * kSize);
      if constexpr (kReadsY) prefetch(run_.y + i * kSize);
      f(i, to - i < kInBlock ? to : i + kInBlock);
    }
  }

  static void prefetch(const char* p) { prefetch_block_ahead(reinterpret_cast<const T*>(p)); }

  template <class V>
  V at(int64_t i) const {
    V sum{};
    if constexpr (kReadsX) sum = alpha_ * load_as<V>(run_.x + i * kSize);
    if constexpr (kReadsX && kReadsY) sum = sum + beta_ * load_as<V>(run_.y + i * kSize);
    if constexpr (!kReadsX && kReadsY) sum = beta_ * load_as<V>(run_.y + i * kSize);
    return sum == sum ? sum : nan_ + V{};  // NOLINT(misc-redundant-expression): a NaN differs from itself
  }

  AxpbyRun run_;
  T alpha_;
  T beta_;
  T nan_;
};

template <class T>
void axpby_of(const AxpbyRun& run) {
  if (run.x != nullptr && run.y != nullptr) return Axpby<T, true, true>(run).all();
  if (run.x != nullptr) return Axpby<T, true, false>(run).all();
  if (run.y != nullptr) return Axpby<T, false, true>(run).all();
  Axpby<T, false, false>(run).all();
}

}  // namespace

namespace GPUMEM_LOOPS {
const AxpbyLoops axpby = {axpby_of<float>, axpby_of<double>};
}  // namespace GPUMEM_LOOPS

}  // namespace gpumem
