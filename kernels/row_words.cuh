// Rows of bytes as words, the last of which may be incomplete.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace gpumem::kernels {

template <class T>
__device__ __forceinline__ void move_part(const char*& from, char*& to) {
  *reinterpret_cast<T*>(to) = *reinterpret_cast<const T*>(from);
  from += sizeof(T);
  to += sizeof(T);
}

// Moves less than a word, in parts that are powers of two. The word is aligned, so each part is.
template <class Word>
__device__ __forceinline__ void move_tail(const char* from, char* to, int bytes) {
  if constexpr (sizeof(Word) > 8) {
    if ((bytes & 8) != 0) move_part<uint2>(from, to);
  }
  if constexpr (sizeof(Word) > 4) {
    if ((bytes & 4) != 0) move_part<uint32_t>(from, to);
  }
  if ((bytes & 2) != 0) move_part<uint16_t>(from, to);
  if ((bytes & 1) != 0) move_part<unsigned char>(from, to);
}

}  // namespace gpumem::kernels
