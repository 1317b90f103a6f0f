#include "dist/layout.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <utility>

#include "base/checked.hpp"
#include "ops/strides.hpp"

namespace gpumem {
namespace {

// The transmitted form of a layout: this, and a BoxWords per box.
struct LayoutWords {
  int64_t element_bytes;
  int64_t rank;
  Index extents;

  friend bool operator==(const LayoutWords&, const LayoutWords&) = default;
};
struct BoxWords {
  int64_t member;
  Index lower;
  Index upper;
};

[[gnu::cold]] std::string range_of(const Layout& layout, const Box& box) {
  std::string range = "[";
  for (size_t d = 0; d < static_cast<size_t>(layout.rank); ++d) {
    range += (d == 0 ? "" : ", ") + std::to_string(box.lower[d]) + ":" + std::to_string(box.upper[d]);
  }
  return range + "]";
}

[[gnu::cold]] std::string name_of(const Layout& layout, int64_t number, const char* argument, const Members& members) {
  const Box& box = layout.boxes[static_cast<size_t>(number)];
  const int32_t process = members.process_of(box.member);
  const auto of_process = std::count_if(layout.boxes.begin(), layout.boxes.begin() + number, [&](const Box& before) {
    return members.process_of(before.member) == process;
  });
  return std::string(argument) + ": box " + std::to_string(of_process) + " of process " + std::to_string(process) +
         " (member " + std::to_string(box.member) + ", " + range_of(layout, box) + ")";
}

template <class T>
void require_array(const T* p, int64_t count, const char* argument, const char* what) {
  if (p == nullptr && count > 0) fail(GPUMEM_INVALID_ARGUMENT, "%s->%s is NULL; expected an array", argument, what);
}

// All sums of products of indices and strides must fit, in bytes. Distinct written elements need distinct places.
void check_memory(const Box& box, const gpumem_dist_layout& given, Access access, const char* name) {
  const Index lengths = box.extents();
  int64_t last = box.offset;
  for (size_t d = 0; d < kAxes; ++d) last = checked_add(last, checked_mul(lengths[d] - 1, box.strides[d], name), name);
  checked_mul(checked_add(last, 1, name), given.element_bytes, name);
  const std::string strides = std::string(name) + ": strides";
  if (access == Access::write) check_distinct({strides.c_str(), name, given.rank, lengths.data(), box.strides.data()});
}

// Whether two boxes share a place: whether their distance is a sum of steps, within the extents.
class Meeting {
 public:
  Meeting(const Box& a, const Box& b) noexcept {
    for (size_t d = 0; d < kAxes; ++d) add(a.strides[d], 0, a.extents()[d] - 1);
    for (size_t d = 0; d < kAxes; ++d) add(b.strides[d], 1 - b.extents()[d], 0);
    std::sort(steps_.begin(), steps_.begin() + count_,
              [](const Step& x, const Step& y) { return x.length > y.length; });
    for (size_t i = count_; i-- > 0;) {
      steps_[i].least_sum = steps_[i + 1].least_sum + steps_[i].least * steps_[i].length;
      steps_[i].most_sum = steps_[i + 1].most_sum + steps_[i].most * steps_[i].length;
      steps_[i].divisor = std::gcd(steps_[i + 1].divisor, steps_[i].length);
    }
  }

  // tries: remaining attempts. At 0 the answer is unknown and counts as no.
  bool at(int64_t distance, int64_t& tries, size_t from = 0) const noexcept {
    if (--tries < 0) return false;
    const Step& step = steps_[from];
    if (distance < step.least_sum || distance > step.most_sum) return false;
    if (from == count_) return true;
    if (distance % step.divisor != 0) return false;
    const Step& rest = steps_[from + 1];
    const int64_t most = std::min(step.most, floor_of(distance - rest.least_sum, step.length));
    for (int64_t n = std::max(step.least, -floor_of(rest.most_sum - distance, step.length)); n <= most && tries > 0;
         ++n) {
      if (at(distance - n * step.length, tries, from + 1)) return true;
    }
    return false;
  }

 private:
  struct Step {
    int64_t length = 0;  // in elements
    int64_t least = 0;
    int64_t most = 0;
    int64_t least_sum = 0;  // of this step and all later ones
    int64_t most_sum = 0;
    int64_t divisor = 0;
  };

  static int64_t floor_of(int64_t a, int64_t b) noexcept { return a / b - (a % b < 0 ? 1 : 0); }
  void add(int64_t length, int64_t least, int64_t most) noexcept {
    if (least == most) return;
    const auto end = steps_.begin() + count_;
    auto step = std::find_if(steps_.begin(), end, [&](const Step& known) { return known.length == length; });
    if (step == end) ++count_;
    step->length = length;
    step->least += least;
    step->most += most;
  }

