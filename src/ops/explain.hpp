// A plan in words.
#pragma once

#include <string>

#include "context/context.hpp"

namespace gpumem {

std::string explain(Context& context, const gpumem_problem& problem, gpumem_format format);

}  // namespace gpumem
