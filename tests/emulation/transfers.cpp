// Kernels, copies and fills on streams; allocation.
#include <cuda_runtime_api.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "emulation/gates.hpp"
#include "emulation/grid.hpp"
#include "emulation/memory.hpp"
#include "emulation/report.hpp"
#include "emulation/streams.hpp"

namespace gpumem_emulation {

cudaError_t launch(Kernel kernel, cudaStream_t stream) {
  if (const int refused = gpumem_emulation_gate("launch")) return answer(static_cast<cudaError_t>(refused));
  if (!launchable(kernel)) return answer(cudaErrorInvalidConfiguration);
  return enqueue(stream, [kernel = std::move(kernel)] {
    const DeviceWorks works;
    run(kernel);
  });
}

void missing_lane(int source, const Site& site) {
  give_up("a lane takes the value of lane " + std::to_string(source) + ", which is not there, at " + site.file_name() +
          ":" + std::to_string(site.line()));
}

void misaligned(const void* p, size_t bytes, const Site& site) {
  give_up("an access of " + std::to_string(bytes) + " bytes at " + std::to_string(reinterpret_cast<uintptr_t>(p)) +
          ", which is not aligned to them, at " + site.file_name() + ":" + std::to_string(site.line()));
}

namespace {

// memcpy() where it may be used: under the address sanitizer memmove() goes byte by byte.
void copy_bytes(void* dst, const void* src, size_t bytes) {
  const auto to = reinterpret_cast<uintptr_t>(dst);
  const auto from = reinterpret_cast<uintptr_t>(src);
  if (to + bytes <= from || from + bytes <= to) {
    std::memcpy(dst, src, bytes);
  } else {
    std::memmove(dst, src, bytes);
  }
}

// The range must not leave the allocation that it begins in.
bool fits(const void* p, size_t bytes) {
  const auto range = range_of(p);
  return !range || reinterpret_cast<uintptr_t>(p) + bytes <= range->base + range->bytes;
}

// Also, mappings must have been opened to the current device, as the driver requires of copies between devices.
bool reached(const void* p, size_t bytes) {
  if (!fits(p, bytes)) return false;
  const auto end = reinterpret_cast<uintptr_t>(p) + bytes;
  for (auto at = reinterpret_cast<uintptr_t>(p); at < end;) {
    const auto range = range_of(reinterpret_cast<const void*>(at));
    if (!range || !range->mapped) return true;
    if ((range->opened >> current_device() & 1) == 0) return false;
    at = range->mapping_base + range->mapping_bytes;
  }
  return true;
}

}  // namespace
}  // namespace gpumem_emulation

using namespace gpumem_emulation;

cudaError_t cudaMemcpyPeerAsync(void* dst, int dst_device, const void* src, int src_device, size_t bytes,
                                cudaStream_t stream) {
  const auto is_on = [bytes](const void* p, int device) {
    const auto range = range_of(p);
    return range && range->device == device && fits(p, bytes);
  };
  if (!is_on(dst, dst_device) || !is_on(src, src_device)) return answer(cudaErrorInvalidValue);
  cudaStreamCaptureStatus capture{};
  if (cudaStreamIsCapturing(stream, &capture) != cudaSuccess || capture != cudaStreamCaptureStatusNone) {
    return answer(cudaErrorStreamCaptureUnsupported);
  }
  return enqueue(stream, [=] {
    const DeviceWorks works;
    copy_bytes(dst, src, bytes);
  });
}

cudaError_t cudaMemcpyAsync(void* dst, const void* src, size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
  constexpr size_t kTakenAtOnce = 64 << 10;  // of pageable memory (CUDA Runtime API, "API synchronization behavior")
  if (!reached(dst, bytes) || !reached(src, bytes)) return answer(cudaErrorInvalidValue);
  if (bytes <= kTakenAtOnce && !range_of(src)) {
    const auto* from = static_cast<const char*>(src);
    return enqueue(stream, [dst, taken = std::vector<char>(from, from + bytes)] {
      const DeviceWorks works;
      copy_bytes(dst, taken.data(), taken.size());
    });
  }
  return enqueue(stream, [=] {
    const DeviceWorks works;
    copy_bytes(dst, src, bytes);
  });
}

cudaError_t cudaMemcpy2DAsync(void* dst, size_t dst_pitch, const void* src, size_t src_pitch, size_t width,
                              size_t height, cudaMemcpyKind, cudaStream_t stream) {
  constexpr size_t kMaxPitch = 0x7fffffff;
  if (width > dst_pitch || width > src_pitch || dst_pitch > kMaxPitch || src_pitch > kMaxPitch) {
    return answer(cudaErrorInvalidPitchValue);
  }
  if (height == 0 || width == 0) return cudaSuccess;
  if (!reached(dst, (height - 1) * dst_pitch + width) || !reached(src, (height - 1) * src_pitch + width)) {
    return answer(cudaErrorInvalidValue);
  }
  return enqueue(stream, [=] {
    const DeviceWorks works;
    for (size_t row = 0; row < height; ++row) {
      copy_bytes(static_cast<char*>(dst) + row * dst_pitch, static_cast<const char*>(src) + row * src_pitch, width);
    }
  });
}

