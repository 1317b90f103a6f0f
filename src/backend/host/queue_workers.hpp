// The threads of a context's streams on the host: a few, which the streams share. One is started when there is work for it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>
#include <thread>

namespace gpumem {

class HostQueue;

class QueueWorkers {
 public:
  // most: threads that run at a time, those inside Blocked not counted.
  explicit QueueWorkers(int32_t most) : most_(static_cast<size_t>(most)) {}
  ~QueueWorkers();  // no queue may be ready any more

  // Throws std::system_error where all threads are inside Blocked and none more can be started.
  void require_one();
  // The queue has work to do; a thread calls its serve().
  void ready(HostQueue& queue) noexcept;
  // Whether queues wait for a thread.
  bool wanted() const noexcept { return waiting_.load(std::memory_order_relaxed) > 0; }

  // Around a call of the program's code, which may wait for what another stream does: while a worker is in there, another
  // thread may stand in for it. Nothing on other threads.
  class Blocked {
   public:
    Blocked() noexcept;
    ~Blocked();
    Blocked(const Blocked&) = delete;
    Blocked& operator=(const Blocked&) = delete;

   private:
    QueueWorkers* const workers_;
  };

 private:
  using Threads = std::list<std::thread>;

  // All with the lock held.
  void start();
  void start_if_wanted() noexcept;
  HostQueue& take() noexcept;

  void work(Threads::iterator self) noexcept;

  std::mutex mutex_;
  std::condition_variable called_;
  HostQueue* first_ = nullptr;  // of those that wait, linked
  HostQueue* last_ = nullptr;
  std::atomic<size_t> waiting_{0};
  size_t idle_ = 0;
  size_t blocked_ = 0;
  const size_t most_;
  bool stopping_ = false;
  Threads threads_;
  Threads ended_;
};

}  // namespace gpumem
