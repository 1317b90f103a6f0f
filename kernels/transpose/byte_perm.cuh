// Squares of bytes transposed in registers by byte permutations.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace gpumem::kernels {

// Row q of in holds its columns; word j of the result holds column j of all rows.
template <int kBytes>
__device__ inline void transpose_in_registers(const uint32_t (&in)[4 / kBytes], uint32_t (&out)[4 / kBytes]) {
  if constexpr (kBytes == 1) {
    const uint32_t low01 = __byte_perm(in[0], in[1], 0x5140);  // columns 0 and 1 of rows 0 and 1
    const uint32_t low23 = __byte_perm(in[2], in[3], 0x5140);
    const uint32_t high01 = __byte_perm(in[0], in[1], 0x7362);
    const uint32_t high23 = __byte_perm(in[2], in[3], 0x7362);
    out[0] = __byte_perm(low01, low23, 0x5410);
    out[1] = __byte_perm(low01, low23, 0x7632);
    out[2] = __byte_perm(high01, high23, 0x5410);
    out[3] = __byte_perm(high01, high23, 0x7632);
  } else {
    out[0] = __byte_perm(in[0], in[1], 0x5410);
    out[1] = __byte_perm(in[0], in[1], 0x7632);
  }
}

}  // namespace gpumem::kernels
