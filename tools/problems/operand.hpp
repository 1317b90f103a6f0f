// Memory of the kinds that an operation descriptor names.
#pragma once

#include <gpumem.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "problems/contents.hpp"

namespace tool {

class Operand {
 public:
  // kind: pageable, pinned, registered (heap memory that is pinned), mixed (half of it is pinned), device, managed.
  // Throws a Failure if it is not available. The start is `misaligned` bytes past a multiple of 4096.
  Operand(gpumem_ctx* ctx, const std::string& kind, int64_t bytes, int64_t misaligned);
  Operand(gpumem_ctx* ctx, std::shared_ptr<void> memory, int64_t bytes, bool on_host);
  virtual ~Operand() = default;
  Operand(const Operand&) = delete;
  Operand& operator=(const Operand&) = delete;

  unsigned char* get() const { return start_; }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(start_);
  }
  int64_t bytes() const { return bytes_; }
  bool on_host() const { return on_host_; }
  virtual void fill(const Contents& contents) const;
  virtual void fill(unsigned char value) const;
  bool same_as(const Operand& other) const;

 private:
  gpumem_ctx* ctx_;
  int64_t bytes_;
  std::shared_ptr<void> block_;
  unsigned char* start_ = nullptr;
  bool on_host_ = false;
};

using OperandPtr = std::shared_ptr<Operand>;

// In parts of [0, n), on all threads.
void in_parallel(int64_t n, const std::function<void(int64_t begin, int64_t end)>& work);

}  // namespace tool
