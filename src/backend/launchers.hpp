// Launchers stand in dense arrays in the order of their table's rows. Each carries its variant's name, so that a test can hold
// the arrays against the tables.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "select/variants.hpp"

namespace gpumem {

template <class Function>
struct Launcher {
  const char* name;
  Function launch;
};

// A row's place among the rows of its backend.
template <class Problem>
int32_t row_of_backend(std::span<const Variant<Problem>> table, int32_t row) noexcept {
  int32_t place = 0;
  for (int32_t i = 0; i < row; ++i) place += table[i].runs == table[row].runs ? 1 : 0;
  return place;
}

// A family's launcher of a row of its table.
template <class Family, class Function, size_t kCount>
const Function& launch_of(const Launcher<Function> (&launchers)[kCount], int32_t variant) noexcept {
  return launchers[row_of_backend(Family::table(), variant)].launch;
}

// The names in the launchers' arrays, by family_index().
using LauncherNames = std::array<std::vector<const char*>, kFamilies>;

template <class Family, class Function, size_t kCount>
void add_names(LauncherNames& names, const Launcher<Function> (&launchers)[kCount]) {
  for (const auto& launcher : launchers) names[family_index(Family::id)].push_back(launcher.name);
}

LauncherNames host_launcher_names();
LauncherNames cuda_launcher_names();

}  // namespace gpumem
