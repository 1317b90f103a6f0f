#include "emulation/memory.hpp"

#include <sys/mman.h>

#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "emulation/report.hpp"

#if defined(GPUMEM_EMULATION_ASAN)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, bytes) (static_cast<void>(p), static_cast<void>(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(p, bytes) (static_cast<void>(p), static_cast<void>(bytes))
#endif

namespace gpumem_emulation {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kFence = kPage;  // after each allocation: an access there is reported by the address sanitizer
// Marking more than this as freed would cost more memory than it is worth.
constexpr size_t kMostMarked = size_t{64} << 20;

size_t whole_pages(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

char* reserve(size_t bytes, int protection) {
  void* p = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : static_cast<char*>(p);
}

class Memory {
 public:
  static Memory& only() {
    static Memory& memory = *std::make_unique<Memory>().release();  // threads may outlive main()
    return memory;
  }

  void* allocate(Kind kind, size_t bytes, int device, void* pool) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const size_t room = whole_pages(bytes) + kFence;
    if (bytes > kDeviceBytes) return nullptr;
    char* p = kind == Kind::device ? take(room) : reserve(room, PROT_READ | PROT_WRITE);
    if (p == nullptr) return nullptr;
    if (bytes <= kMostMarked) ASAN_UNPOISON_MEMORY_REGION(p, bytes);
    ASAN_POISON_MEMORY_REGION(p + bytes, room - bytes);
    ranges_[reinterpret_cast<uintptr_t>(p)] = {kind, bytes, room, false, device, pool};
    return p;
  }

  size_t ranges() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return ranges_.size() + reserved_.size() + granules_.size();
  }
  size_t bytes() {
    const std::lock_guard<std::mutex> lock(mutex_);
    size_t sum = 0;
    for (const auto& [begin, entry] : ranges_) sum += entry.bytes;
    return sum + granule_bytes_;
  }

