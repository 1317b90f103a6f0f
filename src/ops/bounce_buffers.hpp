// Results that the host computes but only the device may write. The host writes them to pageable memory, and a stream
// of the CUDA context copies them to their destination.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "ops/outputs.hpp"
#include "ops/plan.hpp"

namespace gpumem {

class BounceBuffers {
 public:
  // Address for the host: the output if the host may write it, otherwise zeroed pageable memory. nullptr if absent.
  void* room_for(const Output& output);

  struct Place {
    void* target;
    std::unique_ptr<std::byte[]> bytes;
    size_t size;
  };
  const std::vector<Place>& places() const noexcept { return places_; }

 private:
  std::vector<Place> places_;
};

// Enqueues a task that writes to the buffers. prefilled: they first get their targets' contents.
void enqueue_on_host(Context& context, NativeStream stream, HostTask task, BounceBuffers buffers, bool prefilled);

}  // namespace gpumem
