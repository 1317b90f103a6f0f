// Reserves room in a vector before code that must not fail.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace gpumem {

// Room for so many elements in total. Doubles, unlike std::vector::reserve(), so n calls move each about twice.
template <class T>
void reserve_doubling(std::vector<T>& elements, size_t in_all) {
  if (in_all > elements.capacity()) elements.reserve(std::max(in_all, 2 * elements.capacity()));
}

}  // namespace gpumem
