// Managed memory: prefetches and advice move nothing, since there is one memory, but what was asked for is kept; contents that are
// given up are spoiled.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <vector>

#include "emulation/memory.hpp"
#include "emulation/streams.hpp"

using namespace gpumem_emulation;

namespace {

constexpr int kSpoilt = 0xDB;

struct Asked {
  cudaMemRangeAttribute what;
  uintptr_t begin, end;
  int value;
};

std::mutex mutex;
std::vector<Asked> asked;  // oldest first

void ask(cudaMemRangeAttribute what, const void* p, size_t bytes, int value) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto begin = reinterpret_cast<uintptr_t>(p);
  std::erase_if(asked, [&](const Asked& a) { return a.what == what && begin <= a.begin && a.end <= begin + bytes; });
  asked.push_back({what, begin, begin + bytes, value});
}

// otherwise: where nothing was asked for, or not the same for the whole range.
int answer_for(cudaMemRangeAttribute what, const void* p, size_t bytes, int otherwise) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto begin = reinterpret_cast<uintptr_t>(p);
  const auto last = std::find_if(asked.rbegin(), asked.rend(), [&](const Asked& a) {
    return a.what == what && a.begin < begin + bytes && begin < a.end;
  });
  return last != asked.rend() && last->begin <= begin && begin + bytes <= last->end ? last->value : otherwise;
}

bool is_managed(const void* p, size_t bytes) {
  const auto range = range_of(p);
  return range && range->kind == Kind::managed && reinterpret_cast<uintptr_t>(p) + bytes <= range->base + range->bytes;
}

bool exists(const cudaMemLocation& location) {
  return location.type == cudaMemLocationTypeHost ||
         (location.type == cudaMemLocationTypeDevice && location.id >= 0 && location.id < device_count());
}

int number_of(const cudaMemLocation& location) {
  return location.type == cudaMemLocationTypeHost ? cudaCpuDeviceId : location.id;
}

}  // namespace

cudaError_t cudaMallocManaged(void** p, size_t bytes, unsigned) {
  void* memory = allocate(Kind::managed, bytes, current_device());
  if (memory == nullptr) return answer(cudaErrorMemoryAllocation);  // *p stays as it was, as the driver leaves it
  const std::lock_guard<std::mutex> lock(mutex);
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  std::erase_if(asked, [&](const Asked& a) { return a.begin < begin + bytes && begin < a.end; });
  *p = memory;
  return cudaSuccess;
}

cudaError_t cudaMemPrefetchAsync(const void* p, size_t bytes, cudaMemLocation location, unsigned flags,
                                 cudaStream_t stream) {
  if (!is_managed(p, bytes) || flags != 0) return answer(cudaErrorInvalidValue);
  if (!exists(location)) return answer(cudaErrorInvalidDevice);
  ask(cudaMemRangeAttributeLastPrefetchLocation, p, bytes, number_of(location));
  return enqueue(stream, [] {});
}

cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void** p, size_t* bytes, size_t count, cudaMemLocation* locations,
                                                size_t* first, size_t kinds, unsigned long long flags,
                                                cudaStream_t stream) {
  if (count != 1 || kinds != 1 || *first != 0 || flags != 0 || stream == cudaStreamLegacy || stream == nullptr) {
    return answer(cudaErrorInvalidValue);
  }
  if (!is_managed(*p, *bytes)) return answer(cudaErrorInvalidValue);
  if (!exists(*locations)) return answer(cudaErrorInvalidDevice);
  ask(cudaMemRangeAttributeLastPrefetchLocation, *p, *bytes, number_of(*locations));
  return enqueue(stream, [to = *p, size = *bytes] { std::memset(to, kSpoilt, size); });
}

cudaError_t cudaMemAdvise(const void* p, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation location) {
  if (!is_managed(p, bytes)) return answer(cudaErrorInvalidValue);
  if (!exists(location)) return answer(cudaErrorInvalidDevice);
  switch (advice) {
    case cudaMemAdviseSetReadMostly:
    case cudaMemAdviseUnsetReadMostly:
      ask(cudaMemRangeAttributeReadMostly, p, bytes, advice == cudaMemAdviseSetReadMostly ? 1 : 0);
      return cudaSuccess;
    case cudaMemAdviseSetPreferredLocation:
    case cudaMemAdviseUnsetPreferredLocation: {
      const bool set = advice == cudaMemAdviseSetPreferredLocation;
      ask(cudaMemRangeAttributePreferredLocation, p, bytes, set ? number_of(location) : cudaInvalidDeviceId);
      return cudaSuccess;
    }
    default:
      if (location.type == cudaMemLocationTypeDevice) {
        const bool set = advice == cudaMemAdviseSetAccessedBy;
        ask(cudaMemRangeAttributeAccessedBy, p, bytes, set ? location.id : cudaInvalidDeviceId);
      }
      return cudaSuccess;
  }
}

cudaError_t cudaMemRangeGetAttributes(void** values, size_t* sizes, cudaMemRangeAttribute* wanted, size_t count,
                                      const void* p, size_t bytes) {
  if (!is_managed(p, bytes)) return answer(cudaErrorInvalidValue);
  for (size_t i = 0; i < count; ++i) {
    auto* const value = static_cast<int*>(values[i]);
    if (sizes[i] < sizeof(int)) return answer(cudaErrorInvalidValue);
    std::fill(value, value + sizes[i] / sizeof(int), cudaInvalidDeviceId);
    *value = answer_for(wanted[i], p, bytes, wanted[i] == cudaMemRangeAttributeReadMostly ? 0 : cudaInvalidDeviceId);
  }
  return cudaSuccess;
}
