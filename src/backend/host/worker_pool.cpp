#include "backend/host/worker_pool.hpp"

#include <algorithm>
#include <atomic>
#include <system_error>

#include "engine/process.hpp"
#include "engine/quiet_thread.hpp"

namespace gpumem {

struct WorkerPool::Job {
  std::atomic<int64_t> next{0};
  int64_t tasks;
  gpumem_task_fn task;
  void* state;
};

std::shared_ptr<WorkerPool> WorkerPool::shared() {
  Process& own = process();
  const std::lock_guard<std::mutex> lock(own.pool_mutex);
  std::shared_ptr<WorkerPool> pool = own.pool.lock();
  if (!pool) {
    pool = std::make_shared<WorkerPool>();
    own.pool = pool;
  }
  return pool;
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::work_on(Job& job) noexcept {
  for (int64_t i = job.next.fetch_add(1, std::memory_order_relaxed); i < job.tasks;
       i = job.next.fetch_add(1, std::memory_order_relaxed)) {
    job.task(job.state, i);
  }
}

void WorkerPool::worker() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stopping_ || (job_ != nullptr && places_ > 0); });
    if (stopping_) return;
    Job& job = *job_;
    --places_;
    ++inside_;
    lock.unlock();
    work_on(job);
    lock.lock();
    if (--inside_ == 0) left_.notify_one();
  }
}

void WorkerPool::start_up_to(int32_t workers) noexcept {
  try {
    threads_.reserve(static_cast<size_t>(workers));  // so that a thread that runs is never lost for want of a place
    while (static_cast<int32_t>(threads_.size()) < workers) threads_.push_back(quiet_thread([this] { worker(); }));
  } catch (const std::exception&) {
    // Fewer threads, or none: the caller takes part in any case.
  }
}

void WorkerPool::parallel_for(int64_t tasks, int32_t threads, gpumem_task_fn task, void* state) noexcept {
  Job job{.tasks = tasks, .task = task, .state = state};
  const auto helpers = static_cast<int32_t>(std::min<int64_t>(threads, tasks)) - 1;
  std::unique_lock<std::mutex> mine(submit_, std::defer_lock);
  if (helpers < 1 || !mine.try_lock()) return work_on(job);
  start_up_to(helpers);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    job_ = &job;
    places_ = helpers;
  }
  wake_.notify_all();
  work_on(job);
  std::unique_lock<std::mutex> lock(mutex_);
  job_ = nullptr;
  places_ = 0;
  left_.wait(lock, [this] { return inside_ == 0; });
}

}  // namespace gpumem
