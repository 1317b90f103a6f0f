#include "engine/checked.hpp"
#include "engine/operand.hpp"
#include "engine/operations.hpp"
#include "engine/process.hpp"
#include "engine/sentences.hpp"
#include "engine/streams.hpp"

namespace gpumem {
namespace {

void require_managed(Context& context, const void* p, int64_t bytes) {
  const Operand operand = look_up_range(context, p, bytes, Access::read, "p");
  if (operand.kind != GPUMEM_MEMORY_MANAGED) {
    fail(GPUMEM_INVALID_POINTER, "p is %s memory; expected managed memory", kind_name(operand.kind));
  }
  if (context.on_cuda() && !context.device().props().concurrent_managed) {
    fail(GPUMEM_UNSUPPORTED, "the device %s has no concurrent managed access; prefetch and advice need it",
         context.device().props().name);
  }
}

void require_location(Context& context, int32_t device) {
  const int32_t own = context.device().props().ordinal;
  if (device != GPUMEM_DEVICE_HOST && device != own) {
    fail(GPUMEM_NOT_FOUND, "device is %d; expected the context's device %d or GPUMEM_DEVICE_HOST (%d)", device, own,
         GPUMEM_DEVICE_HOST);
  }
}

// An allocation that the registry has given up: it is released whatever waiting for its last use brings to light.
class Forgotten {
 public:
  Forgotten(Context& context, const Allocation& allocation) noexcept : context_(context), allocation_(allocation) {}
  ~Forgotten() {
    context_.device().release(allocation_.kind, reinterpret_cast<void*>(allocation_.base), allocation_.bytes);
    context_.stats.freed(allocation_.kind, static_cast<int64_t>(allocation_.bytes));
  }
  Forgotten(const Forgotten&) = delete;
  Forgotten& operator=(const Forgotten&) = delete;

 private:
  Context& context_;
  const Allocation allocation_;
};

}  // namespace

void* allocate(Context& context, gpumem_memory_kind kind, int64_t bytes) {
  if (bytes < 0) fail(GPUMEM_INVALID_ARGUMENT, "bytes is %lld; expected 0 or more", ll(bytes));
  if (bytes == 0) return nullptr;
  Backend& device = context.device();
  if (kind == GPUMEM_MEMORY_MANAGED && !device.props().managed_memory) {
    fail(GPUMEM_UNSUPPORTED, "the device %s has no managed memory", device.props().name);
  }
  const auto size = static_cast<size_t>(bytes);
  void* p = device.allocate(kind, size);
  try {
    const int32_t where = kind == GPUMEM_MEMORY_PINNED ? GPUMEM_DEVICE_HOST : device.props().ordinal;
    process().registry.add({reinterpret_cast<uintptr_t>(p), size, kind, device.props().backend, where, &context});
  } catch (...) {
    device.release(kind, p, size);
    throw;
  }
  context.stats.allocated(kind, bytes);
  return p;
}

void free_memory(Context& context, void* p) {
  if (p == nullptr) return;
  const Forgotten forgotten(context, process().registry.remove(reinterpret_cast<uintptr_t>(p), &context));
  wait_for_streams(context);
}

void prefetch(Context& context, const void* p, int64_t bytes, int32_t device, NativeStream stream, Until until) {
  if (bytes < 0) fail(GPUMEM_INVALID_ARGUMENT, "bytes is %lld; expected 0 or more", ll(bytes));
  require_location(context, device);
  if (bytes == 0) return;
  require_managed(context, p, bytes);
  require_not_capturing(context, stream, "a prefetch of managed memory");
  context.device().prefetch(stream, p, static_cast<size_t>(bytes), device);
  if (until == Until::complete) context.device().synchronize(stream);
}

void advise(Context& context, const void* p, int64_t bytes, gpumem_advice advice, int32_t device) {
  if (advice < GPUMEM_ADVISE_READ_MOSTLY || advice > GPUMEM_ADVISE_UNSET_ACCESSED_BY) {
    fail(GPUMEM_INVALID_ARGUMENT, "advice is %d; expected a gpumem_advice (%d to %d)", advice,
         GPUMEM_ADVISE_READ_MOSTLY, GPUMEM_ADVISE_UNSET_ACCESSED_BY);
  }
  if (bytes < 0) fail(GPUMEM_INVALID_ARGUMENT, "bytes is %lld; expected 0 or more", ll(bytes));
  const bool located = advice == GPUMEM_ADVISE_PREFERRED_LOCATION || advice == GPUMEM_ADVISE_ACCESSED_BY ||
                       advice == GPUMEM_ADVISE_UNSET_ACCESSED_BY;
  if (located) require_location(context, device);
  if (bytes == 0) return;
  require_managed(context, p, bytes);
  context.device().advise(p, static_cast<size_t>(bytes), advice, located ? device : GPUMEM_DEVICE_HOST);
}

}  // namespace gpumem
