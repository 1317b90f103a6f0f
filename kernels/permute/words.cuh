// What the permutations share: elements, and how a kernel is launched.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/enqueue.cuh"
#include "kernels/permute/permute.hpp"

namespace gpumem::kernels {

template <int kBytes>
struct Word;
template <>
struct Word<1> {
  using Type = uint8_t;
};
template <>
struct Word<2> {
  using Type = uint16_t;
};
template <>
struct Word<4> {
  using Type = uint32_t;
};
template <>
struct Word<8> {
  using Type = uint2;
};
template <>
struct Word<16> {
  using Type = uint4;
};

// Calls f with the element's size as a compile-time constant.
template <class F>
cudaError_t for_size(int64_t element_bytes, const F& f) {
  switch (element_bytes) {
    case 1:
      return f.template operator()<1>();
    case 2:
      return f.template operator()<2>();
    case 4:
      return f.template operator()<4>();
    case 8:
      return f.template operator()<8>();
    case 16:
      return f.template operator()<16>();
    default:
      return cudaErrorInvalidValue;
  }
}

template <class Kernel>
cudaError_t load(Kernel kernel) {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, kernel);
}

}  // namespace gpumem::kernels
