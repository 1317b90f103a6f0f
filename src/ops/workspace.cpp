#include "ops/workspace.hpp"

#include "base/error.hpp"
#include "context/process.hpp"
#include "ops/operations.hpp"
#include "ops/placement.hpp"

namespace gpumem {

Workspace::Workspace(Context& context, ExecutionSpace space, int64_t bytes) : context_(context) {
  if (space == ExecutionSpace::host) {
    p_ = on_host_.emplace(context.host(), GPUMEM_MEMORY_PAGEABLE, static_cast<size_t>(bytes)).get();
  } else {
    p_ = allocate_async(context, bytes, kWorkspaceAlignment, context.device_memory().own());
  }
}

Workspace::~Workspace() {
  if (on_host_) return;
  try {
    free_async(context_, p_, context_.device_memory().own());
  } catch (const Error& error) {  // either the device and its memory are lost, or debug mode found damage
    if (error.status() == GPUMEM_CORRUPTED) context_.log.write(GPUMEM_LOG_ERROR, "%s", error.what());
  }
}

BlockingResult::BlockingResult(Context& context, ExecutionSpace space) : context_(context) {
  if (space == ExecutionSpace::host) return;
  p_ = allocate(context, GPUMEM_MEMORY_PINNED, sizeof own_);
  std::memset(p_, 0, sizeof own_);
}

BlockingResult::~BlockingResult() {
  if (p_ == own_) return;
  try {
    if (complete_) {
      context_.pinned_memory().free_now(process().registry.claim(reinterpret_cast<uintptr_t>(p_), &context_));
    } else {
      free_memory(context_, p_);  // the wait failed, so the work may still write
    }
  } catch (const Error& error) {  // as above
    if (error.status() == GPUMEM_CORRUPTED) context_.log.write(GPUMEM_LOG_ERROR, "%s", error.what());
  }
}

}  // namespace gpumem
