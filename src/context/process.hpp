// State of the whole process, made on first use. Never destroyed: no static destructor may run after main. A forked
// child makes a new one, because the parent's threads, locks and CUDA contexts no longer work.
#pragma once

#include <atomic>
#include <cstdint>

#include "backend/backend.hpp"
#include "context/ceilings.hpp"
#include "context/handles.hpp"
#include "memory/registry.hpp"

namespace gpumem {

class SharedContexts;

struct Process {
  explicit Process(uint8_t made_epoch);

  Registry registry;
  std::atomic<SharedContexts*> shared_contexts{nullptr};  // made on first use and kept
  const Process* before = nullptr;
  SharedWorkers workers;
  MeasuredCeilings ceilings;
  HandleTable handles;
  const uint8_t epoch;  // 1 at first; a forked child counts on. Handles carry it.
};

Process& process();

// The object of a live handle. Throws INVALID_HANDLE or FORKED, naming the argument.
template <class T>
T& object_of(uint64_t handle, HandleType type, const char* argument) {
  return *static_cast<T*>(process().handles.get(handle, type, argument));
}

}  // namespace gpumem
