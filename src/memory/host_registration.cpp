// Memory that the program has already, pinned where it lies.
#include "base/checked.hpp"
#include "base/error.hpp"
#include "base/names.hpp"
#include "base/sentences.hpp"
#include "context/process.hpp"
#include "context/streams.hpp"
#include "ops/operand.hpp"
#include "ops/operations.hpp"

namespace gpumem {

void register_host(Context& context, void* p, int64_t bytes) {
  require_at_least("bytes", bytes, 1);
  const Operand operand = look_up_range(context, p, bytes, Access::write, "p");
  if (operand.ours || operand.mixed || operand.kind != GPUMEM_MEMORY_PAGEABLE) {
    fail(GPUMEM_INVALID_ARGUMENT, "p (0x%llx) is %s memory%s; expected ordinary host memory, none of it registered",
         number(p), kind_name(operand.kind), operand.mixed ? " that is registered in part" : "");
  }
  const auto size = static_cast<size_t>(bytes);
  context.device().register_host(p, size);
  try {
    const Runs backend = context.device().props().backend;
    process().registry.add_registered(
        {reinterpret_cast<uintptr_t>(p), size, GPUMEM_MEMORY_PINNED, backend, GPUMEM_DEVICE_HOST, &context, true});
  } catch (...) {
    context.device().unregister_host(p);
    throw;
  }
  context.registered.registered(bytes);
}

void unregister_host(Context& context, void* p) {
  if (p == nullptr) fail(GPUMEM_INVALID_ARGUMENT, "p is NULL; expected the start of registered memory");
  const Claim claim = process().registry.claim_registered(reinterpret_cast<uintptr_t>(p), &context);
  try {
    wait_for_streams(context);
  } catch (...) {
    Registry::unclaim(claim);  // work may still use it
    throw;
  }
  context.labels.forget(claim);
  context.device().unregister_host(p);
  context.registered.unregistered(static_cast<int64_t>(claim.bytes()));
  process().registry.remove(*claim.region);
}

}  // namespace gpumem
