#include "ops/workspace.hpp"

#include "base/error.hpp"
#include "context/process.hpp"
#include "ops/placement.hpp"

namespace gpumem {

Workspace::Workspace(Context& context, ExecutionSpace space, int64_t bytes) : context_(context) {
  if (space == ExecutionSpace::host) {
    p_ = on_host_.emplace(context.host(), GPUMEM_MEMORY_PAGEABLE, static_cast<size_t>(bytes)).get();
  } else {
    BlockPool& pool = context.device_memory();
    p_ = pool.allocate(pool.own(), static_cast<size_t>(bytes), kWorkspaceAlignment);
  }
}

Workspace::~Workspace() {
  if (on_host_) return;
  BlockPool& pool = context_.device_memory();
  try {
    const Claim claim = process().registry.claim(reinterpret_cast<uintptr_t>(p_), &context_);
    if (pool.pooled()) {
      pool.free_in_order(claim, pool.own());
    } else {
      context_.device().synchronize(context_.own_stream());
      pool.free_now(claim);
    }
  } catch (const Error&) {
    // The device is lost, and its memory with it.
  }
}

}  // namespace gpumem
