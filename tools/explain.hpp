// What gpumem_explain() says, for the commands.
#pragma once

#include <gpumem.h>

#include <string>

namespace tool {

std::string explanation(gpumem_ctx* ctx, const std::string& line, gpumem_format format);

}  // namespace tool
