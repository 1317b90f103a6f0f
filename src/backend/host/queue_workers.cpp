#include "backend/host/queue_workers.hpp"

#include <chrono>
#include <exception>

#include "backend/host/host_queue.hpp"
#include "base/await.hpp"
#include "base/quiet_thread.hpp"
#include "base/scope_exit.hpp"

namespace gpumem {
namespace {

// How long a thread that replaced others stays without work.
constexpr std::chrono::seconds kStay{1};

thread_local QueueWorkers* t_workers = nullptr;

}  // namespace

QueueWorkers::~QueueWorkers() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  called_.notify_all();
  for (Threads* threads : {&threads_, &ended_}) {
    for (std::thread& thread : *threads) thread.join();
  }
}

void QueueWorkers::require_one() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (threads_.size() == blocked_) start();
}

void QueueWorkers::ready(HostQueue& queue) noexcept {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    queue.link_ = nullptr;
    (first_ == nullptr ? first_ : last_->link_) = &queue;
    last_ = &queue;
    ++waiting_;
    start_if_wanted();
  }
  called_.notify_one();
}

HostQueue& QueueWorkers::take() noexcept {
  HostQueue& queue = *first_;
  first_ = queue.link_;
  --waiting_;
  return queue;
}

void QueueWorkers::start() {
  for (std::thread& thread : ended_) thread.join();
  ended_.clear();
  threads_.emplace_back();
  ScopeExit forget([this] { threads_.pop_back(); });
  const auto self = std::prev(threads_.end());
  *self = quiet_thread([this, self] { work(self); });
  forget.release();
}

// Idle threads may already have been called for other waiting queues.
void QueueWorkers::start_if_wanted() noexcept {
  if (waiting_ <= idle_ || threads_.size() - blocked_ >= most_) return;
  try {
    start();
  } catch (const std::exception&) {
    // The queue waits for one of the existing threads.
  }
}

void QueueWorkers::work(Threads::iterator self) noexcept {
  t_workers = this;
  const auto has_work = [this] { return first_ != nullptr || stopping_; };
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    ++idle_;
    bool stays = true;
    if (threads_.size() - blocked_ <= most_) {
      await(called_, lock, has_work);
    } else {
      stays = called_.wait_for(lock, kStay, has_work);
    }
    --idle_;
    if (stopping_) return;
    if (!stays) return ended_.splice(ended_.end(), threads_, self);
    HostQueue& queue = take();
    lock.unlock();
    queue.serve();
    lock.lock();
  }
}

QueueWorkers::Blocked::Blocked() noexcept : workers_(t_workers) {
  if (workers_ == nullptr) return;
  const std::lock_guard<std::mutex> lock(workers_->mutex_);
  ++workers_->blocked_;
  workers_->start_if_wanted();
}

QueueWorkers::Blocked::~Blocked() {
  if (workers_ == nullptr) return;
  const std::lock_guard<std::mutex> lock(workers_->mutex_);
  --workers_->blocked_;
}

}  // namespace gpumem
