// Messages to the program, only through its callback.
#pragma once

#include <mutex>

#include "gpumem.h"

namespace gpumem {

class Log {
 public:
  void set(gpumem_log_fn fn, void* user) noexcept;
  [[gnu::format(printf, 3, 4)]] void write(gpumem_log_level level, const char* format, ...) noexcept;

 private:
  std::mutex mutex_;
  gpumem_log_fn fn_ = nullptr;
  void* user_ = nullptr;
};

}  // namespace gpumem
