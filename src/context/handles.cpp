#include "context/handles.hpp"

#include <bit>

#include "base/error.hpp"

namespace gpumem {
namespace {

constexpr const char* kTypeNames[] = {
    "", "gpumem_ctx", "gpumem_stream", "gpumem_event", "gpumem_dist", "gpumem_dist_plan"};

constexpr uint8_t epoch_of(uint64_t handle) noexcept { return static_cast<uint8_t>(handle >> 56); }
constexpr uint32_t slot_of(uint64_t fields) noexcept { return static_cast<uint32_t>(fields & 0xffffffu); }
constexpr uint8_t type_of(uint64_t handle) noexcept { return static_cast<uint8_t>((handle >> 52) & 0xf); }

// The finaliser of SplitMix64 (Steele, Lea and Flood 2014): similar addresses give very different salts.
uint64_t salt_of_this_copy() noexcept {
  uint64_t x = reinterpret_cast<uintptr_t>(&kTypeNames);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

HandleTable::HandleTable(uint8_t epoch) noexcept : HandleTable(epoch, salt_of_this_copy()) {}

HandleTable::~HandleTable() {
  for (auto& chunk : chunks_) delete[] chunk.load(std::memory_order_relaxed);
}

HandleTable::Slot* HandleTable::slot_at(uint32_t index) const noexcept {
  Slot* chunk = chunks_[index / kChunkSlots].load(std::memory_order_acquire);
  return chunk == nullptr ? nullptr : chunk + index % kChunkSlots;
}

uint64_t HandleTable::insert(HandleType type, void* object) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (free_.empty()) {
    if (used_ == kChunks * kChunkSlots) fail(GPUMEM_OUT_OF_RESOURCES, "16777216 handles are alive; no more fit");
    free_.reserve(used_ + 1);  // so that erase() can't fail
    if (used_ % kChunkSlots == 0) chunks_[used_ / kChunkSlots].store(new Slot[kChunkSlots], std::memory_order_release);
    free_.push_back(used_++);
  }
  const uint32_t index = free_.back();
  free_.pop_back();
  Slot* slot = slot_at(index);
  slot->generation = (slot->generation + 1) & 0x7ffffffu;
  slot->object.store(object, std::memory_order_relaxed);
  const uint64_t fields = (static_cast<uint64_t>(epoch_) << 56) | (static_cast<uint64_t>(type) << 52) |
                          (static_cast<uint64_t>(slot->generation) << 25) | index;
  const uint64_t handle = (fields | static_cast<uint64_t>(std::popcount(fields) % 2) << 24) ^ salt_;
  slot->handle.store(handle, std::memory_order_release);
  return handle;
}

void* HandleTable::get(uint64_t handle, HandleType type, const char* argument) const {
  const char* expected = kTypeNames[static_cast<int>(type)];
  if (handle == 0) fail(GPUMEM_INVALID_ARGUMENT, "%s is NULL; expected a live %s", argument, expected);
  const Slot* slot = epoch_of(handle) == epoch_ ? slot_at(slot_of(handle ^ salt_)) : nullptr;
  if (slot != nullptr && slot->handle.load(std::memory_order_acquire) == handle &&
      type_of(handle) == static_cast<uint8_t>(type)) {
    return slot->object.load(std::memory_order_relaxed);
  }
  const auto value = static_cast<unsigned long long>(handle);
  if (epoch_of(handle) != 0 && epoch_of(handle) < epoch_) {
    fail(GPUMEM_FORKED, "%s (0x%llx) was made before this process was forked; expected a %s made in this process",
         argument, value, expected);
  }
  fail(GPUMEM_INVALID_HANDLE, "%s (0x%llx) is not a live %s: it was destroyed, has another type, or is not a handle",
       argument, value, expected);
}

void HandleTable::erase(uint64_t handle) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  const uint32_t index = slot_of(handle ^ salt_);
  Slot* slot = slot_at(index);
  slot->handle.store(0, std::memory_order_release);
  free_.push_back(index);
}

}  // namespace gpumem
