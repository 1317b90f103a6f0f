#include <algorithm>
#include <cstring>

#include "cuda/cuda_check.hpp"
#include "cuda/device_kernels.hpp"
#include "support/random.hpp"

namespace bench {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kGridLimit = 1 << 16;

int grid_for(int64_t n) { return static_cast<int>(std::clamp<int64_t>((n + kThreads - 1) / kThreads, 1, kGridLimit)); }

__device__ int64_t first_index() { return int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ int64_t index_step() { return int64_t{gridDim.x} * blockDim.x; }

template <class T>
__global__ void generate_kernel(T* x, int64_t n) {
  for (int64_t i = first_index(); i < n; i += index_step()) x[i] = random_element<T>(static_cast<uint64_t>(i));
}

template <class T>
__global__ void wrong_transposed_kernel(const T* dst, int64_t rows, int64_t cols, unsigned long long* wrong) {
  unsigned long long mine = 0;
  for (int64_t k = first_index(); k < rows * cols; k += index_step()) {
    const int64_t j = k / rows, i = k % rows;
    mine += !(dst[k] == random_element<T>(static_cast<uint64_t>(i * cols + j)));
  }
  if (mine) atomicAdd(wrong, mine);
}

template <class T>
__global__ void wrong_copied_kernel(const T* dst, int64_t n, unsigned long long* wrong) {
  unsigned long long mine = 0;
  for (int64_t i = first_index(); i < n; i += index_step()) {
    mine += !(dst[i] == random_element<T>(static_cast<uint64_t>(i)));
  }
  if (mine) atomicAdd(wrong, mine);
}

struct Pattern {
  unsigned char bytes[16];
};

__global__ void wrong_filled_kernel(const unsigned char* dst, int64_t bytes, Pattern pattern, int length,
                                    unsigned long long* wrong) {
  unsigned long long mine = 0;
  for (int64_t i = first_index(); i < bytes; i += index_step()) mine += dst[i] != pattern.bytes[i & (length - 1)];
  if (mine) atomicAdd(wrong, mine);
}

__global__ void gate_kernel(const volatile int* release, volatile int* timed_out) {
  constexpr unsigned long long patience_ns = 2'000'000'000ull;
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  while (*release == 0) {
    __nanosleep(200);
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    if (now - begin > patience_ns) {
      *timed_out = 1;
      return;
    }
  }
}

__global__ void small_fill_kernel(ulonglong2* dst, ulonglong2 value, int64_t count) {
  const int64_t i = first_index();
  if (i < count) dst[i] = value;
}

// Runs one of the comparisons above, which add to a counter, and reads the counter.
template <class Launch>
int64_t counted(const Launch& launch) {
  const DeviceBytes counter(sizeof(unsigned long long));
  unsigned long long count = 0;
  check_cuda(cudaMemset(counter.as(), 0, sizeof count));
  launch(counter.as<unsigned long long>());
  check_cuda(cudaGetLastError());
  check_cuda(cudaMemcpy(&count, counter.as(), sizeof count, cudaMemcpyDeviceToHost));
  return static_cast<int64_t>(count);
}

// Calls f with a null pointer of the type that has so many bytes.
template <class F>
auto with_element(int bytes, const F& f) {
  switch (bytes) {
    case 1:
      return f(static_cast<uint8_t*>(nullptr));
    case 2:
      return f(static_cast<uint16_t*>(nullptr));
    case 4:
      return f(static_cast<uint32_t*>(nullptr));
    case 8:
      return f(static_cast<uint64_t*>(nullptr));
    case 16:
      return f(static_cast<Pair64*>(nullptr));
    default:
      throw std::invalid_argument("element size");
  }
}

}  // namespace

void generate_elements(void* x, int64_t n, int element_bytes) {
  with_element(element_bytes,
               [&]<class T>(T*) { generate_kernel<T><<<grid_for(n), kThreads>>>(static_cast<T*>(x), n); });
  check_cuda(cudaGetLastError());
}

int64_t count_wrong_transposed(const void* dst, int64_t rows, int64_t cols, int element_bytes) {
  return with_element(element_bytes, [&]<class T>(T*) {
    return counted([&](unsigned long long* wrong) {
      wrong_transposed_kernel<T><<<grid_for(rows * cols), kThreads>>>(static_cast<const T*>(dst), rows, cols, wrong);
    });
  });
}

int64_t count_wrong_copied(const void* dst, int64_t n, int element_bytes) {
  return with_element(element_bytes, [&]<class T>(T*) {
    return counted([&](unsigned long long* wrong) {
      wrong_copied_kernel<T><<<grid_for(n), kThreads>>>(static_cast<const T*>(dst), n, wrong);
    });
  });
}

int64_t count_wrong_filled(const void* dst, std::size_t bytes, const unsigned char* pattern, int pattern_bytes) {
  Pattern p{};
  std::memcpy(p.bytes, pattern, static_cast<std::size_t>(pattern_bytes));
  const auto n = static_cast<int64_t>(bytes);
  return counted([&](unsigned long long* wrong) {
    wrong_filled_kernel<<<grid_for(n), kThreads>>>(static_cast<const unsigned char*>(dst), n, p, pattern_bytes, wrong);
  });
}

void launch_gate(const int* release, int* timed_out, cudaStream_t stream) {
  gate_kernel<<<1, 1, 0, stream>>>(release, timed_out);
  check_cuda(cudaGetLastError());
}

void launch_small_fill(void* dst, uint64_t low, uint64_t high, int64_t count, cudaStream_t stream) {
  const auto grid = static_cast<unsigned>((count + kThreads - 1) / kThreads);
  small_fill_kernel<<<grid, kThreads, 0, stream>>>(static_cast<ulonglong2*>(dst), ulonglong2{low, high}, count);
}

}  // namespace bench
