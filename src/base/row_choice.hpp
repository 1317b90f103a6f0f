// Choices of a row of a family's table that replace the table's own order.
#pragma once

#include <cstdint>

namespace gpumem {

enum class ChosenBy : int32_t { table, tuning, environment, program };

struct Override {
  int32_t row = -1;
  ChosenBy by = ChosenBy::program;
};

// A row measured faster than the table's choice; -1: not tuned.
struct TunedRow {
  int32_t row = -1;
  int32_t revision = 0;  // of the measured row
};

}  // namespace gpumem
