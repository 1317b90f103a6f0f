// The choice of a variant: a pure function of plain data. No I/O, no clock, no globals, no allocation; of operands it looks at the
// bits of their addresses, never at memory.
#pragma once

#include <cstdint>

#include "select/variants.hpp"

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

struct Decision : Choice {
  int32_t row = -1;  // -1: nothing fits, and rejected says why
  ChosenBy by = ChosenBy::table;
  const char* rejected = nullptr;
};

// Why a row can't take the problem on this device, the row's backend included; nullptr when it can.
template <class Params>
const char* rejection(const Variant<Params>& row, const DeviceProps& props, const Params& params) noexcept {
  if (row.runs != props.backend) {
    return row.runs == Runs::cuda ? "it runs on a CUDA device, and this work runs on the host"
                                  : "it runs on the host, and this work runs on the CUDA device";
  }
  return row.rejects(props, params);
}

// Why the table goes on to the next row though this one fits; nullptr: it does not.
template <class Params>
const char* passed_over(const Variant<Params>& row, const DeviceProps& props, const Params& params) noexcept {
  return row.yields != nullptr ? row.yields(props, params) : nullptr;
}

// Forced > tuned > table order. A forced row that does not fit is no reason to take another.
template <class Family>
Decision select(const DeviceProps& props, const typename Family::Params& params, Override forced,
                TunedRow tuned) noexcept {
  const auto table = Family::table();
  const auto accept = [&](int32_t row, ChosenBy by) noexcept {
    return Decision{{row_of_backend(table, row), table[row].shape(props, params)}, row, by, nullptr};
  };
  if (forced.row >= 0) {
    const char* reason = rejection(table[forced.row], props, params);
    if (reason != nullptr) return Decision{{}, -1, forced.by, reason};
    return accept(forced.row, forced.by);
  }
  if (tuned.row >= 0 && tuned.row < static_cast<int32_t>(table.size())) {
    const auto& row = table[tuned.row];
    if (row.revision == tuned.revision && row.yields != &by_name<typename Family::Params> &&
        rejection(row, props, params) == nullptr) {
      return accept(tuned.row, ChosenBy::tuning);
    }
  }
  for (int32_t row = 0; row < static_cast<int32_t>(table.size()); ++row) {
    if (rejection(table[row], props, params) != nullptr) continue;
    if (passed_over(table[row], props, params) == nullptr) return accept(row, ChosenBy::table);
  }
  return Decision{{}, -1, ChosenBy::table, "no variant accepts this problem"};
}

}  // namespace gpumem
