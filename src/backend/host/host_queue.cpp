#include "backend/host/host_queue.hpp"

#include <utility>

#include "base/await.hpp"
#include "base/error.hpp"
#include "base/spin_pause.hpp"

namespace gpumem {
namespace {

// Attempts to take the lock before the thread sleeps.
constexpr int kLooks = 100;

}  // namespace

void Mark::pass() noexcept {
  when_ = std::chrono::steady_clock::now();
  HostQueue* parked;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    passed_.store(true);
    parked = std::exchange(parked_, nullptr);
  }
  passed_.notify_all();
  while (parked != nullptr) {
    HostQueue& queue = *std::exchange(parked, parked->link_);
    queue.workers_.ready(queue);
  }
}

bool Mark::park(HostQueue& queue) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (passed()) return false;
  queue.link_ = std::exchange(parked_, &queue);
  return true;
}

void HostQueue::end() noexcept {
  std::unique_lock<std::mutex> lock(mutex_);
  ended_ = true;
  await(changed_, lock, [this] { return serving_ == next_ && !with_worker_; });
  lock.unlock();
  const auto turn = take_turn();  // after a task that blocks
}

void HostQueue::begin() noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  ended_ = false;
}

void HostQueue::require_not_ended() const {
  if (ended_) fail(GPUMEM_INVALID_HANDLE, "the stream was destroyed by another thread meanwhile");
}

void HostQueue::await_enqueued() {
  const uint64_t last = next_.load();
  if (serving_.load() >= last) return;
  std::unique_lock<std::mutex> lock(mutex_);
  await(changed_, lock, [&] { return serving_ >= last; });
}

std::unique_lock<std::mutex> HostQueue::take_turn() {
  for (int i = 0; i < kLooks; ++i) {
    if (turn_.try_lock()) return {turn_, std::adopt_lock};
    spin_pause();
  }
  return std::unique_lock<std::mutex>(turn_);
}

// The queue cannot end until the worker has served it, so it still exists after the unlock.
void HostQueue::call_worker(std::unique_lock<std::mutex> lock) {
  if (with_worker_ || !has_work()) return;
  with_worker_ = true;
  lock.unlock();
  workers_.ready(*this);
}

// Takes the number last. Nothing after it can fail, so no number is left without a holder.
void HostQueue::push(std::unique_lock<std::mutex> lock, Task task, std::shared_ptr<Mark> mark,
                     std::shared_ptr<Mark> awaited) {
  require_not_ended();
  if (!with_worker_) workers_.require_one();
  items_.push_back({std::move(task), std::move(mark), std::move(awaited)});
  ++next_;
  call_worker(std::move(lock));
}

void HostQueue::enqueue(Task task) { push(std::unique_lock<std::mutex>(mutex_), std::move(task), nullptr, nullptr); }

void HostQueue::enqueue_mark(std::shared_ptr<Mark> mark) {
  std::unique_lock<std::mutex> lock(mutex_);
  require_not_ended();
  const std::unique_lock<std::mutex> turn(turn_, std::try_to_lock);
  if (serving_ == next_ && turn) {
    mark->pass();  // no thread is needed for a moment that has passed
  } else {
    push(std::move(lock), nullptr, std::move(mark), nullptr);
  }
}

void HostQueue::enqueue_wait(std::shared_ptr<Mark> mark) {
  push(std::unique_lock<std::mutex>(mutex_), nullptr, nullptr, std::move(mark));
}

void HostQueue::drain() {
  await_enqueued();
  const auto turn = take_turn();
}

bool HostQueue::idle() const noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::unique_lock<std::mutex> turn(turn_, std::try_to_lock);
  return turn && serving_ == next_;
}

// A blocking task that runs may wait for another stream, so another thread may replace this one meanwhile.
void HostQueue::serve(Item& item) {
  std::unique_lock<std::mutex> turn(turn_, std::try_to_lock);
  if (!turn) {
    const QueueWorkers::Blocked blocked;
    turn.lock();
  }
  if (item.task) item.task();
  item.task = nullptr;  // releases its captures before its number is over
}

// await_enqueued() may read serving_ without the lock, so a mark passes before its number is over. idle() takes the lock,
// so whoever sees a mark passed also sees the queue idle, unless more was enqueued.
void HostQueue::serve() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (has_work()) {
    if (items_.front().awaited && items_.front().awaited->park(*this)) return;
    Item item = std::move(items_.front());
    items_.pop_front();
    if (item.task || item.mark) {
      lock.unlock();
      serve(item);
      lock.lock();
    }
    if (item.mark) item.mark->pass();
    ++serving_;
    changed_.notify_all();
    if (workers_.wanted() && has_work()) {
      lock.unlock();
      return workers_.ready(*this);
    }
  }
  with_worker_ = false;
}

}  // namespace gpumem
