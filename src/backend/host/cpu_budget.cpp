#include "backend/host/cpu_budget.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "backend/backend.hpp"
#include "base/files.hpp"

namespace gpumem {
namespace {

// The beginning of a file; empty if it cannot be read.
template <size_t kCapacity>
struct Text {
  explicit Text(const char* path) noexcept { read_beginning(path, text, sizeof text); }
  char text[kCapacity];
};

// The line after the one that `at` is in; nullptr if there is none.
char* next_line(char* at) noexcept {
  char* const end = std::strchr(at, '\n');
  return end == nullptr ? nullptr : end + 1;
}

int32_t affinity_processors() noexcept {
  cpu_set_t small;
  if (sched_getaffinity(0, sizeof small, &small) == 0) return std::max(1, CPU_COUNT(&small));
  // More processors than cpu_set_t holds.
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? static_cast<int32_t>(online) : 1;
}

// What a quota of so many microseconds in each period leaves of `limit`.
int32_t cut_to(long long quota, long long period, int32_t limit) noexcept {
  if (quota <= 0 || period <= 0) return limit;
  return static_cast<int32_t>(std::clamp<long long>((quota + period - 1) / period, 1, limit));
}

// cgroup v2's cpu.max holds "<quota> <period>" or "max <period>", in microseconds.
int32_t quota_of(const char* path, int32_t limit) noexcept {
  const Text<64> file(path);
  long long quota = 0;
  long long period = 0;
  const bool known = std::sscanf(file.text, "%lld %lld", &quota, &period) == 2;
  return known ? cut_to(quota, period, limit) : limit;
}

// What a file of a cgroup makes of a limit, from the process's own cgroup up to the root: the tightest on the way counts.
template <class T>
T cgroup_limit(const char* name, T limit, T (*cut)(const char* path, T limit) noexcept) noexcept {
  Text<4096> groups("/proc/self/cgroup");
  for (char* line = groups.text; line != nullptr; line = next_line(line)) {
    if (std::strncmp(line, "0::", 3) != 0) continue;
    char* group = line + 3;
    group[std::strcspn(group, "\n")] = '\0';
    for (;;) {
      char path[640];
      const int length = std::snprintf(path, sizeof path, "/sys/fs/cgroup%s/%s", group, name);
      if (length < static_cast<int>(sizeof path)) limit = cut(path, limit);
      char* slash = std::strrchr(group, '/');
      if (slash == nullptr) break;
      *slash = '\0';
    }
  }
  return limit;
}

// memory.max holds a number of bytes, or "max".
int64_t memory_of(const char* path, int64_t limit) noexcept {
  const Text<64> file(path);
  long long most = 0;
  return std::sscanf(file.text, "%lld", &most) == 1 ? std::min<int64_t>(most, limit) : limit;
}

// cgroup v1 keeps the two numbers in two files.
int32_t cgroup_v1_processors(int32_t limit) noexcept {
  const Text<64> quota_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  const Text<64> period_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  long long quota = 0;
  long long period = 0;
  const bool known =
      std::sscanf(quota_file.text, "%lld", &quota) == 1 && std::sscanf(period_file.text, "%lld", &period) == 1;
  return known ? cut_to(quota, period, limit) : limit;
}

}  // namespace

int32_t usable_processors() noexcept {
  return cgroup_v1_processors(cgroup_limit("cpu.max", affinity_processors(), quota_of));
}

// If the system does not say, the smallest size that there is: a page is then looked at several times, and none is left out.
size_t page_bytes() noexcept {
  const long page = sysconf(_SC_PAGESIZE);
  return page > 0 ? static_cast<size_t>(page) : 4096;
}

int64_t last_level_cache_bytes() noexcept {
  const long l3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
  const long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
  // The C library adds up what cpuid says, which in a virtual machine can be ten times what is there.
  const Text<64> file("/sys/devices/system/cpu/cpu0/cache/index3/size");
  long long kib = 0;
  const bool known = std::sscanf(file.text, "%lldK", &kib) == 1 && kib > 0;
  const int64_t all = std::max({l3, l2, 0L});
  return known && all > 0 ? std::min<int64_t>(all, kib << 10) : all;
}

int64_t host_memory_bytes() noexcept {
  return std::max<int64_t>(sysconf(_SC_PHYS_PAGES), 0) * static_cast<int64_t>(page_bytes());
}

int64_t host_available_bytes() noexcept {
  const Text<256> file("/proc/meminfo");  // the first three lines of which stand in this order
  long long available = 0;
  const bool known = std::sscanf(file.text, "MemTotal: %*d kB MemFree: %*d kB MemAvailable: %lld", &available) == 1;
  const int64_t there = host_memory_bytes();
  return cgroup_limit("memory.max", known ? std::min<int64_t>(available << 10, there) : there, memory_of);
}

void processor_name(char* name, int64_t capacity) noexcept {
  std::snprintf(name, static_cast<size_t>(capacity), "host");
  Text<4096> file("/proc/cpuinfo");
  for (char* line = file.text; line != nullptr; line = next_line(line)) {
    if (std::strncmp(line, "model name", 10) != 0) continue;
    line[std::strcspn(line, "\n")] = '\0';
    const char* colon = std::strchr(line, ':');
    if (colon == nullptr) return;
    std::snprintf(name, static_cast<size_t>(capacity), "%s", colon + 1 + std::strspn(colon + 1, " \t"));
    return;
  }
}

}  // namespace gpumem
