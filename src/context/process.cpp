#include "context/process.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>

#include "base/error.hpp"
#include "context/shared_contexts.hpp"

namespace gpumem {
namespace {

// A page that the kernel empties in a forked child (MADV_WIPEONFORK, Linux 4.14): 1 while this is the process that made it.
std::atomic<uint8_t>* g_alive = nullptr;
std::atomic<Process*> g_process{nullptr};
std::mutex g_renewing;

void after_fork_in_child() { g_alive->store(0, std::memory_order_relaxed); }

std::atomic<uint8_t>* make_alive_flag() {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* flag = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (flag == MAP_FAILED) fail(GPUMEM_OUT_OF_MEMORY, "no page of memory is left for the library's own state");
  if (madvise(flag, page, MADV_WIPEONFORK) != 0) pthread_atfork(nullptr, nullptr, after_fork_in_child);
  return static_cast<std::atomic<uint8_t>*>(flag);
}

// The lock may be held by a thread that does not exist in this child; only one thread can be in a fresh child's first call
// unless the program has started more, so a short wait and then going ahead is safe enough never to hang.
Process& renew() {
  std::unique_lock<std::mutex> lock(g_renewing, std::defer_lock);
  for (int tries = 0; !lock.owns_lock() && tries < 1000; ++tries) {
    if (!lock.try_lock()) usleep(1000);
  }
  Process* current = g_process.load(std::memory_order_acquire);
  if (current != nullptr && g_alive->load(std::memory_order_relaxed) == 1) return *current;
  if (g_alive == nullptr) g_alive = make_alive_flag();
  const auto epoch = static_cast<uint8_t>(current == nullptr ? 1 : current->epoch % 255 + 1);
  auto* fresh = new Process(epoch);  // the parent's is left as it was: its locks may be held for good
  g_alive->store(1, std::memory_order_relaxed);
  g_process.store(fresh, std::memory_order_release);
  return *fresh;
}

}  // namespace

Process::Process(uint8_t made_epoch)
    : epoch(made_epoch), handles(made_epoch), shared_contexts(std::make_unique<SharedContexts>()) {}
Process::~Process() = default;

Process& process() {
  Process* current = g_process.load(std::memory_order_acquire);
  if (current != nullptr && g_alive->load(std::memory_order_relaxed) == 1) return *current;
  return renew();
}

}  // namespace gpumem
