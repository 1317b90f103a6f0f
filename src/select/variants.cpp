#include "select/variants.hpp"

#include <array>
#include <cstring>

#include "base/error.hpp"

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
