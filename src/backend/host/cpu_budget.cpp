#include "backend/host/cpu_budget.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "base/files.hpp"
#include "base/limits.hpp"
#include "base/printable.hpp"

namespace gpumem {
namespace {

template <size_t kCapacity>
struct Text {
  explicit Text(const char* path) noexcept { read_beginning(path, text, sizeof text); }
  char text[kCapacity];
};

char* next_line(char* at) noexcept {
  char* const end = std::strchr(at, '\n');
  return end == nullptr ? nullptr : end + 1;
}

int32_t affinity_processors() noexcept {
  cpu_set_t small;
  if (sched_getaffinity(0, sizeof small, &small) == 0) return std::max(1, CPU_COUNT(&small));
  // The machine has more processors than cpu_set_t can hold.
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? static_cast<int32_t>(online) : 1;
}

}  // namespace

int32_t usable_processors() { return std::min(affinity_processors(), processor_quota()); }

// If the system does not say, the smallest page size. Pages are then examined several times, but none is missed.
size_t page_bytes() noexcept {
  const long page = sysconf(_SC_PAGESIZE);
  return page > 0 ? static_cast<size_t>(page) : 4096;
}

int64_t last_level_cache_bytes() noexcept {
  const long l3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
  const long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
  // sysconf() adds up figures of cpuid, which can be ten times too large in a virtual machine.
  const Text<64> file("/sys/devices/system/cpu/cpu0/cache/index3/size");
  int64_t kib = 0;
  const bool known = std::from_chars(file.text, file.text + std::strlen(file.text), kib).ec == std::errc{} && kib > 0;
  const int64_t all = std::max({l3, l2, 0L});
  return known && all > 0 ? std::min<int64_t>(all, kib << 10) : all;
}

void processor_name(char* name, int64_t capacity) noexcept {
  std::snprintf(name, static_cast<size_t>(capacity), "host");
  Text<4096> file("/proc/cpuinfo");
  for (char* line = file.text; line != nullptr; line = next_line(line)) {
    if (std::strncmp(line, "model name", 10) != 0) continue;
    line[std::strcspn(line, "\n")] = '\0';
    const char* colon = std::strchr(line, ':');
    if (colon == nullptr) return;
    copy_printable(name, static_cast<size_t>(capacity), colon + 1 + std::strspn(colon + 1, " \t"));
    return;
  }
}

}  // namespace gpumem
