#include "host/openmp_peers.hpp"

#include <omp.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <cstring>

namespace bench::openmp {
namespace {

// One contiguous piece per thread, cut at multiples of a page.
template <class Piece>
void in_pieces(std::size_t bytes, const Piece& piece) {
#pragma omp parallel
  {
    const auto count = static_cast<std::size_t>(omp_get_num_threads());
    const auto index = static_cast<std::size_t>(omp_get_thread_num());
    const std::size_t step = (bytes / count + 4095) / 4096 * 4096;
    const std::size_t begin = std::min(index * step, bytes);
    const std::size_t end = index + 1 == count ? bytes : std::min(begin + step, bytes);
    if (end > begin) piece(begin, end - begin);
  }
}

}  // namespace

int threads() { return omp_get_max_threads(); }

void transpose_tiled(const uint32_t* src, uint32_t* dst, int64_t rows, int64_t cols) {
  constexpr int64_t tile = 32;
#pragma omp parallel for collapse(2) schedule(static)
  for (int64_t j0 = 0; j0 < cols; j0 += tile) {
    for (int64_t i0 = 0; i0 < rows; i0 += tile) {
      const int64_t i1 = std::min(i0 + tile, rows), j1 = std::min(j0 + tile, cols);
      for (int64_t j = j0; j < j1; ++j) {
        for (int64_t i = i0; i < i1; ++i) dst[j * rows + i] = src[i * cols + j];
      }
    }
  }
}

void move_rows(char* dst, const char* src, const int64_t* index, int64_t n, int64_t row_bytes, bool scatter) {
  if (row_bytes == 4) {
    const auto* x = reinterpret_cast<const uint32_t*>(src);
    auto* y = reinterpret_cast<uint32_t*>(dst);
    if (scatter) {
#pragma omp parallel for
      for (int64_t i = 0; i < n; ++i) y[index[i]] = x[i];
    } else {
#pragma omp parallel for
      for (int64_t i = 0; i < n; ++i) y[i] = x[index[i]];
    }
    return;
  }
#pragma omp parallel for
  for (int64_t i = 0; i < n; ++i) {
    const int64_t to = scatter ? index[i] : i, from = scatter ? i : index[i];
    std::memcpy(dst + to * row_bytes, src + from * row_bytes, static_cast<std::size_t>(row_bytes));
  }
}

void copy(void* dst, const void* src, std::size_t bytes) {
  in_pieces(bytes, [=](std::size_t at, std::size_t size) {
    std::memcpy(static_cast<char*>(dst) + at, static_cast<const char*>(src) + at, size);
  });
}

void copy_rows(void* dst, std::size_t dst_pitch, const void* src, std::size_t src_pitch, std::size_t row_bytes,
               int64_t rows) {
#pragma omp parallel for
  for (int64_t row = 0; row < rows; ++row) {
    const auto r = static_cast<std::size_t>(row);
    std::memcpy(static_cast<char*>(dst) + r * dst_pitch, static_cast<const char*>(src) + r * src_pitch, row_bytes);
  }
}

void fill_bytes(void* dst, int value, std::size_t bytes) {
  in_pieces(bytes, [=](std::size_t at, std::size_t size) { std::memset(static_cast<char*>(dst) + at, value, size); });
}

void fill_u32(uint32_t* dst, uint32_t value, int64_t count) {
#pragma omp parallel for simd
  for (int64_t i = 0; i < count; ++i) dst[i] = value;
}

void fill_u64_pairs(uint64_t* dst, uint64_t low, uint64_t high, int64_t count) {
#pragma omp parallel for simd
  for (int64_t i = 0; i < count; ++i) {
    dst[2 * i] = low;
    dst[2 * i + 1] = high;
  }
}

template <class T>
void triad(const T* x, T s, const T* y, T* z, int64_t n) {
#pragma omp parallel for simd
  for (int64_t i = 0; i < n; ++i) z[i] = x[i] + s * y[i];
}
template void triad(const float*, float, const float*, float*, int64_t);
template void triad(const double*, double, const double*, double*, int64_t);

template <class From, class To>
void convert(const From* src, To* dst, int64_t n) {
#pragma omp parallel for simd
  for (int64_t i = 0; i < n; ++i) dst[i] = static_cast<To>(src[i]);
}
template void convert(const uint8_t*, float*, int64_t);
template void convert(const float*, int16_t*, int64_t);
template void convert(const double*, float*, int64_t);
template void convert(const int64_t*, int32_t*, int64_t);

uint64_t read_all(const uint64_t* x, int64_t n) {
  uint64_t s = 0;
#pragma omp parallel for simd reduction(+ : s)
  for (int64_t i = 0; i < n; ++i) s += x[i];
  return s;
}

#if defined(__SSE2__)

// Both take page-aligned memory.
void stream_fill(void* dst, int value, std::size_t bytes) {
  const __m128i v = _mm_set1_epi8(static_cast<char>(value));
  in_pieces(bytes, [=](std::size_t at, std::size_t size) {
    auto* d = reinterpret_cast<__m128i*>(static_cast<char*>(dst) + at);
    for (std::size_t i = 0; i < size / 16; ++i) _mm_stream_si128(d + i, v);
    _mm_sfence();
  });
}

void stream_copy(void* dst, const void* src, std::size_t bytes) {
  in_pieces(bytes, [=](std::size_t at, std::size_t size) {
    auto* d = reinterpret_cast<__m128i*>(static_cast<char*>(dst) + at);
    const auto* s = reinterpret_cast<const __m128i*>(static_cast<const char*>(src) + at);
    for (std::size_t i = 0; i < size / 16; ++i) _mm_stream_si128(d + i, _mm_load_si128(s + i));
    _mm_sfence();
  });
}

#else

void stream_fill(void* dst, int value, std::size_t bytes) { fill_bytes(dst, value, bytes); }
void stream_copy(void* dst, const void* src, std::size_t bytes) { copy(dst, src, bytes); }

#endif

}  // namespace bench::openmp
