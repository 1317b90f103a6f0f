#include "backend/host/foreign_cuda.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string_view>

namespace gpumem {
namespace {

// cuda.h of the CUDA driver API: cuPointerGetAttributes and the three attributes that are queried. For unknown memory
// it returns type 0 in 0.09 us (host of an H200). cuPointerGetAttribute returns an error instead, which takes 0.53 us.
using PointerGetAttributes = int (*)(unsigned count, int* attributes, void** values, unsigned long long pointer);
constexpr int kMemoryType = 2;     // CU_POINTER_ATTRIBUTE_MEMORY_TYPE
constexpr int kIsManaged = 8;      // CU_POINTER_ATTRIBUTE_IS_MANAGED
constexpr int kDeviceOrdinal = 9;  // CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
constexpr unsigned kTypeHost = 1;  // CU_MEMORYTYPE_HOST
constexpr unsigned kTypeDevice = 2;

constinit std::atomic<PointerGetAttributes> g_query{nullptr};

bool is_mapped(std::string_view name) noexcept {
  const int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char text[4096];
  size_t kept = 0;  // the end of the last part, because a name may cross parts
  bool found = false;
  while (!found) {
    const ssize_t got = read(file, text + kept, sizeof text - kept);
    if (got <= 0) break;
    const std::string_view part(text, kept + static_cast<size_t>(got));
    found = part.find(name) != std::string_view::npos;
    kept = std::min(part.size(), name.size());
    std::memmove(text, text + part.size() - kept, kept);
  }
  close(file);
  return found;
}

}  // namespace

// The handle stays open once the driver is found, because the library must not be unloaded while it is in use.
void look_for_cuda() noexcept {
  if (g_query.load(std::memory_order_relaxed) != nullptr || !is_mapped("/libcuda.so")) return;
  void* const library = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
  if (library == nullptr) return;
  g_query.store(reinterpret_cast<PointerGetAttributes>(dlsym(library, "cuPointerGetAttributes")));
}

Location ask_found_cuda(const void* p) noexcept {
  const PointerGetAttributes query = g_query.load(std::memory_order_acquire);
  if (query == nullptr) return {};
  unsigned type = 0;
  unsigned managed = 0;
  int device = 0;
  int wanted[] = {kMemoryType, kIsManaged, kDeviceOrdinal};
  void* values[] = {&type, &managed, &device};
  if (query(3, wanted, values, reinterpret_cast<uintptr_t>(p)) != 0) return {};  // CUDA is not initialised
  if (managed == 0 && type == kTypeHost) return {.known = true, .kind = GPUMEM_MEMORY_PINNED};
  if (managed == 0 && type != kTypeDevice) return {};
  return {.known = true, .kind = managed != 0 ? GPUMEM_MEMORY_MANAGED : GPUMEM_MEMORY_DEVICE, .device = device};
}

}  // namespace gpumem
