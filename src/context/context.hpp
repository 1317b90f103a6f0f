// A context: one device, its host side, its own stream, and the program's settings.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "backend/backend.hpp"
#include "base/log.hpp"
#include "base/row_choice.hpp"
#include "context/devices.hpp"
#include "gpumem.h"
#include "kernels/families.hpp"
#include "memory/block_pool.hpp"
#include "memory/labels.hpp"
#include "memory/memory_trace.hpp"
#include "memory/pool_owner.hpp"

namespace gpumem {

inline constexpr gpumem_ctx_options kDefaultContextOptions = {
    sizeof(gpumem_ctx_options), GPUMEM_DEVICE_BEST, 0, 0, 0, nullptr, nullptr, 0, 0, 0, -1, 0, 0, 0, 0};

struct Stream;
class PinnedRings;
class Profile;
class Tuning;

// The calling thread uses this row of a family (-1: the table's choice), and the tables' choices of all others.
class ScopedOverride {
 public:
  explicit ScopedOverride(gpumem_family family, int32_t row = -1) noexcept;
  ~ScopedOverride();
  ScopedOverride(const ScopedOverride&) = delete;
  ScopedOverride& operator=(const ScopedOverride&) = delete;

  static bool running() noexcept { return g_running.load(std::memory_order_relaxed) != 0 && here(); }
  static Override forced(gpumem_family family) noexcept;

 private:
  static bool here() noexcept;

  inline static std::atomic<int32_t> g_running{0};  // count over all threads, usually 0
  const ScopedOverride* const before_;
  const gpumem_family family_;
  const int32_t row_;
};

class Context {
 public:
  explicit Context(const gpumem_ctx_options& options);
  ~Context();

  // The backend of the context's device; on a host context the same object as host().
  Backend& device() noexcept { return device_ ? *device_ : *host_; }
  Host& host() noexcept { return *host_; }
  Backend& running(ExecutionSpace space) noexcept { return space == ExecutionSpace::cuda ? device() : host(); }
  const DeviceProps& props(ExecutionSpace space) noexcept { return running(space).props(); }
  bool on_cuda() const noexcept { return device_ != nullptr; }
  const DeviceChoice& choice() const noexcept { return choice_; }
  // Whether blocking reductions of host memory run on the device.
  bool streams_host_data() const noexcept { return stream_host_data_; }

  // Whether a host context enforces a CUDA context's restrictions.
  bool strict_host() const noexcept { return strict_host_ && !on_cuda(); }

  NativeStream own_stream() noexcept { return device().own_stream(); }
  BlockPool& device_memory() noexcept { return *device_memory_; }
  BlockPool& pinned_memory() noexcept { return *pinned_memory_; }
  BlockPool& managed_memory() noexcept { return *managed_memory_; }
  std::array<BlockPool*, 3> pools() noexcept {
    return {device_memory_.get(), pinned_memory_.get(), managed_memory_.get()};
  }
  bool debugs_memory() const noexcept { return debugs_memory_; }
  PinnedRings& rings() noexcept { return *rings_; }

  Override forced(gpumem_family family) const noexcept;
  void force(gpumem_family family, Override forced) noexcept;
  // The pieces of a problem have no tuning, and their choice is not the problem's.
  TunedRow tuned() const noexcept { return {}; }
  void chose(int32_t /*row*/, ExecutionSpace /*space*/) noexcept {}

  // Set by the operations before the context has a handle. Destroyed before everything else of the context.
  void keep(std::shared_ptr<Tuning> tuning, std::shared_ptr<Profile> profile) noexcept;
  Profile& profile() noexcept { return *profile_; }
  Tuning& tuning() noexcept { return *tuning_; }
  const Tuning& tuning() const noexcept { return *tuning_; }

  // The persistent device fault. It is kept once and never cleared.
  void keep_fault(const char* sentence) noexcept;
  // Detects a reset of the device.
  void throw_if_faulted();

  // Numbers the process's contexts that write files because of an environment variable.
  int number() noexcept;

  // Belongs to the process, and is never destroyed.
  bool shared = false;

  Log log;
  // Memory registered by the program, which no pool counts.
  std::atomic<int64_t> registered_bytes{0};
  std::atomic<int64_t> registered_ranges{0};
  Labels labels;
  MemoryTrace trace;

  // Live children. The lock is held while all streams are waited for, so that none is destroyed meanwhile.
  std::mutex streams_mutex;
  std::vector<Stream*> streams;
  std::vector<std::unique_ptr<Stream>> ended_streams;  // for reuse: a thread may still hold a stale pointer to one
  std::atomic<int64_t> events{0};
  std::atomic<int64_t> dists{0};

 private:
  void open_device(bool non_blocking_stream);
  void open_pools(const gpumem_ctx_options& options);

  DeviceChoice choice_;
  bool stream_host_data_;
  bool debugs_memory_;
  bool strict_host_;
  std::unique_ptr<Host> host_;
  std::unique_ptr<Backend> device_;  // null on a host context
  std::optional<PoolOwner> pool_owner_;
  std::unique_ptr<BlockPool> device_memory_;
  std::unique_ptr<BlockPool> pinned_memory_;
  std::unique_ptr<BlockPool> managed_memory_;
  std::unique_ptr<PinnedRings> rings_;  // null on a host context
  int number_ = 0;
  std::atomic<uint64_t> forced_[Families::count] = {};
  mutable std::mutex fault_mutex_;
  std::atomic<bool> faulted_{false};
  char fault_[512] = {};
  std::shared_ptr<Tuning> tuning_;
  std::shared_ptr<Profile> profile_;
};

struct Stream {
  Context* context;
  NativeStream native;
  bool borrowed;  // destroying it leaves the native stream alone
  StreamCache* cache = nullptr;
};

struct Event {
  Context* context;
  NativeEvent native = nullptr;
  static constexpr uint64_t kNeverRecorded = UINT64_MAX;
  std::atomic<uint64_t> capture{kNeverRecorded};  // id of its last capture; 0: recorded outside
};

// Creation and end of each object, handle included. The operations make a context (ops/create_context.hpp).
uint64_t enlist(std::unique_ptr<Context> context);
void destroy_context(uint64_t handle);
uint64_t create_stream(Context& context);
uint64_t wrap_stream(Context& context, void* native);
void destroy_stream(uint64_t handle);
uint64_t create_event(Context& context);
void destroy_event(uint64_t handle);

}  // namespace gpumem
