#include "context/context.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "context/process.hpp"
#include "context/streams.hpp"
#include "memory/pinned_rings.hpp"

namespace gpumem {
namespace {

// An overridden row and its origin in one word, so that a launch reads both atomically. 0: no override.
constexpr uint64_t pack(Override forced) noexcept {
  return forced.row < 0 ? 0 : (static_cast<uint64_t>(forced.by) << 32) | static_cast<uint32_t>(forced.row + 1);
}
constexpr Override unpack(uint64_t word) noexcept {
  return {static_cast<int32_t>(word & 0xffffffffu) - 1, static_cast<ChosenBy>(word >> 32)};
}

bool debug_in_environment() {
  const char* value = ::secure_getenv("GPUMEM_DEBUG");
  const std::string_view text = value == nullptr ? "" : value;
  if (text.empty() || text == "0") return false;
  if (text != "1") fail(GPUMEM_INVALID_ARGUMENT, "the environment's GPUMEM_DEBUG is '%s'; expected 0 or 1", value);
  return true;
}

}  // namespace

Context::Context(const gpumem_ctx_options& options)
    : choice_(choose_device(options.device)),
      stream_host_data_(options.stream_host_data != 0),
      debugs_memory_(debug_in_environment() || options.debug_memory != 0),
      strict_host_(options.strict_host != 0) {
  host_ = make_host_backend({.workers = &process().workers,
                             .threads = options.host_threads,
                             .parallel_for = {options.parallel_for, options.parallel_for_user},
                             .simd = ::secure_getenv("GPUMEM_HOST_SIMD")});
  if (choice_.backend == ExecutionSpace::cuda) open_device(options.non_blocking_stream != 0);
  open_pools(options);
}

// Live bytes bound device memory, which others need. Pinned memory is slow to allocate, so only idle memory is bounded,
// as for all host memory.
void Context::open_pools(const gpumem_ctx_options& options) {
  pool_owner_.emplace(
      PoolOwner{this, device(), host(), process().registry, log, labels, trace, [this] { wait_for_streams(*this); }});
  const PoolOwner& owner = *pool_owner_;
  const DeviceProps& props = device().props();
  PoolPolicy on_device{GPUMEM_MEMORY_DEVICE, props.ordinal};
  on_device.limit = options.device_memory_limit;
  on_device.pooled = props.memory_pools && !debugs_memory_;
  on_device.guarded = debugs_memory_;
  on_device.follows_live = true;
  const int64_t most_kept = std::min(int64_t{4} << 30, host_->props().memory_bytes / 8);
  if (!on_cuda()) on_device.most_idle = most_kept;
  device_memory_ =
      std::make_unique<BlockPool>(owner, std::make_unique<DeviceSource>(device(), GPUMEM_MEMORY_DEVICE), on_device);
  PoolPolicy pinned{GPUMEM_MEMORY_PINNED, GPUMEM_DEVICE_HOST};
  pinned.pooled = !debugs_memory_;
  pinned.guarded = debugs_memory_;
  pinned.most_idle = options.pinned_memory_kept;
  if (pinned.most_idle < 0) pinned.most_idle = most_kept;
  pinned_memory_ = std::make_unique<BlockPool>(owner, std::make_unique<PinnedSource>(owner), pinned);
  PoolPolicy managed{GPUMEM_MEMORY_MANAGED, props.ordinal};
  managed.pooled = false;
  managed.guarded = debugs_memory_;
  managed_memory_ =
      std::make_unique<BlockPool>(owner, std::make_unique<DeviceSource>(device(), GPUMEM_MEMORY_MANAGED), managed);
  if (on_cuda()) rings_ = std::make_unique<PinnedRings>(owner);
}

void Context::open_device(bool non_blocking_stream) {
  try {
    device_ = make_cuda_backend(choice_.ordinal, non_blocking_stream);
  } catch (const Error& error) {
    if (!choice_.may_fall_back) throw;
    choice_ = {ExecutionSpace::host, GPUMEM_DEVICE_HOST, error.status(),
               "work runs on the host instead: " + std::string(error.what()), false};
  }
}

Context::~Context() = default;

void Context::keep(std::shared_ptr<Tuning> tuning, std::shared_ptr<Profile> profile) noexcept {
  tuning_ = std::move(tuning);
  profile_ = std::move(profile);
}

int Context::number() noexcept {
  static std::atomic<int> contexts{0};
  if (number_ == 0) number_ = ++contexts;
  return number_;
}

Override Context::forced(gpumem_family family) const noexcept {
  if (ScopedOverride::running()) return ScopedOverride::forced(family);
  return unpack(forced_[family_index(family)].load(std::memory_order_relaxed));
}

void Context::force(gpumem_family family, Override forced) noexcept {
  forced_[family_index(family)].store(pack(forced), std::memory_order_relaxed);
}

namespace {

thread_local const ScopedOverride* t_trial = nullptr;

}  // namespace

ScopedOverride::ScopedOverride(gpumem_family family, int32_t row) noexcept
    : before_(std::exchange(t_trial, this)), family_(family), row_(row) {
  g_running.fetch_add(1, std::memory_order_relaxed);
}
ScopedOverride::~ScopedOverride() {
  t_trial = before_;
  g_running.fetch_sub(1, std::memory_order_relaxed);
}
bool ScopedOverride::here() noexcept { return t_trial != nullptr; }
Override ScopedOverride::forced(gpumem_family family) noexcept {
  return family == t_trial->family_ ? Override{t_trial->row_} : Override{};
}

void Context::keep_fault(const char* sentence) noexcept {
  const std::lock_guard<std::mutex> lock(fault_mutex_);
  if (faulted_.load(std::memory_order_relaxed)) return;
  std::snprintf(fault_, sizeof fault_, "%s", sentence);
  faulted_.store(true, std::memory_order_release);
}

void Context::throw_if_faulted() {
  if (!faulted_.load(std::memory_order_acquire)) {
    if (const char* loss = device().loss()) keep_fault(loss);
  }
  if (faulted_.load(std::memory_order_acquire)) throw Error(GPUMEM_DEVICE_FAULT, fault_);
}

}  // namespace gpumem
