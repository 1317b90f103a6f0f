// Who takes a row of a family's table, when it is not the table's own order that decides.
#pragma once

#include <cstdint>

namespace gpumem {

enum class ChosenBy : int32_t { table, tuning, environment, program };

// A row forced for a family: -1 for none.
struct Override {
  int32_t row = -1;
  ChosenBy by = ChosenBy::program;
};

// A row that was measured to be faster than the table's choice; -1: none was.
struct TunedRow {
  int32_t row = -1;
  int32_t revision = 0;  // of the row that was measured
};

}  // namespace gpumem
