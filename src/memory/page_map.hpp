// Maps an address to its region by a table over 2 MiB pieces, in constant time. The caller locks.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "memory/region.hpp"

namespace gpumem {

class PageMap {
 public:
  // Throws bad_alloc, with no change.
  void insert(Region& region);
  void erase(const Region& region) noexcept;
  Region* find(uintptr_t p) const noexcept;
  // The first region in the range with wanted(region), or nullptr. Time: the smaller of range and number of regions.
  template <class F>
  Region* first_in(uintptr_t base, size_t bytes, const F& wanted) const;

 private:
  static constexpr int kPieceBits = 21;
  static constexpr int kLeafBits = 9;

  // The regions overlapping one piece: usually one, several sorted by start.
  struct Cell {
    Region* one = nullptr;
    std::unique_ptr<std::vector<Region*>> several;

    bool empty() const noexcept { return one == nullptr && several == nullptr; }
    void insert(Region& region);
    void erase(const Region& region) noexcept;
  };
  struct Leaf {
    std::array<Cell, size_t{1} << kLeafBits> cells;
    size_t used = 0;
  };

  static uintptr_t first_piece(const Region& region) noexcept { return region.base >> kPieceBits; }
  static uintptr_t last_piece(const Region& region) noexcept { return piece_of_last(region.base, region.bytes); }
  static uintptr_t piece_of_last(uintptr_t base, size_t bytes) noexcept { return (base + (bytes - 1)) >> kPieceBits; }
  static size_t cell_of(uintptr_t piece) noexcept { return piece & ((size_t{1} << kLeafBits) - 1); }
  void insert_at(uintptr_t piece, Region& region);
  void erase_at(uintptr_t piece, const Region& region) noexcept;

  std::unordered_map<uintptr_t, std::unique_ptr<Leaf>> leaves_;
  std::unique_ptr<Leaf> spare_;
};

template <class F>
Region* PageMap::first_in(uintptr_t base, size_t bytes, const F& wanted) const {
  const auto meets = [&](const Region* region) {
    return region != nullptr && region->base <= base + (bytes - 1) && base <= region->base + (region->bytes - 1) &&
           wanted(*region);
  };
  const uintptr_t first = base >> kPieceBits;
  const uintptr_t last = piece_of_last(base, bytes);
  const auto first_of = [&](uintptr_t number, const Leaf& leaf) -> Region* {
    const uintptr_t end = std::min(last, number << kLeafBits | cell_of(UINTPTR_MAX));
    for (uintptr_t piece = std::max(first, number << kLeafBits); piece <= end; ++piece) {
      const Cell& cell = leaf.cells[cell_of(piece)];
      if (meets(cell.one)) return cell.one;
      if (cell.several == nullptr) continue;
      const auto found = std::find_if(cell.several->begin(), cell.several->end(), meets);
      if (found != cell.several->end()) return *found;
    }
    return nullptr;
  };
  const uintptr_t last_leaf = last >> kLeafBits;
  uintptr_t number = first >> kLeafBits;
  if (last_leaf - number <= leaves_.size()) {
    for (; number <= last_leaf; ++number) {
      const auto leaf = leaves_.find(number);
      Region* region = leaf == leaves_.end() ? nullptr : first_of(number, *leaf->second);
      if (region != nullptr) return region;
    }
    return nullptr;
  }
  Region* lowest = nullptr;
  for (const auto& [at, leaf] : leaves_) {
    Region* region = at < number || at > last_leaf ? nullptr : first_of(at, *leaf);
    if (region != nullptr && (lowest == nullptr || region->base < lowest->base)) lowest = region;
  }
  return lowest;
}

}  // namespace gpumem
