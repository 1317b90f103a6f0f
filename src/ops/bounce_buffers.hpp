// Results that the host computes but only the device may write. The host writes them to pageable memory, and a stream
// of the CUDA context copies them to their destination.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
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

// launch_placed() for an asynchronous call whose status only the device may write. on_host: its name if the host works.
template <class Family>
void launch_with_status(Context& context, Plan<Family>& planned, const Output& status, NativeStream stream,
                        const char* what, const char* on_host) {
  if (planned.params.status == nullptr || !runs_beside(context, planned.placement)) {
    return launch_placed(context, planned, stream, Completion::asynchronous, what);
  }
  require_not_capturing(context, stream, on_host);
  BounceBuffers buffers;
  planned.params.status = static_cast<gpumem_status*>(buffers.room_for(status));
  const auto work = [planned](Backend& host, NativeStream now, Completion done) {
    host.launch(now, Work<Family>{planned.params, planned.selection}, done);
  };
  enqueue_on_host(context, stream,
                  beside_task(context, std::string(what) + " that was enqueued", work, planned.params.status),
                  std::move(buffers), false);
}

}  // namespace gpumem
