// Which region an address lies in: a table over pieces of 2 MiB of the address space, so that the time does not grow with the
// number of regions. It has no lock of its own.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "engine/region.hpp"

namespace gpumem {

class PageMap {
 public:
  // Throws bad_alloc and is then as it was.
  void insert(Region& region);
  void erase(const Region& region) noexcept;
  // nullptr: none.
  Region* find(uintptr_t p) const noexcept;
  // One that has addresses in common with a region outside the map; nullptr: none.
  Region* overlapping(const Region& region) const noexcept;

 private:
  static constexpr int kPieceBits = 21;
  static constexpr int kLeafBits = 9;  // pieces a leaf

  // The regions that a piece has bytes of: one as a rule, several by their start.
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
  static uintptr_t last_piece(const Region& region) noexcept {
    return (region.base + (region.bytes - 1)) >> kPieceBits;
  }
  static size_t cell_of(uintptr_t piece) noexcept { return piece & ((size_t{1} << kLeafBits) - 1); }
  void insert_at(uintptr_t piece, Region& region);
  void erase_at(uintptr_t piece, const Region& region) noexcept;

  std::unordered_map<uintptr_t, std::unique_ptr<Leaf>> leaves_;
};

}  // namespace gpumem
