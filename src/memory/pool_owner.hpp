// What the memory of a context needs of that context.
#pragma once

#include <functional>

#include "backend/backend.hpp"
#include "base/log.hpp"
#include "memory/labels.hpp"
#include "memory/memory_trace.hpp"
#include "memory/registry.hpp"

namespace gpumem {

// The context keeps it as long as its pools.
struct PoolOwner {
  const void* id;  // the context, compared and never dereferenced
  Backend& device;
  Host& host;  // on a host context the same object as the device
  Registry& registry;
  Log& log;
  Labels& labels;
  MemoryTrace& trace;
  std::function<void()> wait_for_streams;  // all that the context has, those under capture excepted

  bool on_cuda() const noexcept { return device.props().backend == ExecutionSpace::cuda; }
};

}  // namespace gpumem