// Slices are whole rows apart.
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parms, cudaStream_t stream) {
  constexpr size_t kMaxPitch = 0x7fffffff;
  const cudaPitchedPtr to = parms->dstPtr;
  const cudaPitchedPtr from = parms->srcPtr;
  const cudaExtent extent = parms->extent;
  for (const cudaPitchedPtr& side : {to, from}) {
    if (extent.width > side.pitch || side.pitch > kMaxPitch) return answer(cudaErrorInvalidPitchValue);
    if (extent.height > side.ysize) return answer(cudaErrorInvalidValue);
    const size_t rows = (extent.depth - 1) * side.ysize + extent.height - 1;
    if (!reached(side.ptr, rows * side.pitch + extent.width)) return answer(cudaErrorInvalidValue);
  }
  return enqueue(stream, [=] {
    const DeviceWorks works;
    for (size_t slice = 0; slice < extent.depth; ++slice) {
      for (size_t row = 0; row < extent.height; ++row) {
        std::memmove(static_cast<char*>(to.ptr) + (slice * to.ysize + row) * to.pitch,
                     static_cast<const char*>(from.ptr) + (slice * from.ysize + row) * from.pitch, extent.width);
      }
    }
  });
}

cudaError_t cudaMemset2DAsync(void* p, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream) {
  if (width > pitch) return answer(cudaErrorInvalidPitchValue);
  if (!range_of(p) || !fits(p, (height - 1) * pitch + width)) return answer(cudaErrorInvalidValue);
  return enqueue(stream, [=] {
    const DeviceWorks works;
    for (size_t row = 0; row < height; ++row) std::memset(static_cast<char*>(p) + row * pitch, value, width);
  });
}

cudaError_t cudaMemsetAsync(void* p, int value, size_t bytes, cudaStream_t stream) {
  if (!range_of(p) || !fits(p, bytes)) return answer(cudaErrorInvalidValue);
  return enqueue(stream, [=] {
    const DeviceWorks works;
    std::memset(p, value, bytes);
  });
}

// -------------------------------------------------------------------------------------------------------- allocation

namespace {

cudaError_t allocated(void* memory, void** p) {
  if (memory == nullptr) return answer(cudaErrorMemoryAllocation);  // *p stays as it was, as the driver leaves it
  *p = memory;
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaMalloc(void** p, size_t bytes) { return allocated(allocate(Kind::device, bytes, current_device()), p); }

// Pools: memory is there at once, and goes back when its stream has come to the release.
struct CUmemPoolHandle_st {
  int device;
  std::atomic<unsigned> opened;  // a bit for each device
};

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* props) {
  if (!has_memory_pools()) return answer(cudaErrorNotSupported);
  const int device = props->location.id;
  if (props->location.type != cudaMemLocationTypeDevice || device < 0 || device >= device_count())
    return answer(cudaErrorInvalidValue);
  *pool = std::make_unique<CUmemPoolHandle_st>(device, 1u << device).release();
  return cudaSuccess;
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  if (pool == nullptr) return answer(cudaErrorInvalidValue);
  const std::unique_ptr<CUmemPoolHandle_st> owned(pool);
  return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr, void* value) {
  return pool != nullptr && value != nullptr ? cudaSuccess : answer(cudaErrorInvalidValue);
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) {
  return pool != nullptr ? cudaSuccess : answer(cudaErrorInvalidValue);
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool, cudaMemLocation* location) {
  if (pool == nullptr || location->type != cudaMemLocationTypeDevice || location->id >= device_count())
    return answer(cudaErrorInvalidValue);
  *flags = (pool->opened >> location->id & 1) != 0 ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
  return cudaSuccess;
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* wanted, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const int device = wanted[i].location.id;
    if (pool == nullptr || device >= device_count()) return answer(cudaErrorInvalidDevice);
    if (device != pool->device && !has_peers()) return answer(cudaErrorPeerAccessUnsupported);
    pool->opened |= 1u << device;
  }
  return cudaSuccess;
}

cudaError_t cudaMallocFromPoolAsync(void** p, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  if (pool == nullptr || bytes == 0) return answer(cudaErrorInvalidValue);
  if (!is_stream(stream)) return answer(cudaErrorInvalidResourceHandle);
  return allocated(allocate(Kind::device, bytes, pool->device, pool), p);
}

cudaError_t cudaFreeAsync(void* p, cudaStream_t stream) {
  const auto range = range_of(p);
  if (!range || range->kind != Kind::device || range->base != reinterpret_cast<uintptr_t>(p)) {
    return answer(cudaErrorInvalidValue);
  }
  return enqueue(stream, [p] { release(Kind::device, p); });
}

cudaError_t cudaHostAlloc(void** p, size_t bytes, unsigned) {
  return allocated(allocate(Kind::pinned, bytes, current_device()), p);
}

// Freeing waits for the device, as the driver's does.
cudaError_t cudaFree(void* p) {
  if (p == nullptr) return cudaSuccess;
  wait_for_all();
  return release(Kind::device, p) || release(Kind::managed, p) ? cudaSuccess : answer(cudaErrorInvalidValue);
}

cudaError_t cudaFreeHost(void* p) {
  if (p == nullptr) return cudaSuccess;
  wait_for_all();
  return release(Kind::pinned, p) ? cudaSuccess : answer(cudaErrorInvalidValue);
}

cudaError_t cudaHostRegister(void* p, size_t bytes, unsigned) {
  if (p == nullptr || bytes == 0) return answer(cudaErrorInvalidValue);
  return register_pinned(p, bytes) ? cudaSuccess : answer(cudaErrorHostMemoryAlreadyRegistered);
}

cudaError_t cudaHostUnregister(void* p) {
  wait_for_all();
  return unregister_pinned(p) ? cudaSuccess : answer(cudaErrorHostMemoryNotRegistered);
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  const auto range = range_of(host);
  if (!range || range->kind != Kind::pinned) return answer(cudaErrorInvalidValue);
  *device = host;
  return cudaSuccess;
}
