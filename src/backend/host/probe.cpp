// Asks the kernel whether memory can be accessed, so that a bad pointer causes a status and never a signal. It also
// tells how much is accessible. Two places are known without asking: the calling thread's stack above this file's
// frames, and the brk() heap of malloc(). Results and small operands of most programs are there.
#include <linux/futex.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "backend/backend.hpp"
#include "backend/host/cpu_budget.hpp"
#include "backend/host/mappings.hpp"
#include "base/files.hpp"
#include "base/limits.hpp"

namespace gpumem {
namespace {

// More probes than this take longer than reading the list of mappings.
constexpr uintptr_t kMostProbes = 2;

// An unknown answer is requested again, each time after twice as many questions.
constexpr bool is_time_to_ask(uint32_t questions) noexcept { return std::has_single_bit(questions); }

struct Stack {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  uint32_t questions = 0;
};

Stack stack_of_thread() noexcept {
  Stack stack;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return stack;
  void* begin = nullptr;
  size_t bytes = 0;
  if (pthread_attr_getstack(&attributes, &begin, &bytes) == 0) {
    stack.begin = reinterpret_cast<uintptr_t>(begin);
    stack.end = stack.begin + bytes;
  }
  pthread_attr_destroy(&attributes);
  return stack;
}

// A stack that the program made itself is not recognised, so the kernel is asked about it.
bool on_own_stack(uintptr_t address) noexcept {
  thread_local constinit Stack stack;
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  if (address < here) return false;
  if (stack.end == 0 && is_time_to_ask(++stack.questions)) {
    const uint32_t questions = stack.questions;
    stack = stack_of_thread();
    stack.questions = questions;
  }
  return here >= stack.begin && address < stack.end;
}

// Start of the brk() heap: field 47 of proc(5)'s stat, counted after the program's name, which is field 2. 0: unknown.
uintptr_t program_heap() noexcept {
  char text[1024];
  read_beginning("/proc/self/stat", text, sizeof text);
  const char* at = strrchr(text, ')');
  for (int field = 2; at != nullptr && field < 47; ++field) at = strchr(at + 1, ' ');
  uintptr_t begin = 0;
  if (at != nullptr) std::from_chars(at + 1, text + sizeof text, begin);  // remains 0 without a number
  return begin;
}

bool in_program_heap(uintptr_t address) noexcept {
  static constinit std::atomic<uintptr_t> known{0};
  static constinit std::atomic<uint32_t> questions{0};
  uintptr_t begin = known.load(std::memory_order_relaxed);
  if (begin == 0 && is_time_to_ask(questions.fetch_add(1, std::memory_order_relaxed) + 1)) {
    begin = program_heap();
    known.store(begin, std::memory_order_relaxed);
  }
  return begin != 0 && address >= begin && address < reinterpret_cast<uintptr_t>(sbrk(0));
}

bool surely_accessible(uintptr_t first, uintptr_t last) noexcept {
  return (on_own_stack(first) && on_own_stack(last)) || (in_program_heap(first) && in_program_heap(last));
}

bool reachable(uintptr_t address, bool writable) noexcept {
  void* p = reinterpret_cast<void*>(address);
  return writable ? host_writable(p) : host_readable(p);
}

const void* listed_hole(const MappingsFile& mappings, const AddressRange& pages, size_t gap, bool writable) noexcept {
  HoleSearch search = mappings.find_hole(pages, gap, writable);
  if (!search.known) search = find_hole(pages, gap, writable, MappingList::asked);
  if (!search.known) search = find_hole(pages, gap, writable, MappingList::text);
  return search.hole ? reinterpret_cast<const void*>(search.hole->begin) : nullptr;
}

}  // namespace

// rt_sigprocmask copies the 8 bytes of the new mask in before it checks `how`. It returns EFAULT if they cannot be
// read, else EINVAL without a change. Aligned down, the 8 bytes stay inside p's page.
bool host_readable(const void* p) noexcept {
  const uintptr_t aligned = reinterpret_cast<uintptr_t>(p) & ~uintptr_t{7};
  if (aligned == 0) return false;
  if (surely_accessible(aligned, aligned)) return true;
  return syscall(SYS_rt_sigprocmask, ~0, aligned, nullptr, 8) == 0 || errno != EFAULT;
}

// FUTEX_WAKE_OP adds 0 to the word atomically, which preserves concurrent writes, and returns EFAULT if the page cannot
// be written. No thread waits on the other word.
bool host_writable(void* p) noexcept {
  static uint32_t nobody_waits = 0;
  const uintptr_t aligned = reinterpret_cast<uintptr_t>(p) & ~uintptr_t{3};
  if (aligned == 0) return false;
  if (surely_accessible(aligned, aligned)) return true;
  constexpr int kAddNothing = FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0);
  const long result =
      syscall(SYS_futex, &nobody_waits, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, nullptr, aligned, kAddNothing);
  return result >= 0 || errno != EFAULT;
}

// Holes are whole pages. Probes are as far apart as possible without missing a hole that is too long.
const void* host_hole(const MappingsFile& mappings, const void* p, size_t bytes, size_t gap, bool writable) noexcept {
  const uintptr_t page = page_bytes();
  const auto address = reinterpret_cast<uintptr_t>(p);
  const AddressRange pages{address & ~(page - 1), (address + bytes - 1) & ~(page - 1)};  // except for the last page
  if (pages.bytes() <= page || pages.bytes() - page <= gap || surely_accessible(address, address + bytes - 1)) {
    return nullptr;
  }
  const uintptr_t step = (gap / page + 1) * page;
  if ((pages.bytes() - 1) / step > kMostProbes) return listed_hole(mappings, pages, gap, writable);
  for (uintptr_t at = pages.begin + step; at < pages.end; at += step) {
    if (reachable(at, writable)) continue;
    return step == page ? reinterpret_cast<const void*>(at) : listed_hole(mappings, pages, gap, writable);
  }
  return nullptr;
}

size_t host_resident_bytes(const void* p, size_t bytes) noexcept {
  const uintptr_t page = page_bytes();
  constexpr size_t kPages = 4096;
  unsigned char resident[kPages];
  const auto first = reinterpret_cast<uintptr_t>(p);
  const uintptr_t last = first + bytes;
  size_t found = 0;
  for (uintptr_t at = first / page * page; at < last;) {
    const uintptr_t end = std::min((last + page - 1) / page * page, at + kPages * page);
    if (mincore(reinterpret_cast<void*>(at), end - at, resident) != 0) break;
    for (size_t i = 0; at < end; ++i, at += page) {
      if ((resident[i] & 1) != 0) found += std::min(last, at + page) - std::max(first, at);
    }
  }
  return found;
}

void require_pages(const void* p, size_t bytes) {
  if (is_available(bytes)) return;
  const auto most = static_cast<size_t>(memory_limits().bytes);  // no more can exist
  require_available(bytes - (bytes / 2 > most ? most : host_resident_bytes(p, bytes)));
}

}  // namespace gpumem
