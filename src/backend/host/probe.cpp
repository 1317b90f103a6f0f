// Whether memory can be accessed, asked of the kernel: a wrong answer costs a status, never a signal.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>

#include "backend/backend.hpp"

namespace gpumem {
namespace {

uintptr_t page_of(const void* p) noexcept {
  static const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  return reinterpret_cast<uintptr_t>(p) & ~(page - 1);
}

// Asks the kernel to make the page writable without changing it (MADV_POPULATE_WRITE, Linux 5.14).
int populate_write(uintptr_t page) noexcept {
  static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return madvise(reinterpret_cast<void*>(page), bytes, 23) == 0 ? 0 : errno;
}

// The slow way: the process's own map. True when it can't be read, so that nothing sound is refused.
bool mapped_writable(uintptr_t address) noexcept {
  FILE* maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return true;
  char line[512];
  bool writable = false;
  bool line_start = true;
  while (std::fgets(line, sizeof line, maps) != nullptr) {
    unsigned long long first = 0;
    unsigned long long end = 0;
    char permissions[5] = {};
    const bool parsed = line_start && std::sscanf(line, "%llx-%llx %4s", &first, &end, permissions) == 3;
    line_start = line[__builtin_strlen(line) - 1] == '\n';
    if (!parsed || address < first || address >= end) continue;
    writable = permissions[1] == 'w';
    break;
  }
  std::fclose(maps);
  return writable;
}

}  // namespace

bool host_readable(const void* p) noexcept {
  // rt_sigprocmask copies the 8 bytes of the new mask in before it looks at `how`: EFAULT when they can't be read, EINVAL
  // (and no change) otherwise. Aligned down, the 8 bytes stay inside p's page.
  const uintptr_t aligned = reinterpret_cast<uintptr_t>(p) & ~uintptr_t{7};
  if (aligned == 0) return false;
  const int before = errno;
  const long result = syscall(SYS_rt_sigprocmask, ~0, aligned, nullptr, 8);
  const bool readable = result == 0 || errno != EFAULT;
  errno = before;
  return readable;
}

bool host_writable(void* p) noexcept {
  const int before = errno;
  const int error = populate_write(page_of(p));
  // ENOMEM: not mapped. Anything else can be an older kernel, no permission, or a device's mapping: look closer.
  const bool writable =
      error == 0 || (error != ENOMEM && host_readable(p) && mapped_writable(reinterpret_cast<uintptr_t>(p)));
  errno = before;
  return writable;
}

}  // namespace gpumem
