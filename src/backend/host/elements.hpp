// Reductions an element at a time: any stride, any alignment. The plain form that the fast loops are held against.
#pragma once

#include "backend/backend.hpp"

namespace gpumem {

// Elements [first, last) of the strided sequence; last > first.
Int128 reduce_elements_i32(gpumem_reduce_op op, const void* x, int64_t stride, int64_t first, int64_t last) noexcept;

// Folds two partial values.
Int128 combine(gpumem_reduce_op op, Int128 a, Int128 b) noexcept;

// The whole matrix, element by element.
void transpose_elements(const TransposeArgs& args) noexcept;

}  // namespace gpumem
