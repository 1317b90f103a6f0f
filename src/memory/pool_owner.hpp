// Interface from a context to its pools.
#pragma once

#include <functional>

#include "backend/backend.hpp"
#include "base/log.hpp"
#include "memory/labels.hpp"
#include "memory/memory_trace.hpp"
#include "memory/registry.hpp"

namespace gpumem {

// Lives as long as the pools.
struct PoolOwner {
  const void* id;  // the context, compared and never dereferenced
  Backend& device;
  Host& host;  // on a host context the same object as the device
  Registry& registry;
  Log& log;
  Labels& labels;
  MemoryTrace& trace;
  std::function<void()> wait_for_streams;  // all streams of the context except those under capture

  bool on_cuda() const noexcept { return device.props().backend == ExecutionSpace::cuda; }
};

}  // namespace gpumem
