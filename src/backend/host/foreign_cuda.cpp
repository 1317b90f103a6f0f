#include "backend/host/foreign_cuda.hpp"

#include <dlfcn.h>
#include <link.h>

#include <atomic>

namespace gpumem {
namespace {

// cuda.h of the CUDA driver API: cuPointerGetAttribute and the three attributes it is asked for.
using PointerGetAttribute = int (*)(void* value, int attribute, unsigned long long pointer);
constexpr int kMemoryType = 2;     // CU_POINTER_ATTRIBUTE_MEMORY_TYPE
constexpr int kIsManaged = 8;      // CU_POINTER_ATTRIBUTE_IS_MANAGED
constexpr int kDeviceOrdinal = 9;  // CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
constexpr unsigned kTypeHost = 1;  // CU_MEMORYTYPE_HOST
constexpr unsigned kTypeDevice = 2;

// How many libraries this process has loaded so far. Far cheaper than looking for one of them by name.
unsigned long long libraries_loaded() noexcept {
  unsigned long long count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        *static_cast<unsigned long long*>(out) = info->dlpi_adds;
        return 1;  // the first entry tells
      },
      &count);
  return count;
}

// The driver may be loaded after the first question: it is looked for again whenever some library was loaded since. Once
// found it is kept, and its handle too: a library that is in use must not go away.
PointerGetAttribute loaded_driver() noexcept {
  static std::atomic<PointerGetAttribute> found{nullptr};
  static std::atomic<unsigned long long> searched_at{0};
  PointerGetAttribute query = found.load(std::memory_order_acquire);
  if (query != nullptr) return query;
  const unsigned long long loaded = libraries_loaded();
  if (loaded == searched_at.load(std::memory_order_relaxed)) return nullptr;
  void* library = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
  if (library != nullptr) {
    query = reinterpret_cast<PointerGetAttribute>(dlsym(library, "cuPointerGetAttribute"));
    found.store(query, std::memory_order_release);
  }
  searched_at.store(loaded, std::memory_order_relaxed);
  return query;
}

}  // namespace

Location ask_loaded_cuda(const void* p) noexcept {
  const PointerGetAttribute query = loaded_driver();
  if (query == nullptr) return {};
  const unsigned long long address = reinterpret_cast<uintptr_t>(p);
  unsigned type = 0;
  if (query(&type, kMemoryType, address) != 0) return {};  // not CUDA's, or CUDA not initialised
  Location location;
  unsigned managed = 0;
  if (query(&managed, kIsManaged, address) == 0 && managed != 0) {
    location.kind = GPUMEM_MEMORY_MANAGED;
  } else if (type == kTypeDevice) {
    location.kind = GPUMEM_MEMORY_DEVICE;
  } else if (type == kTypeHost) {
    location.kind = GPUMEM_MEMORY_PINNED;
  } else {
    return {};
  }
  location.known = true;
  if (location.kind != GPUMEM_MEMORY_PINNED && query(&location.device, kDeviceOrdinal, address) != 0)
    location.device = 0;
  return location;
}

}  // namespace gpumem
