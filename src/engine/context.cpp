#include "engine/context.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "engine/error.hpp"

namespace gpumem {
namespace {

// A row and who forced it, in one word, so that a launch reads both at once. 0: nothing is forced.
constexpr uint64_t pack(Override forced) noexcept {
  return forced.row < 0 ? 0 : (static_cast<uint64_t>(forced.by) << 32) | static_cast<uint32_t>(forced.row + 1);
}
constexpr Override unpack(uint64_t word) noexcept {
  return {static_cast<int32_t>(word & 0xffffffffu) - 1, static_cast<ChosenBy>(word >> 32)};
}

}  // namespace

void MemoryStats::allocated(gpumem_memory_kind kind, int64_t bytes) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  KindStats& k = kinds_[kind];
  k.bytes += bytes;
  k.blocks += 1;
  k.peak_bytes = std::max(k.peak_bytes, k.bytes);
  ++allocations_;
}

void MemoryStats::freed(gpumem_memory_kind kind, int64_t bytes) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  kinds_[kind].bytes -= bytes;
  kinds_[kind].blocks -= 1;
  ++frees_;
}

void MemoryStats::read(gpumem_memory_stats_info& info) const noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  const KindStats& device = kinds_[GPUMEM_MEMORY_DEVICE];
  const KindStats& pinned = kinds_[GPUMEM_MEMORY_PINNED];
  const KindStats& managed = kinds_[GPUMEM_MEMORY_MANAGED];
  info.device_bytes = device.bytes;
  info.device_blocks = device.blocks;
  info.device_peak_bytes = device.peak_bytes;
  info.pinned_bytes = pinned.bytes;
  info.pinned_blocks = pinned.blocks;
  info.pinned_peak_bytes = pinned.peak_bytes;
  info.managed_bytes = managed.bytes;
  info.managed_blocks = managed.blocks;
  info.managed_peak_bytes = managed.peak_bytes;
  info.allocations = allocations_;
  info.frees = frees_;
}

Context::Context(const gpumem_ctx_options& options)
    : choice_(choose_device(options.device)), stream_host_data_(options.stream_host_data != 0) {
  read_variants_from_environment();
  host_ = make_host_backend(
      {options.host_threads, {options.parallel_for, options.parallel_for_user}, std::getenv("GPUMEM_HOST_SIMD")});
  if (choice_.backend != Runs::cuda) return;
  try {
    device_ = make_cuda_backend(choice_.ordinal, options.non_blocking_stream != 0);
  } catch (const Error& error) {
    if (!choice_.may_fall_back) throw;
    choice_ = {Runs::host, GPUMEM_DEVICE_HOST, error.status(), "the host stands in: " + std::string(error.what()),
               false};
  }
}

Context::~Context() = default;

void Context::read_variants_from_environment() {
  for_each_family([this]<class Family>() {
    const FamilyNames& names = family_names(Family::id);
    std::string variable = "GPUMEM_VARIANT_";
    for (const char* c = names.name; *c != '\0'; ++c) variable += static_cast<char>(std::toupper(*c));
    const char* value = std::getenv(variable.c_str());
    if (value == nullptr || value[0] == '\0') return;
    const int32_t row = find_variant(names, value);
    if (row < 0) {
      fail(GPUMEM_NOT_FOUND, "the environment's %s is '%s'; expected a variant of the family %s", variable.c_str(),
           value, names.name);
    }
    force(Family::id, {row, ChosenBy::environment});
  });
}

Override Context::forced(gpumem_family family) const noexcept {
  return unpack(forced_[family_index(family)].load(std::memory_order_relaxed));
}

void Context::force(gpumem_family family, Override forced) noexcept {
  forced_[family_index(family)].store(pack(forced), std::memory_order_relaxed);
}

void Context::keep_fault(const char* sentence) noexcept {
  const std::lock_guard<std::mutex> lock(fault_mutex_);
  if (faulted_.load(std::memory_order_relaxed)) return;
  std::snprintf(fault_, sizeof fault_, "%s", sentence);
  faulted_.store(true, std::memory_order_release);
}

void Context::throw_if_faulted() const {
  if (faulted_.load(std::memory_order_acquire)) throw Error(GPUMEM_DEVICE_FAULT, fault_);
}

}  // namespace gpumem
