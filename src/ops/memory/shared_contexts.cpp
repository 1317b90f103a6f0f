#include "ops/memory/shared_contexts.hpp"

#include <algorithm>
#include <memory>

#include "base/error.hpp"
#include "base/scope_exit.hpp"
#include "context/process.hpp"
#include "ops/create_context.hpp"
#include "ops/operations.hpp"

namespace gpumem {

// Half of the slots stay empty, so the search ends. The low bits of addresses are alike, so they are hashed.
WrappedStreams::Slot& WrappedStreams::slot_of(void* key) noexcept {
  size_t at = (reinterpret_cast<uintptr_t>(key) * uint64_t{0x9e3779b97f4a7c15}) >> 32;
  for (;; ++at) {
    Slot& slot = slots_[at % kSlots];
    void* const held = slot.key.load(std::memory_order_acquire);
    if (held == key || held == nullptr) return slot;
  }
}

Stream* WrappedStreams::of(void* native) {
  void* const key = native != nullptr ? native : this;  // an address that no stream has
  if (const Slot& slot = slot_of(key); slot.key.load(std::memory_order_acquire) == key) return slot.stream;
  const std::lock_guard<std::mutex> lock(adding_);
  Slot& slot = slot_of(key);
  if (slot.key.load(std::memory_order_relaxed) == key) return slot.stream;
  if (native != nullptr && count_ == kMost) return nullptr;
  const uint64_t handle = wrap_stream(context_, native);
  slot.stream = &object_of<Stream>(handle, HandleType::stream, "stream");
  slot.key.store(key, std::memory_order_release);
  if (native != nullptr) ++count_;
  return slot.stream;
}

void* SharedContext::allocate(int64_t bytes, Stream* stream) {
  free_late();
  if (stream == nullptr) return gpumem::allocate(context, GPUMEM_MEMORY_DEVICE, bytes);
  return allocate_async(context, bytes, 1, *stream->cache);
}

void* SharedContext::allocate_for_graphs(int64_t bytes, void* native) {
  StreamCache* const cache = graphs.cache_of(native);
  return cache == nullptr ? nullptr : allocate_async(context, bytes, 1, *cache);
}

void SharedContext::free(void* p, Stream* stream) {
  if (p == nullptr) return;
  free_late();
  try {
    free_now(p, stream);
  } catch (const Error& error) {
    if (error.status() != GPUMEM_CAPTURING) throw;
    put_off({p, stream});
  }
}

void SharedContext::free_now(void* p, Stream* stream) {
  const bool released = context.device_memory().hold_of(reinterpret_cast<uintptr_t>(p)) == GraphHold::released;
  if (stream != nullptr && !released) return free_async(context, p, *stream->cache);
  free_after_device(context, p);
  if (released) context.device_memory().share_released();
}

// Defers only live blocks, and each only once. The address must not belong to another block by the time it is freed.
void SharedContext::put_off(const LateFree& late) {
  const std::lock_guard<std::mutex> lock(late_mutex_);
  process().registry.with_live(reinterpret_cast<uintptr_t>(late.p), &context, [](const Region&, uint32_t) {});
  const auto same = [&](const LateFree& other) { return other.p == late.p; };
  if (std::any_of(late_.begin(), late_.end(), same)) return;
  late_.push_back(late);
  some_late_.store(true, std::memory_order_release);
}

void SharedContext::free_late() noexcept {
  graphs.settle();
  if (!some_late_.load(std::memory_order_acquire)) return;
  const std::unique_lock<std::mutex> lock(late_mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  std::erase_if(late_, [this](const LateFree& late) {
    try {
      free_now(late.p, late.stream);
    } catch (const Error& error) {
      return error.status() != GPUMEM_CAPTURING;
    } catch (const std::exception&) {
      return false;
    }
    return true;
  });
  some_late_.store(!late_.empty(), std::memory_order_release);
}

SharedContexts& shared_contexts() {
  std::atomic<SharedContexts*>& place = process().shared_contexts;
  if (SharedContexts* const there = place.load(std::memory_order_acquire)) return *there;
  auto made = std::make_unique<SharedContexts>();
  SharedContexts* first = nullptr;
  if (!place.compare_exchange_strong(first, made.get(), std::memory_order_acq_rel)) return *first;
  return *made.release();
}

SharedContext& SharedContexts::of(int32_t device) {
  if (device < GPUMEM_DEVICE_HOST) {
    fail(GPUMEM_INVALID_ARGUMENT, "device is %d; expected a CUDA ordinal or GPUMEM_DEVICE_HOST (-1)", device);
  }
  if (device >= kMostDevices) {
    static_cast<void>(choose_device(device));  // its message says how many devices there are
    fail(GPUMEM_UNSUPPORTED, "device is %d; expected one below %d: the process has no contexts for more", device,
         kMostDevices);
  }
  const int32_t at = device + 1;
  std::atomic<SharedContext*>& place = made_[static_cast<size_t>(at)];
  // A context whose device was reset stays for its users, and a new one replaces it.
  const auto alive = [&place] {
    SharedContext* made = place.load(std::memory_order_acquire);
    return made != nullptr && made->context.device().loss() == nullptr ? made : nullptr;
  };
  if (SharedContext* made = alive()) return *made;
  const std::lock_guard<std::mutex> lock(making_);
  if (SharedContext* made = alive()) return *made;
  gpumem_ctx_options options = kDefaultContextOptions;
  options.device = device;
  const uint64_t handle = create_context(options);
  auto& context = object_of<Context>(handle, HandleType::context, "ctx");
  ScopeExit destroy([handle] { destroy_context(handle); });
  auto made = std::make_unique<SharedContext>(context, handle);
  destroy.release();
  context.shared = true;
  place.store(made.get(), std::memory_order_release);
  return *made.release();  // never destroyed
}

SharedContext* SharedContexts::owner(const void* context) const noexcept {
  for (const auto& made : made_) {
    SharedContext* const shared = made.load(std::memory_order_acquire);
    if (shared != nullptr && &shared->context == context) return shared;
  }
  return nullptr;
}

}  // namespace gpumem
