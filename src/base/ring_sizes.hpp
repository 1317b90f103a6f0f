// Sizes of the pinned staging buffers for copies between pageable memory and the device.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpumem {

constexpr int64_t kRingChunkBytes = int64_t{2} << 20;
constexpr size_t kRingSlots = 4;
// Blocking copies up to this size may read pageable memory before earlier work ends, then check it for changes.
constexpr int64_t kMostReadEarly = int64_t{64} << 10;
// Up to this size, a single piece has the shortest latency.
constexpr int64_t kMostFetchedWhole = int64_t{512} << 10;
static_assert(kMostReadEarly <= kMostFetchedWhole && kMostFetchedWhole < kRingChunkBytes,
              "a chunk's last word is free");
// More threads make no copy faster, because PCIe is saturated.
constexpr int64_t kMostRings = 8;

}  // namespace gpumem
