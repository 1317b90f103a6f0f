// How in_place_slots divides a matrix: n structures of m members become slots of members of neighbouring structures.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/limits.hpp"
#include "kernels/transpose/limits.hpp"
#include "kernels/transpose/params.hpp"

namespace gpumem {

struct Slots {
  int64_t n;     // structures
  int64_t m;     // members per structure
  int64_t tile;  // structures of a tile
  int64_t tiles;
  int64_t rest;  // structures outside tiles; fewer than tiles
  Slots(int64_t structures, int64_t members, int64_t largest)
      : n(structures), m(members), tile(n / ceil_div(n, largest)), tiles(n / tile), rest(n % tile) {}
  int64_t all() const { return tiles * m; }
};

constexpr int64_t kPanelBytes = 512;  // minimum width if there is room

// Maximum structures per tile. Panels of kPanelBytes then fit half of the room, if shared memory has room for the tile.
inline int64_t largest_tile(int64_t n, int64_t m, int64_t bytes, int64_t room, int64_t shared_room) {
  const auto of = [&](int64_t elements) { return std::clamp<int64_t>(elements / m, 1, n); };
  const int64_t wanted =
      std::clamp<int64_t>(kPanelBytes * n / std::max<int64_t>(room / 2 / m * bytes, 1), 1, std::max<int64_t>(n / 2, 1));
  const int64_t many = of(std::min(shared_room, kTransposeSharedOfMany) / bytes);
  const int64_t one = of(shared_room / bytes);
  if (std::max(many, one) < wanted) return std::max(wanted, std::min({of(room / 2), 4 * wanted, n / 2}));
  return many >= wanted ? many : one;
}

// Elements of scratch memory: the wanted number or a line, at most half of the matrix, but at least two per slot.
inline int64_t slots_workspace(const TransposeParams& p, int64_t wanted, int64_t shared_bytes) {
  const int64_t n = std::max(p.rows, p.cols);
  const int64_t m = std::min(p.rows, p.cols);
  const int64_t room = std::min(std::max(wanted, n), n * m / 2);
  return std::max(room, 2 * Slots(n, m, largest_tile(n, m, p.element_bytes, room, shared_bytes)).all());
}

}  // namespace gpumem
