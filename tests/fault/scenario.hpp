// A program's use of the library from the first call to the last, which keeps to what each status allows.
#pragma once

#include <cstdint>

#include "gpumem.h"

namespace gpumem_test {

struct Setting {
  int32_t device = GPUMEM_DEVICE_HOST;
  int32_t debug_memory = 0;
  bool lost =
      false;  // a refusal loses the device: any call may give DEVICE_FAULT from then on, and outputs be undefined
};

// What went wrong first: a call that gave neither success nor a resource's status, or a success with a wrong result.
struct Verdict {
  const char* call = nullptr;  // NULL: nothing
  gpumem_status status = GPUMEM_OK;
  int64_t failed_calls = 0;  // that ran out of something, as they may
  char sentence[256] = "";
};

// Allocates nothing itself.
Verdict run_scenario(const Setting& setting) noexcept;

}  // namespace gpumem_test
