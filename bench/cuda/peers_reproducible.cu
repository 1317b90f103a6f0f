// The only file compiled with its own CCCL, which is newer than the toolkit's. The headers of the two must not meet, so
// this file shares only plain CUDA with the others.
#include "cuda/peers_reproducible.hpp"

#if BENCH_HAS_NEWER_CCCL

#include <cub/device/device_reduce.cuh>
#include <cuda/memory_resource>
#include <cuda/stream_ref>
#include <type_traits>
#include <utility>

namespace bench {
namespace reproducible {

// CUB allocates its scratch through the environment, which returns memory allocated beforehand, as for the other
// baselines.
struct Scratch {
  void* memory;
  std::size_t bytes;

  void* allocate(cuda::stream_ref, std::size_t wanted, std::size_t = 256) { return allocate_sync(wanted); }
  void* allocate_sync(std::size_t wanted, std::size_t = 256) {
    if (wanted > bytes) throw std::runtime_error("CUB's reproducible sum wants more scratch than it was given");
    return memory;
  }
  void deallocate(cuda::stream_ref, void*, std::size_t, std::size_t = 256) noexcept {}
  void deallocate_sync(void*, std::size_t, std::size_t = 256) noexcept {}
  bool operator==(const Scratch& o) const { return memory == o.memory; }
  bool operator!=(const Scratch& o) const { return memory != o.memory; }
  friend constexpr void get_property(const Scratch&, cuda::mr::device_accessible) noexcept {}
};

struct Environment {
  cudaStream_t stream;
  Scratch scratch;

  cuda::stream_ref query(const cuda::get_stream_t&) const noexcept { return cuda::stream_ref{stream}; }
  Scratch query(const cuda::mr::__get_memory_resource_t&) const noexcept { return scratch; }
  auto query(const cuda::execution::__get_requirements_t&) const noexcept {
    return cuda::std::execution::env{cuda::execution::determinism::gpu_to_gpu};
  }
};

// CUB ignores an environment whose query has another form.
static_assert(std::is_same_v<decltype(cuda::mr::__get_memory_resource(std::declval<const Environment&>())), Scratch>);

template <class T>
void sum(const T* x, int64_t n, T* result, cudaStream_t stream, const DeviceBytes& scratch) {
  check_cuda(
      cub::DeviceReduce::Sum(x, result, static_cast<int32_t>(n), Environment{stream, {scratch.as(), scratch.bytes()}}));
}

}  // namespace reproducible

bool CubReproducible::built() { return true; }

void CubReproducible::enqueue(const float* x, int64_t n, float* result, cudaStream_t stream) const {
  reproducible::sum(x, n, result, stream, scratch_);
}
void CubReproducible::enqueue(const double* x, int64_t n, double* result, cudaStream_t stream) const {
  reproducible::sum(x, n, result, stream, scratch_);
}

}  // namespace bench

#else

namespace bench {

bool CubReproducible::built() { return false; }

void CubReproducible::enqueue(const float*, int64_t, float*, cudaStream_t) const {
  throw std::logic_error("built without CCCL 3.1");
}
void CubReproducible::enqueue(const double*, int64_t, double*, cudaStream_t) const {
  throw std::logic_error("built without CCCL 3.1");
}

}  // namespace bench

#endif
