#include "memory/page_map.hpp"

#include <algorithm>

#include "base/scope_exit.hpp"

namespace gpumem {

void PageMap::Cell::insert(Region& region) {
  if (empty()) {
    one = &region;
    return;
  }
  if (several == nullptr) {
    auto both = std::make_unique<std::vector<Region*>>();
    both->reserve(4);
    both->push_back(one);
    several = std::move(both);
    one = nullptr;
  }
  const auto place = std::upper_bound(several->begin(), several->end(), region.base,
                                      [](uintptr_t base, const Region* other) { return base < other->base; });
  several->insert(place, &region);
}

void PageMap::Cell::erase(const Region& region) noexcept {
  if (one == &region) one = nullptr;
  if (several == nullptr) return;
  std::erase(*several, &region);
  if (several->size() > 1) return;
  one = several->front();
  several.reset();
}

void PageMap::insert_at(uintptr_t piece, Region& region) {
  auto& leaf = leaves_[piece >> kLeafBits];
  ScopeExit drop([&] {
    if (leaf == nullptr || leaf->used == 0) leaves_.erase(piece >> kLeafBits);
  });
  if (leaf == nullptr) leaf = spare_ != nullptr ? std::move(spare_) : std::make_unique<Leaf>();
  Cell& cell = leaf->cells[cell_of(piece)];
  const bool was_empty = cell.empty();
  cell.insert(region);
  if (was_empty) ++leaf->used;
  drop.release();
}

void PageMap::erase_at(uintptr_t piece, const Region& region) noexcept {
  const auto found = leaves_.find(piece >> kLeafBits);
  if (found == leaves_.end()) return;
  Leaf& leaf = *found->second;
  Cell& cell = leaf.cells[cell_of(piece)];
  if (cell.empty()) return;
  cell.erase(region);
  if (!cell.empty() || --leaf.used > 0) return;
  spare_ = std::move(found->second);
  leaves_.erase(found);
}

void PageMap::insert(Region& region) {
  uintptr_t piece = first_piece(region);
  ScopeExit drop([&] {
    while (piece-- > first_piece(region)) erase_at(piece, region);
  });
  for (; piece <= last_piece(region); ++piece) insert_at(piece, region);
  drop.release();
}

void PageMap::erase(const Region& region) noexcept {
  for (uintptr_t piece = first_piece(region); piece <= last_piece(region); ++piece) erase_at(piece, region);
}

Region* PageMap::find(uintptr_t p) const noexcept {
  const uintptr_t piece = p >> kPieceBits;
  const auto found = leaves_.find(piece >> kLeafBits);
  if (found == leaves_.end()) return nullptr;
  const Cell& cell = found->second->cells[cell_of(piece)];
  if (cell.several == nullptr) return cell.one != nullptr && cell.one->contains(p) ? cell.one : nullptr;
  const auto after = std::upper_bound(cell.several->begin(), cell.several->end(), p,
                                      [](uintptr_t address, const Region* region) { return address < region->base; });
  if (after == cell.several->begin()) return nullptr;
  Region* before = *std::prev(after);
  return before->contains(p) ? before : nullptr;
}

}  // namespace gpumem
