// Pools of memory that graphs keep, by the program's names (gpumem_torch_begin_pool()). While a pool is open, it gives
// the memory for the streams that its filter accepts.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "context/context.hpp"

namespace gpumem {

class GraphPools {
 public:
  struct Name {
    int64_t high;
    int64_t low;
    bool operator==(const Name&) const = default;
  };
  using Filter = std::function<bool(void*)>;  // of a native stream; empty: accepts every stream

  explicit GraphPools(Context& context) noexcept : context_(context) {}

  void begin(const Name& name, Filter filter);
  void end(const Name& name);
  // The last release for a name waits for the device. Throws CAPTURING; a later settle() then does it.
  void release(const Name& name);
  void settle() noexcept;

  // Of the open pool that accepts the stream; nullptr: none does.
  StreamCache* cache_of(void* native);

 private:
  struct Pool {
    Name name;
    int64_t users = 0;                 // 0: released, once the device was waited for
    std::vector<StreamCache*> caches;  // one per stream
  };
  struct Open {
    Name name;
    Filter filter;
  };

  std::vector<Pool>::iterator find(const Name& name) noexcept;
  bool is_open(const Name& name) const noexcept;
  void share_released();

  Context& context_;
  std::mutex mutex_;
  std::vector<Pool> pools_;
  std::vector<Open> open_;
  std::atomic<bool> some_open_{false};
  std::atomic<bool> some_released_{false};
};

}  // namespace gpumem
