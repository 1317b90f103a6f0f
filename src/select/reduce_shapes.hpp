// What the tables of the reductions share.
#pragma once

#include "gpumem.h"
#include "kernels/alignment.hpp"
#include "kernels/elements.hpp"

namespace gpumem {

inline bool aligned(const void* p, gpumem_dtype dtype) noexcept { return misalignment(p) % element_bytes(dtype) == 0; }

}  // namespace gpumem
