#include "base/limits.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/sentences.hpp"

namespace gpumem {
namespace {

constexpr std::string_view kBetweenWords = " \t\n";

// Empty if it can't be read. Kernel files do not report their sizes.
std::string contents(const std::string& path) {
  std::string text;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return text;
  constexpr size_t kStep = 4096;
  for (ssize_t got = 1; got != 0;) {
    const size_t length = text.size();
    text.resize(length + kStep);
    got = ::read(file, text.data() + length, kStep);
    text.resize(length + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno != EINTR) break;
  }
  ::close(file);
  return text;
}

std::string_view take(std::string_view& text, char divider) noexcept {
  const size_t end = std::min(text.find(divider), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

std::string_view take_word(std::string_view& text) noexcept {
  text.remove_prefix(std::min(text.find_first_not_of(kBetweenWords), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(kBetweenWords));
  text.remove_prefix(word.size());
  return word;
}

bool lists(std::string_view list, std::string_view word) noexcept {
  while (!list.empty()) {
    if (take(list, ',') == word) return true;
  }
  return false;
}

// "max" is not a number.
std::optional<int64_t> number_of(std::string_view text) noexcept {
  const std::string_view word = take_word(text);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc{} && end == word.data() + word.size() ? std::optional(number) : std::nullopt;
}

std::optional<int64_t> value_of(std::string_view lines, std::string_view name) noexcept {
  while (!lines.empty()) {
    std::string_view line = take(lines, '\n');
    if (take_word(line) == name) return number_of(line);
  }
  return std::nullopt;
}

// mountinfo encodes blanks and backslashes as \ooo.
std::string unescaped(std::string_view text) {
  std::string path;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned code = 0;
    const char* const digits = text.data() + i + 1;
    if (text[i] == '\\' && i + 3 < text.size() && std::from_chars(digits, digits + 3, code, 8).ptr == digits + 3) {
      path += static_cast<char>(code);
      i += 3;
    } else {
      path += text[i];
    }
  }
  return path;
}

// The path of a group below a mount whose root is the group `top`; nothing if it is not there. A top like "/.." is
// above the process's namespace. The group names in between are unknown, so only the limits of the top apply.
std::optional<std::string_view> below(std::string_view group, std::string_view top) noexcept {
  if (group.starts_with("/..")) return std::nullopt;
  if (top.starts_with("/.."))
    return top.find_first_not_of("/.") == std::string_view::npos ? std::optional(std::string_view()) : std::nullopt;
  if (top == "/") top = {};
  if (!group.starts_with(top)) return std::nullopt;
  group.remove_prefix(top.size());
  if (group == "/") group = {};
  return group.empty() || group.front() == '/' ? std::optional(group) : std::nullopt;
}

struct GroupMount {
  bool is_v1;
  std::string controllers;  // with others; version 1
  std::string top;
  std::string folder;
};

std::vector<GroupMount> mounts_of(const std::string& root) {
  std::vector<GroupMount> mounts;
  const std::string text = contents(root + "/proc/self/mountinfo");
  for (std::string_view lines = text; !lines.empty();) {
    std::string_view line = take(lines, '\n');
    for (int i = 0; i < 3; ++i) take_word(line);
    const std::string_view top = take_word(line);
    const std::string_view folder = take_word(line);
    while (!line.empty() && take_word(line) != "-") continue;
    const std::string_view type = take_word(line);
    if (type != "cgroup" && type != "cgroup2") continue;
    take_word(line);
    mounts.push_back({type == "cgroup", std::string(take_word(line)), unescaped(top), root + unescaped(folder)});
  }
  return mounts;
}

// Cached, because reading them dominates the time. Later mounts are not seen.
std::atomic<const std::vector<GroupMount>*> g_own_mounts{nullptr};

void keep_own(const std::vector<GroupMount>& mounts) {
  auto kept = std::make_unique<const std::vector<GroupMount>>(mounts);
  const std::vector<GroupMount>* none = nullptr;
  if (!mounts.empty() && g_own_mounts.compare_exchange_strong(none, kept.get())) static_cast<void>(kept.release());
}

// Calls visit(folder, is_v1) for each folder whose limits of the controller apply to this process.
template <class Visit>
void for_each_group(const std::string& root, std::string_view controller, const Visit& visit) {
  const std::string groups = contents(root + "/proc/self/cgroup");
  const std::vector<GroupMount>* mounts = root.empty() ? g_own_mounts.load() : nullptr;
  std::vector<GroupMount> read;
  if (mounts == nullptr) {
    read = mounts_of(root);
    mounts = &read;
    if (root.empty()) keep_own(read);
  }
  for (std::string_view lines = groups; !lines.empty();) {
    std::string_view group = take(lines, '\n');
    take(group, ':');
    const std::string_view controllers = take(group, ':');
    const bool is_v1 = !controllers.empty();
    if (is_v1 && !lists(controllers, controller)) continue;
    for (const GroupMount& mount : *mounts) {
      if (mount.is_v1 != is_v1 || (is_v1 && !lists(mount.controllers, controller))) continue;
      const auto path = below(group, mount.top);
      if (!path) continue;
      std::string folder = mount.folder;
      for (folder += *path; visit(folder, is_v1), folder.size() > mount.folder.size();) {
        folder.resize(folder.rfind('/'));
      }
    }
  }
}

void cut(MemoryLimits& limits, int64_t machine, const std::string& folder, bool is_v1) {
  const auto read = [&](const char* name) { return number_of(contents(folder + name)); };
  int64_t most = read(is_v1 ? "/memory.limit_in_bytes" : "/memory.max").value_or(INT64_MAX);
  // Above it, the kernel throttles a group until it hardly moves, but does not kill it.
  if (!is_v1) most = std::min(most, read("/memory.high").value_or(INT64_MAX));
  if (most >= machine) return;
  limits.bytes = std::min(limits.bytes, most);
  // Page cache and reclaimable kernel memory are used but can make room. Version 1 does not report the latter.
  const std::string stat = contents(folder + "/memory.stat");
  int64_t used = read(is_v1 ? "/memory.usage_in_bytes" : "/memory.current").value_or(0);
  for (const char* name : {"inactive_file", "active_file", "slab_reclaimable"}) {
    used -= value_of(stat, (is_v1 ? "total_" : "") + std::string(name)).value_or(0);
  }
  limits.available = std::min(limits.available, std::max<int64_t>(most - std::max<int64_t>(used, 0), 0));
}

// Both in microseconds.
int32_t processors_of(std::optional<int64_t> quota, std::optional<int64_t> period) noexcept {
  if (quota.value_or(0) <= 0 || period.value_or(0) <= 0) return INT32_MAX;
  return static_cast<int32_t>(std::clamp<int64_t>((*quota - 1) / *period + 1, 1, INT32_MAX));
}

// Page tables and a driver's bookkeeping take a 512th each. The reserve is twice their sum.
bool fits(size_t bytes, int64_t available) noexcept { return bytes + bytes / 128 <= static_cast<uint64_t>(available); }

}  // namespace

MemoryLimits memory_limits(const std::string& root) {
  const std::string info = contents(root + "/proc/meminfo");
  const auto kib = [&](const char* name) { return value_of(info, name); };
  MemoryLimits limits;
  const int64_t pages = sysconf(_SC_PHYS_PAGES);
  const int64_t page = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0) limits.bytes = pages * page;
  if (const auto total = kib("MemTotal:")) limits.bytes = *total << 10;
  limits.available = limits.bytes;
  if (const auto available = kib("MemAvailable:")) limits.available = std::min(limits.bytes, *available << 10);
  const int64_t machine = limits.bytes;
  for_each_group(root, "memory", [&](const std::string& folder, bool is_v1) { cut(limits, machine, folder, is_v1); });
  return limits;
}

int32_t processor_quota(const std::string& root) {
  int32_t processors = INT32_MAX;
  for_each_group(root, "cpu", [&](const std::string& folder, bool is_v1) {
    if (is_v1) {
      const auto quota = number_of(contents(folder + "/cpu.cfs_quota_us"));
      processors = std::min(processors, processors_of(quota, number_of(contents(folder + "/cpu.cfs_period_us"))));
    } else {
      const std::string both = contents(folder + "/cpu.max");  // "<quota> <period>" or "max <period>"
      std::string_view text = both;
      const auto quota = number_of(take_word(text));
      processors = std::min(processors, processors_of(quota, number_of(text)));
    }
  });
  return processors;
}

bool is_available(size_t bytes) { return fits(bytes, memory_limits().available); }

void require_available(size_t bytes) {
  const int64_t available = memory_limits().available;
  if (fits(bytes, available)) return;
  fail(GPUMEM_OUT_OF_MEMORY, "%zu bytes of host memory are asked for, and %lld are available", bytes, ll(available));
}

void require_available_for_call(size_t bytes) {
  constexpr size_t kLeast = size_t{4} << 20;
  if (bytes >= kLeast) require_available(bytes);
}

}  // namespace gpumem
