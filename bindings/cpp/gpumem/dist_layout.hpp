// SPDX-License-Identifier: Apache-2.0
//
// The layout of an array over participants, and the memory of the participants.
#ifndef GPUMEM_DIST_LAYOUT_HPP
#define GPUMEM_DIST_LAYOUT_HPP

#include <gpumem.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gpumem/operations.hpp"
#include "gpumem/views.hpp"

namespace gpumem {

// A box of an array, from `lower` up to but not including `upper`, in the memory of a participant.
struct dist_box {
  std::vector<std::int64_t> lower, upper;
  std::optional<std::int32_t> member = {};  // from 0, in this process; by default i for box i
  std::int64_t offset = 0;                  // elements before the box in that memory
  std::vector<std::int64_t> strides = {};   // in elements; by default row-major without padding
};

namespace detail {
// The elements of a participant's memory that boxes need: [first, end).
struct span_of_member {
  std::int64_t first = 0, end = 0;
};

// The number of ghost cells of each box.
struct ghost_cells {
  list<std::int64_t> low, high;
  list<std::int32_t> periodic;
};
}  // namespace detail

// An array of T and the boxes of this process.
template <class T>
class dist_layout {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>,
                "the elements of an array must be trivially copyable and not const");

 public:
  using element_type = T;

  explicit dist_layout(list<std::int64_t> extents, const std::vector<dist_box>& boxes = {})
      : extents_(extents.begin(), extents.end()) {
    for (const dist_box& box : boxes) add(box);
  }

  dist_layout& add(const dist_box& box) {
    for (const auto* axes : {&box.lower, &box.upper, &box.strides}) {
      if (axes->size() == extents_.size() || (axes == &box.strides && axes->empty())) continue;
      detail::raise({status::invalid_argument, "dist_layout: box " + std::to_string(boxes()) + " has " +
                                                   std::to_string(axes->size()) + " values; expected one per axis, " +
                                                   std::to_string(extents_.size())});
    }
    members_.push_back(box.member.value_or(detail::few_of(boxes())));
    offsets_.push_back(box.offset);
    lower_.insert(lower_.end(), box.lower.begin(), box.lower.end());
    upper_.insert(upper_.end(), box.upper.begin(), box.upper.end());
    strides_.insert(strides_.end(), box.strides.begin(), box.strides.end());
    if (box.strides.empty()) add_tight_strides(box);
    return *this;
  }

  std::int32_t rank() const noexcept { return detail::few_of(extents_.size()); }
  std::int64_t boxes() const noexcept { return static_cast<std::int64_t>(members_.size()); }
  // The number of elements that a participant needs.
  std::int64_t size(std::int32_t member) const {
    detail::span_of_member all;
    for (std::size_t box = 0; box < members_.size(); ++box) {
      if (members_[box] == member) add_box(all, box, {});
    }
    return all.end;
  }

  // The struct of C. It is valid while the layout is unchanged.
  gpumem_dist_layout raw() const {
    gpumem_dist_layout layout;
    detail::check(gpumem_dist_layout_init(&layout, sizeof layout));
    layout.element_bytes = detail::bytes_of<T>();
    layout.rank = rank();
    layout.extents = extents_.data();
    layout.boxes = boxes();
    layout.members = members_.data();
    layout.lower = lower_.data();
    layout.upper = upper_.data();
    layout.offsets = offsets_.data();
    layout.strides = strides_.data();
    return layout;
  }

  std::vector<detail::span_of_member> needed(std::int32_t members, const detail::ghost_cells& ghosts) const {
    std::vector<detail::span_of_member> all(static_cast<std::size_t>(members));
    for (std::size_t box = 0; box < members_.size(); ++box) {
      add_box(all[static_cast<std::size_t>(members_[box])], box, ghosts);
    }
    return all;
  }

