// A stream of the host backend: tasks that run in order, one at a time. What is enqueued takes a number and runs when that comes up, in a
// thread that the streams share. Blocking work runs in the calling thread, once all that was enqueued before is done: of threads that
// block at once each may be the next, so that one which is running need not wake another for every task; they are served in no order. A
// queue that waits for another one's mark keeps no thread meanwhile.
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

// One record of an event: done when the queue has passed it.
class Mark {
 public:
  void pass() noexcept;
  bool passed() const noexcept { return passed_.load(); }
  void wait() const noexcept { passed_.wait(false); }
  std::chrono::steady_clock::time_point when() const noexcept { return when_; }  // once it is passed
  // False when it is passed; else the queue is ready again once it is.
  bool park(HostQueue& queue) noexcept;

 private:
  std::atomic<bool> passed_{false};
  std::chrono::steady_clock::time_point when_{};
  std::mutex mutex_;
  HostQueue* parked_ = nullptr;  // linked
};

// An event is its last record; empty when it was never recorded.
struct HostEvent {
  mutable std::mutex mutex;
  std::shared_ptr<Mark> mark;
};

class HostQueue {
 public:
  using Task = std::function<void()>;  // must not throw when run

  explicit HostQueue(QueueWorkers& workers) : workers_(workers) {}
  ~HostQueue() { end(); }

  // In the calling thread, after everything enqueued before.
  template <class F>
  void run(F&& task) {
    await_enqueued();
    const std::unique_lock<std::mutex> turn = take_turn();
    require_not_ended();
    task();
  }
  void enqueue(Task task);
  // Passes the mark when everything before it is done; at once when that is now.
  void enqueue_mark(std::shared_ptr<Mark> mark);
  // What comes after waits until the mark is passed.
  void enqueue_wait(std::shared_ptr<Mark> mark);
  // Waits for what was enqueued so far, and for a blocking task that runs; not for what comes after.
  void drain();
  bool idle() const noexcept;
  // After everything handed in. What is handed in from then on, by a thread that wrongly still uses the stream, throws
  // INVALID_HANDLE, until the queue begins anew.
  void end() noexcept;
  void begin() noexcept;

 private:
  friend Mark;
  friend QueueWorkers;

  // A task, a mark to pass, or one to wait for.
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
  void serve();  // by a worker, until the queue has no work, waits, or is ready anew

  QueueWorkers& workers_;
  HostQueue* link_ = nullptr;  // where it waits for a worker, or is parked
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Written with the lock held: the number that the next item gets, and the one whose turn it is; equal when there is none.
  std::atomic<uint64_t> next_{0};
  std::atomic<uint64_t> serving_{0};
  mutable std::mutex turn_;  // of the task that runs
  std::deque<Item> items_;
  bool with_worker_ = false;  // waits for one, is served by one, or is parked
  std::atomic<bool> ended_{false};
};

}  // namespace gpumem
