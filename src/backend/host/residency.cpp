// Which pages the process has in memory of the host.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "backend/backend.hpp"

namespace gpumem {

size_t host_resident_bytes(const void* p, size_t bytes) noexcept {
  static const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  constexpr size_t kPages = 4096;
  unsigned char resident[kPages];
  const auto first = reinterpret_cast<uintptr_t>(p);
  const uintptr_t last = first + bytes;
  const int before = errno;
  size_t found = 0;
  for (uintptr_t at = first / page * page; at < last;) {
    const uintptr_t end = std::min((last + page - 1) / page * page, at + kPages * page);
    if (mincore(reinterpret_cast<void*>(at), end - at, resident) != 0) break;
    for (size_t i = 0; at < end; ++i, at += page) {
      if ((resident[i] & 1) != 0) found += std::min(last, at + page) - std::max(first, at);
    }
  }
  errno = before;
  return found;
}

}  // namespace gpumem
