// SPDX-License-Identifier: Apache-2.0
//
// Views of up to eight axes with strides, for sums and products of shifted parts of arrays.
#ifndef GPUMEM_GRID_VIEW_HPP
#define GPUMEM_GRID_VIEW_HPP

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gpumem/views.hpp"

namespace gpumem {

// An array of up to eight axes in any memory, row-major. Strides are in elements; by default the array has no padding.
// A stride of a view that is only read may be 0, which repeats the elements.
template <class T>
class grid_view {
 public:
  using element_type = T;

  template <class X>
  grid_view(X&& x, list<std::int64_t> extents, list<std::int64_t> strides = {}) {
    const auto all = detail::contiguous(std::forward<X>(x));
    address_ = all.data;
    set(extents, strides);
    check(all.size);
  }
  template <class U, class = std::enable_if_t<detail::same_elements<U, T>>>
  grid_view(matrix_view<U> m) : address_(m.address()) {
    if (m.batches() == 1) {
      set({m.rows(), m.cols()}, {m.ld(), 1});
    } else {
      set({m.batches(), m.rows(), m.cols()}, {m.batch_stride(), m.ld(), 1});
    }
  }
  template <class U, class = std::enable_if_t<detail::same_elements<U, T>>>
  grid_view(const grid_view<U>& other) : address_(other.address()) {
    set({other.extents(), other.rank()}, {other.strides(), other.rank()});
  }

  grid_view part(list<std::int64_t> first, list<std::int64_t> extents) const {
    bool inside = first.size() == rank_ && extents.size() == rank_;
    for (std::int32_t d = 0; inside && d < rank_; ++d) {
      const std::int64_t begin = first.begin()[d], count = extents.begin()[d];
      inside = begin >= 0 && count >= 0 && begin <= extents_[d] && count <= extents_[d] - begin;
    }
    if (!inside) detail::raise({status::out_of_range, "grid_view: the part reaches past the view"});
    grid_view some = *this;
    some.set(extents, {strides_, rank_});
    for (std::int32_t d = 0; !some.empty() && d < rank_; ++d) some.address_ += first.begin()[d] * strides_[d];
    return some;
  }

  T* address() const noexcept { return address_; }
  std::int32_t rank() const noexcept { return rank_; }
  const std::int64_t* extents() const noexcept { return extents_; }
  const std::int64_t* strides() const noexcept { return strides_; }
  bool empty() const noexcept {
    for (std::int32_t d = 0; d < rank_; ++d) {
      if (extents_[d] == 0) return true;
    }
    return false;
  }

 private:
  void set(list<std::int64_t> extents, list<std::int64_t> strides) {
    bool good = extents.size() <= 8 && (strides.size() == 0 || strides.size() == extents.size());
    rank_ = good ? static_cast<std::int32_t>(extents.size()) : 0;
    for (std::int32_t d = rank_ - 1; d >= 0; --d) {
      extents_[d] = extents.begin()[d];
      if (strides.size() != 0) {
        strides_[d] = strides.begin()[d];
      } else if (d == rank_ - 1) {
        strides_[d] = 1;
      } else if (extents_[d + 1] <= INT64_MAX / strides_[d + 1]) {
        strides_[d] = extents_[d + 1] > 0 ? extents_[d + 1] * strides_[d + 1] : 1;
      } else {
        good = false;
      }
      good = good && extents_[d] >= 0 && strides_[d] >= 0;
    }
    if (!good) {
      detail::raise({status::invalid_argument,
                     "grid_view: expected up to eight extents, one stride per extent or none, and no negative number"});
    }
  }
  void check(std::int64_t size) const {
    if (empty()) return;
    std::int64_t left = size < 0 ? -1 : size - 1;  // by division: a product could overflow
    for (std::int32_t d = 0; d < rank_ && left >= 0; ++d) {
      if (strides_[d] == 0) continue;
      left = extents_[d] - 1 <= left / strides_[d] ? left - (extents_[d] - 1) * strides_[d] : -1;
    }
    if (left < 0) {
      detail::raise({status::out_of_range,
                     "grid_view: the extents and strides reach past its " + std::to_string(size) + " elements"});
    }
  }

  T* address_ = nullptr;
  std::int32_t rank_ = 0;
  std::int64_t extents_[8] = {}, strides_[8] = {};
};

template <class X>
grid_view(X&&, list<std::int64_t>) -> grid_view<detail::element_t<X>>;
template <class X>
grid_view(X&&, list<std::int64_t>, list<std::int64_t>) -> grid_view<detail::element_t<X>>;
template <class T>
grid_view(matrix_view<T>) -> grid_view<T>;

namespace detail {
// Operands of several axes. The others are sequences.
template <class X>
inline constexpr bool is_grid = false;
template <class T>
inline constexpr bool is_grid<grid_view<T>> = true;
template <class T>
inline constexpr bool is_grid<matrix_view<T>> = true;

template <class T, class U>
bool same_shape(const grid_view<T>& a, const grid_view<U>& b) {
  bool same = a.rank() == b.rank();
  for (std::int32_t d = 0; same && d < a.rank(); ++d) same = a.extents()[d] == b.extents()[d];
  return same;
}

template <class X>
inline constexpr bool becomes_grid = is_grid<bare<X>> || is_matrix<bare<X>>;
}  // namespace detail

// A summand of lincomb(): factor * *numerator / *denominator * x. The work reads the numbers when it runs. nullptr is 1.
template <class T>
struct term {
  T factor;
  grid_view<const T> x;
  const double* numerator = nullptr;
  const double* denominator = nullptr;
};

namespace detail {
// The terms of a sum as the arguments of a function.
template <class T>
struct terms_of {
  std::vector<T> factors;
  std::vector<const T*> x;
  std::vector<std::int64_t> strides;
  std::vector<const double*> above, below;
  bool in_memory = false;

  template <class Terms>
  explicit terms_of(const Terms& terms) {
    for (const auto& one : terms) {
      factors.push_back(one.factor);
      above.push_back(one.numerator);
      below.push_back(one.denominator);
      in_memory = in_memory || one.numerator != nullptr || one.denominator != nullptr;
      x.push_back(one.x.address());
      strides.insert(strides.end(), one.x.strides(), one.x.strides() + one.x.rank());
    }
  }
};
}  // namespace detail

}  // namespace gpumem

#endif  // GPUMEM_GRID_VIEW_HPP
