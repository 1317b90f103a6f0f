// The narrow seam between the engine and what executes: one interface, a host and a CUDA implementation. It speaks in plain
// data; everything that fails throws an Error. Only the engine calls it, with arguments that have been checked.
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

// A backend's own stream or event; the engine hands them back and never looks inside. On the host backend a nullptr stream
// means "in the calling thread, now, ordered with nothing".
using NativeStream = void*;
using NativeEvent = void*;

// Whether a call may return before the work is done.
enum class Completion : int32_t { asynchronous, blocking };

// What the driver knows of an address that is not the library's own.
struct Location {
  bool known = false;  // false: nobody but the operating system knows it
  gpumem_memory_kind kind = GPUMEM_MEMORY_PAGEABLE;
  int32_t device = GPUMEM_DEVICE_HOST;
  uintptr_t base = 0;  // 0: not known
  size_t bytes = 0;
};

// What the driver was told of a range of managed memory. Devices are GPUMEM_DEVICE_NONE where it was told nothing, or not the same
// for all of the range.
struct ManagedState {
  int32_t last_prefetch = GPUMEM_DEVICE_NONE;
  int32_t preferred_location = GPUMEM_DEVICE_NONE;
  bool read_mostly = false;
  bool accessed_by = false;  // the backend's device
};

// Work on the host that a stream runs in its order. It must not throw and not call the backend that runs it.
using HostTask = std::function<void()>;

// Who is told of the calling thread's work while something measures it: what a launch gives a stream lies between begins() and ends().
class LaunchWatch {
 public:
  using Clock = std::chrono::steady_clock;

  virtual void begins(NativeStream stream) noexcept = 0;
  virtual void ends(NativeStream stream) noexcept = 0;
  // Work of the host that the thread has done itself.
  virtual void ran(Clock::time_point begin, Clock::time_point end) noexcept = 0;

 protected:
  ~LaunchWatch() = default;
};
inline constinit thread_local LaunchWatch* t_launch_watch = nullptr;
inline constinit std::atomic<int32_t> g_launch_watches{
    0};  // of all threads: mostly none, and no thread-local is looked at
inline LaunchWatch* launch_watch() noexcept {
  return g_launch_watches.load(std::memory_order_relaxed) != 0 ? t_launch_watch : nullptr;
}

// What a backend puts around a launch.
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

// What is launched: of one family, and of any that is only launched.
template <class Family>
struct Work {
  const typename Family::Params& params;
  const Configured<typename Family::Params>& planned;
};
template <class... Family>
std::variant<Work<Family>...> any_work(FamilyList<Family...>);
using AnyWork = decltype(any_work(LaunchedFamilies{}));

// Nodes of a reduction under way. One that nobody waits for ends before it goes.
class PendingNodes {
 public:
  PendingNodes() = default;
  PendingNodes(const PendingNodes&) = delete;
  PendingNodes& operator=(const PendingNodes&) = delete;
  virtual ~PendingNodes() = default;
  virtual void wait(std::span<ReduceNode> nodes) = 0;  // as many as there are; once
};

