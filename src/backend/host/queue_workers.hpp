// The host threads of a context's streams: a few, shared by the streams, and started when there is work for them.
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
  // most: threads that run at a time; those inside Blocked are not counted.
  explicit QueueWorkers(int32_t most) : most_(static_cast<size_t>(most)) {}
  ~QueueWorkers();  // no queue may be ready any more

  // Throws std::system_error if all threads are inside Blocked and no more can be started.
  void require_one();
  void ready(HostQueue& queue) noexcept;
  bool wanted() const noexcept { return waiting_.load(std::memory_order_relaxed) > 0; }

  // Surrounds the program's code, which may wait for another stream. While a worker is inside, another thread may
  // replace it. Does nothing on other threads.
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

  // With the lock held:
  void start();
  void start_if_wanted() noexcept;
  HostQueue& take() noexcept;

  void work(Threads::iterator self) noexcept;

  std::mutex mutex_;
  std::condition_variable called_;
  HostQueue* first_ = nullptr;
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
