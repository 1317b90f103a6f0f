// The process's worker threads for host work. Started on demand, shared by every context, joined with the last one.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "gpumem.h"

namespace gpumem {

class WorkerPool {
 public:
  // The pool of this process: made by the first caller, gone with the last reference.
  static std::shared_ptr<WorkerPool> shared();

  WorkerPool() = default;
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Calls task(state, i) for each i in [0, tasks) on up to `threads` threads, the caller's included, and returns when all have
  // returned. When the pool is at work for another caller, or no thread can be had, the caller does everything alone.
  void parallel_for(int64_t tasks, int32_t threads, gpumem_task_fn task, void* state) noexcept;

 private:
  struct Job;
  static void work_on(Job& job) noexcept;
  void worker();
  void start_up_to(int32_t workers) noexcept;

  std::mutex submit_;  // held by the one caller that the pool works for
  std::mutex mutex_;   // guards what follows
  std::condition_variable wake_;
  std::condition_variable left_;
  Job* job_ = nullptr;
  int32_t places_ = 0;  // workers that may still join the job
  int32_t inside_ = 0;  // workers that are at it
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace gpumem
