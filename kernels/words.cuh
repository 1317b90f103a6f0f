// Word types by size, and helpers for kernels that depend on the size of an element.
#pragma once

#include <cuda_runtime.h>

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <tuple>

#include "kernels/sizes.hpp"

namespace gpumem::kernels {

// kBytes is a power of two.
template <int kBytes>
using WordOf = std::tuple_element_t<std::countr_zero(static_cast<unsigned>(kBytes)),
                                    std::tuple<uint8_t, uint16_t, uint32_t, uint2, uint4>>;

template <int kBytes>
union ElementWord {
  uint4 word;
  uint32_t quarter[4];
  WordOf<kBytes> element[16 / kBytes];
  __device__ ElementWord() {}
};

// An element without alignment.
template <int kBytes>
struct Bytes {
  unsigned char bytes[kBytes];
};

// Ways to move an element: in one access, or byte by byte.
struct Aligned {
  template <class T>
  static __device__ T load(const T* p) {
    return *p;
  }
  template <class T>
  static __device__ void store(T* p, T value) {
    *p = value;
  }
};
struct Bytewise {
  template <class T>
  static __device__ T load(const T* p) {
    return std::bit_cast<T>(*reinterpret_cast<const Bytes<sizeof(T)>*>(p));
  }
  template <class T>
  static __device__ void store(T* p, T value) {
    *reinterpret_cast<Bytes<sizeof(T)>*>(p) = std::bit_cast<Bytes<sizeof(T)>>(value);
  }
};

// Stops at the first error.
template <class F>
cudaError_t for_all_sizes(const F& f) {
  for (const int64_t bytes : {1, 2, 4, 8, 16}) {
    const cudaError_t error = for_size(bytes, f);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

// Loads the kernels' code before their first launch. Kernels of one source file are loaded together.
template <class... Kernels>
cudaError_t preload(Kernels... kernels) {
  cudaError_t error = cudaSuccess;
  cudaFuncAttributes attributes;
  static_cast<void>((((error = cudaFuncGetAttributes(&attributes, kernels)) == cudaSuccess) && ...));
  return error;
}

}  // namespace gpumem::kernels
