// A device that only gives memory, which is the process's own. The test decides how far its streams are.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "backend/backend.hpp"
#include "base/error.hpp"
#include "memory/block_pool.hpp"

namespace gpumem {

class FakeBackend final : public Backend {
 public:
  static constexpr size_t kGranule = size_t{2} << 20;
  static constexpr int64_t kMemory = int64_t{256} << 20;

  explicit FakeBackend(size_t granule = kGranule) : granule_(granule) {
    props_.backend = ExecutionSpace::cuda;
    props_.ordinal = 0;
    props_.memory_bytes = kMemory;
    props_.memory_pools = true;
  }

  // What the test decides.
  bool work_is_done = true;         // else events that are recorded from now on have not passed, until finish()
  std::set<NativeStream> captured;  // streams under capture
  int64_t room = int64_t{1} << 40;  // bytes that can still be mapped or allocated
  // What it saw.
  std::map<uintptr_t, size_t> mapped;  // chunks
  std::map<uintptr_t, size_t> allocated;
  int64_t maps = 0;
  int64_t allocations = 0;
  std::vector<NativeStream> waits;  // streams that were given an event to wait for

  void finish() {
    const std::lock_guard<std::mutex> lock(events_mutex_);
    for (auto& [event, passed] : events_) passed = true;
  }
  int64_t mapped_bytes() const {
    int64_t bytes = 0;
    for (const auto& [at, size] : mapped) bytes += static_cast<int64_t>(size);
    return bytes;
  }

  // Whether the range lies in memory that it gave; chunks that follow each other are one.
  bool has(uintptr_t p, size_t bytes) const {
    const auto lies_in = [](const std::map<uintptr_t, size_t>& pieces, uintptr_t at) {
      const auto after = pieces.upper_bound(at);
      if (after == pieces.begin()) return uintptr_t{0};
      const auto& [begin, size] = *std::prev(after);
      return at < begin + size ? begin + size : uintptr_t{0};  // its end
    };
    if (const uintptr_t end = lies_in(allocated, p); end != 0) return p + bytes <= end;
    uintptr_t at = p;
    while (at < p + bytes) {
      at = lies_in(mapped, at);
      if (at == 0) return false;
    }
    return true;
  }

  const DeviceProps& props() const noexcept override { return props_; }
  void warmup() override {}
  Location classify(const void*) override { return {}; }

  void* allocate(gpumem_memory_kind, size_t bytes) override {
    take_room(bytes);
    ++allocations;
    // Aligned to 256 bytes and no more.
    void* const p = static_cast<char*>(std::aligned_alloc(512, (bytes + kFront + 511) / 512 * 512)) + kFront;
    allocated[reinterpret_cast<uintptr_t>(p)] = bytes;
    return p;
  }
  void release(gpumem_memory_kind, void* p, size_t bytes) noexcept override {
    room += static_cast<int64_t>(bytes);
    allocated.erase(reinterpret_cast<uintptr_t>(p));
    std::free(static_cast<char*>(p) - kFront);
  }
  void* allocate_async(NativeStream, size_t bytes) override { return allocate(GPUMEM_MEMORY_DEVICE, bytes); }
  void release_async(NativeStream, void* p, size_t bytes) noexcept override { release(GPUMEM_MEMORY_DEVICE, p, bytes); }
  std::shared_ptr<void> scratch(NativeStream, size_t) override { return nullptr; }

  size_t granule_bytes() const noexcept override { return granule_; }
  uintptr_t reserve_addresses(size_t bytes) override {
    place_bytes_ = bytes + granule_;
    place_ = mmap(nullptr, place_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place_ == MAP_FAILED) return 0;
    return (reinterpret_cast<uintptr_t>(place_) + granule_ - 1) / granule_ * granule_;
  }
  void release_addresses(uintptr_t, size_t) noexcept override { munmap(place_, place_bytes_); }
  void map(uintptr_t p, size_t bytes) override {
    take_room(bytes);
    ++maps;
    mapped[p] = bytes;
  }
  void unmap(uintptr_t p, size_t bytes) noexcept override {
    room += static_cast<int64_t>(bytes);
    mapped.erase(mapped.lower_bound(p), mapped.lower_bound(p + bytes));
  }

