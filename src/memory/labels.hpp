// Names that the program gives its blocks, for reports. Unnamed blocks cost nothing.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

#include "memory/registry.hpp"

namespace gpumem {

class Labels {
 public:
  static constexpr size_t kMostBytes = 127;  // longer labels are cut

  // Labels the owner's block or registered memory that starts at p; an empty label removes it.
  void set(Registry& registry, uintptr_t p, const void* owner, const char* label);
  void forget(const Claim& claim) noexcept;
  void forget(uintptr_t p) noexcept;
  // " (label)" or "", for a message.
  std::string in_brackets(uintptr_t p) const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<uintptr_t, std::string> labels_;
};

}  // namespace gpumem
