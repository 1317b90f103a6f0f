// A stream of the host backend: tasks that run in order, one at a time. Each takes a number when it is handed in and runs when
// its number comes up: blocking work in the calling thread, enqueued work in a thread that the streams share. A queue that waits
// for another one's mark keeps no thread meanwhile.
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

  // In the calling thread, after everything handed in before.
  template <class F>
  void run(F&& task) {
    const Turn turn(*this);
    task();
  }
  void enqueue(Task task);
  // Passes the mark when everything before it is done; at once when that is now.
  void enqueue_mark(std::shared_ptr<Mark> mark);
  // What comes after waits until the mark is passed.
  void enqueue_wait(std::shared_ptr<Mark> mark);
  // Waits for what was handed in so far, not for what comes after.
  void drain();
  bool idle() const noexcept;
  // After everything handed in. What is handed in from then on, by a thread that wrongly still uses the stream, throws
  // INVALID_HANDLE, until the queue begins anew.
  void end() noexcept;
  void begin() noexcept;

 private:
  friend Mark;
  friend QueueWorkers;

  // A number of one's own, from when it comes up to the end of the scope.
  class Turn {
   public:
    explicit Turn(HostQueue& queue) : queue_(queue) { queue.take_turn(); }
    ~Turn() { queue_.end_turn(); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    HostQueue& queue_;
  };

  // A task, a mark to pass, or one to wait for.
  struct Item {
    uint64_t number;
    Task task;
    std::shared_ptr<Mark> mark;
    std::shared_ptr<Mark> awaited;
  };

  void require_not_ended() const;  // with the lock held
  void push(std::unique_lock<std::mutex> lock, Task task, std::shared_ptr<Mark> mark, std::shared_ptr<Mark> awaited);
  void take_turn();
  void end_turn();
  bool has_work() const noexcept { return !items_.empty() && serving_ == items_.front().number; }
  void call_worker(std::unique_lock<std::mutex> lock);
  void serve();  // by a worker, until the queue has no work, waits, or is ready anew

  QueueWorkers& workers_;
  HostQueue* link_ = nullptr;  // where it waits for a worker, or is parked
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t next_ = 0;     // the number that the next comer gets
  uint64_t serving_ = 0;  // the number whose turn it is; equal to next_ when the queue is idle
  std::deque<Item> items_;
  bool with_worker_ = false;  // waits for one, is served by one, or is parked
  bool ended_ = false;
};

}  // namespace gpumem
