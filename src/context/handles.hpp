// Handles are numbers cast to pointers. They are never dereferenced, so any value can be checked.
//   bits 56-63 epoch of the process (1..255), 52-55 type, 25-51 generation, 24 parity, 0-23 slot
// The address of this copy of the library salts bits 0-51, so two copies in a process reject each other's handles.
// Unsalted handles have even parity, so a single wrong bit never gives another handle. A destroyed handle stays invalid
// until its slot has been reused 2^27 times.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

namespace gpumem {

enum class HandleType : uint8_t { context = 1, stream = 2, event = 3, dist = 4, dist_plan = 5 };

class HandleTable {
 public:
  explicit HandleTable(uint8_t epoch) noexcept;
  HandleTable(uint8_t epoch, uint64_t salt) noexcept : epoch_(epoch), salt_(salt & kSalted) {}
  ~HandleTable();

  // Throws OUT_OF_RESOURCES when 2^24 handles are alive.
  uint64_t insert(HandleType type, void* object);
  // Throws INVALID_HANDLE or FORKED, naming the argument. Lock-free.
  void* get(uint64_t handle, HandleType type, const char* argument) const;
  void erase(uint64_t handle) noexcept;

 private:
  struct Slot {
    std::atomic<uint64_t> handle{0};
    std::atomic<void*> object{nullptr};  // stays after the handle's end, for concurrent lookups
    uint32_t generation = 0;
  };
  static constexpr uint64_t kSalted = (uint64_t{1} << 52) - 1;
  static constexpr uint32_t kChunkSlots = 1024;
  static constexpr uint32_t kChunks = (1u << 24) / kChunkSlots;

  Slot* slot_at(uint32_t index) const noexcept;

  const uint8_t epoch_;
  const uint64_t salt_;
  std::mutex mutex_;  // guards the members that insert and erase change
  uint32_t used_ = 0;
  std::vector<uint32_t> free_;
  std::atomic<Slot*> chunks_[kChunks] = {};  // never freed, because stale handles may refer to one
};

}  // namespace gpumem
