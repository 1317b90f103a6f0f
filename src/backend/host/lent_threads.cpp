#include "backend/host/lent_threads.hpp"

#include <atomic>
#include <memory>
#include <new>

#include "backend/host/queue_workers.hpp"

namespace gpumem {
namespace {

constexpr int32_t kOpen = 1 << 30;
constexpr int64_t kBits = 64;

// One call of a pool, which receives it as task_state. Jobs are reused and never freed: a thread that arrives after the
// call's end finds the gate closed, or takes part in a later call.
class Job {
 public:
  // A free job; nullptr if memory has run out.
  static Job* take() noexcept {
    for (Job* job = all_.load(std::memory_order_acquire); job != nullptr; job = job->next_) {
      if (!job->taken_.exchange(true, std::memory_order_acquire)) return job;
    }
    auto* const job = new (std::nothrow) Job;
    if (job == nullptr) return nullptr;
    job->next_ = all_.load(std::memory_order_relaxed);
    while (!all_.compare_exchange_weak(job->next_, job, std::memory_order_release, std::memory_order_relaxed)) continue;
    return job;
  }
  void give_back() noexcept { taken_.store(false, std::memory_order_release); }

  // False: no memory for the bits of started tasks.
  bool open(int64_t tasks, gpumem_task_fn task, void* state) noexcept {
    const int64_t words = (tasks - 1) / kBits + 1;
    if (words > kFewWords) {
      many_.reset(new (std::nothrow) std::atomic<uint64_t>[static_cast<size_t>(words)]());
      if (many_ == nullptr) return false;
    } else {
      for (int64_t i = 0; i < words; ++i) few_[i].store(0, std::memory_order_relaxed);
    }
    begun_ = words > kFewWords ? many_.get() : few_;
    tasks_ = tasks;
    task_ = task;
    state_ = state;
    gate_.store(kOpen, std::memory_order_release);
    return true;
  }

  // Called by the pool, on any thread, at any time.
  static void run(void* self, int64_t index) noexcept {
    Job& job = *static_cast<Job*>(self);
    if (!job.enter()) return;
    job.run_once(index);
    if (job.gate_.fetch_sub(1, std::memory_order_release) == 1) job.gate_.notify_one();
  }

  void finish() noexcept {
    for (int64_t i = 0; i < tasks_; ++i) run_once(i);
    int32_t inside = gate_.fetch_sub(kOpen, std::memory_order_acquire) - kOpen;
    while (inside != 0) {
      gate_.wait(inside, std::memory_order_acquire);
      inside = gate_.load(std::memory_order_acquire);
    }
    many_.reset();
  }

 private:
  static constexpr int64_t kFewWords = 16;

  bool enter() noexcept {
    int32_t gate = gate_.load(std::memory_order_relaxed);
    while ((gate & kOpen) != 0) {
      if (gate_.compare_exchange_weak(gate, gate + 1, std::memory_order_acquire, std::memory_order_relaxed))
        return true;
    }
    return false;
  }

  void run_once(int64_t index) noexcept {
    if (index < 0 || index >= tasks_) return;
    std::atomic<uint64_t>& word = begun_[index / kBits];
    const uint64_t bit = uint64_t{1} << (index % kBits);
    if ((word.load(std::memory_order_relaxed) & bit) != 0) return;
    if ((word.fetch_or(bit, std::memory_order_relaxed) & bit) == 0) task_(state_, index);
  }

  static constinit inline std::atomic<Job*> all_{nullptr};

  Job* next_ = nullptr;
  std::atomic<bool> taken_{true};
  std::atomic<int32_t> gate_{0};  // threads inside, plus kOpen while more may enter

  // Written while the gate is closed and no thread is inside.
  int64_t tasks_ = 0;
  gpumem_task_fn task_ = nullptr;
  void* state_ = nullptr;
  std::atomic<uint64_t>* begun_ = nullptr;
  std::atomic<uint64_t> few_[kFewWords]{};
  std::unique_ptr<std::atomic<uint64_t>[]> many_;
};

}  // namespace

void parallel_for_lent(const ParallelFor& lent, int64_t tasks, gpumem_task_fn task, void* state) noexcept {
  Job* const job = Job::take();
  if (job == nullptr || !job->open(tasks, task, state)) {
    for (int64_t i = 0; i < tasks; ++i) task(state, i);
  } else {
    {
      const QueueWorkers::Blocked blocked;
      lent.call(lent.user, tasks, Job::run, job);
    }
    job->finish();
  }
  if (job != nullptr) job->give_back();
}

}  // namespace gpumem
