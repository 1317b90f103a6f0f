// Arrays in boxes: as a process describes its own, as all of them together see the whole, and where boxes meet.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "dist/communicator.hpp"
#include "kernels/permute/params.hpp"
#include "ops/operand.hpp"

namespace gpumem {

constexpr size_t kAxes = kMaxPermuteRank;
using Index = std::array<int64_t, kAxes>;
constexpr Index kOnes = {1, 1, 1, 1, 1, 1, 1, 1};
int64_t product(const Index& extents) noexcept;

// An array of fewer axes than kAxes has one index, 0, along the rest.
struct Box {
  int32_t member = 0;  // among all
  Index lower{};
  Index upper = kOnes;
  // In the member's memory, in elements; of boxes of other processes nothing is known.
  int64_t offset = 0;
  Index strides{};

  Index extents() const noexcept;  // 0 where upper is less than lower
  int64_t elements() const noexcept { return product(extents()); }
  bool empty() const noexcept { return elements() == 0; }
  // The place of an index in the member's memory.
  int64_t place_of(const Index& index) const noexcept;
};

struct Layout {
  int64_t element_bytes = 0;
  int32_t rank = 0;
  Index extents = kOnes;
  std::vector<Box> boxes{};

  int64_t elements() const noexcept { return product(extents); }
};

// Of which processes the members are.
class Members {
 public:
  Members(int32_t process, const std::vector<int32_t>& members_of_each);

  int32_t first() const noexcept { return first_[static_cast<size_t>(process_)]; }
  int32_t here() const noexcept { return first_[static_cast<size_t>(process_) + 1] - first(); }
  int32_t all() const noexcept { return first_.back(); }
  int32_t most_of_a_process() const noexcept;
  int32_t process_of(int32_t member) const noexcept;
  bool is_here(int32_t member) const noexcept { return member >= first() && member < first() + here(); }
  // Of a member of this process.
  size_t local(int32_t member) const noexcept { return static_cast<size_t>(member - first()); }

 private:
  int32_t process_;
  std::vector<int32_t> first_;  // of each process, and one more
};

// This process's part of a layout, as an argument gives it. Throws INVALID_ARGUMENT.
Layout read_layout(const gpumem_dist_layout& given, const char* argument, Access access, const Members& members);

// What a process tells the others of its part, and the whole that all parts make, in which its own boxes have their memory. Throws
// INVALID_ARGUMENT where parts differ.
Bytes words_of(const Layout& part);
Layout join(const std::vector<Bytes>& parts, const Layout& own, const char* argument, const Members& members);

// The same array with axis d as axis order[d] was.
Layout with_axes(const Layout& layout, const std::array<int32_t, kAxes>& order);

// Boxes to look through for those that share elements with another one.
class BoxIndex {
 public:
  explicit BoxIndex(const Layout& layout);

  // Those boxes, by their number, from the lowest up.
  const std::vector<int64_t>& meeting(const Box& box);

 private:
  const Layout& layout_;
  size_t axis_ = 0;  // by which they are sorted
  int64_t longest_ = 0;
  std::vector<int64_t> sorted_;
  std::vector<int64_t> found_;
};

// What two boxes share.
Box common(const Box& a, const Box& b) noexcept;

// Throw INVALID_ARGUMENT, naming the boxes: where boxes share elements, and where those of src do not have what a box of dst asks for.
void require_disjoint(const Layout& layout, const char* argument, const Members& members);
void require_covered(const Layout& src, const Layout& dst, const char* argument, const Members& members);

}  // namespace gpumem
