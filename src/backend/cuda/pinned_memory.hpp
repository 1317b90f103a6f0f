// Page-locked host memory of the program: the library's own pages, registered with the driver. Freed, they are gone from the
// process, where the driver's own allocator would keep them mapped and a stale pointer would look sound.
#pragma once

#include <cstddef>
#include <mutex>
#include <unordered_set>

namespace gpumem {

class PinnedMemory {
 public:
  void* allocate(size_t bytes);
  void release(void* p, size_t bytes) noexcept;

 private:
  // Where the driver refuses to register pages, its own allocator serves; those blocks are remembered.
  void* allocate_from_driver(size_t bytes);
  bool forget_if_from_driver(void* p) noexcept;

  std::mutex mutex_;
  std::unordered_set<void*> from_driver_;
};

}  // namespace gpumem
