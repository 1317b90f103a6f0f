#include "cuda/reduce_reference.hpp"

#include <algorithm>
#include <vector>

#include "cuda/cuda_check.hpp"
#include "support/random.hpp"

namespace bench {
namespace {

constexpr int kThreads = 256;

int grid_for(int64_t n, int64_t most) {
  return static_cast<int>(std::clamp<int64_t>((n + kThreads - 1) / kThreads, 1, most));
}

__device__ int64_t first_index() { return int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ int64_t index_step() { return int64_t{gridDim.x} * blockDim.x; }

template <class T>
__global__ void generate_values_kernel(T* x, int64_t n, uint64_t first, uint32_t limit) {
  for (int64_t i = first_index(); i < n; i += index_step()) {
    x[i] = random_value<T>(first + static_cast<uint64_t>(i), limit);
  }
}

template <class T>
__host__ __device__ void fold(Reference<T>& a, const Reference<T>& b) {
  a.sum += b.sum;
  a.products += b.products;
  a.cubes += b.cubes;
  if (b.min < a.min || (b.min == a.min && b.argmin < a.argmin)) {
    a.min = b.min;
    a.argmin = b.argmin;
  }
  if (b.max > a.max || (b.max == a.max && b.argmax < a.argmax)) {
    a.max = b.max;
    a.argmax = b.argmax;
  }
}

template <class T>
__global__ void reference_kernel(const T* x, const T* y, int64_t n, Reference<T>* out) {
  using Sum = typename Reference<T>::Sum;
  __shared__ Reference<T> partial[kThreads];
  Reference<T> mine{0, 0, 0, x[0], x[0], 0, 0};
  for (int64_t i = first_index(); i < n; i += index_step()) {
    const Sum v = static_cast<Sum>(x[i]);
    fold(mine, {v, v * static_cast<Sum>(y[i]), v * v * v, x[i], x[i], i, i});
  }
  partial[threadIdx.x] = mine;
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) fold(partial[threadIdx.x], partial[threadIdx.x + half]);
  }
  if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}

// One block a line.
__global__ void line_sums_kernel(const float* x, int64_t lines, int64_t length, int64_t line_step, int64_t element_step,
                                 double* out) {
  __shared__ double partial[kThreads];
  for (int64_t line = blockIdx.x; line < lines; line += gridDim.x) {
    double sum = 0;
    for (int64_t i = threadIdx.x; i < length; i += kThreads) sum += x[line * line_step + i * element_step];
    partial[threadIdx.x] = sum;
    for (unsigned half = kThreads / 2; half > 0; half /= 2) {
      __syncthreads();
      if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    }
    if (threadIdx.x == 0) out[line] = partial[0];
    __syncthreads();
  }
}

__global__ void different_kernel(const double* got, const double* expected, int64_t n, double tolerance,
                                 unsigned long long* count) {
  unsigned long long mine = 0;
  for (int64_t i = first_index(); i < n; i += index_step()) mine += !(fabs(got[i] - expected[i]) <= tolerance);
  if (mine) atomicAdd(count, mine);
}

}  // namespace

template <class T>
void generate_values(T* x, int64_t n, uint64_t first, uint32_t limit) {
  generate_values_kernel<<<grid_for(n, 1 << 16), kThreads>>>(x, n, first, limit);
  check_cuda(cudaGetLastError());
}

template <class T>
Reference<T> reference_reduce(const T* x, const T* y, int64_t n) {
  const int grid = grid_for(n, 2048);
  std::vector<Reference<T>> blocks(static_cast<std::size_t>(grid));
  const DeviceBytes out(blocks.size() * sizeof(Reference<T>));
  reference_kernel<<<grid, kThreads>>>(x, y, n, out.as<Reference<T>>());
  check_cuda(cudaGetLastError());
  check_cuda(cudaMemcpy(blocks.data(), out.as(), out.bytes(), cudaMemcpyDeviceToHost));
  for (std::size_t i = 1; i < blocks.size(); ++i) fold(blocks[0], blocks[i]);
  return blocks[0];
}

void reference_line_sums(const float* x, int64_t rows, int64_t cols, bool of_columns, double* out) {
  const int64_t lines = of_columns ? cols : rows;
  const auto grid = static_cast<int>(std::min<int64_t>(lines, 1 << 16));
  line_sums_kernel<<<grid, kThreads>>>(x, lines, of_columns ? rows : cols, of_columns ? 1 : cols, of_columns ? cols : 1,
                                       out);
  check_cuda(cudaGetLastError());
}

int64_t count_different(const double* got, const double* expected, int64_t n, double tolerance) {
  const DeviceBytes counter(sizeof(unsigned long long));
  unsigned long long count = 0;
  check_cuda(cudaMemset(counter.as(), 0, sizeof count));
  different_kernel<<<grid_for(n, 1 << 12), kThreads>>>(got, expected, n, tolerance, counter.as<unsigned long long>());
  check_cuda(cudaGetLastError());
  check_cuda(cudaMemcpy(&count, counter.as(), sizeof count, cudaMemcpyDeviceToHost));
  return static_cast<int64_t>(count);
}

template void generate_values(int8_t*, int64_t, uint64_t, uint32_t);
template void generate_values(uint8_t*, int64_t, uint64_t, uint32_t);
template void generate_values(int32_t*, int64_t, uint64_t, uint32_t);
template void generate_values(int64_t*, int64_t, uint64_t, uint32_t);
template void generate_values(float*, int64_t, uint64_t, uint32_t);
template void generate_values(double*, int64_t, uint64_t, uint32_t);
template Reference<int8_t> reference_reduce(const int8_t*, const int8_t*, int64_t);
template Reference<uint8_t> reference_reduce(const uint8_t*, const uint8_t*, int64_t);
template Reference<int32_t> reference_reduce(const int32_t*, const int32_t*, int64_t);
template Reference<int64_t> reference_reduce(const int64_t*, const int64_t*, int64_t);
template Reference<float> reference_reduce(const float*, const float*, int64_t);
template Reference<double> reference_reduce(const double*, const double*, int64_t);

}  // namespace bench
