// A lock for what many threads read at once and few change: a reader takes the one shard of its thread, which no other thread
// of the first 32 takes, and a writer takes them all.
#pragma once

#include <atomic>
#include <mutex>

namespace gpumem {

class ShardedLock {
 public:
  // For reading: the calling thread's shard.
  std::mutex& of_thread() noexcept {
    static constinit std::atomic<unsigned> threads{0};
    static thread_local constinit unsigned number = 0;  // 0: none yet
    if (number == 0) number = threads.fetch_add(1, std::memory_order_relaxed) % kShards + 1;
    return shards_[number - 1].mutex;
  }

  // For changing.
  void lock() {
    for (Shard& shard : shards_) shard.mutex.lock();
  }
  void unlock() noexcept {
    for (Shard& shard : shards_) shard.mutex.unlock();
  }

 private:
  static constexpr unsigned kShards = 32;
  struct alignas(64) Shard {  // a cache line each
    std::mutex mutex;
  };
  Shard shards_[kShards];
};

}  // namespace gpumem
