// Failures with an error message for the user, which main() prints.
#pragma once

#include <gpumem.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace tool {

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// An unexpected word of the command line; the exit status is 2.
struct Mistake : Failure {
  using Failure::Failure;
};

struct CallFailure : Failure {
  CallFailure(const std::string& sentence, gpumem_status of, std::string why)
      : Failure(sentence), status(of), reason(std::move(why)) {}
  gpumem_status status;
  std::string reason;  // only the library's error message
};

// Throws a CallFailure unless status is GPUMEM_OK. Its message has `doing` if given, the status' name, and the
// library's own message.
void check(gpumem_status status, std::string_view doing = {});

}  // namespace tool