// What has a body here is optional: a backend whose memory is the host's own, and no driver's, needs none of it.
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
  // nullptr, or why all that the backend has on its device is gone: the program has reset the device. It stays so. After such an answer
  // no call touches the device: each throws DEVICE_FAULT, or does nothing where it can't throw.
  virtual const char* loss() noexcept { return nullptr; }

  // Memory. release waits for the device where it has to and never throws: what can't be given back is lost with the context.
  virtual Location classify(const void* p) = 0;
  virtual void* allocate(gpumem_memory_kind kind, size_t bytes) = 0;
  virtual void release(gpumem_memory_kind kind, void* p, size_t bytes) noexcept = 0;
  // Device memory in the order of a stream that is not under capture; nullptr: for every stream from now on, and given back
  // when no stream uses it any more. Where props().memory_pools.
  virtual void* allocate_async(NativeStream stream, size_t bytes) = 0;
  virtual void release_async(NativeStream stream, void* p, size_t bytes) noexcept = 0;
  // Whether a tool watches accesses to memory from allocate_async(): it is then told of each block there that may be accessed, from
  // when on and until when.
  virtual bool watched() const noexcept { return false; }
  virtual void begin_block(void* /*p*/, size_t /*bytes*/) noexcept {}
  virtual void end_block(void* /*p*/) noexcept {}
  // Returns memory that was released and is kept for reuse to the system, all but keep_bytes of it.
  virtual void trim(size_t /*keep_bytes*/) noexcept {}
  // Device memory in granules, mapped to addresses that the caller has reserved. Everything is whole granules.
  virtual size_t granule_bytes() const noexcept { return 0; }                       // 0: there are none
  virtual uintptr_t reserve_addresses(size_t /*bytes*/) { return 0; }               // 0: there are none
  virtual void release_addresses(uintptr_t /*base*/, size_t /*bytes*/) noexcept {}  // of which none is mapped
  // One chunk, which is unmapped as a whole, alone or with those beside it. Fails with nothing mapped.
  virtual void map(uintptr_t /*p*/, size_t /*bytes*/) {}
  virtual void unmap(uintptr_t /*p*/, size_t /*bytes*/) noexcept {}  // what no work uses any more
  // Locks the pages of host memory, so that the device reaches them by itself. What is registered in part already is
  // INVALID_ARGUMENT; the sentence calls the memory p.
  virtual void register_host(void* /*p*/, size_t /*bytes*/) {}
  virtual void unregister_host(void* /*p*/) noexcept {}
  virtual void prefetch(NativeStream /*stream*/, const void* /*p*/, size_t /*bytes*/, int32_t /*device*/) {}
  // To the backend's own device, with contents that nobody reads again.
  virtual void prefetch_to_overwrite(NativeStream /*stream*/, const void* /*p*/, size_t /*bytes*/) {}
  virtual ManagedState managed_state(const void* /*p*/, size_t /*bytes*/) { return {}; }
  virtual void advise(const void* /*p*/, size_t /*bytes*/, gpumem_advice /*advice*/, int32_t /*device*/) {}

  // Memory of another device. Both ask the driver to allow it, and say whether work of this backend may read it now: what is
  // allocated the plain way, and a range of memory of any kind.
  virtual bool reaches_device(int32_t /*ordinal*/) { return false; }
  virtual bool reaches(const void* /*p*/, size_t /*bytes*/) { return false; }

  // Movement of any pair of pointers that the device can reach. Where the host reaches them all, it moves them itself.
  virtual void copy(NativeStream /*stream*/, void* /*dst*/, const void* /*src*/, size_t /*bytes*/,
                    Completion /*until*/) {}
  // Pieces that are disjoint, in memory that the device reaches. Enqueued; for a CUDA device.
  virtual void move_pieces(NativeStream /*stream*/, std::span<const MovedPiece> /*pieces*/) {}
  // Reads bytes (a multiple of 16) once and keeps nothing; the caches have these bytes then, and no others. blocks: on each multiprocessor.
  virtual void read_all(NativeStream stream, const void* p, size_t bytes, int32_t blocks) = 0;

  // Families.
  // reduce is complete on return; its node becomes a value by value_of(). The others enqueue, and put what only the run can
  // find into *status. Given Completion::blocking, reduce_lines returns that status; else GPUMEM_OK.
  virtual ReduceNode reduce(NativeStream stream, const ReduceParams& params,
                            const Configured<ReduceParams>& planned) = 0;
  virtual void reduce_async(NativeStream stream, const ReduceParams& params,
                            const Configured<ReduceParams>& planned) = 0;
  // The same as reduce, only begun; and the nodes of the subtrees of an ordered sum of neighbouring elements. nullptr: not while others are
  // under way, or never.
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
  // dst is written only if every index names a row; *status tells. Given Completion::blocking, it returns the first that does not.
  virtual BadIndex gather_scatter(NativeStream stream, NamedRows named, const GatherScatterParams& params,
                                  const Configured<GatherScatterParams>& planned, Completion completion) = 0;
  // Of a copy, the CUDA backend's variant `driver` takes any pair of pointers too.
  virtual void launch(NativeStream stream, const AnyWork& work, Completion completion) = 0;

  // Streams and events.
  virtual NativeStream own_stream() noexcept = 0;
  virtual NativeStream create_stream() = 0;
  // Ordered with others by events alone, the legacy stream included.
  virtual NativeStream create_side_stream() { return create_stream(); }
  virtual void finish_stream(NativeStream stream) noexcept = 0;  // waits; a fault shows elsewhere
  virtual void destroy_stream(NativeStream stream) noexcept = 0;
  virtual NativeStream wrap_stream(void* native) = 0;
  virtual void unwrap_stream(NativeStream /*stream*/) noexcept {}  // the program has it back
  virtual void synchronize(NativeStream stream) = 0;               // not under capture
  // The same, for short work: the device may tell by a word of pinned memory, which nothing uses meanwhile.
  virtual void synchronize_by(NativeStream stream, uint32_t& /*word*/) { synchronize(stream); }
  // Waits for all work that the process has given the device, on streams of others too; on the host for the own stream. Captures stay
  // valid.
  virtual void synchronize_device() = 0;
  // Waits for everything that work enqueued on the own stream now would come after.
  virtual void await_order() = 0;
  virtual bool idle(NativeStream stream) = 0;  // not under capture
  virtual bool capturing(NativeStream /*stream*/) { return false; }
  virtual uint64_t capture_id(NativeStream /*stream*/) { return 0; }  // 0: not under capture
  // So that no graph comes of it.
  virtual void invalidate_capture(NativeStream /*stream*/) noexcept {}
  virtual void host_callback(NativeStream stream, HostTask task) = 0;
  virtual NativeEvent create_event() = 0;
  virtual NativeEvent create_fence() { return create_event(); }  // may have no time: for order alone
  virtual void destroy_event(NativeEvent event) noexcept = 0;
  virtual void record(NativeEvent event, NativeStream stream) = 0;
  virtual void wait_event(NativeStream stream, NativeEvent event) = 0;
  virtual void synchronize_event(NativeEvent event) = 0;
  virtual bool passed(NativeEvent event) = 0;  // recorded outside a capture
  virtual double elapsed_seconds(NativeEvent start, NativeEvent end) = 0;
};

