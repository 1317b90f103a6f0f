// The process's worker threads for host work. Started on demand, shared by every context, joined with the last one.
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

// Each thread has a share of a job's tasks of its own, the same one in the next job of as many tasks, so that it meets data that its
// caches still hold; done with it, it helps the others. A worker that has nothing to do polls for a moment before it
// sleeps: waking takes longer than many a job.
class WorkerPool {  // NOLINT(clang-analyzer-optin.performance.Padding): what threads watch has cache lines of its own
 public:
  // Made by the first caller, gone with the last reference.
  static std::shared_ptr<WorkerPool> shared(SharedWorkers& workers);

  ~WorkerPool();

  // Calls task(state, i) for each i in [0, tasks) on up to `threads` threads, the caller's included, and returns when all have
  // returned. When the pool is at work for another caller, or no thread can be had, the caller does everything alone.
  void parallel_for(int64_t tasks, int32_t threads, gpumem_task_fn task, void* state) noexcept;

 private:
  // What is written by one thread and watched by another has cache lines of its own.
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

  std::mutex submit_;  // held by the one caller that the pool works for
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Share> shares_;  // the caller's, and one of each worker

  // The job. This and the two above are written while no worker is inside, and read by those that are.
  gpumem_task_fn task_ = nullptr;
  void* state_ = nullptr;
  int32_t parts_ = 0;

  alignas(128) std::atomic<int32_t> gate_{0};  // workers inside, and kOpen while more may come in
  std::atomic<bool> stopping_{false};
};

}  // namespace gpumem
