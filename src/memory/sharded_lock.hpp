// A lock for many readers, who take their thread's shard, and rare writers, who take all. 32 threads share no shard.
#pragma once

#include <algorithm>
#include <atomic>
#include <mutex>

namespace gpumem {

class ShardedLock {
 public:
  // Read lock: the calling thread's shard.
  std::mutex& of_thread() noexcept {
    static thread_local constinit unsigned number = 0;
    if (number == 0) number = next_thread() % kShards + 1;
    return shards_[number - 1].mutex;
  }

  // Write lock. Threads without a shard can't get one meanwhile.
  void lock() {
    entry_.lock();
    held_ = std::min(threads_.load(), kShards);
    for (unsigned i = 0; i < held_; ++i) shards_[i].mutex.lock();
  }
  void unlock() noexcept {
    for (unsigned i = 0; i < held_; ++i) shards_[i].mutex.unlock();
    entry_.unlock();
  }

 private:
  static constexpr unsigned kShards = 32;

  unsigned next_thread() noexcept {
    const std::lock_guard<std::mutex> lock(entry_);
    return threads_++;
  }

  struct alignas(64) Shard {
    std::mutex mutex;
  };
  Shard shards_[kShards];
  // Not static: a forked child would wait forever for a lock held by a thread of its parent.
  std::mutex entry_;
  unsigned held_ = 0;
  static inline constinit std::atomic<unsigned> threads_{0};  // a thread has the same shard of every lock
};

}  // namespace gpumem
