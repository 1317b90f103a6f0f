// gpumem variants: the rows of each family's table, in the order in which they are tried.
#include "variants.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "device.hpp"
#include "failure.hpp"

namespace tool {
std::vector<const char*> variants_of(gpumem_family family) {
  int32_t count = 0;
  check(gpumem_variant_count(family, &count), "counting the variants");
  std::vector<const char*> names(static_cast<std::size_t>(count));
  for (int32_t i = 0; i < count; ++i) {
    check(gpumem_variant_name(family, i, &names[static_cast<std::size_t>(i)]), "asking for a variant's name");
  }
  return names;
}

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
