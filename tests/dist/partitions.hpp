// Random extents, cut into boxes in the ways that programs do and in others.
#pragma once

#include <numeric>
#include <utility>

#include "dist/layouts.hpp"
#include "support/numbers.hpp"
#include "support/random.hpp"

namespace gpumem_test {

template <class T>
void shuffle(std::vector<T>& items, Random& random) {
  for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random.below(i)]);
}

inline std::vector<int32_t> random_order(size_t rank, Random& random) {
  std::vector<int32_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  shuffle(order, random);
  return order;
}

// Up to about `elements` of them in all; seldom none.
inline Index random_extents(size_t rank, int64_t elements, Random& random) {
  Index extents(rank, 1);
  double left = static_cast<double>(log_uniform(1, elements, random));
  for (size_t d = 0; d < rank; ++d) {
    const double even = std::pow(left, 1.0 / static_cast<double>(rank - d));
    const double most = d + 1 == rank ? left : std::min(left, even * 2.5);
    const double least = d + 1 == rank ? left : even / 2.5;
    extents[d] = std::max<int64_t>(1, random.between(static_cast<int64_t>(least), static_cast<int64_t>(most)));
    left = std::max(1.0, left / static_cast<double>(extents[d]));
  }
  std::vector<int32_t> order = random_order(rank, random);
  Index shuffled(rank);
  for (size_t d = 0; d < rank; ++d) shuffled[d] = extents[static_cast<size_t>(order[d])];
  if (random.below(40) == 0) shuffled[random.below(rank)] = 0;
  return shuffled;
}

// Ranks 1 to 4, now and then up to 8.
inline size_t random_rank(Random& random) { return random.below(8) == 0 ? 5 + random.below(4) : 1 + random.below(4); }

inline int64_t random_element_bytes(Random& random) { return int64_t{1} << random.below(5); }

namespace cutting {

// Where pieces of an axis end and the next begin: count + 1 numbers. Pieces may be empty.
inline Index cuts(int64_t extent, int64_t count, Random& random) {
  Index at(static_cast<size_t>(count) + 1);
  const bool even = random.below(2) == 0;
  for (size_t i = 0; i < at.size(); ++i) {
    at[i] = even ? static_cast<int64_t>(i) * extent / count : random.between(0, extent);
  }
  at.front() = 0;
  at.back() = extent;
  std::sort(at.begin(), at.end());
  return at;
}

inline Index every(int64_t extent, int64_t block) {
  Index at = {0};
  while (at.back() < extent) at.push_back(std::min(at.back() + block, extent));
  return at;
}

// The cells of a grid, and in which piece of each axis they are.
template <class Owner>
std::vector<Box> grid(const std::vector<Index>& cuts, Owner owner) {
  std::vector<Box> boxes;
  Index pieces;
  for (const Index& axis : cuts) pieces.push_back(static_cast<int64_t>(axis.size()) - 1);
  for_each_index(Index(pieces.size(), 0), pieces, [&](const Index& cell) {
    Box& box = boxes.emplace_back();
    for (size_t d = 0; d < cell.size(); ++d) {
      box.lower.push_back(cuts[d][static_cast<size_t>(cell[d])]);
      box.upper.push_back(cuts[d][static_cast<size_t>(cell[d]) + 1]);
    }
    box.member = owner(cell, static_cast<int64_t>(boxes.size()) - 1);
  });
  return boxes;
}

inline std::vector<Box> slabs(const Index& extents, int64_t members, Random& random) {
  std::vector<Index> at;
  const size_t axis = random.below(2) == 0 ? 0 : random.below(extents.size());
  for (size_t d = 0; d < extents.size(); ++d) {
    at.push_back(d == axis ? cuts(extents[d], members, random) : Index{0, extents[d]});
  }
  return grid(at, [](const Index&, int64_t number) { return number; });
}

inline std::vector<Box> pencils(const Index& extents, int64_t members, Random& random) {
  const size_t first = random.below(extents.size());
  const size_t second = (first + 1 + random.below(extents.size() - 1)) % extents.size();
  const int64_t p = random.between(1, members);
  std::vector<Index> at;
  for (size_t d = 0; d < extents.size(); ++d) {
    at.push_back(d == first    ? cuts(extents[d], p, random)
                 : d == second ? cuts(extents[d], (members + p - 1) / p, random)
                               : Index{0, extents[d]});
  }
  return grid(at, [&](const Index&, int64_t number) { return number % members; });
}

inline std::vector<Box> blocks(const Index& extents, int64_t members, Random& random) {
  std::vector<Index> at;
  int64_t cells = 1;
  for (const int64_t extent : extents) {
    const int64_t pieces = cells > 32 ? 1 : random.between(1, 3);
    cells *= pieces;
    at.push_back(cuts(extent, pieces, random));
  }
  return grid(at, [&](const Index&, int64_t) { return random.between(0, members - 1); });
}

inline std::vector<Box> block_cyclic(const Index& extents, int64_t members, Random& random) {
  std::vector<Index> at;
  Index dealt(extents.size());
  int64_t cells = 1;
  for (size_t d = 0; d < extents.size(); ++d) {
    const int64_t most = std::max<int64_t>(1, 200 / cells);
    const int64_t least = std::max<int64_t>(1, (extents[d] + most - 1) / most);
    at.push_back(every(extents[d], random.between(least, std::max(least, extents[d] / 2))));
    cells *= static_cast<int64_t>(at.back().size());
    dealt[d] = random.between(1, members);
  }
  return grid(at, [&](const Index& cell, int64_t) {
    int64_t owner = 0;
    for (size_t d = 0; d < cell.size(); ++d) owner = owner * dealt[d] + cell[d] % dealt[d];
    return owner % members;
  });
}

// Halved again and again, at random places along random axes.
inline std::vector<Box> halves(const Index& extents, int64_t members, Random& random) {
  std::vector<Box> boxes(1);
  boxes[0].lower.assign(extents.size(), 0);
  boxes[0].upper = extents;
  for (int64_t more = random.between(0, 4 * members); more > 0; --more) {
    Box& box = boxes[random.below(boxes.size())];
    const size_t axis = random.below(extents.size());
    Box rest = box;
    rest.lower[axis] = box.upper[axis] = random.between(box.lower[axis], box.upper[axis]);
    boxes.push_back(rest);
  }
  for (Box& box : boxes) box.member = random.between(0, members - 1);
  return boxes;
}

inline Box random_box(const Index& extents, int64_t members, Random& random) {
  Box box;
  box.member = random.between(0, members - 1);
  for (const int64_t extent : extents) {
    const int64_t one = random.between(0, extent), other = random.between(0, extent);
    box.lower.push_back(std::min(one, other));
    box.upper.push_back(std::max(one, other));
  }
  return box;
}

inline Box whole_array(const Index& extents, int64_t member) {
  return {member, Index(extents.size(), 0), extents, 0, Index(extents.size(), 1)};
}

}  // namespace cutting

