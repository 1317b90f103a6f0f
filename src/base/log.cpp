#include "base/log.hpp"

#include <cstdarg>
#include <cstdio>

#include "base/printable.hpp"

namespace gpumem {

void Log::set(gpumem_log_fn fn, void* user) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  fn_ = fn;
  user_ = user;
}

void Log::write(gpumem_log_level level, const char* format, ...) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (fn_ == nullptr) return;
  char message[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  char shown[sizeof message];
  copy_printable(shown, sizeof shown, message);
  fn_(user_, level, shown);
}

}  // namespace gpumem
