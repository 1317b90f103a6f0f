// The executable's own malloc, mmap, pthread_create, open, sysconf and so on: the dynamic linker takes them for every library of the process,
// so libgpumem.so and the C++ run-time beneath it meet the refusals too. They hand on to glibc's own.
#include "fault/resources.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstring>
#include <thread>
#include <vector>

// glibc's allocator under the names that it keeps for those who replace malloc.
extern "C" void* __libc_malloc(size_t);
extern "C" void* __libc_calloc(size_t, size_t);
extern "C" void* __libc_realloc(void*, size_t);
extern "C" void* __libc_memalign(size_t, size_t);
extern "C" void __libc_free(void*);

namespace gpumem_test {
namespace {

constinit std::atomic<bool> g_armed{false};
constinit std::atomic<bool> g_paused{false};
constinit std::atomic<bool> g_persistent{false};
constinit std::atomic<int64_t> g_number{0};
constinit std::atomic<int64_t> g_requests{0};
constinit std::atomic<int64_t> g_refused{0};
constinit std::atomic<const char*> g_first{nullptr};
constinit std::atomic<int64_t> g_blocks{0};
constinit std::atomic<int64_t> g_mapped_bytes{0};

bool refused(const char* what) noexcept {
  if (!g_armed.load(std::memory_order_relaxed) || g_paused.load(std::memory_order_relaxed)) return false;
  const int64_t request = g_requests.fetch_add(1);
  if (g_persistent ? request < g_number : request != g_number) return false;
  if (g_refused++ == 0) g_first = what;
  return true;
}

void* counted(void* p) noexcept {
  if (p != nullptr) ++g_blocks;
  return p;
}

void* out_of_memory() noexcept {
  errno = ENOMEM;
  return nullptr;
}

int refused_with(int error) noexcept {
  errno = error;
  return -1;
}

}  // namespace

std::span<const Refusal> refusals() noexcept {
  static constexpr Refusal kRefusals[] = {{"host", {}}, {"debug", {.debug_memory = 1}}};
  return kRefusals;
}

void refuse_request(const Refusal&, int64_t number, Refuse mode) noexcept {
  g_number = number;
  g_persistent = mode == Refuse::from_then_on;
  g_requests = 0;
  g_refused = 0;
  g_first = nullptr;
  g_armed = true;
}

int64_t refuse_nothing() noexcept {
  g_armed = false;
  return g_refused;
}

void pause_refusals(bool paused) noexcept { g_paused = paused; }

const char* first_refused() noexcept { return g_first; }

Held held_now() noexcept { return {g_blocks, g_mapped_bytes}; }

void keep_stacks() {
  constexpr int kThreads = 16;
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, size_t{256} << 10);  // all of them fit what glibc keeps
  pthread_setattr_default_np(&small);
  pthread_attr_destroy(&small);
  std::barrier all(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back([&all] { all.arrive_and_wait(); });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace gpumem_test

using gpumem_test::counted;
using gpumem_test::out_of_memory;
using gpumem_test::refused;
using gpumem_test::refused_with;

extern "C" {

void* malloc(size_t bytes) { return refused("malloc") ? out_of_memory() : counted(__libc_malloc(bytes)); }
void* calloc(size_t n, size_t bytes) { return refused("calloc") ? out_of_memory() : counted(__libc_calloc(n, bytes)); }

void* realloc(void* p, size_t bytes) {
  if (refused("realloc")) return out_of_memory();
  void* const grown = __libc_realloc(p, bytes);
  if (p == nullptr) return counted(grown);
  if (bytes == 0) --gpumem_test::g_blocks;
  return grown;
}

void free(void* p) {
  if (p != nullptr) --gpumem_test::g_blocks;
  __libc_free(p);
}

void* aligned_alloc(size_t alignment, size_t bytes) {
  return refused("aligned_alloc") ? out_of_memory() : counted(__libc_memalign(alignment, bytes));
}
void* memalign(size_t alignment, size_t bytes) { return aligned_alloc(alignment, bytes); }

int posix_memalign(void** p, size_t alignment, size_t bytes) {
  void* const block = aligned_alloc(alignment, bytes);
  if (block == nullptr) return ENOMEM;
  *p = block;
  return 0;
}

void* mmap(void* address, size_t bytes, int protection, int flags, int file, off_t offset) {
  if (refused("mmap")) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  auto* const p = reinterpret_cast<void*>(syscall(SYS_mmap, address, bytes, protection, flags, file, offset));
  if (p != MAP_FAILED) gpumem_test::g_mapped_bytes += static_cast<int64_t>(bytes);
  return p;
}

int munmap(void* address, size_t bytes) {
  const auto result = static_cast<int>(syscall(SYS_munmap, address, bytes));
  if (result == 0) gpumem_test::g_mapped_bytes -= static_cast<int64_t>(bytes);
  return result;
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return refused("pthread_create") ? EAGAIN : create(thread, attributes, start, argument);
}

// What the system says of itself and of a thread.

long sysconf(int name) {
  using Sysconf = long (*)(int);
  static const auto ask = reinterpret_cast<Sysconf>(dlsym(RTLD_NEXT, "sysconf"));
  return refused("sysconf") ? refused_with(EINVAL) : ask(name);
}

int sched_getaffinity(pid_t thread, size_t bytes, cpu_set_t* set) {
  if (refused("sched_getaffinity")) return refused_with(EINVAL);
  const long written = syscall(SYS_sched_getaffinity, thread, bytes, set);
  if (written < 0) return -1;
  std::memset(reinterpret_cast<char*>(set) + written, 0, bytes - static_cast<size_t>(written));
  return 0;
}

int pthread_getattr_np(pthread_t thread, pthread_attr_t* attributes) {
  using Ask = int (*)(pthread_t, pthread_attr_t*);
  static const auto ask = reinterpret_cast<Ask>(dlsym(RTLD_NEXT, "pthread_getattr_np"));
  return refused("pthread_getattr_np") ? ENOMEM : ask(thread, attributes);
}

// Files. glibc's own streams do not come here.

int open(const char* path, int flags, ...) {
  if (refused("open")) return refused_with(EMFILE);
  va_list more;
  va_start(more, flags);
  const auto mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : mode_t{0};
  va_end(more);
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

ssize_t read(int file, void* p, size_t bytes) {
  return refused("read") ? refused_with(EIO) : syscall(SYS_read, file, p, bytes);
}

ssize_t write(int file, const void* p, size_t bytes) {
  return refused("write") ? refused_with(ENOSPC) : syscall(SYS_write, file, p, bytes);
}

int ioctl(int file, unsigned long request, ...) {
  if (refused("ioctl")) return refused_with(ENOTTY);
  va_list more;
  va_start(more, request);
  void* const argument = va_arg(more, void*);
  va_end(more);
  return static_cast<int>(syscall(SYS_ioctl, file, request, argument));
}

int madvise(void* p, size_t bytes, int advice) {
  return refused("madvise") ? refused_with(ENOMEM) : static_cast<int>(syscall(SYS_madvise, p, bytes, advice));
}

}  // extern "C"
