// Rings of pinned chunks, which copies between pageable memory and the device go through.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpumem {

constexpr int64_t kRingChunkBytes = int64_t{2} << 20;
constexpr size_t kRingSlots = 4;
// Blocking copies of one range up to this size need not wait for earlier work before they read the heap: they look afterwards whether it
// has changed since.
constexpr int64_t kMostReadEarly = int64_t{64} << 10;
// Up to this size one piece brings the heap its bytes soonest.
constexpr int64_t kMostFetchedWhole = int64_t{512} << 10;
static_assert(kMostReadEarly <= kMostFetchedWhole && kMostFetchedWhole < kRingChunkBytes,
              "a chunk's last word is free");
// More threads than this make no copy faster: the link is full.
constexpr int64_t kMostRings = 8;

}  // namespace gpumem
