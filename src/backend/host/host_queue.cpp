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
  changed_.wait(lock, [this] { return items_.empty() && !busy_; });
  busy_ = true;
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

void HostQueue::push(Item item) {
  if (!thread_.joinable()) thread_ = quiet_thread([this] { serve(); });
  items_.push_back(std::move(item));
  changed_.notify_all();
}

void HostQueue::enqueue(Task task) {
  const std::lock_guard<std::mutex> lock(mutex_);
  push({std::move(task), nullptr});
}

void HostQueue::enqueue_mark(std::shared_ptr<Mark> mark) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (items_.empty() && !busy_) {
    mark->pass();  // no thread is needed for a moment that has come
  } else {
    push({nullptr, std::move(mark)});
  }
}

void HostQueue::drain() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return items_.empty() && !busy_; });
}

bool HostQueue::idle() const noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  return items_.empty() && !busy_;
}

// A mark is passed under the lock, when the queue no longer counts as busy with it: whoever sees the mark passed sees the
// queue idle too, if nothing came after.
void HostQueue::serve() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return (!items_.empty() && !busy_) || (stopping_ && items_.empty()); });
    if (items_.empty()) return;
    const Item item = std::move(items_.front());
    items_.pop_front();
    if (item.mark) {
      item.mark->pass();
    } else {
      busy_ = true;
      lock.unlock();
      item.task();
      lock.lock();
      busy_ = false;
    }
    changed_.notify_all();
  }
}

}  // namespace gpumem
