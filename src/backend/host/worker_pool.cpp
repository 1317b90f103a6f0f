#include "backend/host/worker_pool.hpp"

#include <algorithm>
#include <chrono>

#include "backend/backend.hpp"
#include "base/quiet_thread.hpp"
#include "base/scope_exit.hpp"
#include "base/spin_pause.hpp"

namespace gpumem {
namespace {

constexpr int32_t kOpen = 1 << 30;

// How long a worker polls for the next job: about the time that waking sixteen workers takes.
constexpr std::chrono::microseconds kLookOut{60};

template <class T>
void look_out(const std::atomic<T>& value, T old) noexcept {
  const auto end = std::chrono::steady_clock::now() + kLookOut;
  do {
    for (int i = 0; i < 32; ++i) {
      if (value.load(std::memory_order_relaxed) != old) return;
      spin_pause();
    }
  } while (std::chrono::steady_clock::now() < end);
}

}  // namespace

std::shared_ptr<WorkerPool> WorkerPool::shared(SharedWorkers& workers) {
  const std::lock_guard<std::mutex> lock(workers.mutex);
  std::shared_ptr<WorkerPool> pool = workers.pool.lock();
  if (!pool) {
    pool = std::make_shared<WorkerPool>();
    workers.pool = pool;
  }
  return pool;
}

WorkerPool::~WorkerPool() {
  stopping_.store(true);
  for (const auto& worker : workers_) {
    worker->calls.fetch_add(1);
    worker->calls.notify_one();
  }
  for (const auto& worker : workers_) worker->thread.join();
}

void WorkerPool::work_on_shares(int32_t first) noexcept {
  for (int32_t i = 0; i < parts_; ++i) {
    Share& share = shares_[static_cast<size_t>((first + i) % parts_)];
    if (share.next.load(std::memory_order_relaxed) >= share.last) continue;
    for (int64_t at = share.next.fetch_add(1, std::memory_order_relaxed); at < share.last;
         at = share.next.fetch_add(1, std::memory_order_relaxed)) {
      task_(state_, at);
    }
  }
}

bool WorkerPool::enter() noexcept {
  int32_t gate = gate_.load(std::memory_order_relaxed);
  while ((gate & kOpen) != 0) {
    if (gate_.compare_exchange_weak(gate, gate + 1, std::memory_order_acquire, std::memory_order_relaxed)) return true;
  }
  return false;
}

void WorkerPool::leave() noexcept {
  if (gate_.fetch_sub(1, std::memory_order_release) == 1) gate_.notify_one();
}

void WorkerPool::call(int32_t worker) noexcept { workers_[static_cast<size_t>(worker)]->calls.notify_one(); }

// Each worker that enters wakes two others if they sleep, so that many are awake after few steps.
void WorkerPool::run(const Worker& self, int32_t index) noexcept {
  uint32_t seen = 0;
  for (;;) {
    look_out(self.calls, seen);
    self.calls.wait(seen);
    seen = self.calls.load();
    if (stopping_.load()) return;
    if (!enter()) continue;
    for (const int32_t next : {2 * index + 2, 2 * index + 3}) {
      if (next < parts_ - 1) call(next);
    }
    work_on_shares((index + 1) % parts_);
    leave();
  }
}

int32_t WorkerPool::workers_up_to(int32_t wanted) noexcept {
  const auto count = static_cast<size_t>(wanted);
  try {
    if (shares_.size() <= count) shares_ = std::vector<Share>(count + 1);
    workers_.reserve(count);  // so that a running thread is never lost for want of space
    while (workers_.size() < count) {
      workers_.push_back(std::make_unique<Worker>());
      const auto index = static_cast<int32_t>(workers_.size()) - 1;
      ScopeExit forget([this] { workers_.pop_back(); });
      Worker& worker = *workers_.back();
      worker.thread = quiet_thread([this, &worker, index] { run(worker, index); });
      forget.release();
    }
  } catch (const std::exception&) {
    // Fewer threads, or none: the caller takes part in any case.
  }
  return static_cast<int32_t>(std::min({workers_.size(), count, shares_.empty() ? 0 : shares_.size() - 1}));
}

void WorkerPool::parallel_for(int64_t tasks, int32_t threads, gpumem_task_fn task, void* state) noexcept {
  const auto wanted = static_cast<int32_t>(std::min<int64_t>(threads, tasks)) - 1;
  std::unique_lock<std::mutex> mine(submit_, std::defer_lock);
  const int32_t helpers = wanted > 0 && mine.try_lock() ? workers_up_to(wanted) : 0;
  if (helpers == 0) {
    for (int64_t i = 0; i < tasks; ++i) task(state, i);
    return;
  }
  task_ = task;
  state_ = state;
  parts_ = helpers + 1;
  int64_t first = 0;
  for (int32_t i = 0; i < parts_; ++i) {
    Share& share = shares_[static_cast<size_t>(i)];
    share.next.store(first, std::memory_order_relaxed);
    first += tasks / parts_ + (i < tasks % parts_ ? 1 : 0);
    share.last = first;
  }
  gate_.store(kOpen, std::memory_order_release);
  for (int32_t i = 0; i < helpers; ++i) workers_[static_cast<size_t>(i)]->calls.fetch_add(1);
  for (int32_t i = 0; i < std::min(helpers, 2); ++i) call(i);
  work_on_shares(0);
  // No task is left to begin; later threads stay out.
  int32_t inside = gate_.fetch_sub(kOpen, std::memory_order_acquire) - kOpen;
  while (inside != 0) {
    look_out(gate_, inside);
    gate_.wait(inside, std::memory_order_acquire);
    inside = gate_.load(std::memory_order_acquire);
  }
}

}  // namespace gpumem
