// The interface between the engine and a backend, with a host and a CUDA implementation. Parameters are plain data, and
// every failure throws an Error. Only the engine calls it, with checked arguments.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <type_traits>
#include <variant>

#include "backend/implementation.hpp"
#include "base/device_props.hpp"
#include "gpumem.h"
#include "kernels/families.hpp"
#include "kernels/nodes.hpp"
#include "kernels/permute/pieces.hpp"
#include "kernels/reduce/limits.hpp"

namespace gpumem {

// A backend's own stream or event; opaque to the engine. On the host backend, a nullptr stream means the calling
// thread, at once and in no order with other work.
using NativeStream = void*;
using NativeEvent = void*;

// Whether a call may return before its work is done.
enum class Completion : int32_t { asynchronous, blocking };

// The driver's knowledge of an address that is not the library's own.
struct Location {
  bool known = false;  // false: only the operating system may know it
  gpumem_memory_kind kind = GPUMEM_MEMORY_PAGEABLE;
  int32_t device = GPUMEM_DEVICE_HOST;
  uintptr_t base = 0;  // 0: unknown
  size_t bytes = 0;
};

// The driver's state of a managed range. A device is GPUMEM_DEVICE_NONE if it was never set or varies in the range.
struct ManagedState {
  int32_t last_prefetch = GPUMEM_DEVICE_NONE;
  int32_t preferred_location = GPUMEM_DEVICE_NONE;
  bool read_mostly = false;
  bool accessed_by = false;  // by the backend's device
};

// Host work that a stream runs in its order. It must not throw, and must not call the backend that runs it.
using HostTask = std::function<void()>;

// Observes the calling thread's work during a measurement. A launch enqueues its work between begins() and ends().
class LaunchWatch {
 public:
  using Clock = std::chrono::steady_clock;

  virtual void begins(NativeStream stream) noexcept = 0;
  virtual void ends(NativeStream stream) noexcept = 0;
  virtual void ran(Clock::time_point begin, Clock::time_point end) noexcept = 0;

 protected:
  ~LaunchWatch() = default;
};
inline constinit thread_local LaunchWatch* t_launch_watch = nullptr;
inline constinit std::atomic<int32_t> g_launch_watches{0};  // in all threads; 0 saves reading the thread-local
inline LaunchWatch* launch_watch() noexcept {
  return g_launch_watches.load(std::memory_order_relaxed) != 0 ? t_launch_watch : nullptr;
}

class WatchedLaunch {
 public:
  explicit WatchedLaunch(NativeStream stream) noexcept : watch_(launch_watch()), stream_(stream) {
    if (watch_ != nullptr) watch_->begins(stream);
  }
  ~WatchedLaunch() {
    if (watch_ != nullptr) watch_->ends(stream_);
  }
  WatchedLaunch(const WatchedLaunch&) = delete;
  WatchedLaunch& operator=(const WatchedLaunch&) = delete;

 private:
  LaunchWatch* const watch_;
  const NativeStream stream_;
};

template <class Family>
struct Work {
  const typename Family::Params& params;
  const Configured<typename Family::Params>& planned;
};
template <class... Family>
std::variant<Work<Family>...> any_work(FamilyList<Family...>);
using AnyWork = decltype(any_work(LaunchedFamilies{}));

// Partial results of a pending reduction. The destructor waits for a reduction that nothing waited for.
class PendingNodes {
 public:
  PendingNodes() = default;
  PendingNodes(const PendingNodes&) = delete;
  PendingNodes& operator=(const PendingNodes&) = delete;
  virtual ~PendingNodes() = default;
  virtual void wait(std::span<ReduceNode> nodes) = 0;  // as many as the reduction has; call once
};

// Functions with a body are optional. A backend that uses the host's own memory, without a driver, needs none of them.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  virtual const DeviceProps& props() const noexcept = 0;
  // Throws DEVICE_FAULT once the device's context is lost.
  virtual void check_health() {}
  virtual void warmup() = 0;
  // nullptr, or why the backend's state on its device is gone: the program reset the device. The answer is permanent.
  // No call touches the device afterwards. Each throws DEVICE_FAULT, or does nothing if it can't throw.
  virtual const char* loss() noexcept { return nullptr; }

