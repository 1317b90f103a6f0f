// Tells compute-sanitizer, through NVTX memory calls, about blocks within larger allocations. It then reports an access
// past a block's end or after its free. It knows the driver's own allocations by itself.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

namespace gpumem {

class Checker {
 public:
  // Detects the tool. The device's context must be current.
  void open();
  bool attached() const noexcept { return attached_; }

  // Registers inaccessible memory for blocks. It must come from cudaMalloc(), because the tool accepts no other.
  void begin_heap(void* p, size_t bytes) noexcept;
  void end_heap(void* p) noexcept;                   // it is freed next
  void begin_block(void* p, size_t bytes) noexcept;  // in a heap, or an allocation of its own
  void end_block(void* p) noexcept;

 private:
  struct Heap {
    void* name = nullptr;
    size_t bytes = 0;
  };

  const Heap* heap_of(void* p) const noexcept;  // requires the lock; nullptr: no heap that the tool knows

  bool attached_ = false;
  std::mutex mutex_;
  std::map<void*, Heap> heaps_;
};

}  // namespace gpumem
