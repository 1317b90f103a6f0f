// A context with what the operations keep for it, and what the environment sets on it.
#pragma once

#include <cstdint>

#include "gpumem.h"

namespace gpumem {

// Handle included; destroy_context() ends it. Throws NOT_FOUND for a variant of the environment that does not exist.
uint64_t create_context(const gpumem_ctx_options& options);

}  // namespace gpumem
