// Choice of a variant as a pure function of plain data: no I/O, clock, globals, allocation or access to operands.
#pragma once

#include <cstdint>

#include "base/row_choice.hpp"
#include "select/variants.hpp"

namespace gpumem {

template <class Params>
struct Selection : Configured<Params> {
  int32_t row = -1;  // -1: nothing fits; refusal has the reason
  ChosenBy by = ChosenBy::table;
  const char* refusal = nullptr;
};

// Plans the problem for this device. Returns nullptr with config filled in, or the reason for refusal.
template <class Params>
const char* plan_row(const Implementation<Params>& row, const DeviceProps& device, const Params& params,
                     Config& config) noexcept {
  if (row.space != device.backend) {
    return row.space == ExecutionSpace::cuda ? "it runs on a CUDA device, and this work runs on the host"
                                             : "it runs on the host, and this work runs on the CUDA device";
  }
  return row.plan(device, params, config);
}

// Why the table skips this row although it fits; nullptr: it does not skip it.
template <class Params>
const char* passed_over(const Implementation<Params>& row, const DeviceProps& device, const Params& params) noexcept {
  return row.deprioritized != nullptr ? row.deprioritized(device, params) : nullptr;
}

template <class Params>
bool taken_by_name(const Implementation<Params>& row) noexcept {
  return row.deprioritized == &by_name<Params>;
}

// Overridden > tuned > table order. If an overridden row does not fit, no other is tried.
template <class Family>
Selection<typename Family::Params> select(const DeviceProps& device, const typename Family::Params& params,
                                          Override forced, TunedRow tuned) noexcept {
  using Params = typename Family::Params;
  const auto table = Family::table();
  Selection<Params> selection;
  const auto fits = [&](int32_t row, ChosenBy by) noexcept {
    selection.refusal = plan_row(table[row], device, params, selection.config);
    if (selection.refusal != nullptr) return false;
    selection.implementation = &table[row];
    selection.row = row;
    selection.by = by;
    return true;
  };
  if (forced.row >= 0) {
    selection.by = forced.by;
    fits(forced.row, forced.by);
    return selection;
  }
  if (tuned.row >= 0 && tuned.row < static_cast<int32_t>(table.size())) {
    const auto& row = table[tuned.row];
    if (row.revision == tuned.revision && !taken_by_name(row) && fits(tuned.row, ChosenBy::tuning)) return selection;
  }
  for (int32_t row = 0; row < static_cast<int32_t>(table.size()); ++row) {
    if (table[row].space != device.backend || passed_over(table[row], device, params) != nullptr) continue;
    if (fits(row, ChosenBy::table)) return selection;
  }
  selection.refusal = "no variant accepts this operation";
  return selection;
}

}  // namespace gpumem
