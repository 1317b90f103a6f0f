#include "tests/gpu/device_memory.hpp"

namespace gpumem::gpu_tests {
namespace {

__global__ void fill_hash_kernel(unsigned char* x, int64_t n) {
  for (int64_t i = blockIdx.x * int64_t{256} + threadIdx.x; i < n; i += int64_t{gridDim.x} * 256) {
    x[i] = static_cast<unsigned char>(hash_of(static_cast<uint64_t>(i)));
  }
}

__global__ void check_kernel(const unsigned char* dst, Moved moved, unsigned long long* wrong) {
  int64_t elements = 1;
  for (int d = 0; d < moved.rank; ++d) elements *= moved.extent[d];
  for (int64_t i = blockIdx.x * int64_t{256} + threadIdx.x; i < elements; i += int64_t{gridDim.x} * 256) {
    int64_t left = i;
    int64_t from = moved.src_first;
    int64_t to = 0;
    for (int d = moved.rank - 1; d >= 0; --d) {
      const int64_t at = left % moved.extent[d];
      left /= moved.extent[d];
      from += at * moved.src_stride[d];
      to += at * moved.dst_stride[d];
    }
    bool right = true;
    for (int b = 0; b < moved.element_bytes; ++b) {
      const auto wanted = static_cast<unsigned char>(hash_of(static_cast<uint64_t>(from * moved.element_bytes + b)));
      right = right && dst[to * moved.element_bytes + b] == wanted;
    }
    if (!right) atomicAdd(wrong, 1ull);
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

void fill_hash_bytes(unsigned char* x, int64_t n) {
  fill_hash_kernel<<<4096, 256>>>(x, n);
  cudaDeviceSynchronize();
}

int64_t wrong_elements(const void* dst, const Moved& moved) {
  unsigned long long* wrong = nullptr;
  unsigned long long count = ~0ull;
  cudaMalloc(&wrong, sizeof *wrong);
  cudaMemset(wrong, 0, sizeof *wrong);
  check_kernel<<<4096, 256>>>(static_cast<const unsigned char*>(dst), moved, wrong);
  cudaMemcpy(&count, wrong, sizeof count, cudaMemcpyDefault);
  cudaFree(wrong);
  return static_cast<int64_t>(count);
}

void fill_value(int32_t* x, int64_t n, int32_t value) { fill_value_kernel<<<4096, 256>>>(x, n, value); }
void spin(cudaStream_t stream, int milliseconds) { spin_kernel<<<1, 1, 0, stream>>>(milliseconds * 1000000ll); }
void fault(cudaStream_t stream) { fault_kernel<<<1, 1, 0, stream>>>(); }

}  // namespace gpumem::gpu_tests
