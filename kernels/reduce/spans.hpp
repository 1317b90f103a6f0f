// A contiguous line of aligned elements as 16-byte words. The host computes it once for a single sequence, the kernels
// for each of many lines. Chunk and leaf indices fit 32 bits: 2^36 elements of 8 bytes are 2^27 chunks.
#pragma once

#include <cstdint>

#include "kernels/order.hpp"

namespace gpumem::kernels {

constexpr int kChunkWords = 8;  // 16-byte words of a chunk per thread
constexpr int kChunkBytes = 32 * kChunkWords * 16;

// Whole words in chunks, and the elements before and after them.
struct WordSpan {
  uint64_t words = 0;  // address of the first word
  int64_t count = 0;   // of whole words
  int32_t head = 0;    // elements before them
  int32_t after = 0;   // elements after them
  int32_t chunks = 0;  // the last one may be incomplete
  int32_t full_chunks = 0;
};

constexpr WordSpan word_span(uint64_t address, int64_t n, int bytes) noexcept {
  WordSpan span;
  const int64_t to_boundary = static_cast<int64_t>((16 - address % 16) % 16) / bytes;
  span.head = static_cast<int32_t>(to_boundary < n ? to_boundary : n);
  span.count = (n - span.head) / (16 / bytes);
  span.after = static_cast<int32_t>(n - span.head - span.count * (16 / bytes));
  span.words = address + static_cast<uint64_t>(span.head) * static_cast<uint64_t>(bytes);
  span.chunks = static_cast<int32_t>((span.count + 32 * kChunkWords - 1) / (32 * kChunkWords));
  span.full_chunks = static_cast<int32_t>(span.count / (32 * kChunkWords));
  return span;
}

// Leaves of the reproducible order as words. The line may share the first and last word with its surroundings.
struct LeafSpan {
  uint64_t words = 0;    // address of the word with element 0
  int64_t n = 0;         // elements
  int32_t rotation = 0;  // elements of that word before element 0
  int32_t leaves = 0;
  int32_t full_first = 0;  // leaves [full_first, full_last) touch only words inside the line
  int32_t full_last = 0;
};

constexpr LeafSpan leaf_span(uint64_t address, int64_t n, int bytes) noexcept {
  LeafSpan span;
  span.n = n;
  span.rotation = static_cast<int32_t>(address % 16) / bytes;
  span.words = address - address % 16;
  span.leaves = static_cast<int32_t>((n + kLeafTerms - 1) / kLeafTerms);
  span.full_first = span.rotation > 0 ? 1 : 0;
  const int64_t beyond = span.rotation > 0 ? 16 / bytes - span.rotation : 0;
  span.full_last = static_cast<int32_t>(n > beyond ? (n - beyond) / kLeafTerms : 0);
  return span;
}

}  // namespace gpumem::kernels
