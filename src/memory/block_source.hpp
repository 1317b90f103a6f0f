// Source of a pool's memory.
#pragma once

#include <cstddef>
#include <mutex>
#include <unordered_set>

#include "memory/pool_owner.hpp"

namespace gpumem {

class BlockSource {
 public:
  BlockSource() = default;
  BlockSource(const BlockSource&) = delete;
  BlockSource& operator=(const BlockSource&) = delete;
  virtual ~BlockSource() = default;

  // Stream-ordered memory. nullptr: memory for all streams, returned only when out of use. Throws OUT_OF_MEMORY.
  virtual void* take(NativeStream stream, size_t bytes) = 0;
  virtual void give_back(NativeStream stream, void* p, size_t bytes) noexcept = 0;
  virtual void trim(size_t keep_bytes) noexcept = 0;
};

// Device memory from the backend's stream-ordered allocator if it has one, or managed memory.
class DeviceSource final : public BlockSource {
 public:
  DeviceSource(Backend& device, gpumem_memory_kind kind) noexcept
      : device_(device), kind_(kind), in_order_(kind == GPUMEM_MEMORY_DEVICE && device.props().memory_pools) {}
  void* take(NativeStream stream, size_t bytes) override;
  void give_back(NativeStream stream, void* p, size_t bytes) noexcept override;
  void trim(size_t keep_bytes) noexcept override;

 private:
  Backend& device_;
  const gpumem_memory_kind kind_;
  const bool in_order_;
};

// Page-locked host memory. On a CUDA context, all threads touch the library's own pages before the driver registers
// them. That is several times faster than the driver's allocator, which is the fallback.
class PinnedSource final : public BlockSource {
 public:
  explicit PinnedSource(const PoolOwner& owner) noexcept : owner_(owner) {}
  void* take(NativeStream stream, size_t bytes) override;
  void give_back(NativeStream stream, void* p, size_t bytes) noexcept override;
  void trim(size_t) noexcept override {}

 private:
  void* take_from_driver(size_t bytes);
  bool forget_if_from_driver(void* p) noexcept;

  const PoolOwner& owner_;
  std::mutex mutex_;
  std::unordered_set<void*> from_driver_;
};

}  // namespace gpumem
