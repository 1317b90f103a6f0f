#include "backend/cuda/pinned_memory.hpp"

#include <sys/mman.h>

#include "backend/cuda/cuda_check.hpp"
#include "backend/pages.hpp"

namespace gpumem {

void* PinnedMemory::allocate(size_t bytes) {
  void* p = map_pages(bytes);
  // The device goes on using the very pages: a fork must not leave this process with copies of them.
  static_cast<void>(madvise(p, bytes, MADV_DONTFORK));
  if (cudaHostRegister(p, bytes, cudaHostRegisterPortable) == cudaSuccess) return p;
  static_cast<void>(cudaGetLastError());
  unmap_pages(p, bytes);
  return allocate_from_driver(bytes);
}

void* PinnedMemory::allocate_from_driver(size_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  from_driver_.reserve(from_driver_.size() + 1);
  void* p = nullptr;
  GPUMEM_CUDA(cudaHostAlloc(&p, bytes, cudaHostAllocPortable));
  try {
    from_driver_.insert(p);
  } catch (...) {
    static_cast<void>(cudaFreeHost(p));
    throw;
  }
  return p;
}

bool PinnedMemory::forget_if_from_driver(void* p) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  return from_driver_.erase(p) != 0;
}

void PinnedMemory::release(void* p, size_t bytes) noexcept {
  if (forget_if_from_driver(p)) {
    static_cast<void>(cudaFreeHost(p));
    return;
  }
  static_cast<void>(cudaHostUnregister(p));
  unmap_pages(p, bytes);
}

}  // namespace gpumem
