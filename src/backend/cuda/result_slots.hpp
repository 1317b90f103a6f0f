// Slots of mapped pinned memory. A kernel writes its value there, and the host waits for it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "backend/cuda/cuda_check.hpp"
#include "kernels/reduce/launch.hpp"

namespace gpumem {

constexpr size_t kSlotBytes = 64;  // a cache line

class ResultSlots {
 public:
  ResultSlots(size_t slots, size_t bytes_of_each) noexcept : slots_(slots), bytes_(bytes_of_each) {}

  void open();
  void close() noexcept;

  // A slot for one launch. If all are in use, it waits or stays empty.
  class Lease {
   public:
    explicit Lease(ResultSlots& slots, bool waits = true);
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    bool has_slot() const noexcept { return ticket_ != 0; }
    volatile kernels::ReduceSlot* host() const noexcept;
    kernels::ReduceSlot* device() const noexcept;
    uint32_t ticket() const noexcept { return ticket_; }

   private:
    ResultSlots& slots_;
    size_t index_ = 0;
    uint32_t ticket_ = 0;
  };

 private:
  const size_t slots_;
  const size_t bytes_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<size_t> free_;
  uint32_t next_ticket_ = 1;
  char* host_ = nullptr;
  char* device_ = nullptr;
};

}  // namespace gpumem
