// CUDA memory and kernels of the test program itself: "another library" as far as gpumem can tell.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace gpumem::gpu_tests {

// x[i] = a hash of i, whose value never repeats in a pattern that a wrong index could hit.
__host__ __device__ inline uint32_t hash_of(uint64_t i) {
  uint64_t h = (i + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
  h ^= h >> 31;
  return static_cast<uint32_t>(h * 0x94d049bb133111ebu >> 32);
}

void fill_hash_bytes(unsigned char* x, int64_t n);  // done on return
// What went from an array of fill_hash_bytes to dst: the element at index i, whose component along axis d is i_d, from src_first +
// sum(i_d * src_stride[d]) to sum(i_d * dst_stride[d]), counted in elements.
struct Moved {
  int element_bytes;
  int rank;
  int64_t extent[6];
  int64_t src_stride[6];
  int64_t dst_stride[6];
  int64_t src_first = 0;
};
// Elements of dst that are something else.
int64_t wrong_elements(const void* dst, const Moved& moved);
void fill_value(int32_t* x, int64_t n, int32_t value);
// Spins on a stream for about so many milliseconds.
void spin(cudaStream_t stream, int milliseconds);
// Writes where nothing is mapped: the device's context is lost.
void fault(cudaStream_t stream);

}  // namespace gpumem::gpu_tests
