// The scratch memory of plans that sort on the device.
#pragma once

#include <algorithm>
#include <utility>

#include "base/device_props.hpp"
#include "kernels/limits.hpp"

namespace gpumem {

// Offsets of arrays, aligned as an allocation is.
class ScratchLayout {
 public:
  int64_t take(int64_t bytes) noexcept { return std::exchange(end_, end_ + ceil_div(bytes, 256) * 256); }
  int64_t end() const noexcept { return end_; }

 private:
  int64_t end_ = 0;
};

// A bound of what CUB asks for besides copies of the operands. Its tiles have at least 2048 elements, and need a
// counter per digit each. It sorts 2^28 elements or a little less at a time. Before compute capability 9.0, it sorts
// keys of 1 and 2 bytes by 7 bits, with counters for each block that the device can hold, times 5.
inline int64_t radix_sort_counters(const DeviceProps& d, int64_t n, int64_t passes) noexcept {
  constexpr int64_t kDigits = 256;
  constexpr int64_t kTile = 2048;
  constexpr int64_t kMost = int64_t{1} << 28;
  constexpr int64_t kBlocks = 16;  // per multiprocessor
  const int64_t portions = n / (kMost - (1 << 15)) + 1;
  const int64_t tiles = std::min(n, kMost) / kTile + 1;
  const int64_t counters = portions * passes * (kDigits * 8 + 4) + tiles * kDigits * 4 + 4096;
  if (d.compute_major >= 9 || passes > 2) return counters;
  return std::max(counters, (int64_t{d.multiprocessors} * kBlocks * 5 * 128 + (1 << 15)) * 8);
}

}  // namespace gpumem
