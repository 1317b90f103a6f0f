// The process's own contexts, one per device, for callers that name a device and a native stream but no context. Each
// is made on first use and never destroyed. A forked child has its own Process and makes its own.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "context/context.hpp"
#include "ops/memory/graph_pools.hpp"

namespace gpumem {

// The wrapper of each native stream that was passed in. Entries are never removed, so a lookup takes no lock.
class WrappedStreams {
 public:
  explicit WrappedStreams(Context& context) noexcept : context_(context) {}

  // Created on the stream's first use; throws the errors of wrapping. nullptr: the table is full.
  Stream* of(void* native);

 private:
  static constexpr size_t kMost = 256;
  static constexpr size_t kSlots = 2 * kMost;  // a power of two
  struct Slot {
    std::atomic<void*> key{nullptr};
    Stream* stream = nullptr;
  };

  Slot& slot_of(void* key) noexcept;  // the stream's slot, or the slot that it would get

  Context& context_;
  std::array<Slot, kSlots> slots_{};
  std::mutex adding_;
  size_t count_ = 0;
};

class SharedContext {
 public:
  SharedContext(Context& made, uint64_t made_handle) noexcept
      : context(made), handle(made_handle), streams(made), graphs(made) {}

  Context& context;
  const uint64_t handle;
  WrappedStreams streams;
  GraphPools graphs;

  // For the stream's work, or every stream's if stream == nullptr.
  void* allocate(int64_t bytes, Stream* stream);
  // As allocate(), from an open pool of graphs; nullptr if none accepts the native stream.
  void* allocate_for_graphs(int64_t bytes, void* native);
  // After the stream's work, or the device's if stream == nullptr. Deferred to a later call if a capture forbids it.
  void free(void* p, Stream* stream);

 private:
  struct LateFree {
    void* p;
    Stream* stream;
  };

  void free_now(void* p, Stream* stream);
  void put_off(const LateFree& late);
  void free_late() noexcept;

  std::mutex late_mutex_;
  std::vector<LateFree> late_;
  std::atomic<bool> some_late_{false};
};

class SharedContexts {
 public:
  // The device is an ordinal or GPUMEM_DEVICE_HOST. Throws the errors of creating a context.
  SharedContext& of(int32_t device);
  // The owner of an allocation, or nullptr.
  SharedContext* owner(const void* context) const noexcept;
  template <class F>
  void for_each(const F& f) const {
    for (const auto& made : made_) {
      if (SharedContext* const shared = made.load(std::memory_order_acquire)) f(*shared);
    }
  }

 private:
  static constexpr int32_t kMostDevices = 128;

  std::mutex making_;
  std::array<std::atomic<SharedContext*>, 1 + kMostDevices> made_{};  // the host's is first
};

SharedContexts& shared_contexts();

}  // namespace gpumem
