#include <algorithm>

#include "cuda/cuda_check.hpp"
#include "cuda/moved.hpp"
#include "support/random.hpp"

namespace bench {
namespace {

constexpr int kThreads = 256;
constexpr int kMostAxes = 8;

unsigned grid_for(int64_t n) {
  return static_cast<unsigned>(std::clamp<int64_t>((n + kThreads - 1) / kThreads, 1, 1 << 16));
}

__device__ int64_t first_index() { return int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ int64_t index_step() { return int64_t{gridDim.x} * blockDim.x; }

// Extents of dst, and the strides of src that belong to them.
struct Axes {
  int rank;
  int64_t elements;
  int64_t extent[kMostAxes];
  int64_t src_stride[kMostAxes];
};

template <class T>
__global__ void permute_kernel(T* dst, const T* src, Axes axes) {
  for (int64_t i = first_index(); i < axes.elements; i += index_step()) {
    int64_t rest = i, from = 0;
    for (int d = axes.rank - 1; d >= 0; --d) {
      from += rest % axes.extent[d] * axes.src_stride[d];
      rest /= axes.extent[d];
    }
    dst[i] = src[from];
  }
}

__global__ void gather_kernel(unsigned char* dst, const unsigned char* src, const int64_t* index, int64_t n,
                              int64_t row_bytes, bool scatter) {
  for (int64_t i = first_index(); i < n * row_bytes; i += index_step()) {
    const int64_t row = i / row_bytes, at = i % row_bytes;
    if (scatter) {
      dst[index[row] * row_bytes + at] = src[i];
    } else {
      dst[i] = src[index[row] * row_bytes + at];
    }
  }
}

__global__ void axpby_kernel(float alpha, const float* x, float beta, const float* y, float* z, int64_t n) {
  for (int64_t i = first_index(); i < n; i += index_step()) {
    z[i] = __fadd_rn(__fmul_rn(alpha, x[i]), __fmul_rn(beta, y[i]));
  }
}
__global__ void axpby_kernel(double alpha, const double* x, double beta, const double* y, double* z, int64_t n) {
  for (int64_t i = first_index(); i < n; i += index_step()) {
    z[i] = __dadd_rn(__dmul_rn(alpha, x[i]), __dmul_rn(beta, y[i]));
  }
}

// An odd factor and an odd-shift mix are one-to-one in the integers below a power of two.
__global__ void index_kernel(int64_t* index, int64_t n) {
  const auto mask = static_cast<uint64_t>(n - 1);
  for (int64_t i = first_index(); i < n; i += index_step()) {
    uint64_t v = static_cast<uint64_t>(i) * 0x9E3779B97F4A7C15ull & mask;
    v ^= v >> 7;
    v = v * 0xD1B54A32D192ED03ull & mask;
    v ^= v >> 9;
    index[i] = static_cast<int64_t>(v & mask);
  }
}

__global__ void different_kernel(const unsigned char* a, const unsigned char* b, int64_t bytes,
                                 unsigned long long* different) {
  unsigned long long mine = 0;
  const int64_t words = bytes / 16;
  const auto* wide_a = reinterpret_cast<const uint4*>(a);
  const auto* wide_b = reinterpret_cast<const uint4*>(b);
  for (int64_t i = first_index(); i < words; i += index_step()) {
    const uint4 p = wide_a[i], q = wide_b[i];
    mine += (p.x != q.x) + (p.y != q.y) + (p.z != q.z) + (p.w != q.w);
  }
  for (int64_t i = words * 16 + first_index(); i < bytes; i += index_step()) mine += a[i] != b[i];
  if (mine) atomicAdd(different, mine);
}

void finish() {
  check_cuda(cudaGetLastError());
  check_cuda(cudaDeviceSynchronize());
}

}  // namespace

void permute_simply(void* dst, const void* src, int element_bytes, int rank, const int64_t* extents,
                    const int32_t* order) {
  int64_t strides[kMostAxes];
  int64_t elements = 1;
  for (int d = rank - 1; d >= 0; --d) {
    strides[d] = elements;
    elements *= extents[d];
  }
  Axes axes{rank, elements, {}, {}};
  for (int d = 0; d < rank; ++d) {
    axes.extent[d] = extents[order[d]];
    axes.src_stride[d] = strides[order[d]];
  }
  if (element_bytes == 4) {
    permute_kernel<<<grid_for(elements), kThreads>>>(static_cast<uint32_t*>(dst), static_cast<const uint32_t*>(src),
                                                     axes);
  } else if (element_bytes == 8) {
    permute_kernel<<<grid_for(elements), kThreads>>>(static_cast<uint64_t*>(dst), static_cast<const uint64_t*>(src),
                                                     axes);
  } else {
    throw std::invalid_argument("element size");
  }
  finish();
}

void gather_simply(void* dst, const void* src, const int64_t* index, int64_t n, int64_t row_bytes, bool scatter) {
  gather_kernel<<<grid_for(n * row_bytes), kThreads>>>(
      static_cast<unsigned char*>(dst), static_cast<const unsigned char*>(src), index, n, row_bytes, scatter);
  finish();
}

void axpby_simply(gpumem_dtype dtype, double alpha, const void* x, double beta, const void* y, void* z, int64_t n) {
  if (dtype == GPUMEM_F32) {
    axpby_kernel<<<grid_for(n), kThreads>>>(static_cast<float>(alpha), static_cast<const float*>(x),
                                            static_cast<float>(beta), static_cast<const float*>(y),
                                            static_cast<float*>(z), n);
  } else {
    axpby_kernel<<<grid_for(n), kThreads>>>(alpha, static_cast<const double*>(x), beta, static_cast<const double*>(y),
                                            static_cast<double*>(z), n);
  }
  finish();
}

void shuffled_index(int64_t* index, int64_t n) {
  index_kernel<<<grid_for(n), kThreads>>>(index, n);
  finish();
}

int64_t count_different(const void* a, const void* b, std::size_t bytes) {
  const DeviceBytes counter(sizeof(unsigned long long));
  unsigned long long count = 0;
  check_cuda(cudaMemset(counter.as(), 0, sizeof count));
  different_kernel<<<2048, kThreads>>>(static_cast<const unsigned char*>(a), static_cast<const unsigned char*>(b),
                                       static_cast<int64_t>(bytes), counter.as<unsigned long long>());
  finish();
  check_cuda(cudaMemcpy(&count, counter.as(), sizeof count, cudaMemcpyDeviceToHost));
  return static_cast<int64_t>(count);
}

}  // namespace bench
