// Movement an element at a time: any stride, any alignment. The plain form that the fast loops are held against.
#pragma once

#include "backend/backend.hpp"

namespace gpumem {

// Every matrix, element by element.
void transpose_elements(const TransposeParams& args) noexcept;

}  // namespace gpumem
