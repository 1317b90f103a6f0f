// Temporary memory of a call, in the execution space of its work. Device memory comes from the context's pool, and the
// context's own stream orders its use.
#pragma once

#include <cstdint>
#include <cstring>
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

// Up to 32 bytes of results that the work of a blocking call writes, at an address that the host and the work reach.
class BlockingResult {
 public:
  BlockingResult(Context& context, ExecutionSpace space);
  ~BlockingResult();
  BlockingResult(const BlockingResult&) = delete;
  BlockingResult& operator=(const BlockingResult&) = delete;

  void* get() const noexcept { return p_; }
  // After the work is complete.
  template <class T>
  T value() const noexcept {
    static_assert(sizeof(T) <= sizeof own_);
    complete_ = true;
    T copy;
    std::memcpy(&copy, p_, sizeof copy);
    return copy;
  }

 private:
  Context& context_;
  alignas(16) char own_[32] = {};
  void* p_ = own_;
  mutable bool complete_ = false;
};

}  // namespace gpumem
