// What `gpumem grid` found, and how it is told.
#pragma once

#include <gpumem.h>

#include <cstdint>
#include <optional>
#include <string>

#include "grid_statistics.hpp"
#include "measure/statistics.hpp"
#include "picture.hpp"

namespace tool {

// One operation on the grid: how fast it was, where it ran and why.
struct Operation {
  int64_t bytes = 0;  // read, and written where it writes
  measure::Summary timing;
  std::string explanation;  // of gpumem_explain(): text, or JSON when that was asked for
};

struct GridReport {
  std::string source;  // the file's name, or how the grid was generated
  std::string dtype;   // of the source
  std::string output;  // the file with the transposed grid; empty: none was written
  int64_t rows = 0;
  int64_t cols = 0;
  // What is not known has not been come to: the grid has no elements, or Ctrl-C was pressed.
  bool interrupted = false;
  std::optional<gpumem_device_info> device;
  std::optional<Statistics> library;
  std::optional<Statistics> plain;
  std::optional<bool> statistics_agree;
  std::optional<bool> transposition_agrees;
  std::optional<Operation> sum;
  std::optional<Operation> transpose;

  bool differs() const { return statistics_agree == false || transposition_agrees == false; }
};

// The two grids in host memory, which are drawn where both are right.
void print_report(const GridReport& report, const GridView& grid, const GridView& transposed);
void print_report_json(const GridReport& report);

}  // namespace tool
