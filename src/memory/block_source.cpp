#include "memory/block_source.hpp"

#include "base/error.hpp"
#include "base/limits.hpp"
#include "base/scope_exit.hpp"

namespace gpumem {

void* DeviceSource::take(NativeStream stream, size_t bytes) {
  return in_order_ ? device_.allocate_async(stream, bytes) : device_.allocate(kind_, bytes);
}

void DeviceSource::give_back(NativeStream stream, void* p, size_t bytes) noexcept {
  in_order_ ? device_.release_async(stream, p, bytes) : device_.release(kind_, p, bytes);
}

// Managed memory is not cached.
void DeviceSource::trim(size_t keep_bytes) noexcept {
  if (kind_ == GPUMEM_MEMORY_DEVICE) device_.trim(keep_bytes);
}

void* PinnedSource::take(NativeStream, size_t bytes) {
  Host& host = owner_.host;
  if (!owner_.on_cuda()) return host.allocate(GPUMEM_MEMORY_PINNED, bytes);
  require_available(bytes);
  void* p = host.allocate(GPUMEM_MEMORY_PINNED, bytes);
  host.make_resident(p, bytes);
  try {
    owner_.device.register_host(p, bytes);
    return p;
  } catch (const Error& error) {
    host.release(GPUMEM_MEMORY_PINNED, p, bytes);
    if (error.status() == GPUMEM_DEVICE_FAULT) throw;
    owner_.log.write(GPUMEM_LOG_WARNING, "%zu bytes of pinned memory come from the driver's own allocator: %s", bytes,
                     error.what());
  }
  return take_from_driver(bytes);
}

void* PinnedSource::take_from_driver(size_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  from_driver_.reserve(from_driver_.size() + 1);
  void* p = owner_.device.allocate(GPUMEM_MEMORY_PINNED, bytes);
  ScopeExit undo([&] { owner_.device.release(GPUMEM_MEMORY_PINNED, p, bytes); });
  from_driver_.insert(p);
  undo.release();
  return p;
}

bool PinnedSource::forget_if_from_driver(void* p) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  return from_driver_.erase(p) != 0;
}

void PinnedSource::give_back(NativeStream, void* p, size_t bytes) noexcept {
  if (!owner_.on_cuda()) return owner_.host.release(GPUMEM_MEMORY_PINNED, p, bytes);
  if (forget_if_from_driver(p)) return owner_.device.release(GPUMEM_MEMORY_PINNED, p, bytes);
  owner_.device.unregister_host(p);
  owner_.host.release(GPUMEM_MEMORY_PINNED, p, bytes);
}

}  // namespace gpumem
