// Helpers of all loops. Everything has internal linkage (loops.hpp says why).
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace gpumem {
namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

// Hardware prefetchers keep fewer lines in flight than a core can wait for. This distance made every reduction of
// memory 1.1 to 1.25 times as fast (Xeon, Sapphire Rapids). A prefetch past the end is harmless.
constexpr int64_t kPrefetchBytes = 4096;
constexpr int64_t kLineBytes = 64;

template <class T>
inline T load_as(const void* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

inline void prefetch_ahead(const void* p, int64_t bytes = kPrefetchBytes) {
  __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(p) + static_cast<uintptr_t>(bytes)));
}

// A block has no more lines than a core can have in flight.
template <class T>
constexpr int64_t kBlock = 16 * kLineBytes / static_cast<int64_t>(sizeof(T));

template <class T>
inline void prefetch_block_ahead(const T* x) {
  for (int64_t i = 0; i < kBlock<T>; i += kLineBytes / static_cast<int64_t>(sizeof(T))) prefetch_ahead(x + i);
}

template <class T, class F>
inline void over_blocks(const T* x, int64_t n, const F& f) {
  for (int64_t at = 0; at < n; at += kBlock<T>) {
    prefetch_block_ahead(x + at);
    f(x + at, n - at < kBlock<T> ? n - at : kBlock<T>);
  }
}

}  // namespace
}  // namespace gpumem
