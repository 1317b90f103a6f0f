// Carries every failure inside the library: a status, and the error message for the caller.
#pragma once

#include <exception>

#include "gpumem.h"

namespace gpumem {

class Error : public std::exception {
 public:
  // Cuts the message to the buffer, and makes foreign text printable. Allocates nothing, so it works without memory.
  Error(gpumem_status status, const char* sentence) noexcept;

  gpumem_status status() const noexcept { return status_; }
  const char* what() const noexcept override { return sentence_; }

 private:
  gpumem_status status_;
  char sentence_[512];
};

// All processes of a call throw this error alike, so no notice is needed.
class SharedError final : public Error {
 public:
  using Error::Error;
};

[[noreturn, gnu::format(printf, 2, 3)]] void fail(gpumem_status status, const char* format, ...);

Error current_error() noexcept;

// The error message of the calling thread's last failure. Plain thread-local bytes need no construction or destruction.
void set_last_error(const char* sentence) noexcept;
const char* last_error() noexcept;

}  // namespace gpumem
