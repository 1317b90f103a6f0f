#include "tests/gpu/device_memory.hpp"

namespace gpumem::gpu_tests {
namespace {

__global__ void fill_hash_kernel(unsigned char* x, int64_t n) {
  for (int64_t i = blockIdx.x * int64_t{256} + threadIdx.x; i < n; i += int64_t{gridDim.x} * 256) {
    x[i] = static_cast<unsigned char>(hash_of(static_cast<uint64_t>(i)));
  }
}

__global__ void check_kernel(const unsigned char* dst, int64_t rows, int64_t cols, unsigned long long* wrong) {
  for (int64_t i = blockIdx.x * int64_t{256} + threadIdx.x; i < rows * cols; i += int64_t{gridDim.x} * 256) {
    const int64_t c = i / rows;
    const int64_t r = i % rows;
    if (dst[i] != static_cast<unsigned char>(hash_of(static_cast<uint64_t>(r * cols + c)))) atomicAdd(wrong, 1ull);
  }
}

__global__ void fill_value_kernel(int32_t* x, int64_t n, int32_t value) {
  for (int64_t i = blockIdx.x * int64_t{256} + threadIdx.x; i < n; i += int64_t{gridDim.x} * 256) x[i] = value;
}

__global__ void spin_kernel(long long nanoseconds) {
  unsigned long long start = 0;
  unsigned long long now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - start < static_cast<unsigned long long>(nanoseconds));
}

__global__ void fault_kernel() { *reinterpret_cast<volatile int*>(0x10) = 1; }

}  // namespace

void fill_hash_bytes(unsigned char* x, int64_t n) { fill_hash_kernel<<<4096, 256>>>(x, n); }

int64_t wrong_transposed_bytes(const unsigned char* dst, int64_t rows, int64_t cols) {
  unsigned long long* wrong = nullptr;
  unsigned long long count = ~0ull;
  cudaMalloc(&wrong, sizeof *wrong);
  cudaMemset(wrong, 0, sizeof *wrong);
  check_kernel<<<4096, 256>>>(dst, rows, cols, wrong);
  cudaMemcpy(&count, wrong, sizeof count, cudaMemcpyDefault);
  cudaFree(wrong);
  return static_cast<int64_t>(count);
}

void fill_value(int32_t* x, int64_t n, int32_t value) { fill_value_kernel<<<4096, 256>>>(x, n, value); }
void spin(cudaStream_t stream, int milliseconds) { spin_kernel<<<1, 1, 0, stream>>>(milliseconds * 1000000ll); }
void fault(cudaStream_t stream) { fault_kernel<<<1, 1, 0, stream>>>(); }

}  // namespace gpumem::gpu_tests
