// The families of operations, and the rows of their tables.
#pragma once

#include <gpumem.h>

#include <array>
#include <vector>

namespace tool {

struct Family {
  gpumem_family id;
  const char* name;
};
inline constexpr auto kFamilies = std::to_array<Family>({
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

// In table order; the last one is the host's plainest and takes every problem.
std::vector<const char*> variants_of(gpumem_family family);

}  // namespace tool
