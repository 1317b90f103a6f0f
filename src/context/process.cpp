#include "context/process.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <atomic>

#include "base/error.hpp"

namespace gpumem {
namespace {

// The pointer to the process state. Its page is emptied by the kernel in a forked child (MADV_WIPEONFORK, Linux 4.14),
// so a child makes its own. No locks here: the holder may not exist in the child.
using Place = std::atomic<Process*>;
constinit std::atomic<Place*> g_place{nullptr};
constinit std::atomic<unsigned> g_epochs{0};
// The newest state of this process or its parents. Leak checkers look for pointers in variables, not in mapped pages.
constinit std::atomic<Process*> g_newest{nullptr};

void after_fork_in_child() {
  if (Place* const there = g_place.load()) there->store(nullptr);
}

constexpr size_t kPage = 4096;  // the kernel rounds to whole pages of any size

void empty_in_a_child(void* page) {
  if (madvise(page, kPage, MADV_WIPEONFORK) == 0 || pthread_atfork(nullptr, nullptr, after_fork_in_child) == 0) return;
  munmap(page, kPage);
  fail(GPUMEM_OUT_OF_MEMORY, "no memory is left to tell a forked child by");
}

Place& place() {
  if (Place* const there = g_place.load(std::memory_order_acquire)) return *there;
  void* const page = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) fail(GPUMEM_OUT_OF_MEMORY, "no page of memory is left for the library's own state");
  empty_in_a_child(page);
  Place* first = nullptr;
  if (g_place.compare_exchange_strong(first, static_cast<Place*>(page), std::memory_order_acq_rel)) {
    return *static_cast<Place*>(page);
  }
  munmap(page, kPage);  // another thread was first
  return *first;
}

// Of concurrent results, one is kept. The epoch is taken before the process is visible, so a child's is always later.
Process& renew() {
  Place& shared = place();
  auto fresh = std::make_unique<Process>(static_cast<uint8_t>(g_epochs.fetch_add(1) % 255 + 1));
  Process* first = nullptr;
  if (!shared.compare_exchange_strong(first, fresh.get(), std::memory_order_acq_rel)) return *first;
  // Never destroyed. The parent's stays as it is, since its locks may be held forever.
  Process* const kept = fresh.release();
  kept->before = g_newest.exchange(kept);
  return *kept;
}

}  // namespace

Process::Process(uint8_t made_epoch) : handles(made_epoch), epoch(made_epoch) {}

Process& process() {
  if (const Place* const there = g_place.load(std::memory_order_acquire)) {
    if (Process* const current = there->load(std::memory_order_acquire)) return *current;
  }
  return renew();
}

}  // namespace gpumem
