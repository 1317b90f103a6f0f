#include "select/variants.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "kernels/limits.hpp"

namespace gpumem {
namespace {

template <class Family>
constexpr FamilyNames names_of() noexcept {
  return {Family::name, []() noexcept { return static_cast<int32_t>(Family::table().size()); },
          [](int32_t row) noexcept { return Family::table()[row].name; }};
}

constexpr auto kFamilyNames = [] {
  std::array<FamilyNames, Families::count> names{};
  Families::for_each([&]<class Family>() { names[family_index(Family::id)] = names_of<Family>(); });
  return names;
}();

}  // namespace

Config grid_of(int64_t n, int64_t tile, int32_t threads, int32_t per_thread) noexcept {
  return {std::clamp<int64_t>(ceil_div(n, tile), 1, kMaxGrid), threads, per_thread, tile};
}

Config host_elements_config(const DeviceProps& d, int64_t n, int64_t moved) noexcept {
  const int64_t tasks = std::clamp<int64_t>(n / (kHostTaskBytes / moved), 1, int64_t{4} * d.multiprocessors);
  return {tasks, 1, 1, ceil_div(ceil_div(std::max<int64_t>(n, 1), tasks), 64) * 64};
}

const FamilyNames& family_names(gpumem_family family) {
  if (family < 1 || family > Families::count) {
    fail(GPUMEM_INVALID_ARGUMENT, "family is %d; expected a GPUMEM_FAMILY_* value (1 to %d)", family, Families::count);
  }
  return kFamilyNames[family_index(family)];
}

int32_t find_variant(const FamilyNames& family, const char* name) noexcept {
  for (int32_t row = 0; row < family.count(); ++row) {
    if (std::strcmp(family.variant(row), name) == 0) return row;
  }
  return -1;
}

}  // namespace gpumem
