#include "memory/labels.hpp"

#include <cstring>
#include <utility>

namespace gpumem {

void Labels::set(Registry& registry, uintptr_t p, const void* owner, const char* label) {
  std::string text(label, strnlen(label, kMostBytes));
  registry.with_live(p, owner, [&](Region& region, uint32_t slot) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (text.empty()) {
      labels_.erase(p);
      return;
    }
    labels_[p] = std::move(text);
    region.word(slot).fetch_or(slot::kLabelled, std::memory_order_acq_rel);
  });
}

void Labels::forget(const Claim& claim) noexcept {
  if ((claim.word & slot::kLabelled) != 0) forget(claim.base());
}

void Labels::forget(uintptr_t p) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  labels_.erase(p);
}

std::string Labels::in_brackets(uintptr_t p) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = labels_.find(p);
  return found == labels_.end() ? std::string() : " (" + found->second + ")";
}

}  // namespace gpumem
