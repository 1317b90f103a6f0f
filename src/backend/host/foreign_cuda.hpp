// What a CUDA driver that the program has already loaded knows of a pointer. Loads nothing itself.
#pragma once

#include "backend/backend.hpp"

namespace gpumem {

Location ask_loaded_cuda(const void* p) noexcept;

}  // namespace gpumem