  bool release(Kind kind, void* p) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = ranges_.find(reinterpret_cast<uintptr_t>(p));
    if (found == ranges_.end() || found->second.registered || found->second.kind != kind) return false;
    const Entry entry = found->second;
    ranges_.erase(found);
    if (kind == Kind::device) {
      give_back(static_cast<char*>(p), entry);
    } else {
      ASAN_UNPOISON_MEMORY_REGION(static_cast<char*>(p) + entry.bytes, entry.room - entry.bytes);
      munmap(p, entry.room);
    }
    return true;
  }

  void reset(int device) {
    std::vector<std::pair<Kind, void*>> blocks;
    std::vector<void*> registered;
    std::vector<std::pair<uintptr_t, size_t>> mapped;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      for (const auto& [base, entry] : ranges_) {
        auto* const p = reinterpret_cast<void*>(base);
        if (entry.device == device && entry.registered) registered.push_back(p);
        if (entry.device == device && !entry.registered) blocks.emplace_back(entry.kind, p);
      }
      for (const auto& [base, mapping] : mapped_) {
        if (mapping.device == device) mapped.emplace_back(base, mapping.bytes);
      }
    }
    for (const auto& [kind, p] : blocks) release(kind, p);
    for (void* p : registered) remove_registered(p);
    for (const auto& [base, bytes] : mapped) unmap_granules(base, bytes);
  }

  bool add_registered(void* p, size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto begin = reinterpret_cast<uintptr_t>(p);
    const auto next = ranges_.lower_bound(begin + bytes);
    if (next != ranges_.begin()) {
      const auto& [base, entry] = *std::prev(next);
      if (base + entry.bytes > begin) return false;
    }
    ranges_[begin] = {Kind::pinned, bytes, 0, true, 0, nullptr};
    return true;
  }

  bool remove_registered(void* p) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = ranges_.find(reinterpret_cast<uintptr_t>(p));
    if (found == ranges_.end() || !found->second.registered) return false;
    ranges_.erase(found);
    return true;
  }

  std::optional<Range> find(const void* p) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto address = reinterpret_cast<uintptr_t>(p);
    if (const auto run = accessible_.upper_bound(address); run != accessible_.begin()) {
      const auto& [begin, bytes] = *std::prev(run);
      if (address < begin + bytes) return mapped_range(address, begin, bytes);
    }
    const auto after = ranges_.upper_bound(address);
    if (after == ranges_.begin()) return std::nullopt;
    const auto& [base, entry] = *std::prev(after);
    if (address >= base + entry.bytes) return std::nullopt;
    return Range{.kind = entry.kind, .base = base, .bytes = entry.bytes, .device = entry.device, .pool = entry.pool};
  }

  void open_window() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (windows_++ > 0) return;
    open_taken();
    for (const auto& [begin, bytes] : accessible_) protect_mapped(begin, bytes, PROT_READ | PROT_WRITE);
  }
  void close_window() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (--windows_ > 0) return;
    protect(0, end_, PROT_NONE);
    for (const auto& [begin, bytes] : accessible_) protect_mapped(begin, bytes, PROT_NONE);
  }

  size_t granule_bytes() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return granule_bytes_;
  }
  size_t mappings_made() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return mappings_made_;
  }
  uintptr_t reserve_addresses(size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (bytes == 0 || bytes % kGranule != 0) return 0;
    char* p = reserve(bytes + kGranule, PROT_NONE);
    if (p == nullptr) return 0;
    const uintptr_t base = (reinterpret_cast<uintptr_t>(p) + kGranule - 1) / kGranule * kGranule;
    reserved_[base] = {p, bytes};
    return base;
  }
  bool release_addresses(uintptr_t base, size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = reserved_.find(base);
    if (found == reserved_.end() || found->second.bytes != bytes || mapped_in(base, bytes)) return false;
    munmap(found->second.start, bytes + kGranule);
    reserved_.erase(found);
    return true;
  }
  uint64_t create_granules(size_t bytes, int device) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (bytes == 0 || bytes % kGranule != 0 || granule_bytes_ + bytes > kDeviceBytes) return 0;
    granule_bytes_ += bytes;
    granules_[++handles_] = {bytes, 1, device};
    return handles_;
  }
  bool release_granules(uint64_t handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return drop(handle);
  }
  bool map_granules(uintptr_t p, size_t bytes, uint64_t handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = granules_.find(handle);
    const auto after = reserved_.upper_bound(p);
    if (found == granules_.end() || found->second.bytes != bytes || after == reserved_.begin()) return false;
    const auto& [base, addresses] = *std::prev(after);
    if (p % kGranule != 0 || p + bytes > base + addresses.bytes || mapped_in(p, bytes)) return false;
    ++found->second.uses;
    mapped_[p] = {bytes, handle, found->second.device, 0};
    ++mappings_made_;
    return true;
  }
  bool allow_access(uintptr_t p, size_t bytes, int device) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!covered(p, bytes)) return false;
    const bool was_open = mapped_.at(p).opened != 0;
    for (auto at = mapped_.find(p); at != mapped_.end() && at->first < p + bytes; ++at)
      at->second.opened |= 1u << device;
    if (was_open) return true;
    if (windows_ > 0) protect_mapped(p, bytes, PROT_READ | PROT_WRITE);
    auto run = accessible_.emplace(p, bytes).first;
    const auto next = std::next(run);
    if (next != accessible_.end() && next->first == p + bytes) {
      run->second += next->second;
      accessible_.erase(next);
    }
    if (run == accessible_.begin()) return true;
    const auto before = std::prev(run);
    if (before->first + before->second != p) return true;
    before->second += run->second;
    accessible_.erase(run);
    return true;
  }
  bool unmap_granules(uintptr_t p, size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!covered(p, bytes)) return false;
    for (auto at = mapped_.find(p); at != mapped_.end() && at->first < p + bytes; at = mapped_.erase(at)) {
      drop(at->second.handle);
    }
    madvise(reinterpret_cast<void*>(p), bytes, MADV_DONTNEED);
    protect_mapped(p, bytes, PROT_NONE);
    const auto after = accessible_.upper_bound(p);
    if (after == accessible_.begin()) return true;
    const auto run = std::prev(after);
    const auto [begin, length] = *run;
    if (begin + length < p + bytes) return true;  // access was never allowed
    accessible_.erase(run);
    if (begin < p) accessible_[begin] = p - begin;
    if (begin + length > p + bytes) accessible_[p + bytes] = begin + length - (p + bytes);
    return true;
  }

 private:
  struct Entry {
    Kind kind;
    size_t bytes;
    size_t room;
    bool registered;  // the program's own memory
    int device;
    void* pool;
  };

  struct Addresses {
    char* start;
    size_t bytes;
  };
  struct Granules {
    size_t bytes;
    int uses;  // its handle, and mappings
    int device;
  };
  struct Mapping {
    size_t bytes;
    uint64_t handle;
    int device;
    unsigned opened;  // a bit for each device
  };

  Range mapped_range(uintptr_t address, uintptr_t begin, size_t bytes) const {
    const auto& [base, mapping] = *std::prev(mapped_.upper_bound(address));
    return {Kind::device, begin, bytes, mapping.device, nullptr, true, base, mapping.bytes, mapping.opened};
  }

  bool drop(uint64_t handle) {
    const auto found = granules_.find(handle);
    if (found == granules_.end()) return false;
    if (--found->second.uses > 0) return true;
    granule_bytes_ -= found->second.bytes;
    granules_.erase(found);
    return true;
  }

  bool mapped_in(uintptr_t p, size_t bytes) const {
    const auto next = mapped_.lower_bound(p);
    if (next != mapped_.end() && next->first < p + bytes) return true;
    return next != mapped_.begin() && std::prev(next)->first + std::prev(next)->second.bytes > p;
  }

  // Whole mappings, one after the other.
  bool covered(uintptr_t p, size_t bytes) const {
    uintptr_t at = p;
    for (auto next = mapped_.find(p); next != mapped_.end() && next->first == at && at < p + bytes; ++next) {
      at += next->second.bytes;
    }
    return bytes > 0 && at == p + bytes;
  }

  static void protect_mapped(uintptr_t p, size_t bytes, int protection) {
    if (mprotect(reinterpret_cast<void*>(p), bytes, protection) != 0) give_up("mapped memory can't be protected");
  }

  // First fit among what was given back, else beyond all that was ever taken.
  char* take(size_t room) {
    if (start_ == nullptr) start_ = reserve(kDeviceBytes, PROT_NONE);
    if (start_ == nullptr) give_up("no addresses for the device's memory");
    for (auto hole = holes_.begin(); hole != holes_.end(); ++hole) {
      if (hole->second < room) continue;
      const size_t at = hole->first;
      const size_t left = hole->second - room;
      holes_.erase(hole);
      if (left > 0) holes_[at + room] = left;
      return accessible_now(at, room);
    }
    if (room > kDeviceBytes - end_) return nullptr;
    end_ += room;
    return accessible_now(end_ - room, room);
  }

  char* accessible_now(size_t at, size_t room) {
    if (windows_ > 0) protect(at, at + room, PROT_READ | PROT_WRITE);
    return start_ + at;
  }

  void give_back(char* p, const Entry& entry) {
    if (entry.bytes <= kMostMarked) {
      ASAN_POISON_MEMORY_REGION(p, entry.bytes);
    } else {
      ASAN_UNPOISON_MEMORY_REGION(p + entry.bytes, entry.room - entry.bytes);
    }
    madvise(p, entry.room, MADV_DONTNEED);
    const auto at = static_cast<size_t>(p - start_);
    if (windows_ > 0) protect(at, at + entry.room, PROT_NONE);
    auto hole = holes_.emplace(at, entry.room).first;
    const auto next = std::next(hole);
    if (next != holes_.end() && hole->first + hole->second == next->first) {
      hole->second += next->second;
      holes_.erase(next);
    }
    if (hole == holes_.begin()) return;
    const auto before = std::prev(hole);
    if (before->first + before->second != hole->first) return;
    before->second += hole->second;
    holes_.erase(hole);
  }

  // All but the holes: what was freed is nobody's to access, not while the device works either.
  void open_taken() {
    size_t at = 0;
    for (const auto& [hole, bytes] : holes_) {
      protect(at, hole, PROT_READ | PROT_WRITE);
      at = hole + bytes;
    }
    protect(at, end_, PROT_READ | PROT_WRITE);
  }

  void protect(size_t from, size_t to, int protection) {
    if (to > from && mprotect(start_ + from, to - from, protection) != 0) {
      give_up("the device's memory can't be protected");
    }
  }

  std::mutex mutex_;
  std::map<uintptr_t, Entry> ranges_;
  char* start_ = nullptr;
  size_t end_ = 0;  // all taken so far lies below
  std::map<size_t, size_t> holes_;
  std::map<uintptr_t, Addresses> reserved_;
  std::map<uint64_t, Granules> granules_;
  std::map<uintptr_t, Mapping> mapped_;
  std::map<uintptr_t, size_t> accessible_;
  uint64_t handles_ = 0;
  size_t granule_bytes_ = 0;
  size_t mappings_made_ = 0;
  int windows_ = 0;
};

}  // namespace

