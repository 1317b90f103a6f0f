#include "memory/fences.hpp"

#include "base/scope_exit.hpp"

namespace gpumem {

FencePtr Fences::record(NativeStream stream) {
  NativeEvent event = events_.take();
  ScopeExit back([&] { events_.give_back(event); });
  auto fence = std::make_unique<Fence>(*this, event);
  back.release();
  backend().record(event, stream);
  return fence;
}

}  // namespace gpumem
