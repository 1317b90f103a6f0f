#include "backend/host/host_queue.hpp"

#include "engine/quiet_thread.hpp"

namespace gpumem {

void Mark::pass() noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  when_ = std::chrono::steady_clock::now();
  passed_ = true;
  changed_.notify_all();
}

bool Mark::passed() const noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  return passed_;
}

void Mark::wait() const noexcept {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return passed_; });
}

std::chrono::steady_clock::time_point Mark::when() const noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  return when_;
}

void HostQueue::take_turn() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return tasks_.empty() && !busy_; });
  busy_ = true;
}

bool HostQueue::try_take_turn() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!tasks_.empty() || busy_) return false;
  busy_ = true;
  return true;
}

void HostQueue::give_turn_back() {
  const std::lock_guard<std::mutex> lock(mutex_);
  busy_ = false;
  changed_.notify_all();
}

HostQueue::~HostQueue() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void HostQueue::enqueue(Task task) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!thread_.joinable()) thread_ = quiet_thread([this] { serve(); });
  tasks_.push_back(std::move(task));
  changed_.notify_all();
}

void HostQueue::drain() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return tasks_.empty() && !busy_; });
}

bool HostQueue::idle() const noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  return tasks_.empty() && !busy_;
}

void HostQueue::serve() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return (!tasks_.empty() && !busy_) || (stopping_ && tasks_.empty()); });
    if (tasks_.empty()) return;
    const Task task = std::move(tasks_.front());
    tasks_.pop_front();
    busy_ = true;
    lock.unlock();
    task();
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

}  // namespace gpumem
