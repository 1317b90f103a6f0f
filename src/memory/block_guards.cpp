#include "memory/block_guards.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <utility>

#include "base/limits.hpp"
#include "base/names.hpp"
#include "base/sentences.hpp"

namespace gpumem {
namespace {

constexpr unsigned char kGuard = 0xFA;
constexpr unsigned char kFreed = 0xFD;
constexpr size_t kChunk = size_t{256} << 10;

}  // namespace

void Damage::add(const std::string& sentence) {
  if (++places == 1) first = sentence;
}

void Damage::add(const Damage& other) {
  if (places == 0) first = other.first;
  places += other.places;
}

BlockGuards::BlockGuards(const PoolOwner& owner, gpumem_memory_kind kind) : owner_(owner), kind_(kind) {}

BlockGuards::~BlockGuards() {
  if (link_ != nullptr) owner_.device.destroy_stream(link_);
}

bool BlockGuards::reached() const noexcept { return !owner_.on_cuda() || kind_ == GPUMEM_MEMORY_PINNED; }

// A stream that waits for nothing else: the memory is not in use.
NativeStream BlockGuards::link() {
  if (link_ == nullptr) link_ = owner_.device.create_side_stream();
  return link_;
}

void BlockGuards::paint(uintptr_t p, size_t bytes, unsigned char value) {
  if (reached()) {
    std::memset(reinterpret_cast<void*>(p), value, bytes);
    return;
  }
  buffer_.assign(std::min(bytes, kChunk), value);
  for (size_t at = 0; at < bytes; at += kChunk) {
    owner_.device.copy(link(), reinterpret_cast<void*>(p + at), buffer_.data(), std::min(kChunk, bytes - at),
                       Until::complete);
  }
}

std::optional<BlockGuards::Changed> BlockGuards::changed(unsigned char value, uintptr_t p, size_t bytes) {
  std::optional<Changed> found;
  const auto differs = [value](unsigned char byte) { return byte != value; };
  for (size_t at = 0; at < bytes; at += kChunk) {
    const size_t length = std::min(kChunk, bytes - at);
    const auto* begin = reinterpret_cast<const unsigned char*>(p + at);
    if (!reached()) {
      buffer_.resize(length);
      owner_.device.copy(link(), buffer_.data(), begin, length, Until::complete);
      begin = buffer_.data();
    }
    if (*begin == value && std::memcmp(begin, begin + 1, length - 1) == 0) continue;  // each as the one before
    const auto* end = begin + length;
    const auto* first = std::find_if(begin, end, differs);
    if (first == end) continue;  // it is still being written
    const auto* last = end - 1;
    while (*last == value) --last;
    if (!found) found = Changed{p + at + static_cast<size_t>(first - begin), 0};
    found->last = p + at + static_cast<size_t>(last - begin);
  }
  return found;
}

void BlockGuards::note(const Region& region, const Changed& changed, const char* when, Damage& found) {
  const uintptr_t block = region.address(0);
  char sentence[384];
  std::snprintf(sentence, sizeof sentence, "%s memory at 0x%llx%s: bytes from offset %lld to %lld were written %s",
                kind_name(kind_), static_cast<unsigned long long>(block), owner_.labels.in_brackets(block).c_str(),
                ll(static_cast<int64_t>(changed.first - block)), ll(static_cast<int64_t>(changed.last - block)), when);
  sentences_.emplace_back(sentence);
  found.add(sentence);
}

void BlockGuards::surround(Region& region, size_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const uintptr_t end = region.address(0) + bytes;
  paint(region.base, region.front, kGuard);
  paint(end, region.base + region.bytes - end, kGuard);
  live_.insert(&region);
}

void BlockGuards::check_ends(const Region& region, size_t bytes, Damage& found) {
  const uintptr_t end = region.address(0) + bytes;
  const auto before = changed(kGuard, region.base, region.front);
  const auto behind = changed(kGuard, end, region.base + region.bytes - end);
  char when[64];
  std::snprintf(when, sizeof when, "behind the end of its %zu bytes", bytes);
  if (before) note(region, *before, "before its start", found);
  if (behind) note(region, *behind, when, found);
}

// Reported once; later writes are reported again.
void BlockGuards::check_freed(Region& region, Damage& found) {
  const auto written = changed(kFreed, region.base, region.bytes);
  if (!written) return;
  note(region, *written, "after it was freed", found);
  paint(region.base, region.bytes, kFreed);
}

void BlockGuards::check(const Region& region, size_t bytes, Damage& found) {
  const std::lock_guard<std::mutex> lock(mutex_);
  check_ends(region, bytes, found);
}

void BlockGuards::check_all(Damage& found) {
  const std::lock_guard<std::mutex> lock(mutex_);
  try {
    for (Region* region : aside_) check_freed(*region, let_go_);
    for (Region* region : live_) {
      const uint64_t word = region->word(0).load(std::memory_order_acquire);
      if (slot::is_live(word)) check_ends(*region, slot::bytes(word), found);
    }
  } catch (...) {
    let_go_.add(found);  // for the next time
    throw;
  }
  found.add(std::exchange(let_go_, {}));
}

bool BlockGuards::put_aside(Region& region) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  live_.erase(&region);
  if (region.taken_bytes > kMostAside) return false;
  try {
    if (reached()) require_available_for_call(region.bytes);  // the program may have used none of it
    paint(region.base, region.bytes, kFreed);
    aside_.push_back(&region);
  } catch (const std::exception&) {
    return false;  // no memory, or the device's context is lost
  }
  bytes_aside_ += region.taken_bytes;
  return true;
}

Region* BlockGuards::take_oldest(size_t keep_bytes) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (aside_.empty() || (bytes_aside_ <= keep_bytes && aside_.size() <= kMostBlocksAside)) return nullptr;
  Region* region = aside_.front();
  aside_.pop_front();
  bytes_aside_ -= region->taken_bytes;
  try {
    check_freed(*region, let_go_);
  } catch (const std::exception&) {
    // The same: nothing can be told of it.
  }
  return region;
}

size_t BlockGuards::bytes_aside() const noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  return bytes_aside_;
}

std::vector<std::string> BlockGuards::take_sentences() noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(sentences_, {});
}

}  // namespace gpumem
