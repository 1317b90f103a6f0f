#include "memory/fences.hpp"

#include "base/error.hpp"
#include "base/scope_exit.hpp"

namespace gpumem {

void require_not_capturing(Backend& backend, NativeStream stream, const char* what) {
  if (backend.capturing(stream)) {
    fail(GPUMEM_CAPTURING, "%s can't run on a stream that is being captured into a graph; the capture is still valid",
         what);
  }
}

FencePtr Fences::record(NativeStream stream) {
  NativeEvent event = events_.take();
  ScopeExit back([&] { events_.give_back(event); });
  auto fence = std::make_unique<Fence>(*this, event);
  back.release();
  backend().record(event, stream);
  return fence;
}

}  // namespace gpumem