  // Copies are of the process's own memory.
  void copy(NativeStream, void* dst, const void* src, size_t bytes, Completion) override {
    std::copy_n(static_cast<const char*>(src), bytes, static_cast<char*>(dst));
  }
  void read_all(NativeStream, const void*, size_t, int32_t) override { std::abort(); }
  ReduceNode reduce(NativeStream, const ReduceParams&, const Configured<ReduceParams>&) override { std::abort(); }
  void reduce_async(NativeStream, const ReduceParams&, const Configured<ReduceParams>&) override { std::abort(); }
  gpumem_status reduce_lines(NativeStream, const ReduceAxisParams&, const Configured<ReduceAxisParams>&,
                             Completion) override {
    std::abort();
  }
  gpumem_status reduce_lines(NativeStream, const ReduceSegmentsParams&, const Configured<ReduceSegmentsParams>&,
                             Completion) override {
    std::abort();
  }
  BadIndex gather_scatter(NativeStream, NamedRows, const GatherScatterParams&, const Configured<GatherScatterParams>&,
                          Completion) override {
    std::abort();
  }
  void launch(NativeStream, const AnyWork&, Completion) override { std::abort(); }

  NativeStream own_stream() noexcept override { return stream(0); }
  // One of a few streams, by number.
  NativeStream stream(size_t number) noexcept { return &streams_[number]; }
  NativeStream create_stream() override { return stream(7); }
  void finish_stream(NativeStream) noexcept override {}
  void destroy_stream(NativeStream) noexcept override {}
  NativeStream wrap_stream(void* native) override { return native; }
  void synchronize(NativeStream) override { finish(); }
  void synchronize_device() override { finish(); }
  void await_order() override {}
  bool idle(NativeStream) override { return work_is_done; }
  bool capturing(NativeStream stream) override { return captured.count(stream) != 0; }
  void host_callback(NativeStream, HostTask task) override { task(); }
  NativeEvent create_event() override { return events_of_.emplace_back(std::make_unique<char>()).get(); }
  void destroy_event(NativeEvent) noexcept override {}
  void record(NativeEvent event, NativeStream) override { set_passed(event, work_is_done); }
  void wait_event(NativeStream stream, NativeEvent) override { waits.push_back(stream); }
  void synchronize_event(NativeEvent event) override { set_passed(event, true); }
  bool passed(NativeEvent event) override {
    const std::lock_guard<std::mutex> lock(events_mutex_);
    return events_[event];
  }
  double elapsed_seconds(NativeEvent, NativeEvent) override { return 0; }

 private:
  void take_room(size_t bytes) {
    if (static_cast<int64_t>(bytes) > room) fail(GPUMEM_OUT_OF_MEMORY, "the device has no more");
    room -= static_cast<int64_t>(bytes);
  }

  void set_passed(NativeEvent event, bool passed) {
    const std::lock_guard<std::mutex> lock(events_mutex_);
    events_[event] = passed;
  }

  static constexpr size_t kFront = 256;

  const size_t granule_;
  DeviceProps props_;
  void* place_ = nullptr;
  size_t place_bytes_ = 0;
  char streams_[8] = {};
  std::vector<std::unique_ptr<char>> events_of_;
  std::mutex events_mutex_;
  std::map<NativeEvent, bool> events_;
};

// What a pool needs of a context, without one.
class FakeOwner {
 public:
  explicit FakeOwner(FakeBackend& device) : host_(make_host_backend({.workers = &workers_, .threads = 1})) {
    owner.emplace(PoolOwner{this, device, *host_, registry, log, labels, trace, [this, &device] {
                              ++waits;
                              device.finish();
                            }});
  }

  std::unique_ptr<BlockPool> pool(const PoolPolicy& policy) {
    auto source = std::make_unique<DeviceSource>(owner->device, policy.kind);
    return std::make_unique<BlockPool>(*owner, std::move(source), policy);
  }
  void free(BlockPool& pool, void* p) { pool.free_now(registry.claim(reinterpret_cast<uintptr_t>(p), this)); }
  void free(BlockPool& pool, void* p, const StreamCache& on) {
    pool.free_in_order(registry.claim(reinterpret_cast<uintptr_t>(p), this), on);
  }

  Registry registry;
  Log log;
  Labels labels;
  MemoryTrace trace;
  std::atomic<int64_t> waits{0};  // for all streams
  std::optional<PoolOwner> owner;

 private:
  SharedWorkers workers_;
  const std::unique_ptr<Host> host_;
};

}  // namespace gpumem
