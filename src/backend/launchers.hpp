// Launchers stand in dense arrays in the order of their table's rows. Each carries its variant's name, so that a test can hold
// the arrays against the tables.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/variants.hpp"

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

struct LauncherNames {
  std::vector<const char*> reduce;
  std::vector<const char*> transpose;
  std::vector<const char*> fill;
  std::vector<const char*> reduce_axis;
  std::vector<const char*> reduce_segments;
};

template <class Function, size_t kCount>
std::vector<const char*> names_of(const Launcher<Function> (&launchers)[kCount]) {
  std::vector<const char*> names;
  for (const auto& launcher : launchers) names.push_back(launcher.name);
  return names;
}

LauncherNames host_launcher_names();
LauncherNames cuda_launcher_names();

}  // namespace gpumem
