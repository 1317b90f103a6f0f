// Process-wide values, made once and kept.
#pragma once

#include <atomic>
#include <memory>

namespace gpumem {

// The value that `place` holds, made by the first caller. Concurrent threads each make one, and one is kept. A static
// variable's lock would not do: a forked child could wait for a thread of its parent.
template <class T, class Make>
const T& made_once(std::atomic<const T*>& place, const Make& make) {
  if (const T* const there = place.load(std::memory_order_acquire)) return *there;
  auto made = std::make_unique<const T>(make());
  const T* first = nullptr;
  if (!place.compare_exchange_strong(first, made.get(), std::memory_order_acq_rel)) return *first;
  return *made.release();  // threads may outlive main()
}

}  // namespace gpumem
