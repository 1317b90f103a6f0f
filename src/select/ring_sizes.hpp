// Rings of pinned chunks, which copies between pageable memory and the device go through.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpumem {

constexpr int64_t kRingChunkBytes = int64_t{2} << 20;
constexpr size_t kRingSlots = 4;
// More threads than this make no copy faster: the link is full.
constexpr int64_t kMostRings = 8;

}  // namespace gpumem
