// What stands around each launch of the CUDA backend: whoever measures the call is told, and so are tools that read NVTX, in the domain
// "gpumem": the category is the family, the name the variant.
#pragma once

#include "backend/backend.hpp"

namespace gpumem {

// Finds the tool, if the process has one. A program that runs with more rights than its user has is shown to none.
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
