// The threads and loops of the host backend's launchers.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <new>

#include "backend/backend.hpp"
#include "backend/host/lent_threads.hpp"
#include "backend/host/loops/loops.hpp"
#include "backend/host/worker_pool.hpp"

namespace gpumem {

// Heap memory of one task, because its thread may be the program's, with a small stack. A task cannot fail, so it has a
// fallback for get() == nullptr.
class TaskMemory {
 public:
  explicit TaskMemory(int64_t bytes) noexcept
      : p_(bytes > 0 ? ::operator new(static_cast<size_t>(bytes), kLine, std::nothrow) : nullptr) {}
  ~TaskMemory() { ::operator delete(p_, kLine); }
  TaskMemory(const TaskMemory&) = delete;
  TaskMemory& operator=(const TaskMemory&) = delete;

  void* get() const noexcept { return p_; }

 private:
  static constexpr std::align_val_t kLine{64};
  void* const p_;
};

// For elements of up to 16 bytes.
inline int log2_of(int64_t bytes) noexcept { return std::min(std::countr_zero(static_cast<uint64_t>(bytes)), 4); }

// A transpose writes a few lines at a time in many places. From about this size on, an ordinary store's read of each
// line costs more than the caches give back. The size is smaller if the pitch maps many lines to few cache sets.
inline bool streams_transpose(int64_t bytes, int64_t src_pitch, int64_t dst_pitch) noexcept {
  const bool crowded = src_pitch % 2048 == 0 || dst_pitch % 2048 == 0;
  return bytes >= (crowded ? int64_t{1} << 20 : int64_t{8} << 20);
}

struct HostTeam {
  const Loops& loops;
  int32_t threads;
  int64_t cache_bytes;
  ParallelFor lent;                  // the program's pool, if it lends one
  std::shared_ptr<WorkerPool> pool;  // else the library's; nullptr: only the calling thread

  // A server's last-level cache is shared with other programs, so at most 32 MiB of it are assumed.
  bool larger_than_caches(int64_t bytes) const noexcept { return bytes > std::min(cache_bytes / 2, int64_t{32} << 20); }

  // f must not throw.
  template <class F>
  void parallel(int64_t tasks, const F& f) const noexcept {
    if (tasks <= 1 || (lent.call == nullptr && pool == nullptr)) {
      for (int64_t i = 0; i < tasks; ++i) f(i);
      return;
    }
    const gpumem_task_fn task = [](void* state, int64_t index) { (*static_cast<const F*>(state))(index); };
    void* state = const_cast<F*>(&f);
    if (lent.call != nullptr) return parallel_for_lent(lent, tasks, task, state);
    pool->parallel_for(tasks, threads, task, state);
  }
};

// The reference for teams: one thread, and the narrowest loops.
inline HostTeam no_team() { return {host_loops("base"), 1, INT64_MAX, {}, nullptr}; }

}  // namespace gpumem
