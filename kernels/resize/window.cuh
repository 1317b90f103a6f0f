// Reads neighbouring bytes of an image at any address by aligned 4-byte words. Two words shifted together make one.
#pragma once

#include <cstdint>

namespace gpumem::kernels {

// An image of less than 2 GiB as aligned words. `base` is the address of its first byte, rounded down to a word. Bytes
// of the first and last word that are outside the image are never read.
struct ResizeWords {
  const unsigned char* base;
  int32_t first;  // the image's bytes, as offsets from base
  int32_t end;

  ResizeWords() = default;
  __host__ __device__ ResizeWords(const void* image, int64_t bytes) {
    first = static_cast<int32_t>(reinterpret_cast<uintptr_t>(image) & 3);
    base = static_cast<const unsigned char*>(image) - first;
    end = first + static_cast<int32_t>(bytes);
  }

  // The word at an end of the image, with only the image's bytes.
  __device__ uint32_t word_at_end(int32_t at) const {
    uint32_t word = 0;
    for (int32_t i = 0; i < 4; ++i) {
      if (at + i >= first && at + i < end) word |= uint32_t{__ldg(base + at + i)} << (8 * i);
    }
    return word;
  }
  __device__ uint32_t first_word() const { return word_at_end(0); }
  __device__ uint32_t last_word() const { return word_at_end((end - 1) & ~3); }
};

// Offsets of rows whose words are all inside the image: begin to begin + count - 1.
struct ResizeInside {
  uint32_t begin;
  uint32_t count;

  ResizeInside() = default;
  // For rows of row_bytes, and windows that reach up to `more` bytes past a row.
  __host__ __device__ ResizeInside(const ResizeWords& image, int32_t row_bytes, int32_t more) {
    begin = image.first == 0 ? 0 : 4 - static_cast<uint32_t>(image.first);
    const int32_t last = image.end - image.first - row_bytes - more;
    count = last < static_cast<int32_t>(begin) ? 0 : static_cast<uint32_t>(last) - begin + 1;
  }
  __device__ bool has(uint32_t row) const { return row - begin < count; }
};

// kBytes of an image at a multiple of kAlign.
template <int kBytes, int kAlign>
struct ResizeWindow {
  static constexpr int kWords = (kBytes + 4 - kAlign + 3) / 4;

  uint32_t word[kWords];

  __device__ void read(const unsigned char* from) {
#pragma unroll
    for (int i = 0; i < kWords; ++i) word[i] = __ldg(reinterpret_cast<const uint32_t*>(from) + i);
  }

  // Reads at an offset from the image's base. The caller passes the words at the ends. Bytes beyond them are undefined.
  __device__ void read_at_end(const ResizeWords& image, uint32_t from, const uint32_t (&ends)[2]) {
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      const auto byte = static_cast<int32_t>(from) + 4 * i;
      if (byte >= image.first && byte + 4 <= image.end) {
        word[i] = __ldg(reinterpret_cast<const uint32_t*>(image.base + byte));
      } else {
        word[i] = ends[byte < image.first ? 0 : 1];
      }
    }
  }

  // Bytes 4 i to 4 i + 3. `bits` is 8 times the offset of the first. Bytes after kBytes are undefined.
  __device__ uint32_t part(int i, uint32_t bits) const {
    if constexpr (kAlign == 4) return word[i];
    return i + 1 < kWords ? __funnelshift_r(word[i], word[i + 1], bits) : word[i] >> (bits & 31);
  }
};

}  // namespace gpumem::kernels
