// The process's worker threads for host work: started on demand, shared by all contexts, and joined with the last one.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "gpumem.h"

namespace gpumem {

struct SharedWorkers;

// Each thread has its own share of a job's tasks. It gets the same share in the next job of equal size, so its caches
// still hold the data. Afterwards it helps the others. An idle worker polls for a moment before it sleeps, because
// waking takes longer than many jobs.
class WorkerPool {  // NOLINT(clang-analyzer-optin.performance.Padding): what threads watch has cache lines of its own
 public:
  static std::shared_ptr<WorkerPool> shared(SharedWorkers& workers);

  ~WorkerPool();

  // Calls task(state, i) for each i in [0, tasks) on up to `threads` threads, the caller's included, and returns when
  // all have returned. If the pool works for another caller, or no thread is available, the caller runs everything.
  void parallel_for(int64_t tasks, int32_t threads, gpumem_task_fn task, void* state) noexcept;

 private:
  // Data that one thread writes and another polls has cache lines of its own.
  struct alignas(128) Share {
    std::atomic<int64_t> next{0};
    int64_t last = 0;
  };
  struct alignas(128) Worker {
    std::atomic<uint32_t> calls{0};
    std::thread thread;
  };

  void run(const Worker& self, int32_t index) noexcept;
  void call(int32_t worker) noexcept;
  bool enter() noexcept;
  void leave() noexcept;
  void work_on_shares(int32_t first) noexcept;
  int32_t workers_up_to(int32_t wanted) noexcept;

  std::mutex submit_;  // held by the caller that the pool works for
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Share> shares_;

  // The job. These members and the two above are written while no worker is inside, and read by workers inside.
  gpumem_task_fn task_ = nullptr;
  void* state_ = nullptr;
  int32_t parts_ = 0;

  alignas(128) std::atomic<int32_t> gate_{0};  // workers inside, plus kOpen while more may enter
  std::atomic<bool> stopping_{false};
};

}  // namespace gpumem
