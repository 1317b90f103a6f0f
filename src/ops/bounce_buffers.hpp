// Results of work on the host whose destination only the device may write: the host writes them to the heap, and a stream of the CUDA
// context copies them from there.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "ops/outputs.hpp"
#include "ops/placed.hpp"

namespace gpumem {

class BounceBuffers {
 public:
  // Where the host writes for this output: the output itself where it may, else zeros on the heap; nullptr for none.
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

// Enqueues a task that writes to the buffers. prefilled: they hold what their targets held when it begins, so that a task that
// writes nothing changes nothing.
void enqueue_on_host(Context& context, NativeStream stream, HostTask task, BounceBuffers buffers, bool prefilled);

}  // namespace gpumem
