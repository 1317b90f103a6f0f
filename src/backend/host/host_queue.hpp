// A stream of the host backend: tasks that run in order, one at a time. An enqueued task takes a number and runs at its
// turn, in a thread that the streams share. Blocking work runs in the calling thread after everything enqueued before.
// Threads that block at the same time are served in no order, so that a running one need not wake another for every
// task. A queue that waits for another queue's mark occupies no thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "backend/host/queue_workers.hpp"

namespace gpumem {

class Mark {
 public:
  void pass() noexcept;
  bool passed() const noexcept { return passed_.load(); }
  void wait() const noexcept { passed_.wait(false); }
  std::chrono::steady_clock::time_point when() const noexcept { return when_; }  // valid once it is passed
  // False if it has passed. Otherwise the queue becomes ready when it passes.
  bool park(HostQueue& queue) noexcept;

 private:
  std::atomic<bool> passed_{false};
  std::chrono::steady_clock::time_point when_{};
  std::mutex mutex_;
  HostQueue* parked_ = nullptr;
};

// An event is its last record; empty if it was never recorded.
struct HostEvent {
  mutable std::mutex mutex;
  std::shared_ptr<Mark> mark;
};

class HostQueue {
 public:
  using Task = std::function<void()>;  // must not throw

  explicit HostQueue(QueueWorkers& workers) : workers_(workers) {}
  ~HostQueue() { end(); }

  template <class F>
  void run(F&& task) {
    await_enqueued();
    const std::unique_lock<std::mutex> turn = take_turn();
    require_not_ended();
    task();
  }
  void enqueue(Task task);
  // Passes the mark when all earlier work is done, or at once if it already is.
  void enqueue_mark(std::shared_ptr<Mark> mark);
  void enqueue_wait(std::shared_ptr<Mark> mark);
  // Waits for work enqueued so far and for a running blocking task, not for later work.
  void drain();
  bool idle() const noexcept;
  // After everything enqueued. Later submissions by a thread that wrongly still uses the stream throw INVALID_HANDLE,
  // until begin().
  void end() noexcept;
  void begin() noexcept;

 private:
  friend Mark;
  friend QueueWorkers;

  struct Item {
    Task task;
    std::shared_ptr<Mark> mark;
    std::shared_ptr<Mark> awaited;
  };

  void require_not_ended() const;
  void push(std::unique_lock<std::mutex> lock, Task task, std::shared_ptr<Mark> mark, std::shared_ptr<Mark> awaited);
  void await_enqueued();
  std::unique_lock<std::mutex> take_turn();
  bool has_work() const noexcept { return !items_.empty(); }
  void call_worker(std::unique_lock<std::mutex> lock);
  void serve(Item& item);
  void serve();  // by a worker, until the queue has no work, waits, or yields

  QueueWorkers& workers_;
  HostQueue* link_ = nullptr;  // while it waits for a worker, or is parked
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Written with mutex_ held: the next item's number, and the current one. They are equal if the queue is empty.
  std::atomic<uint64_t> next_{0};
  std::atomic<uint64_t> serving_{0};
  mutable std::mutex turn_;  // held while a task runs
  std::deque<Item> items_;
  bool with_worker_ = false;  // waits for a worker, is served by one, or is parked
  std::atomic<bool> ended_{false};
};

}  // namespace gpumem
