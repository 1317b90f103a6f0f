// A stream of the host backend: a queue of tasks that run in order, one at a time. Blocking work runs in the calling thread
// once the queue is empty; enqueued work runs in the queue's own thread, which is started by the first such task.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace gpumem {

// One record of an event: done when the queue has passed it.
class Mark {
 public:
  void pass() noexcept;
  bool passed() const noexcept;
  void wait() const noexcept;
  std::chrono::steady_clock::time_point when() const noexcept;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool passed_ = false;
  std::chrono::steady_clock::time_point when_{};
};

// An event is its last record; empty when it was never recorded.
struct HostEvent {
  mutable std::mutex mutex;
  std::shared_ptr<Mark> mark;
};

class HostQueue {
 public:
  using Task = std::function<void()>;  // must not throw when run

  HostQueue() = default;
  ~HostQueue();  // after everything enqueued
  HostQueue(const HostQueue&) = delete;
  HostQueue& operator=(const HostQueue&) = delete;

  // In the calling thread, after everything enqueued before.
  template <class F>
  void run(F&& task) {
    const Turn turn(*this);
    task();
  }
  void enqueue(Task task);
  // Passes the mark when everything before it is done; at once when that is now.
  void enqueue_mark(std::shared_ptr<Mark> mark);
  void drain();
  bool idle() const noexcept;

 private:
  // The right to run: taken when the queue is empty, given back at the end.
  class Turn {
   public:
    explicit Turn(HostQueue& queue) : queue_(queue) { queue.take_turn(); }
    ~Turn() { queue_.give_turn_back(); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    HostQueue& queue_;
  };

  // A task, or a mark to pass once the queue has no work before it.
  struct Item {
    Task task;
    std::shared_ptr<Mark> mark;
  };

  void push(Item item);  // with the lock held
  void take_turn();
  void give_turn_back();
  void serve();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> items_;
  bool busy_ = false;  // a task is running, in either kind of thread
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace gpumem
