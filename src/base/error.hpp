// The one way a failure travels inside the library: an Error carries a status and the sentence for the caller.
#pragma once

#include <exception>

#include "gpumem.h"

namespace gpumem {

class Error : public std::exception {
 public:
  // Cuts the sentence at the buffer's end, and has text of others in it printable. Allocates nothing, so it works when memory has run out.
  Error(gpumem_status status, const char* sentence) noexcept;

  gpumem_status status() const noexcept { return status_; }
  const char* what() const noexcept override { return sentence_; }

 private:
  gpumem_status status_;
  char sentence_[512];
};

// One that all processes of a call throw alike: none needs to be told.
class SharedError final : public Error {
 public:
  using Error::Error;
};

// Throws an Error with a printf-formatted sentence.
[[noreturn, gnu::format(printf, 2, 3)]] void fail(gpumem_status status, const char* format, ...);

// The exception that is being handled, whatever it is.
Error current_error() noexcept;

// The sentence of the calling thread's last failure. Plain thread-local bytes: nothing to construct or destroy.
void set_last_error(const char* sentence) noexcept;
const char* last_error() noexcept;

}  // namespace gpumem
