// Room in a vector ahead of what must not fail.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace gpumem {

// Room for so many elements in all. It grows by doubling, as std::vector::reserve() does not, so that room made for each of n elements
// moves them about twice.
template <class T>
void reserve_doubling(std::vector<T>& elements, size_t in_all) {
  if (in_all > elements.capacity()) elements.reserve(std::max(in_all, 2 * elements.capacity()));
}

}  // namespace gpumem
