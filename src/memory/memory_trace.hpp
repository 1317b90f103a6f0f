// A file of every allocation and free of a context, for `gpumem replay`. Lines are written at once, to survive a crash.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "backend/backend.hpp"

namespace gpumem {

class MemoryTrace {
 public:
  ~MemoryTrace() { close(); }

  // Throws FILE_ERROR. A running trace ends first.
  void begin(const char* path);
  // Throws FILE_ERROR if lines are missing at the end of the file.
  void end();

  // stream: nullptr for memory of all streams. A free is recorded before another thread can get the memory.
  void allocated(const void* p, size_t bytes, gpumem_memory_kind kind, size_t alignment, NativeStream stream) noexcept;
  void freed(uintptr_t p, NativeStream stream) noexcept;
  void used(uintptr_t p, NativeStream stream) noexcept;
  void trimmed(int64_t keep_bytes) noexcept;

 private:
  bool on() const noexcept { return on_.load(std::memory_order_relaxed); }
  [[gnu::format(printf, 3, 4)]] void line(char event, const char* format, ...) noexcept;
  void write(const char* text, size_t length) noexcept;
  int close() noexcept;

  std::atomic<bool> on_{false};
  std::mutex mutex_;
  std::chrono::steady_clock::time_point start_;
  int file_ = -1;
  uint64_t room_ = 0;  // bytes left below the file size limit: exceeding it raises a signal that ends the process
  int error_ = 0;      // errno of the failed write; writing stops after it
};

}  // namespace gpumem
