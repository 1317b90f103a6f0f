// Physical memory of the device in granules, the least that the driver maps (CUDA C++ Programming Guide, "Virtual Memory
// Management").
#pragma once

#include <cudaTypedefs.h>

#include <cstddef>
#include <cstdint>

namespace gpumem {

class Granules {
 public:
  // Leaves bytes() at 0 where the device or the driver lacks what it takes.
  void open(int ordinal);
  size_t bytes() const noexcept { return bytes_; }

  uintptr_t reserve(size_t bytes) const noexcept;  // addresses; 0: there are none
  void release(uintptr_t base, size_t bytes) const noexcept;
  // Whole granules of them, which are unmapped together. Throws OUT_OF_MEMORY, and nothing was mapped.
  void map(uintptr_t p, size_t bytes) const;
  void unmap(uintptr_t p, size_t bytes) const noexcept;

 private:
  size_t bytes_ = 0;
  CUmemAllocationProp properties_{};
};

}  // namespace gpumem