  // Memory. release() may wait for the device and never throws. Memory that it can't free is lost with the context.
  virtual Location classify(const void* p) = 0;
  virtual void* allocate(gpumem_memory_kind kind, size_t bytes) = 0;
  virtual void release(gpumem_memory_kind kind, void* p, size_t bytes) noexcept = 0;
  // Device memory in the order of a stream that is not under capture. With nullptr, it is usable on every stream after
  // return, and released when no stream uses it any more. Requires props().memory_pools.
  virtual void* allocate_async(NativeStream stream, size_t bytes) = 0;
  virtual void release_async(NativeStream stream, void* p, size_t bytes) noexcept = 0;
  // Scratch memory for work that is enqueued on the stream before the pointer dies. It comes and goes in the stream's
  // order. Under capture, it is a part of the graph.
  virtual std::shared_ptr<void> scratch(NativeStream stream, size_t bytes) = 0;
  // Whether a tool watches memory from allocate_async(). begin_block() and end_block() tell it the accessible blocks.
  virtual bool watched() const noexcept { return false; }
  virtual void begin_block(void* /*p*/, size_t /*bytes*/) noexcept {}
  virtual void end_block(void* /*p*/) noexcept {}
  // Returns released memory that is kept for reuse to the system, except keep_bytes of it.
  virtual void trim(size_t /*keep_bytes*/) noexcept {}
  // Device memory in pages of granule_bytes(), mapped to addresses that the caller has reserved. Sizes are whole pages.
  virtual size_t granule_bytes() const noexcept { return 0; }                       // 0: not available
  virtual uintptr_t reserve_addresses(size_t /*bytes*/) { return 0; }               // 0: not available
  virtual void release_addresses(uintptr_t /*base*/, size_t /*bytes*/) noexcept {}  // nothing is mapped there
  // Maps one chunk. It is unmapped as a whole, possibly with its neighbours. On failure, nothing is mapped.
  virtual void map(uintptr_t /*p*/, size_t /*bytes*/) {}
  virtual void unmap(uintptr_t /*p*/, size_t /*bytes*/) noexcept {}  // that no work uses any more
  // Locks the pages of host memory, so that the device reaches them directly. Memory that is already registered in part
  // is INVALID_ARGUMENT. The error message calls the memory p.
  virtual void register_host(void* /*p*/, size_t /*bytes*/) {}
  virtual void unregister_host(void* /*p*/) noexcept {}
  virtual void prefetch(NativeStream /*stream*/, const void* /*p*/, size_t /*bytes*/, int32_t /*device*/) {}
  // To the backend's own device, without keeping the contents.
  virtual void prefetch_to_overwrite(NativeStream /*stream*/, const void* /*p*/, size_t /*bytes*/) {}
  virtual ManagedState managed_state(const void* /*p*/, size_t /*bytes*/) { return {}; }
  virtual void advise(const void* /*p*/, size_t /*bytes*/, gpumem_advice /*advice*/, int32_t /*device*/) {}

  // Memory of another device. Both functions ask the driver for access and return whether this backend's work may read
  // it now. The first is for memory from cudaMalloc(), the second for a range of any kind.
  virtual bool reaches_device(int32_t /*ordinal*/) { return false; }
  virtual bool reaches(const void* /*p*/, size_t /*bytes*/) { return false; }

  // Copies between any two pointers that the device can reach. If the host reaches both, the host moves the bytes.
  virtual void copy(NativeStream /*stream*/, void* /*dst*/, const void* /*src*/, size_t /*bytes*/,
                    Completion /*until*/) {}
  // Disjoint pieces in memory that the device reaches. Enqueued; CUDA devices only.
  virtual void move_pieces(NativeStream /*stream*/, std::span<const MovedPiece> /*pieces*/) {}
  // Reads bytes (a multiple of 16) once, so that the caches hold them and nothing else. blocks: per multiprocessor.
  virtual void read_all(NativeStream stream, const void* p, size_t bytes, int32_t blocks) = 0;

  // reduce() is complete on return, and value_of() turns its partial result into a value. The others enqueue, and write
  // errors of the run to *status. With Completion::blocking, reduce_lines() returns that status, otherwise GPUMEM_OK.
  virtual ReduceNode reduce(NativeStream stream, const ReduceParams& params,
                            const Configured<ReduceParams>& planned) = 0;
  virtual void reduce_async(NativeStream stream, const ReduceParams& params,
                            const Configured<ReduceParams>& planned) = 0;
  // Begins a reduce(). The second gives the partial results of the subtrees of an ordered sum of neighbouring elements.
  // nullptr: not possible, or not while others are pending.
  virtual std::unique_ptr<PendingNodes> begin_reduce(NativeStream /*stream*/, const ReduceParams& /*params*/,
                                                     const Configured<ReduceParams>& /*planned*/) {
    return nullptr;
  }
  virtual std::unique_ptr<PendingNodes> begin_reduce(NativeStream /*stream*/, const ReduceParams& /*params*/,
                                                     const LeafTrees& /*trees*/) {
    return nullptr;
  }
  virtual gpumem_status reduce_lines(NativeStream stream, const ReduceAxisParams& params,
                                     const Configured<ReduceAxisParams>& planned, Completion completion) = 0;
  virtual gpumem_status reduce_lines(NativeStream stream, const ReduceSegmentsParams& params,
                                     const Configured<ReduceSegmentsParams>& planned, Completion completion) = 0;
  // Writes dst only if every index names a row. With Completion::blocking, returns the first index that does not.
  virtual BadIndex gather_scatter(NativeStream stream, NamedRows named, const GatherScatterParams& params,
                                  const Configured<GatherScatterParams>& planned, Completion completion) = 0;
  // Of copy, the CUDA backend's variant `driver` takes any two pointers.
  virtual void launch(NativeStream stream, const AnyWork& work, Completion completion) = 0;

