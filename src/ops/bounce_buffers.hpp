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

// The names of a call in messages: of the call, of it if the host works, and of its work in the stream, by default
// the first name "that was enqueued".
struct CallNames {
  const char* call;
  const char* on_host;
  const char* enqueued = nullptr;
};

// launch_placed() for an asynchronous call with outputs that only the device may write. redirect(params, buffers) puts
// the outputs into the buffers, and returns the address of the status, or nullptr.
template <class Family, class Redirect>
void launch_bounced(Context& context, Plan<Family>& planned, NativeStream stream, const CallNames& names,
                    bool prefilled, const Redirect& redirect) {
  if (!runs_beside(context, planned.placement)) {
    return launch_placed(context, planned, stream, Completion::asynchronous, names.call);
  }
  require_not_capturing(context, stream, names.on_host);
  BounceBuffers buffers;
  gpumem_status* const status = redirect(planned.params, buffers);
  const auto kept = std::make_shared<const Plan<Family>>(planned);
  const auto work = [kept](Backend& host, NativeStream now, Completion done) {
    host.launch(now, Work<Family>{kept->params, kept->selection}, done);
  };
  std::string what = names.enqueued != nullptr ? names.enqueued : std::string(names.call) + " that was enqueued";
  enqueue_on_host(context, stream, beside_task(context, std::move(what), work, status), std::move(buffers), prefilled);
}

// The same for a call whose only such output is its status.
template <class Family>
void launch_with_status(Context& context, Plan<Family>& planned, const Output& status, NativeStream stream,
                        const char* what, const char* on_host) {
  if (planned.params.status == nullptr) {
    return launch_placed(context, planned, stream, Completion::asynchronous, what);
  }
  launch_bounced(context, planned, stream, {what, on_host}, false, [&status](auto& params, BounceBuffers& buffers) {
    return params.status = static_cast<gpumem_status*>(buffers.room_for(status));
  });
}

}  // namespace gpumem
