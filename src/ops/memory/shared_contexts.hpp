// The process's own contexts, one a device, for callers that name a device and a native stream and know of no context. Each is made
// on its first use and never ends; a forked child, which has a Process of its own, makes its own.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "context/context.hpp"

namespace gpumem {

// The wrapper of each native stream that was handed over. Entries are never taken out, so looking one up takes no lock.
class WrappedStreams {
 public:
  explicit WrappedStreams(Context& context) noexcept : context_(context) {}

  // Made on the stream's first use, which throws what wrapping it does. nullptr: the table is full.
  Stream* of(void* native);

 private:
  static constexpr size_t kMost = 256;
  static constexpr size_t kSlots = 2 * kMost;  // a power of two
  struct Slot {
    std::atomic<void*> key{nullptr};
    Stream* stream = nullptr;
  };

  Slot& slot_of(void* key) noexcept;  // the stream's, or the one that it would get

  Context& context_;
  std::array<Slot, kSlots> slots_{};
  std::mutex adding_;
  size_t count_ = 0;
};

class SharedContext {
 public:
  SharedContext(Context& made, uint64_t made_handle) noexcept : context(made), handle(made_handle), streams(made) {}

  Context& context;
  const uint64_t handle;
  WrappedStreams streams;

  // Memory for the stream's work; with stream == nullptr, for that of every stream.
  void* allocate(int64_t bytes, Stream* stream);
  // Behind the stream's work; with stream == nullptr, behind all work on the device. What a graph capture forbids to free now is freed by
  // a later call.
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
  // The device is an ordinal or GPUMEM_DEVICE_HOST. Throws what making a context does.
  SharedContext& of(int32_t device);
  // The one that owns an allocation; nullptr: none does.
  SharedContext* owner(const void* context) const noexcept;

 private:
  static constexpr int32_t kMostDevices = 128;

  std::mutex making_;
  std::array<std::atomic<SharedContext*>, 1 + kMostDevices> made_{};  // the host's first
};

// Those of this process.
SharedContexts& shared_contexts();

}  // namespace gpumem
