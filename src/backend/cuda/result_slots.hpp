// Slots of pinned memory that the device has mapped: a kernel writes its value there and the host waits for it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "backend/cuda/cuda_check.hpp"
#include "kernels/reduce/launch.hpp"

namespace gpumem {

class ResultSlots {
 public:
  static constexpr size_t kSlots = 64;
  static constexpr size_t kSlotBytes = 64;  // a cache line each

  void open();
  void close() noexcept;

  // A slot for one launch; waits while all are in use.
  class Lease {
   public:
    explicit Lease(ResultSlots& slots);
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    volatile kernels::ReduceSlot* host() const noexcept;
    kernels::ReduceSlot* device() const noexcept;
    uint32_t ticket() const noexcept { return ticket_; }

   private:
    ResultSlots& slots_;
    size_t index_;
    uint32_t ticket_;
  };

 private:
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<size_t> free_;
  uint32_t next_ticket_ = 1;
  char* host_ = nullptr;
  char* device_ = nullptr;
};

}  // namespace gpumem