 private:
  // a + b * factor. Doubles check the range, because they do not overflow.
  static std::int64_t sum(std::int64_t a, std::int64_t b, std::int64_t factor = 1) {
    const double about = static_cast<double>(a) + static_cast<double>(b) * static_cast<double>(factor);
    if (about < -9.2e18 || about > 9.2e18) {
      detail::raise({status::invalid_argument, "dist_layout: a box has more elements than std::int64_t counts"});
    }
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) +
                                     static_cast<std::uint64_t>(b) * static_cast<std::uint64_t>(factor));
  }

  void add_box(detail::span_of_member& all, std::size_t box, const detail::ghost_cells& ghosts) const {
    std::int64_t first = offsets_[box], last = offsets_[box];
    for (std::size_t d = 0; d < extents_.size(); ++d) {
      const std::size_t at = box * extents_.size() + d;
      if (upper_[at] <= lower_[at]) return;
      std::int64_t low = 0, high = 0;
      if (ghosts.low.size() != 0) {
        low = ghosts.low.begin()[d], high = ghosts.high.begin()[d];
        if (ghosts.periodic.begin()[d] == 0) {  // the plan writes nothing past the ends
          low = std::min(low, lower_[at]);
          high = std::min(high, sum(extents_[d], upper_[at], -1));
        }
      }
      first = sum(first, low, sum(0, strides_[at], -1));
      last = sum(last, sum(sum(upper_[at], lower_[at], -1), sum(high, -1)), strides_[at]);
    }
    all.first = std::min(all.first, first);
    all.end = std::max(all.end, sum(last, 1));
  }

  void add_tight_strides(const dist_box& box) {
    strides_.resize(lower_.size());
    std::int64_t stride = 1;
    for (std::size_t d = extents_.size(); d-- > 0;) {
      strides_[strides_.size() - extents_.size() + d] = stride;
      stride = sum(0, std::max<std::int64_t>(sum(box.upper[d], box.lower[d], -1), 1), stride);
    }
  }

  std::vector<std::int64_t> extents_, lower_, upper_, offsets_, strides_;
  std::vector<std::int32_t> members_;
};

namespace detail {
template <class X, class T, class = void>
inline constexpr bool shows = false;
template <class X, class T>
inline constexpr bool shows<X, T, std::enable_if_t<is_operand<std::remove_reference_t<X>>>> =
    same_elements<shown_t<X>, T>;

template <class C>
using each_of = decltype(*std::begin(std::declval<C&>()));
template <class C, class T, class = void>
inline constexpr bool shows_each = false;
template <class C, class T>
inline constexpr bool shows_each<C, T, std::void_t<each_of<C>>> = shows<each_of<C>, T>;
}  // namespace detail

// The memory of each participant of this process: operands in braces, or a container of operands. nullptr means a
// participant without a box. If there is one participant, one operand is enough.
template <class T>
class dist_parts {
 public:
  struct part {
    template <class X, class = std::enable_if_t<detail::shows<X, T>>>
    part(X&& x) {
      const auto all = detail::contiguous(std::forward<X>(x));
      address = all.data;
      size = all.size;
    }
    part(std::nullptr_t) {}

    T* address = nullptr;
    std::int64_t size = 0;
  };

  dist_parts(std::initializer_list<part> parts) {
    for (const part& one : parts) add(one);
  }
  template <class X, std::enable_if_t<detail::shows<X, T>, int> = 0>
  dist_parts(X&& x) {
    add(std::forward<X>(x));
  }
  template <class C, std::enable_if_t<!detail::shows<C, T> && detail::shows_each<C, T>, int> = 0>
  dist_parts(C&& parts) {
    static_assert(std::is_lvalue_reference_v<C> || is_view<detail::bare<detail::each_of<C>>>,
                  "this temporary owns its memory, which would end with the call: store it in a variable");
    for (auto& one : parts) add(one);
  }

  std::int64_t count() const noexcept { return static_cast<std::int64_t>(addresses_.size()); }
  auto data() const noexcept { return addresses_.data(); }
  // The error message if a part is too small or their number is wrong, else "".
  std::string misfit(const char* name, const std::vector<detail::span_of_member>& needed) const {
    const auto sentence = [](const std::string& what, std::int64_t there, const char* of, std::int64_t expected) {
      return what + " has " + std::to_string(there) + of + std::to_string(expected);
    };
    if (addresses_.size() != needed.size())
      return sentence(name, count(), " parts; expected one per member, ", static_cast<std::int64_t>(needed.size()));
    for (std::size_t i = 0; i < needed.size(); ++i) {
      const std::string which = std::string(name) + "[" + std::to_string(i) + "]";
      const auto [first, end] = needed[i];
      if (first < 0) {
        return which + " has " + std::to_string(sizes_[i]) + " elements, and its boxes with their halo reach from " +
               std::to_string(first) + " to " + std::to_string(end) + "; expected " + std::to_string(end - first) +
               " elements, and offsets of the boxes that are " + std::to_string(-first) + " more";
      }
      if (end > sizes_[i]) return sentence(which, sizes_[i], " elements; expected ", end);
    }
    return {};
  }

 private:
  void add(part one) {
    addresses_.push_back(one.address);
    sizes_.push_back(one.size);
  }

  std::vector<std::conditional_t<std::is_const_v<T>, const void*, void*>> addresses_;
  std::vector<std::int64_t> sizes_;
};

}  // namespace gpumem

#endif  // GPUMEM_DIST_LAYOUT_HPP
