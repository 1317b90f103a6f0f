// Size classes: multiples of 256 bytes up to 2 KiB, then eight per doubling, so larger blocks waste at most an eighth.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

namespace gpumem {

inline constexpr size_t kBlockUnit = 256;  // alignment of all memory
inline constexpr size_t kLargestAlignment = size_t{2} << 20;
inline constexpr size_t kLargestClass = size_t{1} << 47;
inline constexpr size_t kLargestInSlab = size_t{256} << 10;
inline constexpr size_t kSmallestSlab = size_t{64} << 10;
inline constexpr size_t kLargestSlab = size_t{2} << 20;
inline constexpr size_t kLargeUnit = 512;  // unit of larger blocks that are cut to size

// The smallest class that holds bytes, 1 to kLargestClass.
constexpr int size_class_of(size_t bytes) noexcept {
  const size_t units = (bytes + kBlockUnit - 1) / kBlockUnit;
  if (units <= 8) return static_cast<int>(units) - 1;
  const int doubling = static_cast<int>(std::bit_width(units - 1)) - 4;  // 8 * 2^doubling < units <= 16 * 2^doubling
  return 8 + 8 * doubling + static_cast<int>((units - 1) >> doubling) - 8;
}

constexpr size_t size_of_class(int size_class) noexcept {
  if (size_class < 8) return (static_cast<size_t>(size_class) + 1) * kBlockUnit;
  const int doubling = (size_class - 8) / 8;
  return static_cast<size_t>((size_class - 8) % 8 + 9) * kBlockUnit << doubling;
}

inline constexpr int kLastInSlab = size_class_of(kLargestInSlab);
inline constexpr int kSizeClasses = size_class_of(kLargestClass) + 1;

// The smallest class that holds bytes and whose adjacent blocks keep the alignment, a power of two.
constexpr int aligned_class_of(size_t bytes, size_t alignment) noexcept {
  int size_class = size_class_of(std::max(bytes, alignment));
  while (size_of_class(size_class) % alignment != 0) ++size_class;
  return size_class;
}

// Slots of the next slab for a cache that already has `slots`: as many again, within bounds.
constexpr size_t slab_slots(int size_class, size_t slots) noexcept {
  const size_t block = size_of_class(size_class);
  if (block > kLargestInSlab) return 1;
  const size_t fewest = std::max<size_t>(kSmallestSlab / block, 4);
  return std::clamp(slots, fewest, kLargestSlab / block);
}

}  // namespace gpumem
