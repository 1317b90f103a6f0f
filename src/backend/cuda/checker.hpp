// compute-sanitizer is told, by the memory calls of NVTX, of blocks that lie in larger memory: so it sees an access past a block's end,
// or after its free, where the memory goes on. What the driver hands out it knows by itself.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

namespace gpumem {

class Checker {
 public:
  // Asks whether the tool is there, with the device's context current.
  void open();
  bool attached() const noexcept { return attached_; }

  // Memory from cudaMalloc(), the only one that the tool takes news of, for blocks to lie in: none of it can be accessed yet.
  void begin_heap(void* p, size_t bytes) noexcept;
  void end_heap(void* p) noexcept;                   // it is freed next
  void begin_block(void* p, size_t bytes) noexcept;  // in a heap, or memory of its own
  void end_block(void* p) noexcept;

 private:
  struct Heap {
    void* name = nullptr;  // the tool's
    size_t bytes = 0;
  };

  const Heap* heap_of(void* p) const noexcept;  // with the lock held; nullptr: none that the tool knows

  bool attached_ = false;
  std::mutex mutex_;
  std::map<void*, Heap> heaps_;  // by their start
};

}  // namespace gpumem
