// Creation of a context from options and environment variables.
#pragma once

#include <cstdint>

#include "gpumem.h"

namespace gpumem {

// Includes the handle. destroy_context() destroys it. Throws NOT_FOUND if the environment names an unknown variant.
uint64_t create_context(const gpumem_ctx_options& options);

}  // namespace gpumem
