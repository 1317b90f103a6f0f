// Transposes matrices in registers, block by block. Everything has internal linkage (loops.hpp says why).
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "backend/host/loops/common.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace gpumem {
namespace {

template <int kVector>
struct VectorsOf {
  typedef uint8_t Bytes __attribute__((vector_size(kVector)));
  typedef uint16_t Pairs __attribute__((vector_size(kVector)));
  typedef uint32_t Fours __attribute__((vector_size(kVector)));
  typedef uint64_t Eights __attribute__((vector_size(kVector)));
};

// kRows x kCols elements: 16 bytes of each row of src, and a vector of each row of dst. A vector's 16-byte lanes come
// from rows kCols apart, so no step crosses lanes. Each step interleaves the rows of one half with the other half's.
template <int kBytes, int kVector>
struct TransposeBlock {
  static constexpr int kRows = kVector / kBytes;
  static constexpr int kCols = 16 / kBytes;

  static void run(const char* src, int64_t src_pitch, char* dst, int64_t dst_pitch) {
    run(src, src_pitch, kRows, dst, dst_pitch, kCols);
  }
  // The last row is repeated for absent rows; absent columns are not written.
  static void run(const char* src, int64_t src_pitch, int64_t rows, char* dst, int64_t dst_pitch, int64_t cols) {
    run(src, src_pitch, rows, dst, dst_pitch, cols, std::make_integer_sequence<int, kCols>{});
  }

 private:
  using Vectors = VectorsOf<kVector>;
  using V = std::conditional_t<
      kBytes == 2, typename Vectors::Pairs,
      std::conditional_t<kBytes == 4, typename Vectors::Fours,
                         std::conditional_t<kBytes == 8, typename Vectors::Eights, typename Vectors::Bytes>>>;
  using Words = std::make_integer_sequence<int, kBytes == 16 ? kVector : kRows>;

  template <int... kCol>
  static void run(const char* src, int64_t src_pitch, int64_t rows, char* dst, int64_t dst_pitch, int64_t cols,
                  std::integer_sequence<int, kCol...>) {
    V v[kCols] = {load(src, src_pitch, kCol, rows)...};
    if constexpr (kCols >= 2) interleave(v, std::make_index_sequence<kCols / 2>{});
    if constexpr (kCols >= 4) interleave(v, std::make_index_sequence<kCols / 2>{});
    if constexpr (kCols >= 8) interleave(v, std::make_index_sequence<kCols / 2>{});
    if constexpr (kCols >= 16) interleave(v, std::make_index_sequence<kCols / 2>{});
    (store(v[kCol], dst, dst_pitch, kCol, cols), ...);
  }

  static V load(const char* src, int64_t pitch, int64_t row, int64_t rows) {
    const auto lane = [&](int64_t index) { return src + std::min(row + index * kCols, rows - 1) * pitch; };
#if defined(__AVX512F__)
    if constexpr (kVector == 64) {
      __m512i v = _mm512_zextsi128_si512(load_as<__m128i>(lane(0)));
      v = _mm512_inserti32x4(v, load_as<__m128i>(lane(1)), 1);
      v = _mm512_inserti32x4(v, load_as<__m128i>(lane(2)), 2);
      return reinterpret_cast<V>(_mm512_inserti32x4(v, load_as<__m128i>(lane(3)), 3));
    }
#endif
#if defined(__AVX2__)
    if constexpr (kVector == 32) {
      const __m256i v = _mm256_zextsi128_si256(load_as<__m128i>(lane(0)));
      return reinterpret_cast<V>(_mm256_inserti128_si256(v, load_as<__m128i>(lane(1)), 1));
    }
#endif
    if constexpr (kVector == 16) return load_as<V>(lane(0));
  }

  static void store(const V& v, char* dst, int64_t pitch, int64_t col, int64_t cols) {
    if (col < cols) std::memcpy(dst + col * pitch, &v, sizeof v);
  }

  template <size_t... kPair>
  static void interleave(V* v, std::index_sequence<kPair...>) {
    const V old[kCols] = {v[kPair]..., v[kPair + kCols / 2]...};
    ((v[2 * kPair] = halves<0>(old[kPair], old[kPair + kCols / 2], Words{}),
      v[2 * kPair + 1] = halves<kCols / 2>(old[kPair], old[kPair + kCols / 2], Words{})),
     ...);
  }
  template <int kFirst, int... kWord>
  static V halves(const V& a, const V& b, std::integer_sequence<int, kWord...>) {
    return __builtin_shufflevector(a, b, (kWord / kCols * kCols + kFirst + kWord % kCols / 2 + kWord % 2 * kRows)...);
  }
};

template <int kBytes>
void transpose_elements(const char* src, int64_t src_pitch, char* dst, int64_t dst_pitch, int64_t rows, int64_t cols) {
  for (int64_t c = 0; c < cols; ++c) {
    for (int64_t r = 0; r < rows; ++r)
      std::memcpy(dst + c * dst_pitch + r * kBytes, src + r * src_pitch + c * kBytes, kBytes);
  }
}

// The last blocks overlap their predecessors if the matrix is not a multiple of the block.
template <int kBytes, int kVector>
void transpose_blocks(const char* src, int64_t src_pitch, char* dst, int64_t dst_pitch, int64_t rows, int64_t cols) {
  using Block = TransposeBlock<kBytes, kVector>;
  for (int64_t at_row = 0; at_row < rows; at_row += Block::kRows) {
    const int64_t r = std::min(at_row, rows - Block::kRows);
    for (int64_t at_col = 0; at_col < cols; at_col += Block::kCols) {
      const int64_t c = std::min(at_col, cols - Block::kCols);
      Block::run(src + r * src_pitch + c * kBytes, src_pitch, dst + c * dst_pitch + r * kBytes, dst_pitch);
    }
  }
}

// Up to this many elements of 8 or 16 bytes, blocks gain nothing.
constexpr int64_t kFewElements = 36;

template <int kBytes>
bool too_small_for_blocks(int64_t rows, int64_t cols) {
  return (kBytes >= 8 && rows * cols <= kFewElements) || cols < 16 / kBytes || rows < 16 / kBytes;
}

// src and dst must not overlap.
template <int kBytes>
void transpose_matrix(const char* src, int64_t src_pitch, char* dst, int64_t dst_pitch, int64_t rows, int64_t cols) {
  if (too_small_for_blocks<kBytes>(rows, cols))
    return transpose_elements<kBytes>(src, src_pitch, dst, dst_pitch, rows, cols);
  if constexpr (kVectorBytes >= 64)
    if (rows >= 64 / kBytes) return transpose_blocks<kBytes, 64>(src, src_pitch, dst, dst_pitch, rows, cols);
  if constexpr (kVectorBytes >= 32)
    if (rows >= 32 / kBytes) return transpose_blocks<kBytes, 32>(src, src_pitch, dst, dst_pitch, rows, cols);
  transpose_blocks<kBytes, 16>(src, src_pitch, dst, dst_pitch, rows, cols);
}

}  // namespace
}  // namespace gpumem