// Disjoint boxes that together are the array.
inline std::vector<Box> random_partition(const Index& extents, int64_t members, Random& random) {
  std::vector<Box> boxes;
  switch (random.below(7)) {
    case 0:
    case 1:
      boxes = cutting::slabs(extents, members, random);
      break;
    case 2:
      boxes =
          extents.size() > 1 ? cutting::pencils(extents, members, random) : cutting::slabs(extents, members, random);
      break;
    case 3:
      boxes = cutting::blocks(extents, members, random);
      break;
    case 4:
      boxes = cutting::block_cyclic(extents, members, random);
      break;
    case 5:
      boxes = cutting::halves(extents, members, random);
      break;
    default:
      boxes = {cutting::whole_array(extents, random.between(0, members - 1))};
  }
  if (random.below(2) == 0) std::erase_if(boxes, [](const Box& box) { return box.empty(); });
  if (random.below(4) == 0) {
    Box box = cutting::random_box(extents, members, random);
    const size_t axis = random.below(extents.size());
    box.upper[axis] = box.lower[axis];
    boxes.push_back(box);
  }
  if (random.below(2) == 0) shuffle(boxes, random);
  return boxes;
}

// Any boxes: a partition, a copy for each member, or some that may share elements and leave others out.
inline std::vector<Box> random_targets(const Index& extents, int64_t members, Random& random) {
  const uint64_t kind = random.below(6);
  if (kind > 1) return random_partition(extents, members, random);
  std::vector<Box> boxes;
  if (kind == 0) {
    for (int64_t member = 0; member < members; ++member) boxes.push_back(cutting::whole_array(extents, member));
  } else {
    for (int64_t more = random.between(0, 2 * members); more > 0; --more) {
      boxes.push_back(cutting::random_box(extents, members, random));
    }
  }
  return boxes;
}

}  // namespace gpumem_test
