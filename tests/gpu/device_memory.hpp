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

void fill_hash_bytes(unsigned char* x, int64_t n);
// Elements of dst (cols x rows bytes, tight) that are not the transpose of fill_hash_bytes' rows x cols.
int64_t wrong_transposed_bytes(const unsigned char* dst, int64_t rows, int64_t cols);
void fill_value(int32_t* x, int64_t n, int32_t value);
// Spins on a stream for about so many milliseconds.
void spin(cudaStream_t stream, int milliseconds);
// Writes where nothing is mapped: the device's context is lost.
void fault(cudaStream_t stream);

}  // namespace gpumem::gpu_tests
