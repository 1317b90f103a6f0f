// A temporary block of a backend's memory.
#pragma once

#include <cstddef>

#include "backend/backend.hpp"

namespace gpumem {

class Scratch {
 public:
  Scratch(Backend& backend, gpumem_memory_kind kind, size_t bytes)
      : backend_(backend), kind_(kind), bytes_(bytes), p_(backend.allocate(kind, bytes)) {}
  ~Scratch() { backend_.release(kind_, p_, bytes_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  void* get() const noexcept { return p_; }

 private:
  Backend& backend_;
  gpumem_memory_kind kind_;
  size_t bytes_;
  void* p_;
};

}  // namespace gpumem
