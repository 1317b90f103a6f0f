// Launchers stand in dense arrays in the order of their backend's rows of the table. Each carries its variant's name, so that a test
// can hold the arrays against the tables.
#pragma once

#include <map>
#include <vector>

#include "gpumem.h"

namespace gpumem {

template <class Function>
struct Launcher {
  const char* name;
  Function launch;
};

// The names in the launchers' arrays.
using LauncherNames = std::map<gpumem_family, std::vector<const char*>>;

template <class Launchers>
void add_names(LauncherNames& names, gpumem_family family, const Launchers& launchers) {
  for (const auto& launcher : launchers) names[family].push_back(launcher.name);
}

LauncherNames host_launcher_names();
LauncherNames cuda_launcher_names();

}  // namespace gpumem
