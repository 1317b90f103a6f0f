#include "backend/host/host_queue.hpp"

#include "base/error.hpp"
#include "base/quiet_thread.hpp"

namespace gpumem {

void HostQueue::end() noexcept {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    ended_ = true;
    changed_.wait(lock, [this] { return serving_ == next_; });
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void HostQueue::begin() noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  ended_ = false;
  stopping_ = false;
}

void HostQueue::require_not_ended() const {
  if (ended_) fail(GPUMEM_INVALID_HANDLE, "the stream was destroyed by another thread meanwhile");
}

void HostQueue::take_turn() {
  std::unique_lock<std::mutex> lock(mutex_);
  require_not_ended();
  const uint64_t mine = next_++;
  changed_.wait(lock, [&] { return serving_ == mine; });
}

void HostQueue::end_turn() {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++serving_;
  changed_.notify_all();
}

// Takes the number last: nothing that can fail comes after it, so no number is ever left without a holder.
void HostQueue::push(Task task, std::shared_ptr<Mark> mark) {
  require_not_ended();
  if (!thread_.joinable()) thread_ = quiet_thread([this] { serve(); });
  items_.push_back({next_, std::move(task), std::move(mark)});
  ++next_;
  changed_.notify_all();
}

void HostQueue::enqueue(Task task) {
  const std::lock_guard<std::mutex> lock(mutex_);
  push(std::move(task), nullptr);
}

void HostQueue::enqueue_mark(std::shared_ptr<Mark> mark) {
  const std::lock_guard<std::mutex> lock(mutex_);
  require_not_ended();
  if (serving_ == next_) {
    mark->pass();  // no thread is needed for a moment that has come
  } else {
    push(nullptr, std::move(mark));
  }
}

void HostQueue::drain() {
  std::unique_lock<std::mutex> lock(mutex_);
  const uint64_t last = next_;
  changed_.wait(lock, [&] { return serving_ >= last; });
}

bool HostQueue::idle() const noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  return serving_ == next_;
}

// A mark is passed when its number is over: whoever sees it passed sees the queue idle too, if nothing came after.
void HostQueue::serve() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return items_.empty() ? stopping_ : serving_ == items_.front().number; });
    if (items_.empty()) return;
    const Item item = std::move(items_.front());
    items_.pop_front();
    if (item.task) {
      lock.unlock();
      item.task();
      lock.lock();
    }
    ++serving_;
    if (item.mark) item.mark->pass();
    changed_.notify_all();
  }
}

}  // namespace gpumem
