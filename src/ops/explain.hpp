// A plan in words.
#pragma once

#include <string>
#include <string_view>

#include "context/context.hpp"

namespace gpumem {

// Of a problem line. Throws what the operation would fail with.
std::string explain(Context& context, std::string_view line, gpumem_format format);

}  // namespace gpumem
