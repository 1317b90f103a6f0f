// A failure with a sentence for the user; main() prints it.
#pragma once

#include <gpumem.h>

#include <stdexcept>
#include <string_view>

namespace tool {

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws a Failure unless status is GPUMEM_OK: what was being done, the status' name, and the library's own sentence.
void check(gpumem_status status, std::string_view doing);

}  // namespace tool
