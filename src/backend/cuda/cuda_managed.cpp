#include <algorithm>
#include <array>
#include <vector>

#include "backend/cuda/cuda_backend.hpp"

namespace gpumem {
namespace {

cudaMemLocation location_of(int32_t device) noexcept {
  if (device == GPUMEM_DEVICE_HOST) return {cudaMemLocationTypeHost, {0}};
  return {cudaMemLocationTypeDevice, {device}};
}

// The numbers of gpumem_advice equal CUDA's.
static_assert(int{GPUMEM_ADVISE_READ_MOSTLY} == int{cudaMemAdviseSetReadMostly});
static_assert(int{GPUMEM_ADVISE_UNSET_ACCESSED_BY} == int{cudaMemAdviseUnsetAccessedBy});

int32_t device_of(int location) noexcept {
  if (location == cudaCpuDeviceId) return GPUMEM_DEVICE_HOST;
  return location < 0 ? GPUMEM_DEVICE_NONE : location;
}

}  // namespace

void CudaBackend::prefetch(NativeStream stream, const void* p, size_t bytes, int32_t device) {
  const DeviceScope scope = enter();
  require_open(stream);
  GPUMEM_CUDA(cudaMemPrefetchAsync(p, bytes, location_of(device), 0, native(stream)));
}

void CudaBackend::advise(const void* p, size_t bytes, gpumem_advice advice, int32_t device) {
  const DeviceScope scope = enter();
  GPUMEM_CUDA(cudaMemAdvise(p, bytes, static_cast<cudaMemoryAdvise>(advice), location_of(device)));
}

// The driver tracks blocks of 2 MiB, and a partly overwritten block is kept. Not on the legacy stream, which the call
// rejects. Contents that can't be discarded are moved too.
void CudaBackend::prefetch_to_overwrite(NativeStream stream, const void* p, size_t bytes) {
  constexpr uintptr_t kBlock = uintptr_t{2} << 20;
  const auto first = reinterpret_cast<uintptr_t>(p);
  const uintptr_t last = first + bytes;
  const uintptr_t begin = (first + kBlock - 1) / kBlock * kBlock;
  const uintptr_t end = last / kBlock * kBlock;
  if (props_.driver_version >= 13000 && stream != cudaStreamLegacy && begin < end) {
    const DeviceScope scope = enter();
    void* blocks = reinterpret_cast<void*>(begin);
    size_t size = end - begin;
    cudaMemLocation to = location_of(props_.ordinal);
    size_t index = 0;
    if (cudaMemDiscardAndPrefetchBatchAsync(&blocks, &size, 1, &to, &index, 1, 0, native(stream)) == cudaSuccess) {
      if (first < begin) prefetch(stream, p, begin - first, props_.ordinal);
      if (end < last) prefetch(stream, reinterpret_cast<const void*>(end), last - end, props_.ordinal);
      return;
    }
    static_cast<void>(cudaGetLastError());
  }
  prefetch(stream, p, bytes, props_.ordinal);
}

ManagedState CudaBackend::managed_state(const void* p, size_t bytes) {
  const DeviceScope scope = enter();
  int devices = 0;
  GPUMEM_CUDA(cudaGetDeviceCount(&devices));
  int last = cudaInvalidDeviceId;
  int preferred = cudaInvalidDeviceId;
  int read_mostly = 0;
  std::vector<int> accessors(static_cast<size_t>(devices) + 1, cudaInvalidDeviceId);
  std::array<void*, 4> values = {&last, &preferred, &read_mostly, accessors.data()};
  std::array<size_t, 4> sizes = {sizeof last, sizeof preferred, sizeof read_mostly, accessors.size() * sizeof(int)};
  std::array<cudaMemRangeAttribute, 4> wanted = {cudaMemRangeAttributeLastPrefetchLocation,
                                                 cudaMemRangeAttributePreferredLocation,
                                                 cudaMemRangeAttributeReadMostly, cudaMemRangeAttributeAccessedBy};
  GPUMEM_CUDA(cudaMemRangeGetAttributes(values.data(), sizes.data(), wanted.data(), wanted.size(), p, bytes));
  return {device_of(last), device_of(preferred), read_mostly != 0,
          std::ranges::find(accessors, props_.ordinal) != accessors.end()};
}

}  // namespace gpumem
