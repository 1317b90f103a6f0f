// What operands are filled with: the same for equal problems, on every machine.
#pragma once

#include <gpumem.h>

#include <cstdint>

#include "bench/operand.hpp"

namespace tool {

// Numbers to reduce. Integers lie in [-100, 100] or [0, 200], so that no sum of cubes leaves its type; floating point of both signs
// in [1, 2), so that one element that is missing shows in a sum.
Contents values(gpumem_dtype dtype, uint64_t seed);

Contents any_bits(uint64_t seed);

// Numbers of rows, in an order without a pattern; each once, as long as there are enough.
Contents some_rows(gpumem_dtype type, uint64_t rows);

// Where segments of n elements begin, and the end of the last one.
Contents even_offsets(int64_t n, int64_t segments);

}  // namespace tool
