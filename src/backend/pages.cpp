#include "backend/pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.hpp"
#include "base/sentences.hpp"

namespace gpumem {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

size_t whole_pages(size_t bytes) noexcept {
  static const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;  // bytes < 2^63: it can't wrap
}

}  // namespace

void* map_pages(size_t bytes) {
  const size_t mapped = whole_pages(bytes);
  void* p = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) {
    fail(GPUMEM_OUT_OF_MEMORY, "%zu bytes of host memory can't be had: %s", bytes, reason_of(errno));
  }
  if (mapped >= 2 * kHugePage) madvise(p, mapped, MADV_HUGEPAGE);
  return p;
}

void unmap_pages(void* p, size_t bytes) noexcept { munmap(p, whole_pages(bytes)); }

}  // namespace gpumem
