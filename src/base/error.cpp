#include "base/error.hpp"

#include <cstdarg>
#include <cstdio>
#include <new>
#include <stdexcept>
#include <system_error>

#include "base/printable.hpp"
#include "base/sentences.hpp"

namespace gpumem {
namespace {

thread_local char t_last_error[512];

}  // namespace

Error::Error(gpumem_status status, const char* sentence) noexcept : status_(status) {
  copy_printable(sentence_, sizeof sentence_, sentence);
}

void fail(gpumem_status status, const char* format, ...) {
  char sentence[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(sentence, sizeof sentence, format, arguments);
  va_end(arguments);
  throw Error(status, sentence);
}

Error current_error() noexcept {
  constexpr const char* kNoMemory = "host memory has run out inside the library";
  try {
    throw;
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return {GPUMEM_OUT_OF_MEMORY, kNoMemory};
  } catch (const std::length_error&) {  // more than memory could ever hold
    return {GPUMEM_OUT_OF_MEMORY, kNoMemory};
  } catch (const std::system_error& error) {
    return {GPUMEM_OUT_OF_RESOURCES, reason_of(error.code().value())};
  } catch (const std::exception& error) {
    return {GPUMEM_INTERNAL, error.what()};
  } catch (...) {
    return {GPUMEM_INTERNAL, "an exception of unknown type"};
  }
}

void set_last_error(const char* sentence) noexcept { std::snprintf(t_last_error, sizeof t_last_error, "%s", sentence); }

const char* last_error() noexcept { return t_last_error; }

}  // namespace gpumem
