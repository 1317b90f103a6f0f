// SPDX-License-Identifier: Apache-2.0
//
// gpumem's pool as a cuda::mr resource. It is not part of gpumem.hpp because it needs CCCL 3.2: earlier versions have
// cuda::mr::resource_ref and its concepts as experimental.
#ifndef GPUMEM_CUDA_MEMORY_RESOURCE_HPP
#define GPUMEM_CUDA_MEMORY_RESOURCE_HPP

#include <cuda/version>
#if CCCL_VERSION < 3002000
#error "gpumem/cuda_memory_resource.hpp takes CCCL 3.2 or later"
#endif
#include <cuda/memory_resource>
#include <cuda/stream_ref>

#include "gpumem/memory_resource.hpp"

namespace gpumem {

// Device memory of shared_context(device), in the order of the program's own CUDA streams. A stream that memory was
// allocated for must live until the process ends. If an allocation fails, it throws gpumem::bad_alloc.
class cuda_memory_resource {
 public:
  using default_queries = cuda::mr::properties_list<cuda::mr::device_accessible>;

  explicit cuda_memory_resource(std::int32_t device) noexcept : device_(device) {}

  void* allocate(cuda::stream_ref stream, std::size_t bytes, std::size_t alignment = detail::alignment_given) const {
    return checked(bytes, alignment,
                   [&](std::int64_t size) { return gpumem_torch_malloc(size, device_, stream.get()); });
  }
  void deallocate(cuda::stream_ref stream, void* p, std::size_t bytes,
                  std::size_t = detail::alignment_given) const noexcept {
    gpumem_torch_free(p, static_cast<std::int64_t>(bytes), device_, stream.get());
  }

  // Usable on all streams, so a free waits for the device.
  void* allocate_sync(std::size_t bytes, std::size_t alignment = detail::alignment_given) const {
    return checked(bytes, alignment, [&](std::int64_t size) { return gpumem_cupy_malloc(nullptr, size, device_); });
  }
  void deallocate_sync(void* p, std::size_t, std::size_t = detail::alignment_given) const noexcept {
    gpumem_cupy_free(nullptr, p, device_);
  }

  friend bool operator==(const cuda_memory_resource& a, const cuda_memory_resource& b) noexcept {
    return a.device_ == b.device_;
  }
  friend bool operator!=(const cuda_memory_resource& a, const cuda_memory_resource& b) noexcept { return !(a == b); }
  friend void get_property(const cuda_memory_resource&, cuda::mr::device_accessible) noexcept {}

 private:
  template <class Allocate>
  void* checked(std::size_t bytes, std::size_t alignment, Allocate allocate) const {
    void* p = allocate(detail::allocation_bytes(bytes, alignment));
    if (p == nullptr) detail::raise_bad_alloc(status::out_of_memory, last_error());
    return p;
  }

  std::int32_t device_;
};

static_assert(cuda::mr::resource_with<cuda_memory_resource, cuda::mr::device_accessible>);

}  // namespace gpumem

#endif  // GPUMEM_CUDA_MEMORY_RESOURCE_HPP
