// The choice of a variant: a pure function of plain data. No I/O, no clock, no globals, no allocation.
#pragma once

#include <cstdint>
#include <span>

#include "engine/variants.hpp"

namespace gpumem {

enum class ChosenBy : int32_t { table, tuning, environment, program };

// A row forced for a family: -1 for none.
struct Override {
  int32_t row = -1;
  ChosenBy by = ChosenBy::program;
};

// One measured choice. size_class is floor(log2) of the elements the operation reads.
struct TunedChoice {
  gpumem_family family;
  int32_t size_class;
  int32_t row;
  int32_t revision;
};
using TuningView = std::span<const TunedChoice>;

struct Decision {
  int32_t row = -1;  // -1: nothing fits, and rejected says why
  ChosenBy by = ChosenBy::table;
  LaunchShape shape{};
  const char* rejected = nullptr;
};

int32_t size_class(const ReduceProblem& problem) noexcept;
int32_t size_class(const TransposeProblem& problem) noexcept;
int32_t size_class(const FillProblem& problem) noexcept;
int32_t size_class(const ReduceAxisProblem& problem) noexcept;
int32_t size_class(const ReduceSegmentsProblem& problem) noexcept;

// Why a row can't take the problem, the row's backend included; nullptr when it can.
template <class Problem>
const char* rejection(const Variant<Problem>& row, const DeviceProps& props, const Problem& problem) noexcept {
  if (row.runs != problem.runs) {
    return row.runs == Runs::cuda ? "it runs on a CUDA device, and this work runs on the host"
                                  : "it runs on the host, and this work runs on the CUDA device";
  }
  return row.rejects(props, problem);
}

// Forced > tuned > table order. A forced row that does not fit is no reason to take another.
template <class Family>
Decision select(const DeviceProps& props, const typename Family::Problem& problem, Override forced,
                TuningView tuning) noexcept {
  const auto table = Family::table();
  const auto accept = [&](int32_t row, ChosenBy by) noexcept {
    return Decision{row, by, table[row].shape(props, problem), nullptr};
  };
  if (forced.row >= 0) {
    const char* reason = rejection(table[forced.row], props, problem);
    if (reason != nullptr) return Decision{-1, forced.by, {}, reason};
    return accept(forced.row, forced.by);
  }
  for (const TunedChoice& tuned : tuning) {
    if (tuned.family != Family::id || tuned.size_class != size_class(problem)) continue;
    if (tuned.row < 0 || tuned.row >= static_cast<int32_t>(table.size())) continue;
    if (tuned.revision != table[tuned.row].revision) continue;
    if (rejection(table[tuned.row], props, problem) == nullptr) return accept(tuned.row, ChosenBy::tuning);
  }
  for (int32_t row = 0; row < static_cast<int32_t>(table.size()); ++row) {
    if (rejection(table[row], props, problem) == nullptr) return accept(row, ChosenBy::table);
  }
  return Decision{-1, ChosenBy::table, {}, "no variant accepts this problem"};
}

}  // namespace gpumem
