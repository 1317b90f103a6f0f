// The results of `gpumem grid`, and their output.
#pragma once

#include <gpumem.h>

#include <cstdint>
#include <optional>
#include <string>

#include "grid_statistics.hpp"
#include "measure/statistics.hpp"
#include "picture.hpp"

namespace tool {

struct Operation {
  int64_t bytes = 0;  // read, plus written if it writes
  measure::Summary timing;
  std::string explanation;  // of gpumem_explain(): text, or JSON if requested
};

struct GridReport {
  std::string source;
  std::string dtype;   // of the source
  std::string output;  // empty: not written
  int64_t rows = 0;
  int64_t cols = 0;
  // Unknown values are empty if the grid has no elements, or if Ctrl-C was pressed before them.
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

// Draws both grids if the results are right.
void print_report(const GridReport& report, const GridView& grid, const GridView& transposed);
void print_report_json(const GridReport& report);

}  // namespace tool
