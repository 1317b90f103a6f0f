#include "context/process.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <atomic>

#include "base/error.hpp"

namespace gpumem {
namespace {

// Where the process is found. It lies in a page that the kernel empties in a forked child (MADV_WIPEONFORK, Linux 4.14), so a child finds
// none and makes its own. Nothing here takes a lock: a thread that does not exist in the child might hold it.
using Place = std::atomic<Process*>;
constinit std::atomic<Place*> g_place{nullptr};
constinit std::atomic<unsigned> g_epochs{0};
// The newest one of this process or of its parents. It is for checkers of leaks: they look for pointers in variables and not in mapped pages.
constinit std::atomic<Process*> g_newest{nullptr};

void after_fork_in_child() {
  if (Place* const there = g_place.load()) there->store(nullptr);
}

constexpr size_t kPage = 4096;  // the kernel takes whole pages, of whatever size

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

// Threads that come at once each make one, and one of these is kept. An epoch is taken before its process can be seen, so that of a child is
// a later one whenever the fork came.
Process& renew() {
  Place& shared = place();
  auto fresh = std::make_unique<Process>(static_cast<uint8_t>(g_epochs.fetch_add(1) % 255 + 1));
  Process* first = nullptr;
  if (!shared.compare_exchange_strong(first, fresh.get(), std::memory_order_acq_rel)) return *first;
  // It is never destroyed. The parent's is left as it was, since its locks may be held for good.
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
