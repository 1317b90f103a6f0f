// Arrays in boxes: one process's part, the whole layout, and the intersections of boxes.
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

// Axes beyond the rank of the array have the one index 0.
struct Box {
  int32_t member = 0;
  Index lower{};
  Index upper = kOnes;
  // In the participant's memory, in elements; unknown for boxes of other processes.
  int64_t offset = 0;
  Index strides{};

  Index extents() const noexcept;  // 0 if upper is less than lower.
  int64_t elements() const noexcept { return product(extents()); }
  bool empty() const noexcept { return elements() == 0; }
  int64_t place_of(const Index& index) const noexcept;
};

struct Layout {
  int64_t element_bytes = 0;
  int32_t rank = 0;
  Index extents = kOnes;
  std::vector<Box> boxes{};

  int64_t elements() const noexcept { return product(extents); }
};

class Members {
 public:
  Members(int32_t process, const std::vector<int32_t>& members_of_each);

  int32_t first() const noexcept { return first_[static_cast<size_t>(process_)]; }
  int32_t here() const noexcept { return first_[static_cast<size_t>(process_) + 1] - first(); }
  int32_t all() const noexcept { return first_.back(); }
  int32_t most_of_a_process() const noexcept;
  int32_t process_of(int32_t member) const noexcept;
  bool is_here(int32_t member) const noexcept { return member >= first() && member < first() + here(); }
  size_t local(int32_t member) const noexcept { return static_cast<size_t>(member - first()); }

 private:
  int32_t process_;
  std::vector<int32_t> first_;
};

// Reads and checks this process's part of a layout. Throws INVALID_ARGUMENT.
Layout read_layout(const gpumem_dist_layout& given, const char* argument, Access access, const Members& members);

// words_of() encodes a part. join() makes the whole, or throws INVALID_ARGUMENT if parts differ. own: has local memory.
Bytes words_of(const Layout& part);
Layout join(const std::vector<Bytes>& parts, const Layout& own, const char* argument, const Members& members);

// The same array, with its old axis order[d] as axis d.
Layout with_axes(const Layout& layout, const std::array<int32_t, kAxes>& order);

class BoxIndex {
 public:
  explicit BoxIndex(const Layout& layout);

  // Numbers of those boxes, ascending.
  const std::vector<int64_t>& meeting(const Box& box);

 private:
  const Layout& layout_;
  size_t axis_ = 0;
  int64_t longest_ = 0;
  std::vector<int64_t> sorted_;
  std::vector<int64_t> found_;
};

Box common(const Box& a, const Box& b) noexcept;

// Throw INVALID_ARGUMENT with the boxes' numbers: if boxes share elements, or if src lacks elements of a dst box.
void require_disjoint(const Layout& layout, const char* argument, const Members& members);
// halo: dst has the ghost cells of src's boxes.
void require_covered(const Layout& src, const Layout& dst, bool halo, const Members& members);

}  // namespace gpumem
