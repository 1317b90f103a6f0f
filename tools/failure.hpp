// A failure with a sentence for the user; main() prints it.
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

// A word of the command line that was not expected; the exit status is 2.
struct Mistake : Failure {
  using Failure::Failure;
};

// A call of the library that failed.
struct CallFailure : Failure {
  CallFailure(const std::string& sentence, gpumem_status of, std::string why)
      : Failure(sentence), status(of), reason(std::move(why)) {}
  gpumem_status status;
  std::string reason;  // the library's sentence alone
};

// Throws a CallFailure unless status is GPUMEM_OK: what was being done if that is given, the status' name, and the library's own sentence.
void check(gpumem_status status, std::string_view doing = {});

}  // namespace tool
