// Managed memory: the program's advice, prefetches and residence.
#include "base/checked.hpp"
#include "base/error.hpp"
#include "context/streams.hpp"
#include "ops/operand.hpp"
#include "ops/operations.hpp"

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

}  // namespace

void prefetch(Context& context, const void* p, int64_t bytes, int32_t device, NativeStream stream,
              Completion completion) {
  require_at_least("bytes", bytes, 0);
  require_location(context, device);
  if (bytes == 0) return;
  require_managed(context, p, bytes);
  require_not_capturing(context, stream, "a prefetch of managed memory");
  if (context.on_cuda() && device == GPUMEM_DEVICE_HOST) require_pages(p, static_cast<size_t>(bytes));
  context.device().prefetch(stream, p, static_cast<size_t>(bytes), device);
  if (completion == Completion::blocking) context.device().synchronize(stream);
}

void advise(Context& context, const void* p, int64_t bytes, gpumem_advice advice, int32_t device) {
  if (advice < GPUMEM_ADVISE_READ_MOSTLY || advice > GPUMEM_ADVISE_UNSET_ACCESSED_BY) {
    fail(GPUMEM_INVALID_ARGUMENT, "advice is %d; expected a gpumem_advice (%d to %d)", advice,
         GPUMEM_ADVISE_READ_MOSTLY, GPUMEM_ADVISE_UNSET_ACCESSED_BY);
  }
  require_at_least("bytes", bytes, 0);
  const bool located = advice == GPUMEM_ADVISE_PREFERRED_LOCATION || advice == GPUMEM_ADVISE_ACCESSED_BY ||
                       advice == GPUMEM_ADVISE_UNSET_ACCESSED_BY;
  if (located) require_location(context, device);
  if (bytes == 0) return;
  require_managed(context, p, bytes);
  context.device().advise(p, static_cast<size_t>(bytes), advice, located ? device : GPUMEM_DEVICE_HOST);
}

gpumem_managed_info query_managed(Context& context, const void* p, int64_t bytes) {
  require_at_least("bytes", bytes, 0);
  gpumem_managed_info info{};
  info.last_prefetch = GPUMEM_DEVICE_NONE;
  info.preferred_location = GPUMEM_DEVICE_NONE;
  if (bytes == 0) return info;
  require_managed(context, p, bytes);
  const auto size = static_cast<size_t>(bytes);
  info.host_bytes = context.on_cuda() ? static_cast<int64_t>(host_resident_bytes(p, size)) : bytes;
  const ManagedState state = context.device().managed_state(p, size);
  info.last_prefetch = state.last_prefetch;
  info.preferred_location = state.preferred_location;
  info.read_mostly = state.read_mostly ? 1 : 0;
  info.accessed_by = state.accessed_by ? 1 : 0;
  return info;
}

}  // namespace gpumem
