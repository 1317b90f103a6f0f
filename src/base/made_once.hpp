// Values that a process makes once and keeps.
#pragma once

#include <atomic>
#include <memory>

namespace gpumem {

// The value that `place` holds, made by the first caller. If several threads come at once, each makes one and one is kept. There is no lock,
// as a static variable of a function has: a forked child would wait for a thread of its parent that does not exist in the child.
template <class T, class Make>
const T& made_once(std::atomic<const T*>& place, const Make& make) {
  if (const T* const there = place.load(std::memory_order_acquire)) return *there;
  auto made = std::make_unique<const T>(make());
  const T* first = nullptr;
  if (!place.compare_exchange_strong(first, made.get(), std::memory_order_acq_rel)) return *first;
  return *made.release();  // threads may outlive main()
}

}  // namespace gpumem
