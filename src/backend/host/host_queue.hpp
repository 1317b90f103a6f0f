// A stream of the host backend: tasks that run in order, one at a time. Each takes a number when it is handed in and runs when
// its number comes up: blocking work in the calling thread, enqueued work in the queue's own thread, which is started by the
// first such task.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace gpumem {

// One record of an event: done when the queue has passed it.
class Mark {
 public:
  void pass() noexcept {
    when_ = std::chrono::steady_clock::now();
    passed_.store(true);
    passed_.notify_all();
  }
  bool passed() const noexcept { return passed_.load(); }
  void wait() const noexcept { passed_.wait(false); }
  std::chrono::steady_clock::time_point when() const noexcept { return when_; }  // once it is passed

 private:
  std::atomic<bool> passed_{false};
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
  // Waits for what was handed in so far, not for what comes after.
  void drain();
  bool idle() const noexcept;
  // After everything handed in. What is handed in from then on, by a thread that wrongly still uses the stream, throws
  // INVALID_HANDLE, until the queue begins anew.
  void end() noexcept;
  void begin() noexcept;

 private:
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

  // A task, or a mark to pass.
  struct Item {
    uint64_t number;
    Task task;
    std::shared_ptr<Mark> mark;
  };

  void require_not_ended() const;                    // with the lock held
  void push(Task task, std::shared_ptr<Mark> mark);  // with the lock held
  void take_turn();
  void end_turn();
  void serve();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t next_ = 0;     // the number that the next comer gets
  uint64_t serving_ = 0;  // the number whose turn it is; equal to next_ when the queue is idle
  std::deque<Item> items_;
  bool ended_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace gpumem