  virtual NativeStream own_stream() noexcept = 0;
  virtual NativeStream create_stream() = 0;
  // Ordered with other streams only by events, including the legacy stream.
  virtual NativeStream create_side_stream() { return create_stream(); }
  virtual void finish_stream(NativeStream stream) noexcept = 0;  // waits; a later call reports a fault
  virtual void destroy_stream(NativeStream stream) noexcept = 0;
  virtual NativeStream wrap_stream(void* native) = 0;
  virtual void unwrap_stream(NativeStream /*stream*/) noexcept {}  // returned to the program
  virtual void synchronize(NativeStream stream) = 0;               // not under capture
  // As synchronize(), for short work. The device may signal through `word`, pinned memory that nothing else uses.
  virtual void synchronize_by(NativeStream stream, uint32_t& /*word*/) { synchronize(stream); }
  // Waits for the process's work on every stream. The host waits for the own stream only. Captures stay valid.
  virtual void synchronize_device() = 0;
  // Waits for all work that would precede new work on the own stream.
  virtual void await_order() = 0;
  virtual bool idle(NativeStream stream) = 0;  // not under capture
  virtual bool capturing(NativeStream /*stream*/) { return false; }
  virtual uint64_t capture_id(NativeStream /*stream*/) { return 0; }  // 0: not under capture
  // Ends the capture without a graph.
  virtual void invalidate_capture(NativeStream /*stream*/) noexcept {}
  virtual void host_callback(NativeStream stream, HostTask task) = 0;
  virtual NativeEvent create_event() = 0;
  virtual NativeEvent create_fence() { return create_event(); }  // for order only; may have no time
  virtual void destroy_event(NativeEvent event) noexcept = 0;
  virtual void record(NativeEvent event, NativeStream stream) = 0;
  virtual void wait_event(NativeStream stream, NativeEvent event) = 0;
  virtual void synchronize_event(NativeEvent event) = 0;
  virtual bool passed(NativeEvent event) = 0;  // recorded outside a capture
  virtual double elapsed_seconds(NativeEvent start, NativeEvent end) = 0;
};

// The host backend. A CUDA context also has one, and uses it without streams.
class Host : public Backend {
 public:
  // As classify(), for memory that the host can't access. Finds a new driver, under the loader's lock.
  virtual Location classify_unreachable(const void* p) noexcept = 0;
  // Touches fresh pages from allocate() with all threads. A forked child does not inherit them.
  virtual void make_resident(void* p, size_t bytes) noexcept = 0;
  // As host_callback(), for a task that waits for other processes: meanwhile another thread serves the other streams.
  virtual void waiting_callback(NativeStream stream, HostTask task) = 0;
  // The first inaccessible part of more than `gap` bytes in a range with accessible ends. nullptr: none is known.
  virtual const void* hole(const void* p, size_t bytes, size_t gap, bool writable) noexcept = 0;
  // Moves bytes [first, last) of a block, not counting padding, in the calling thread. around_caches: bypasses caches.
  virtual void move_part(const CopyParams& block, int64_t first, int64_t last, bool around_caches) noexcept = 0;
  // Calls task(state, i) for each i in [0, tasks) on all threads, and returns when all have returned.
  virtual void parallel(int64_t tasks, gpumem_task_fn task, void* state) noexcept = 0;
  template <class F>
  void parallel(int64_t tasks, F&& f) noexcept {
    parallel(
        tasks, [](void* state, int64_t i) { (*static_cast<std::remove_reference_t<F>*>(state))(i); }, &f);
  }
};

struct ParallelFor {
  gpumem_parallel_for_fn call = nullptr;
  void* user = nullptr;
};

class WorkerPool;

struct SharedWorkers {
  std::mutex mutex;
  std::weak_ptr<WorkerPool> pool;  // alive as long as a backend uses it
};

struct HostOptions {
  SharedWorkers* workers = nullptr;  // required unless the program lends its threads
  int32_t threads = 0;               // 0: affinity and cgroup decide
  ParallelFor parallel_for{};
  const char* simd = nullptr;  // name of the widest allowed instruction set; nullptr: no limit
};

std::unique_ptr<Host> make_host_backend(const HostOptions& options);
DeviceProps host_props(const HostOptions& options);

// Whether an access at p works. Asks the operating system, without accessing p.
bool host_readable(const void* p) noexcept;
bool host_writable(void* p) noexcept;
// Bytes in pages that the process has mapped in host memory. For managed memory, those that are not on a device.
size_t host_resident_bytes(const void* p, size_t bytes) noexcept;
// Throws OUT_OF_MEMORY unless the host now has memory for the bytes that are not resident.
void require_pages(const void* p, size_t bytes);

// CUDA devices of this process. status is GPUMEM_OK (count >= 1), or why they are absent. reason says it in words.
struct CudaDevices {
  gpumem_status status = GPUMEM_NOT_BUILT;
  int32_t count = 0;
  int32_t current = 0;  // the calling thread's device
  std::string reason;
};
CudaDevices cuda_devices();
DeviceProps cuda_props(int32_t ordinal);
std::unique_ptr<Backend> make_cuda_backend(int32_t ordinal, bool non_blocking_stream);

}  // namespace gpumem