// The host backend, and what it does beside a CUDA device: without streams.
class Host : public Backend {
 public:
  // The same as classify(), for memory that the host can't access: a driver that was loaded meanwhile is found, under the loader's lock.
  virtual Location classify_unreachable(const void* p) noexcept = 0;
  // Fresh pages from allocate() are brought in by all threads. A forked child does not get them.
  virtual void make_resident(void* p, size_t bytes) noexcept = 0;
  // Of a range whose first and last byte can be accessed: where the first part of it begins that is longer than `gap` bytes and
  // can't be. nullptr: the system reports none.
  virtual const void* hole(const void* p, size_t bytes, size_t gap, bool writable) noexcept = 0;
  // The part of a block's bytes [first, last), counted without the gaps, by the calling thread; around its caches where that is
  // asked for.
  virtual void move_part(const CopyParams& block, int64_t first, int64_t last, bool around_caches) noexcept = 0;
  // Calls task(state, i) for each i in [0, tasks) by all threads, and returns when all have returned.
  virtual void parallel(int64_t tasks, gpumem_task_fn task, void* state) noexcept = 0;
  template <class F>
  void parallel(int64_t tasks, F&& f) noexcept {
    parallel(
        tasks, [](void* state, int64_t i) { (*static_cast<std::remove_reference_t<F>*>(state))(i); }, &f);
  }
};

// The program's own pool, when it lends one.
struct ParallelFor {
  gpumem_parallel_for_fn call = nullptr;
  void* user = nullptr;
};

class WorkerPool;

// Where a process keeps the worker threads that its host backends share.
struct SharedWorkers {
  std::mutex mutex;
  std::weak_ptr<WorkerPool> pool;  // alive as long as a backend uses it
};

struct HostOptions {
  SharedWorkers* workers = nullptr;  // needed unless the program lends its threads
  int32_t threads = 0;               // 0: affinity and cgroup decide
  ParallelFor parallel_for{};
  const char* simd = nullptr;  // the widest instruction set allowed by name; nullptr: what the processor has
};

std::unique_ptr<Host> make_host_backend(const HostOptions& options);
DeviceProps host_props(const HostOptions& options);

// Whether an ordinary access at p works, asked of the operating system without making one.
bool host_readable(const void* p) noexcept;
bool host_writable(void* p) noexcept;
// How many of the bytes lie in pages that the process has mapped in memory of the host; of managed memory, those that are not
// on a device.
size_t host_resident_bytes(const void* p, size_t bytes) noexcept;
// Throws OUT_OF_MEMORY unless the host has memory now for those that are not.
void require_pages(const void* p, size_t bytes);

// CUDA devices of this process. status is GPUMEM_OK (count >= 1) or why there is none, in words too.
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
