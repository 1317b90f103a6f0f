// gpumem variants: lists the implementations of each operation, in the order of trial.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "device.hpp"
#include "problems/problem.hpp"

namespace tool {

int run_variants(const ListOptions& options) {
  nlohmann::ordered_json families;
  for (const Family& family : kFamilies) {
    if (!options.json) std::printf("%s\n", family.name);
    for (const char* const name : variants_of(family.id)) {
      if (!options.json) std::printf("  %s\n", name);
      families[family.name].push_back(name);
    }
  }
  if (options.json) print_json("variants", {{"families", families}});
  return 0;
}

}  // namespace tool