void* allocate(Kind kind, size_t bytes, int device, void* pool) {
  return Memory::only().allocate(kind, bytes, device, pool);
}
bool release(Kind kind, void* p) { return Memory::only().release(kind, p); }
bool register_pinned(void* p, size_t bytes) { return Memory::only().add_registered(p, bytes); }
bool unregister_pinned(void* p) { return Memory::only().remove_registered(p); }
std::optional<Range> range_of(const void* p) { return Memory::only().find(p); }
void reset_memory(int device) { Memory::only().reset(device); }
size_t ranges_held() { return Memory::only().ranges(); }
size_t bytes_held() { return Memory::only().bytes(); }

uintptr_t reserve_addresses(size_t bytes) { return Memory::only().reserve_addresses(bytes); }
bool release_addresses(uintptr_t base, size_t bytes) { return Memory::only().release_addresses(base, bytes); }
uint64_t create_granules(size_t bytes, int device) { return Memory::only().create_granules(bytes, device); }
bool release_granules(uint64_t handle) { return Memory::only().release_granules(handle); }
bool map_granules(uintptr_t p, size_t bytes, uint64_t handle) { return Memory::only().map_granules(p, bytes, handle); }
size_t granule_bytes_held() { return Memory::only().granule_bytes(); }
size_t granule_mappings_made() { return Memory::only().mappings_made(); }
bool allow_access(uintptr_t p, size_t bytes, int device) { return Memory::only().allow_access(p, bytes, device); }
bool unmap_granules(uintptr_t p, size_t bytes) { return Memory::only().unmap_granules(p, bytes); }

DeviceWorks::DeviceWorks() { Memory::only().open_window(); }
DeviceWorks::~DeviceWorks() { Memory::only().close_window(); }

}  // namespace gpumem_emulation
