#include "base/error.hpp"

#include <cstdarg>
#include <cstdio>

namespace gpumem {
namespace {

thread_local char t_last_error[512];

}  // namespace

Error::Error(gpumem_status status, const char* sentence) noexcept : status_(status) {
  std::snprintf(sentence_, sizeof sentence_, "%s", sentence);
}

void fail(gpumem_status status, const char* format, ...) {
  char sentence[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(sentence, sizeof sentence, format, arguments);
  va_end(arguments);
  throw Error(status, sentence);
}

void set_last_error(const char* sentence) noexcept { std::snprintf(t_last_error, sizeof t_last_error, "%s", sentence); }

const char* last_error() noexcept { return t_last_error; }

}  // namespace gpumem
