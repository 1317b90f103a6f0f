// Measures which variant is fastest for an operation here.
#pragma once

#include <cstdint>
#include <string_view>

#include "context/context.hpp"

namespace gpumem {

struct TuneOptions {
  double budget_s = 2;
  gpumem_progress_fn progress = nullptr;
  void* user = nullptr;
  bool reversed = false;  // as if the table were reversed: its last variant that fits would be its choice
  // For tests: the seconds of a variant, instead of a measurement.
  double (*time_of)(const char* variant, bool emptied) = nullptr;
};

struct TuneResult {
  const char* table = "";
  const char* winner = "";
  const char* reason = "";
  bool adopted = false;
  int32_t candidates = 0;
  double table_s = 0;
  double winner_s = 0;
  double spread = 0;

  double ratio() const noexcept { return winner_s > 0 ? table_s / winner_s : 1; }
};

// Throws the operation's errors, OUT_OF_MEMORY and CAPTURING. The choices are then unchanged.
TuneResult tune(Context& context, std::string_view line, const TuneOptions& options);

}  // namespace gpumem
