// A lock for what many threads read at once and few change: a reader takes the one shard of its thread, which no other thread
// of the first 32 takes, and a writer takes those that threads have.
#pragma once

#include <algorithm>
#include <atomic>
#include <mutex>

namespace gpumem {

class ShardedLock {
 public:
  // For reading: the calling thread's shard.
  std::mutex& of_thread() noexcept {
    static thread_local constinit unsigned number = 0;  // 0: none yet
    if (number == 0) number = next_thread() % kShards + 1;
    return shards_[number - 1].mutex;
  }

  // For changing. A thread that has no shard yet gets none meanwhile.
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

  struct alignas(64) Shard {  // a cache line each
    std::mutex mutex;
  };
  Shard shards_[kShards];
  // Held by a writer, and by a thread that takes a shard. It is no static: a forked child has new locks, and would wait for ever for one that
  // a thread of its parent held.
  std::mutex entry_;
  unsigned held_ = 0;                                         // shards, by the writer
  static inline constinit std::atomic<unsigned> threads_{0};  // a thread has the same shard of every lock
};

}  // namespace gpumem