  std::array<Step, 2 * kAxes + 1> steps_{};
  size_t count_ = 0;
};

// The same elements at the same places may be written twice.
bool are_shared(const Box& a, const Box& b) noexcept {
  if (common(a, b).empty()) return false;
  auto distance = static_cast<uint64_t>(b.offset - a.offset);
  for (size_t d = 0; d < kAxes; ++d) {
    if (a.strides[d] != b.strides[d] && std::max(a.extents()[d], b.extents()[d]) > 1) return false;
    distance -= static_cast<uint64_t>(b.lower[d] - a.lower[d]) * static_cast<uint64_t>(a.strides[d]);
  }
  return distance == 0;
}

// Written boxes need distinct places. If very many boxes interleave, only some are checked.
void require_apart(const Layout& layout, const char* argument) {
  constexpr int64_t kMostTries = int64_t{1} << 22;
  std::vector<size_t> in_order;
  for (size_t i = 0; i < layout.boxes.size(); ++i) {
    if (!layout.boxes[i].empty()) in_order.push_back(i);
  }
  std::sort(in_order.begin(), in_order.end(), [&](size_t i, size_t j) {
    const Box& a = layout.boxes[i];
    const Box& b = layout.boxes[j];
    return std::pair(a.member, a.offset) < std::pair(b.member, b.offset);
  });
  int64_t tries = kMostTries;
  for (size_t i = 0; i < in_order.size(); ++i) {
    const Box& a = layout.boxes[in_order[i]];
    Index last;
    for (size_t d = 0; d < kAxes; ++d) last[d] = a.upper[d] - 1;
    const int64_t end = a.place_of(last);
    for (size_t j = i + 1; j < in_order.size() && tries > 0; ++j) {
      const Box& b = layout.boxes[in_order[j]];
      if (b.member != a.member || b.offset > end) break;
      if (are_shared(a, b) || !Meeting(a, b).at(b.offset - a.offset, tries)) continue;
      fail(GPUMEM_INVALID_ARGUMENT,
           "%s: boxes %zu and %zu of member %d have places in common; expected places of their own, but for the same "
           "elements",
           argument, std::min(in_order[i], in_order[j]), std::max(in_order[i], in_order[j]), a.member);
    }
  }
}

Box read_box(const gpumem_dist_layout& given, int64_t number, const char* argument, Access access,
             const Members& members) {
  const int64_t member = given.members == nullptr ? number : given.members[number];
  if (member < 0 || member >= members.here()) {
    fail(GPUMEM_INVALID_ARGUMENT, "%s: box %lld is of member %lld; expected 0 to %d, a member of this process",
         argument, ll(number), ll(member), members.here() - 1);
  }
  Box box{.member = members.first() + static_cast<int32_t>(member)};
  const std::string name =
      std::string(argument) + ": box " + std::to_string(number) + " of member " + std::to_string(box.member);
  const auto refuse = [&](const char* what, int64_t value, const char* expected) {
    fail(GPUMEM_INVALID_ARGUMENT, "%s: %s is %lld; expected %s", name.c_str(), what, ll(value), expected);
  };
  for (int32_t d = 0; d < given.rank; ++d) {
    const auto axis = static_cast<size_t>(d);
    const int64_t at = number * given.rank + d;
    box.lower[axis] = given.lower[at];
    box.upper[axis] = given.upper[at];
    if (box.lower[axis] < 0) refuse("lower", box.lower[axis], "0 or more");
    if (box.upper[axis] < box.lower[axis]) refuse("upper", box.upper[axis], "lower or more");
    if (box.upper[axis] > given.extents[d]) refuse("upper", box.upper[axis], "at most the array's extent");
    if (given.strides != nullptr) box.strides[axis] = given.strides[at];
  }
  // Strides count only along axes of several elements in a non-empty box.
  for (size_t d = 0; given.strides != nullptr && !box.empty() && d < static_cast<size_t>(given.rank); ++d) {
    if (box.strides[d] < 1 && box.extents()[d] > 1) refuse("stride", box.strides[d], "1 or more");
  }
  if (given.strides == nullptr) fill_tight(box.strides.data(), box.extents().data(), given.rank);
  if (given.offsets != nullptr) box.offset = given.offsets[number];
  if (box.offset < 0) refuse("offset", box.offset, "0 or more");
  if (!box.empty()) check_memory(box, given, access, name.c_str());
  return box;
}

}  // namespace

int64_t product(const Index& extents) noexcept {
  return std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
}

Index Box::extents() const noexcept {
  Index lengths;
  for (size_t d = 0; d < kAxes; ++d) lengths[d] = std::max<int64_t>(upper[d] - lower[d], 0);
  return lengths;
}

int64_t Box::place_of(const Index& index) const noexcept {
  int64_t place = offset;
  for (size_t d = 0; d < kAxes; ++d) place += (index[d] - lower[d]) * strides[d];
  return place;
}

Members::Members(int32_t process, const std::vector<int32_t>& members_of_each) : process_(process), first_(1, 0) {
  for (const int32_t members : members_of_each) first_.push_back(first_.back() + members);
}

int32_t Members::most_of_a_process() const noexcept {
  int32_t most = 0;
  for (size_t i = 1; i < first_.size(); ++i) most = std::max(most, first_[i] - first_[i - 1]);
  return most;
}

int32_t Members::process_of(int32_t member) const noexcept {
  return static_cast<int32_t>(std::upper_bound(first_.begin(), first_.end(), member) - first_.begin()) - 1;
}

Layout read_layout(const gpumem_dist_layout& given, const char* argument, Access access, const Members& members) {
  require_element_size("element_bytes", given.element_bytes);
  if (given.rank < 1 || given.rank > static_cast<int32_t>(kAxes)) {
    fail(GPUMEM_INVALID_ARGUMENT, "%s->rank is %d; expected 1 to %zu", argument, given.rank, kAxes);
  }
  require_array(given.extents, 1, argument, "extents");
  Layout layout{.element_bytes = given.element_bytes, .rank = given.rank};
  int64_t elements = 1;
  for (int32_t d = 0; d < given.rank; ++d) {
    require_at_least("extents", given.extents[d], 0);
    layout.extents[static_cast<size_t>(d)] = given.extents[d];
    elements = checked_mul(elements, std::max<int64_t>(given.extents[d], 1), "extents");
  }
  checked_mul(elements, given.element_bytes, "extents x element_bytes");
  require_at_least("boxes", given.boxes, 0);
  checked_mul(given.boxes, given.rank * int64_t{sizeof(int64_t)}, "boxes x rank");
  require_array(given.lower, given.boxes, argument, "lower");
  require_array(given.upper, given.boxes, argument, "upper");
  layout.boxes.reserve(static_cast<size_t>(given.boxes));
  for (int64_t i = 0; i < given.boxes; ++i) layout.boxes.push_back(read_box(given, i, argument, access, members));
  if (access == Access::write) require_apart(layout, argument);
  return layout;
}

Bytes words_of(const Layout& part) {
  Bytes bytes;
  put(bytes, LayoutWords{part.element_bytes, part.rank, part.extents});
  for (const Box& box : part.boxes) put(bytes, BoxWords{box.member, box.lower, box.upper});
  return bytes;
}

Layout join(const std::vector<Bytes>& parts, const Layout& own, const char* argument, const Members& members) {
  const auto first = Reader(parts[0], 0).take<LayoutWords>();
  Layout whole{.element_bytes = own.element_bytes, .rank = own.rank, .extents = own.extents};
  for (size_t process = 0; process < parts.size(); ++process) {
    const auto number = static_cast<int32_t>(process);
    Reader reader(parts[process], number);
    if (reader.take<LayoutWords>() != first) {
      fail(GPUMEM_INVALID_ARGUMENT,
           "%s: element_bytes, rank or extents of process %zu differ from process 0's; expected the same everywhere",
           argument, process);
    }
    if (members.process_of(members.first()) == number) {
      for (const Box& box : own.boxes) {
        whole.boxes.push_back(box);
        for (int64_t& stride : whole.boxes.back().strides) stride = std::max<int64_t>(stride, 1);  // if none was given
      }
      continue;
    }
    while (!reader.empty()) {
      const auto box = reader.take<BoxWords>();
      bool sound = box.member >= 0 && box.member < members.all() &&
                   members.process_of(static_cast<int32_t>(box.member)) == number;
      for (size_t d = 0; d < kAxes; ++d) {
        sound = sound && box.lower[d] >= 0 && box.lower[d] <= box.upper[d] && box.upper[d] <= whole.extents[d] &&
                (d < static_cast<size_t>(whole.rank) || box.upper[d] - box.lower[d] == 1);
      }
      if (!sound) {
        fail(GPUMEM_PEER_LOST, "%s: process %d sent a box of member %lld that is not its own, or is outside the array",
             argument, number, ll(box.member));
      }
      whole.boxes.push_back({static_cast<int32_t>(box.member), box.lower, box.upper, 0, {}});
    }
  }
  return whole;
}

Layout with_axes(const Layout& layout, const std::array<int32_t, kAxes>& order) {
  Layout turned = layout;
  for (size_t d = 0; d < kAxes; ++d) {
    const auto from = static_cast<size_t>(order[d]);
    turned.extents[d] = layout.extents[from];
    for (size_t i = 0; i < layout.boxes.size(); ++i) {
      turned.boxes[i].lower[d] = layout.boxes[i].lower[from];
      turned.boxes[i].upper[d] = layout.boxes[i].upper[from];
      turned.boxes[i].strides[d] = layout.boxes[i].strides[from];
    }
  }
  return turned;
}

// Sorted by the axis that separates the most boxes.
BoxIndex::BoxIndex(const Layout& layout) : layout_(layout) {
  ptrdiff_t most = 0;
  std::vector<int64_t> lower;
  for (size_t d = 0; d < static_cast<size_t>(layout.rank); ++d) {
    lower.clear();
    for (const Box& box : layout.boxes) lower.push_back(box.lower[d]);
    std::sort(lower.begin(), lower.end());
    const auto different = std::unique(lower.begin(), lower.end()) - lower.begin();
    if (different <= most) continue;
    most = different;
    axis_ = d;
  }
  for (size_t i = 0; i < layout.boxes.size(); ++i) {
    if (!layout.boxes[i].empty()) sorted_.push_back(static_cast<int64_t>(i));
  }
  const auto box = [&](int64_t i) -> const Box& { return layout.boxes[static_cast<size_t>(i)]; };
  std::sort(sorted_.begin(), sorted_.end(),
            [&](int64_t a, int64_t b) { return box(a).lower[axis_] < box(b).lower[axis_]; });
  for (const int64_t i : sorted_) longest_ = std::max(longest_, box(i).upper[axis_] - box(i).lower[axis_]);
}

const std::vector<int64_t>& BoxIndex::meeting(const Box& with) {
  found_.clear();
  const auto lower = [&](int64_t i) { return layout_.boxes[static_cast<size_t>(i)].lower[axis_]; };
  const int64_t least = with.lower[axis_] - longest_ + 1;
  auto at = std::lower_bound(sorted_.begin(), sorted_.end(), least, [&](int64_t i, int64_t v) { return lower(i) < v; });
  for (; at != sorted_.end() && lower(*at) < with.upper[axis_]; ++at) {
    if (!common(layout_.boxes[static_cast<size_t>(*at)], with).empty()) found_.push_back(*at);
  }
  std::sort(found_.begin(), found_.end());
  return found_;
}

Box common(const Box& a, const Box& b) noexcept {
  Box both;
  for (size_t d = 0; d < kAxes; ++d) {
    both.lower[d] = std::max(a.lower[d], b.lower[d]);
    both.upper[d] = std::min(a.upper[d], b.upper[d]);
  }
  return both;
}

void require_disjoint(const Layout& layout, const char* argument, const Members& members) {
  BoxIndex index(layout);
  for (size_t i = 0; i < layout.boxes.size(); ++i) {
    const auto number = static_cast<int64_t>(i);
    for (const int64_t other : index.meeting(layout.boxes[i])) {
      if (other <= number) continue;
      fail(GPUMEM_INVALID_ARGUMENT, "%s shares elements with %s; expected boxes that share none",
           name_of(layout, number, argument, members).c_str(), name_of(layout, other, argument, members).c_str());
    }
  }
}

// Boxes of src are disjoint, so a dst box is covered if the shared parts add up to its size.
void require_covered(const Layout& src, const Layout& dst, bool halo, const Members& members) {
  BoxIndex index(src);
  for (size_t i = 0; i < dst.boxes.size(); ++i) {
    const Box& wanted = dst.boxes[i];
    int64_t missing = wanted.elements();
    for (const int64_t from : index.meeting(wanted)) {
      missing -= common(src.boxes[static_cast<size_t>(from)], wanted).elements();
    }
    if (missing == 0) continue;
    const std::string name =
        halo ? "layout: the halo " + range_of(dst, wanted) + " of a box of member " + std::to_string(wanted.member)
             : name_of(dst, static_cast<int64_t>(i), "dst", members);
    fail(
        GPUMEM_INVALID_ARGUMENT,
        "%s has %lld elements that are in none of the %zu boxes of all processes; expected boxes without holes between "
        "them",
        name.c_str(), ll(missing), src.boxes.size());
  }
}

}  // namespace gpumem
