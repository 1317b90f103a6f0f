// Temporary memory of a call, in the execution space of its work. Device memory comes from the context's pool, and the
// context's own stream orders its use.
#pragma once

#include <cstdint>
#include <optional>

#include "context/context.hpp"
#include "memory/scratch.hpp"

namespace gpumem {

class Workspace {
 public:
  Workspace(Context& context, ExecutionSpace space, int64_t bytes);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  void* get() const noexcept { return p_; }

 private:
  Context& context_;
  std::optional<Scratch> on_host_;
  void* p_;
};

}  // namespace gpumem
