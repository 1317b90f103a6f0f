// A temporary block of a backend's memory.
#pragma once

#include <cstddef>

#include "backend/backend.hpp"
#include "base/limits.hpp"

namespace gpumem {

class Scratch {
 public:
  Scratch(Backend& backend, gpumem_memory_kind kind, size_t bytes)
      : backend_(backend), kind_(kind), bytes_(bytes), p_(take(backend, kind, bytes)) {}
  ~Scratch() { backend_.release(kind_, p_, bytes_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  void* get() const noexcept { return p_; }

 private:
  // Host memory is used whole.
  static void* take(Backend& backend, gpumem_memory_kind kind, size_t bytes) {
    if (backend.props().backend == ExecutionSpace::host || kind == GPUMEM_MEMORY_PINNED)
      require_available_for_call(bytes);
    return backend.allocate(kind, bytes);
  }

  Backend& backend_;
  gpumem_memory_kind kind_;
  size_t bytes_;
  void* p_;
};

}  // namespace gpumem
