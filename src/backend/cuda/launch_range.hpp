// Marks each launch of the CUDA backend for the call's measurement and for tools that read NVTX. The domain is
// "gpumem", the category the operation, and the name the variant.
#pragma once

#include "backend/backend.hpp"

namespace gpumem {

// Looks for a tool in the process. A program with AT_SECURE set reports to none.
void open_ranges();

class LaunchRange {
 public:
  LaunchRange(gpumem_family family, const char* variant, NativeStream stream) noexcept;
  ~LaunchRange();
  LaunchRange(const LaunchRange&) = delete;
  LaunchRange& operator=(const LaunchRange&) = delete;

 private:
  const WatchedLaunch watched_;
};

}  // namespace gpumem
