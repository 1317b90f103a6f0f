// gpumem variants: the rows of each family's table, in the order in which they are tried.
#include <gpumem.h>

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "device.hpp"
#include "failure.hpp"

namespace tool {
namespace {

struct Family {
  gpumem_family id;
  const char* name;
};
constexpr auto kFamilies = std::to_array<Family>({
    {GPUMEM_FAMILY_REDUCE, "reduce"},
    {GPUMEM_FAMILY_REDUCE_AXIS, "reduce_axis"},
    {GPUMEM_FAMILY_REDUCE_SEGMENTS, "reduce_segments"},
    {GPUMEM_FAMILY_TRANSPOSE, "transpose"},
    {GPUMEM_FAMILY_FILL, "fill"},
    {GPUMEM_FAMILY_COPY, "copy"},
    {GPUMEM_FAMILY_AXPBY, "axpby"},
    {GPUMEM_FAMILY_CONVERT, "convert"},
    {GPUMEM_FAMILY_GATHER, "gather"},
    {GPUMEM_FAMILY_SCATTER, "scatter"},
    {GPUMEM_FAMILY_PERMUTE, "permute"},
    {GPUMEM_FAMILY_RESIZE, "resize"},
    {GPUMEM_FAMILY_ARITHMETIC, "arithmetic"},
});

// Calls visit(name) for each variant of a family, in table order.
template <class Visit>
void for_each_variant(gpumem_family family, Visit visit) {
  int32_t count = 0;
  check(gpumem_variant_count(family, &count), "counting the variants");
  for (int32_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    check(gpumem_variant_name(family, i, &name), "asking for a variant's name");
    visit(name);
  }
}

}  // namespace

int run_variants(const ListOptions& options) {
  nlohmann::ordered_json json;
  for (const Family& family : kFamilies) {
    if (!options.json) std::printf("%s\n", family.name);
    for_each_variant(family.id, [&](const char* name) {
      if (!options.json) std::printf("  %s\n", name);
      json[family.name].push_back(name);
    });
  }
  if (options.json) print_json(json);
  return 0;
}

}  // namespace tool
