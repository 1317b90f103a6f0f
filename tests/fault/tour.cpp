#include "fault/tour.hpp"

namespace gpumem_test {

void Tour::complain(const char* call, gpumem_status status) noexcept {
  if (verdict_.call != nullptr) return;
  verdict_.call = call;
  verdict_.status = status;
  gpumem_last_error(verdict_.sentence, sizeof verdict_.sentence, nullptr);
}

bool Tour::good(const char* call, gpumem_status status, gpumem_status also) noexcept {
  if (status == GPUMEM_OK) return true;
  if (status != GPUMEM_OUT_OF_MEMORY && status != GPUMEM_OUT_OF_RESOURCES && status != also && !is_lost(status)) {
    complain(call, status);
  }
  int64_t needed = 0;
  if (gpumem_last_error(nullptr, 0, &needed) != GPUMEM_OK || needed < 2) wrong("a failure without a sentence");
  ++verdict_.failed_calls;
  return false;
}

void Tour::sound(const char* call, gpumem_status status) noexcept {
  if (status == GPUMEM_OK || is_lost(status)) return;
  complain(call, status);
}

void Tour::mistake(gpumem_status expected, gpumem_status status) noexcept {
  if (status == expected || status == GPUMEM_OUT_OF_MEMORY || is_lost(status)) return;
  complain("a caller's mistake", status);
}

void Tour::wrong(const char* what) noexcept { complain(what, GPUMEM_OK); }

}  // namespace gpumem_test
