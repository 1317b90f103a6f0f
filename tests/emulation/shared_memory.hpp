// Shared memory is static storage here, one copy for all blocks. Before each block it is filled with a pattern, so that a kernel
// that reads what its block has not written shows.
#pragma once

#include <cstdint>

namespace gpumem_emulation {

class SharedMemory {
 public:
  static constexpr unsigned char kPattern = 0xb5;

  // For one launch of a kernel.
  explicit SharedMemory(const void* function);
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  // Before each block.
  void spoil();

 private:
  void note_used();
  void refill();

  const void* function_;
  uint64_t blocks_ = 0;
};

}  // namespace gpumem_emulation
