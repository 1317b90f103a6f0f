#include "memory/block_guards.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <utility>

#include "base/limits.hpp"
#include "base/names.hpp"
#include "base/scope_exit.hpp"
#include "base/sentences.hpp"

namespace gpumem {
namespace {

constexpr unsigned char kGuard = 0xFA;
constexpr unsigned char kFreed = 0xFD;
constexpr size_t kChunk = size_t{256} << 10;

uintptr_t first_byte(Block block) noexcept { return block.address() - block.region->front; }
size_t taken_bytes(const Claim& claim) noexcept {
  return claim.region->slots == 1 ? claim.region->taken_bytes : claim.region->slot_bytes;
}

}  // namespace

void Damage::add(const std::string& sentence) {
  if (++places == 1) first = sentence;
}

void Damage::add(const Damage& other) {
  if (places == 0) first = other.first;
  places += other.places;
}

BlockGuards::BlockGuards(PoolBooks& books, std::unique_ptr<BlockSupply> inner)
    : owner_(books.owner), kind_(books.policy.kind), inner_(std::move(inner)) {}

BlockGuards::~BlockGuards() {
  if (link_ != nullptr) owner_.device.destroy_stream(link_);
}

PoolRequest BlockGuards::request_for(size_t bytes, size_t alignment) const noexcept {
  const size_t with_guards = (kBytes + bytes + kBytes + kBlockUnit - 1) / kBlockUnit * kBlockUnit;
  PoolRequest request = inner_->request_for(with_guards, alignment);
  request.bytes = bytes;
  request.front = kBytes;
  return request;
}

Supplied BlockGuards::grow(StreamCache& cache, const PoolRequest& request) {
  const Supplied supplied = inner_->grow(cache, request);
  ScopeExit back([&] { inner_->give_back({supplied.block.region, supplied.block.slot, 0}); });
  surround(supplied.block, request.bytes);
  back.release();
  return supplied;
}

// Blocks set aside keep their labels.
void BlockGuards::give_back(const Claim& claim) noexcept {
  if (!put_aside(claim)) inner_->give_back(claim);
  give_back_aside(kMostAside);
}

void BlockGuards::give_back_aside(size_t keep_bytes) noexcept {
  while (const auto oldest = take_oldest(keep_bytes)) inner_->give_back(*oldest);
}

int64_t BlockGuards::idle_bytes() {
  const int64_t inside = inner_->idle_bytes();
  const std::lock_guard<std::mutex> lock(mutex_);
  return inside + static_cast<int64_t>(bytes_aside_);
}

void BlockGuards::release_down_to(int64_t keep_bytes, std::vector<FencePtr>* not_passed) {
  give_back_aside(static_cast<size_t>(keep_bytes));
  inner_->release_down_to(keep_bytes, not_passed);
}

void BlockGuards::release_all() {
  give_back_aside(0);
  inner_->release_all();
}

bool BlockGuards::reached() const noexcept { return !owner_.on_cuda() || kind_ == GPUMEM_MEMORY_PINNED; }

// The memory is not in use, so a side stream needs no ordering.
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
                       Completion::blocking);
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
      owner_.device.copy(link(), buffer_.data(), begin, length, Completion::blocking);
      begin = buffer_.data();
    }
    if (*begin == value && std::memcmp(begin, begin + 1, length - 1) == 0) continue;
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

void BlockGuards::note(Block block, const Changed& changed, const char* when, Damage& found) {
  const uintptr_t at = block.address();
  char sentence[384];
  std::snprintf(sentence, sizeof sentence, "%s memory at 0x%llx%s: bytes from offset %lld to %lld were written %s",
                kind_name(kind_), static_cast<unsigned long long>(at), owner_.labels.in_brackets(at).c_str(),
                ll(static_cast<int64_t>(changed.first - at)), ll(static_cast<int64_t>(changed.last - at)), when);
  sentences_.emplace_back(sentence);
  found.add(sentence);
}

void BlockGuards::surround(Block block, size_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const uintptr_t end = block.address() + bytes;
  paint(first_byte(block), block.region->front, kGuard);
  paint(end, first_byte(block) + block.region->slot_bytes - end, kGuard);
  live_.emplace(block.address(), block);
}

void BlockGuards::check_ends(Block block, size_t bytes, Damage& found) {
  const uintptr_t end = block.address() + bytes;
  const auto before = changed(kGuard, first_byte(block), block.region->front);
  const auto behind = changed(kGuard, end, first_byte(block) + block.region->slot_bytes - end);
  char when[64];
  std::snprintf(when, sizeof when, "behind the end of its %zu bytes", bytes);
  if (before) note(block, *before, "before its start", found);
  if (behind) note(block, *behind, when, found);
}

// Reported once; later writes are reported again.
void BlockGuards::check_freed(Block block, Damage& found) {
  const auto written = changed(kFreed, first_byte(block), block.region->slot_bytes);
  if (!written) return;
  note(block, *written, "after it was freed", found);
  paint(first_byte(block), block.region->slot_bytes, kFreed);
}

void BlockGuards::check(const Claim& claim, Damage& found) {
  const std::lock_guard<std::mutex> lock(mutex_);
  check_ends({claim.region, claim.slot}, claim.bytes(), found);
}

void BlockGuards::check_all(Damage& found) {
  const std::lock_guard<std::mutex> lock(mutex_);
  try {
    for (const Claim& freed : aside_) check_freed({freed.region, freed.slot}, let_go_);
    for (const auto& [at, block] : live_) {
      const uint64_t word = block.region->word(block.slot).load(std::memory_order_acquire);
      if (slot::is_live(word)) check_ends(block, slot::bytes(word), found);
    }
  } catch (...) {
    let_go_.add(found);  // reported by the next check
    throw;
  }
  found.add(std::exchange(let_go_, {}));
}

// false: no memory to keep the block.
bool BlockGuards::put_aside(const Claim& claim) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  live_.erase(claim.base());
  if (taken_bytes(claim) > kMostAside) return false;
  const size_t bytes = claim.region->slot_bytes;
  try {
    if (reached()) require_available_for_call(bytes);  // the program may have touched none of it
    paint(first_byte({claim.region, claim.slot}), bytes, kFreed);
    aside_.push_back(claim);
  } catch (const std::exception&) {
    return false;
  }
  bytes_aside_ += taken_bytes(claim);
  return true;
}

// The oldest block, while those set aside exceed keep_bytes or kMostBlocksAside.
std::optional<Claim> BlockGuards::take_oldest(size_t keep_bytes) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (aside_.empty() || (bytes_aside_ <= keep_bytes && aside_.size() <= kMostBlocksAside)) return std::nullopt;
  const Claim oldest = aside_.front();
  aside_.pop_front();
  bytes_aside_ -= taken_bytes(oldest);
  try {
    check_freed({oldest.region, oldest.slot}, let_go_);
  } catch (const std::exception&) {
  }
  return oldest;
}

std::vector<std::string> BlockGuards::take_sentences() noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(sentences_, {});
}

}  // namespace gpumem
